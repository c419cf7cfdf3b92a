/* Names that remote_handle64_open() takes for itself: ITRANSPORT_PREFIX and what daemons say to get into another PD than one of their
 * own.  As in the open library they only set what the session's next PD is, and their handles are numbers that nothing can be called by. */
#ifndef HX_PD_NAMES_H
#define HX_PD_NAMES_H

#include "remote.h"

/* 1: the name begins with ITRANSPORT_PREFIX. */
int hx_is_pd_name(const char *name);

/* 1: the handle of such a name, to be closed without anybody's being asked. */
int hx_is_pd_handle(uint64_t h);

/* attachguestos: the next PD is the root PD; createstaticpd:NAME: a static PD (audiopd, oispd), the sensors PD (sensorspd) or the root PD
 * (rootpd, securepd); attachuserpd: one of its own again; geteventfd: *h is the descriptor of listener.h, whose listener is started if the
 * session has none.  AEE_EBADPARM: none of these; AEE_ERESOURCENOTFOUND: geteventfd without a session. */
int hx_pd_name_open(const char *name, unsigned index, remote_handle64 *h);

#endif
