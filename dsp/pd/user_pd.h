/* A user PD: the process that runs a client's skels. */
#ifndef HX_USER_PD_H
#define HX_USER_PD_H

#include "channel.h"

/* Serves `c` until the driver closes it; never returns.  Runs in a fresh child of the root PD. */
_Noreturn void hx_user_pd_main(struct hx_dsp_channel *c);

#endif
