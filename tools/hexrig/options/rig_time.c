/* Options about a rig's time and messages, see rig_time.h. */
#include "rig_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/opt.h"

enum { HOST_US_MAX = 1000000000 };

int hx_rig_time_mode(struct hx_rig_time *t, const char *cmd, const char *arg)
{
    static const char *const modes[] = {"virtual", "real", "off"};

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(arg, modes[i]) == 0) {
            t->time = modes[i];
            return 0;
        }
    return hx_cmd_bad_value(cmd, "time", arg, "virtual, real, off");
}

int hx_rig_time_host(struct hx_rig_time *t, const char *cmd, const char *arg)
{
    uint64_t us;
    int rc = hx_opt_u64(cmd, "host-us", arg, 0, HOST_US_MAX, &us);

    if (!rc)
        t->host_us = arg;
    return rc;
}

const char *hx_rig_time_filter(struct hx_rig_time *t)
{
    if (!t->time && !t->host_us)
        return NULL;
    snprintf(t->spec, sizeof(t->spec), "cost:time=%s,host_us=%s", t->time ? t->time : "virtual",
             t->host_us ? t->host_us : "0");
    return t->spec;
}

int hx_rig_farf(const char *cmd, const char *arg)
{
    static const char *const levels[] = {"LOW", "MEDIUM", "HIGH", "ERROR"};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcasecmp(arg ? arg : "HIGH", levels[i]) == 0) {
            setenv("HEXRIG_FARF", levels[i], 1);
            return 0;
        }
    return hx_cmd_bad_value(cmd, "farf", arg, "LOW, MEDIUM, HIGH, ERROR");
}
