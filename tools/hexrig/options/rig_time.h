/* Options about a rig's time and messages, for `up` and the commands with an engine: --time, --host-us and --farf. */
#ifndef HX_RIG_TIME_H
#define HX_RIG_TIME_H

struct hx_rig_time { /* zeroed: nothing was given */
    const char *time;    /* virtual, real, off */
    const char *host_us;
    char spec[96];       /* of the `cost` filter */
};

/* --time, --host-us: 0, or HX_EXIT_USAGE after a message.  arg is borrowed. */
int hx_rig_time_mode(struct hx_rig_time *t, const char *cmd, const char *arg);
int hx_rig_time_host(struct hx_rig_time *t, const char *cmd, const char *arg);

/* The filter that does it, in t->spec; NULL: no option was given. */
const char *hx_rig_time_filter(struct hx_rig_time *t);

/* --farf[=LEVEL]: messages of the DSP from LEVEL (NULL: HIGH) on, for rigs that this process starts.  0, or HX_EXIT_USAGE after a
 * message. */
int hx_rig_farf(const char *cmd, const char *arg);

#define HX_RIG_TIME_HELP                                                                           \
    "      --time MODE          virtual | real | off: nobody waits for the modelled time, calls\n"   \
    "                           really take it, or there is no model (virtual)\n"                   \
    "      --host-us N          modelled work of the host before each call, us (0)\n"               \
    "      --farf[=LEVEL]       messages of DSP code, from LOW, MEDIUM, HIGH, ERROR on (HIGH)\n"

#endif
