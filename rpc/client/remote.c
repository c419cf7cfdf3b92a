/* remote_handle64_*() and the process's mode: everything in remote.h that is neither control nor memory. */
#include "hx_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_domain_name.h"
#include "hx_handle32.h"
#include "hx_pd_names.h"
#include "hx_reverse.h"
#include "hx_session.h"
#include "listener.h"

/* Methods of remotectl1, the static handle that opens and closes skels. */
enum { CTL_OPEN1 = 2, CTL_CLOSE1 = 3 };

#define DLERR_BYTES 256

/* What the DSP says about a failed open or close goes to stderr when HEXRIG_LOG is set. */
static void log_dlerr(const char *what, int err, char *dlerr)
{
    char text[64];

    dlerr[DLERR_BYTES - 1] = '\0';
    if (getenv("HEXRIG_LOG"))
        fprintf(stderr, "libcdsprpc: %s: %s%s%s\n", what, hx_aee_text(err, text, sizeof(text)),
                *dlerr ? ": " : "", dlerr);
}

static int ctl_open(struct hx_client_session *s, const char *uri, uint32_t *dsp_handle)
{
    struct {
        uint32_t name_len; /* with NUL */
        uint32_t dlerr_len;
    } in = {(uint32_t)strlen(uri) + 1, DLERR_BYTES};
    struct {
        uint32_t handle;
        int32_t nErr;
    } out = {0, AEE_ERPC};
    char dlerr[DLERR_BYTES] = "";
    remote_arg pra[4] = {
        {.buf = {&in, sizeof(in)}},
        {.buf = {(void *)uri, in.name_len}},
        {.buf = {&out, sizeof(out)}},
        {.buf = {dlerr, sizeof(dlerr)}},
    };
    int rc = hx_invoke(s, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(CTL_OPEN1, 2, 2), pra);

    if (rc == AEE_SUCCESS)
        rc = out.nErr;
    if (rc && rc != HX_LISTEN_FIRST)
        log_dlerr(uri, rc, dlerr);
    *dsp_handle = out.handle;
    return rc;
}

/* A skel that calls its host is opened once that listens. */
static int open_skel(struct hx_client_session *s, const char *uri, uint32_t *dsp_handle)
{
    int rc = ctl_open(s, uri, dsp_handle);

    if (rc != HX_LISTEN_FIRST)
        return rc;
    rc = hx_listener_start(s);
    return rc ? rc : ctl_open(s, uri, dsp_handle);
}

/* *dsp_said: the result is the DSP's or the skel's own, and the connection works. */
static int ctl_close(struct hx_client_session *s, uint32_t dsp_handle, int *dsp_said)
{
    struct {
        uint32_t handle;
        uint32_t dlerr_len;
    } in = {dsp_handle, DLERR_BYTES};
    int32_t nErr = AEE_ERPC;
    char dlerr[DLERR_BYTES] = "";
    remote_arg pra[3] = {
        {.buf = {&in, sizeof(in)}},
        {.buf = {&nErr, sizeof(nErr)}},
        {.buf = {dlerr, sizeof(dlerr)}},
    };
    int rc = hx_invoke(s, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(CTL_CLOSE1, 1, 2), pra);

    *dsp_said = rc == AEE_SUCCESS;
    if (rc == AEE_SUCCESS)
        rc = nErr;
    if (rc)
        log_dlerr("close", rc, dlerr);
    return rc;
}

/* Value of `&key=` in the URI's query, *len = 0 when it is not there.  Names of hx_pd_names.h have no question mark. */
static const char *query(const char *uri, const char *key, size_t *len)
{
    const char *p = strpbrk(uri, "?&");
    size_t n = strlen(key);

    *len = 0;
    while (p) {
        p++;
        if (strncmp(p, key, n) == 0 && p[n] == '=') {
            *len = strcspn(p + n + 1, "&");
            return p + n + 1;
        }
        p = strchr(p, '&');
    }
    return NULL;
}

/* Session that the URI asks for. */
static int check_uri(const char *uri, unsigned *index)
{
    size_t len;
    const char *v = query(uri, "_dom", &len);
    int rc = v ? hx_domain_name(v, len) : AEE_SUCCESS;

    if (rc)
        return rc == AEE_EBADDOMAIN ? AEE_ECONNREFUSED : rc; /* who opens a DSP that is not there has no device */
    *index = 0;
    v = query(uri, "_session", &len);
    if (!v)
        return AEE_SUCCESS;
    if (len != 1 || *v < '0' || *v >= (char)('0' + HX_SESSIONS))
        return AEE_EBADPARM;
    *index = (unsigned)(*v - '0');
    return AEE_SUCCESS;
}

int hx_handle_open(const char *uri, remote_handle64 *h)
{
    struct hx_client_session *s;
    uint32_t dsp_handle;
    uint64_t handle;
    unsigned index;
    int rc, dsp_said;

    if (!uri || !h)
        return AEE_EBADPARM;
    rc = check_uri(uri, &index);
    if (rc)
        return rc;
    if (hx_is_pd_name(uri))
        return hx_pd_name_open(uri, index, h);
    rc = hx_session_get_new(index, &s);
    if (rc)
        return rc;
    rc = open_skel(s, uri, &dsp_handle);
    if (rc == AEE_SUCCESS) {
        rc = hx_session_add_handle(s, dsp_handle, &handle);
        if (rc)
            ctl_close(s, dsp_handle, &dsp_said);
        else
            *h = handle;
    }
    hx_session_put(s);
    return rc;
}

/* Who uses 64-bit handles says which DSP it means. */
int remote_handle64_open(const char *uri, remote_handle64 *h)
{
    size_t len;

    return uri && !query(uri, "_dom", &len) ? AEE_EBADPARM : hx_handle_open(uri, h);
}

int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    uint32_t dsp_handle;
    struct hx_client_session *s = hx_session_get_handle(h, &dsp_handle);
    int rc, serial;

    if (!s)
        return AEE_EINVHANDLE;
    serial = hx_session_serial_begin();
    rc = hx_invoke(s, dsp_handle, sc, pra);
    hx_session_serial_end(serial);
    hx_session_put(s);
    return rc;
}

int remote_handle64_close(remote_handle64 h)
{
    struct hx_client_session *s;
    uint32_t dsp_handle;
    int rc, dsp_said;

    if (hx_is_pd_handle(h))
        return AEE_SUCCESS;
    s = hx_session_get_handle(h, &dsp_handle);
    if (!s)
        return AEE_EINVHANDLE;
    rc = ctl_close(s, dsp_handle, &dsp_said);
    /* A handle in use stays open.  In all other cases the DSP has forgotten it, whatever the skel said, or the PD is gone:
     * it has to be forgotten here too, or the file would never be closed. */
    if (!dsp_said || rc != (int)AEE_DSP(AEE_EITEMBUSY))
        hx_session_del_handle(s, dsp_handle);
    hx_session_put(s);
    return !dsp_said && rc == (int)AEE_DSP(AEE_ECPUEXCEPTION) ? AEE_SUCCESS : rc; /* there is nothing left to be closed */
}

/* As in the open library, any other mode is as good as parallel. */
int remote_set_mode(uint32_t mode)
{
    hx_session_set_serial(mode == REMOTE_MODE_SERIAL);
    return AEE_SUCCESS;
}
