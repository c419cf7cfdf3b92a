/* Options about a rig's time and messages: a `cost` filter for the one, HEXRIG_FARF for the other. */
#include "rig_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HOST_US_MAX = 1000000000 };

static int set_mode(struct hx_rig_time *t, const char *cmd, const char *arg)
{
    static const char *const modes[] = {"virtual", "real", "off", NULL};

    t->time = arg;
    return hx_opt_name(cmd, "time", arg, modes, NULL);
}

static int set_host_us(struct hx_rig_time *t, const char *cmd, const char *arg)
{
    uint64_t us;

    t->host_us = arg;
    return hx_opt_u64(cmd, "host-us", arg, 0, HOST_US_MAX, &us);
}

static int set_farf(struct hx_rig_time *t, const char *cmd, const char *arg)
{
    static const char *const levels[] = {"LOW", "MEDIUM", "HIGH", "ERROR"};

    t->farf = 1;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcasecmp(arg ? arg : "HIGH", levels[i]) == 0) {
            setenv("HEXRIG_FARF", levels[i], 1);
            return 0;
        }
    return hx_cmd_bad_value(cmd, "farf", arg, "LOW, MEDIUM, HIGH, ERROR");
}

int hx_rig_time_option(struct hx_rig_time *t, const char *cmd, int key, const char *arg)
{
    switch (key) {
    case HX_OPT_TIME:
        return set_mode(t, cmd, arg);
    case HX_OPT_HOST_US:
        return set_host_us(t, cmd, arg);
    case HX_OPT_FARF:
        return set_farf(t, cmd, arg);
    default:
        return HX_OPT_UNKNOWN;
    }
}

const char *hx_rig_time_filter(struct hx_rig_time *t)
{
    if (!t->time && !t->host_us)
        return NULL;
    snprintf(t->spec, sizeof(t->spec), "cost:time=%s,host_us=%s", t->time ? t->time : "virtual",
             t->host_us ? t->host_us : "0");
    return t->spec;
}
