/* What the commands share: their messages, and the rig. */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hx_rig.h"

int hx_cmd_bad_value(const char *cmd, const char *option, const char *value, const char *legal)
{
    fprintf(stderr, "hexrig %s: --%s: unknown value '%s'; legal: %s\n", cmd, option, value, legal);
    return HX_EXIT_USAGE;
}

int hx_cmd_usage(const char *cmd, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "hexrig %s: ", cmd);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; see hexrig %s --help\n", cmd);
    return HX_EXIT_USAGE;
}

int hx_cmd_refused(const char *cmd, int rc, const char *why)
{
    return rc == -ENOMEM ? hx_cmd_fail(cmd, "%s", why) : hx_cmd_usage(cmd, "%s", why);
}

int hx_cmd_fail(const char *cmd, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "hexrig %s: ", cmd);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return HX_EXIT_FAILED;
}

int hx_cmd_connect(const char *cmd)
{
    char err[1280] = "";
    int rc = hx_rig_connect(err, sizeof(err));

    if (rc == -EINVAL)
        return hx_cmd_usage(cmd, "%s", err);
    return rc ? hx_cmd_fail(cmd, "%s", err) : HX_EXIT_OK;
}
