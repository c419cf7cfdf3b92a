/* The root PD: creates and ends user PDs, answers the kernel's own calls. */
#ifndef HX_ROOT_PD_H
#define HX_ROOT_PD_H

#include "channel.h"

/* Serves `c` until the driver closes it, then ends every user PD and returns 0, or 1 after a protocol error. */
int hx_root_pd_main(struct hx_dsp_channel *c);

#endif
