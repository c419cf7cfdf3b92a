/* What a user PD offers behind static handles: opening skels, the client's long poll, exit, the kernel's own calls. */
#ifndef HX_SERVICES_H
#define HX_SERVICES_H

#include "invoke.h"

extern const struct hx_static_service hx_user_services[];
extern const size_t hx_n_user_services;

#endif
