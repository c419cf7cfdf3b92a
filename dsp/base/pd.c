/* Which PD this process is: a file of its own, because the log needs it and the machine needs the log. */
#include "machine.h"

int32_t hx_pd_client;
