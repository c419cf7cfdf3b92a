/* Words failed DSP calls, see dsp_error.h. */
#include "dsp_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hx_aee.h"
#include "hx_rig.h"

/* The failures that users meet.  A code of the host's is the driver's view, one with the DSP's offset the skel's process's. */
static const struct {
    int code;
    enum hx_dsp_step step;
    const char *meaning;
} meanings[] = {
    {AEE_ERPC, HX_DSP_OPEN, "no fastrpc device, or all of its sessions are taken"},
    {AEE_ERPC, HX_DSP_CALL, "the rig went away, or its driver refused the call"},
    {AEE_EBADPARM, HX_DSP_OPEN, "the driver refused the skel's start: no fastrpc device?"},
    {AEE_EBADPERMS, HX_DSP_OPEN, "no fastrpc device, or not for this user"},
    {AEE_ENOSUCHDEVICE, HX_DSP_OPEN, "no fastrpc device"},
    {AEE_ENOSUCHDEVICE, HX_DSP_CALL, "the rig went away"},
    {AEE_ECONNREFUSED, HX_DSP_OPEN, "no rig serves there"},
    {AEE_ECONNREFUSED, HX_DSP_CALL, "the rig went away"},
    {AEE_ECONNRESET, HX_DSP_OPEN, "the DSP died or the rig went away"},
    {AEE_ECONNRESET, HX_DSP_CALL, "the DSP died or the rig went away"},
    {AEE_EEXPIRED, HX_DSP_OPEN, "the DSP did not answer in time"},
    {AEE_EEXPIRED, HX_DSP_CALL, "the DSP did not answer in time"},
    {(int)(AEE_ECPUEXCEPTION + AEE_DSP_OFFSET), HX_DSP_CALL, "the skel crashed"},
};

/* Value of `key=` in key=value lines; NULL when missing.  Not terminated: it ends with its line. */
static const char *value(const char *text, const char *key)
{
    const size_t n = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, n) == 0 && line[n] == '=')
            return line + n + 1;
    return NULL;
}

void hx_dsp_node(char *node, size_t node_bytes)
{
    const char *device = hx_rig_device();

    snprintf(node, node_bytes, "%s", device ? device : "?");
}

/* "all of its 14 sessions are taken" when the rig still answers and says so; 1 when it does. */
static int sessions_taken(char *text, size_t bytes)
{
    const char *used, *max;
    char *status = NULL;
    int full = 0;

    if (hx_rig_read(NULL, "status", &status))
        return 0;
    used = value(status, "sessions");
    max = value(status, "sessions_max");
    if (used && max && atoi(used) >= atoi(max)) {
        snprintf(text, bytes, "all of its %d sessions are taken", atoi(max));
        full = 1;
    }
    free(status);
    return full;
}

static const char *meaning(enum hx_dsp_step step, int code, char *buf, size_t buf_bytes)
{
    if (step == HX_DSP_OPEN && code == AEE_ERPC && sessions_taken(buf, buf_bytes))
        return buf;
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].code == code && meanings[i].step == step)
            return meanings[i].meaning;
    return NULL;
}

int hx_dsp_error(struct hx_error *err, enum hx_dsp_step step, const char *node, int code,
                 const char *fmt, ...)
{
    char what[256], name[80], buf[64];
    const char *means = meaning(step, code, buf, sizeof(buf));
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return hx_error_set(err, -EIO, "%s: %s, device %s%s%s", what,
                        hx_aee_text(code, name, sizeof(name)), node, means ? ": " : "",
                        means ? means : "");
}
