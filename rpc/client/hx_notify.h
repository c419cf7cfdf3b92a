/* Status notifications (FASTRPC_REGISTER_STATUS_NOTIFICATIONS).  Thread-safe. */
#ifndef HX_NOTIFY_H
#define HX_NOTIFY_H

#include "remote.h"

/* From now on n's function is called about session `index`; several may be registered.  AEE_SUCCESS or AEE_ENOMEMORY. */
int hx_notify_register(unsigned index, const struct remote_rpc_notif_register *n);

/* Something happened to session `index`: all that are registered are called from the library's own thread, in order. */
void hx_notify(unsigned index, remote_rpc_status_flags_t status);

#endif
