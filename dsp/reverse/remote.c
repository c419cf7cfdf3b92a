/* remote_handle_*() as skels see them: handles of the host.  The host's apps_remotectl opens them by name. */
#pragma GCC visibility push(default)
#include "remote.h"
#pragma GCC visibility pop

#include <string.h>

#include "HAP_farf.h"
#include "host_calls.h"

/* Methods of apps_remotectl, and their values: those of remotectl. */
enum { HOST_OPEN = 0, HOST_CLOSE = 1, WHY_BYTES = 256 };

int remote_handle_open(const char *name, remote_handle *h)
{
    uint32_t in[2] = {0, WHY_BYTES}; /* lengths of name and why */
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, 0};
    char why[WHY_BYTES] = "";
    remote_arg pra[] = {{.buf = {in, sizeof(in)}}, {.buf = {(char *)name, 0}}, {.buf = {&out, sizeof(out)}},
                        {.buf = {why, sizeof(why)}}};
    int rc;

    if (!name || !h)
        return (int)AEE_DSP(AEE_EBADPARM);
    in[0] = (uint32_t)strlen(name) + 1;
    pra[1].buf.nLen = in[0];
    rc = hx_host_call(HX_HOST_REMOTECTL, REMOTE_SCALARS_MAKE(HOST_OPEN, 2, 2), pra);
    if (!rc)
        rc = out.error;
    why[WHY_BYTES - 1] = '\0';
    if (rc)
        FARF(HIGH, "host: open %s: 0x%x %s", name, (unsigned)rc, why);
    else
        *h = out.handle;
    return rc;
}

int remote_handle_invoke(remote_handle h, uint32_t sc, remote_arg *pra)
{
    return REMOTE_SCALARS_LENGTH(sc) && !pra ? (int)AEE_DSP(AEE_EBADPARM) : hx_host_call(h, sc, pra);
}

int remote_handle_close(remote_handle h)
{
    uint32_t in[2] = {h, WHY_BYTES};
    int32_t error = 0;
    char why[WHY_BYTES];
    remote_arg pra[] = {{.buf = {in, sizeof(in)}}, {.buf = {&error, sizeof(error)}}, {.buf = {why, sizeof(why)}}};
    int rc = hx_host_call(HX_HOST_REMOTECTL, REMOTE_SCALARS_MAKE(HOST_CLOSE, 1, 2), pra);

    return rc ? rc : error;
}
