/* A rig's time and messages as options, for `up`, `run-with` and the commands with an engine: --time, --host-us, --farf. */
#ifndef HX_RIG_TIME_H
#define HX_RIG_TIME_H

#include "cli/opt.h"

struct hx_rig_time { /* zeroed: nothing was given */
    const char *time;    /* virtual, real, off */
    const char *host_us;
    int farf;            /* --farf was given */
    char spec[96];       /* of the `cost` filter */
};

/* The options' rows in a table of argp's, in this group. */
#define HX_RIG_TIME_ROWS(group)                                                                                        \
    {"time", HX_OPT_TIME, "MODE", 0,                                                                                   \
     "virtual | real | off: nobody waits for the modelled time, calls really take it, or there is no model (virtual)", \
     group},                                                                                                           \
    {"host-us", HX_OPT_HOST_US, "N", 0, "modelled work of the host before each call, us (0)", group}
#define HX_RIG_FARF_ROW(group)                                                                                         \
    {"farf", HX_OPT_FARF, "LEVEL", OPTION_ARG_OPTIONAL,                                                                \
     "messages of DSP code, from LOW, MEDIUM, HIGH or ERROR on (HIGH)", group}

/* Takes HX_OPT_TIME, HX_OPT_HOST_US and HX_OPT_FARF; the last is for rigs that this process starts.  arg is borrowed.  0,
 * HX_EXIT_USAGE after a message, or HX_OPT_UNKNOWN. */
int hx_rig_time_option(struct hx_rig_time *t, const char *cmd, int key, const char *arg);

/* The filter that does it, in t->spec; NULL: neither --time nor --host-us was given. */
const char *hx_rig_time_filter(struct hx_rig_time *t);

#endif
