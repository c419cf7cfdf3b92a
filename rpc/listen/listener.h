/* The listener of a session: a thread in this process that the DSP calls the host with (rpc/wire/hx_reverse.h).  It offers what the
 * published library's does: apps_remotectl, apps_std, apps_mem, adspmsgd_apps, within the limits of host_folders.h. */
#ifndef HX_LISTENER_H
#define HX_LISTENER_H

#include "hx_session.h"

/* Starts the session's listener, once; the session stops it when it ends.  The DSP knows of it when this returns.  AEE code. */
int hx_listener_start(struct hx_client_session *s);

/* A descriptor that becomes readable (eventfd) when the session's listener has ended; the caller's to close.  AEE_ERESOURCENOTFOUND: there
 * is none; AEE_EBADPARM. */
int hx_listener_eventfd(unsigned index, int *fd);

#endif
