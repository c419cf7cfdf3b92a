/* The client's mask for run-time messages, see logging.h. */
#include "logging.h"

#include <string.h>

#include "AEEStdErr.h"
#include "base/machine.h"
#include "HAP_debug.h"

enum { SET_PARAMS = 4, FILES_MAX = 16 };

/* A sequence of strings, on the wire: how many, behind the mask; their lengths, each with its 0; the strings. */
struct params_in {
    uint32_t mask; /* set_logging_params: 16 bits, and 16 that say nothing */
    uint32_t n_files;
};

/* String i, or NULL: it has no end where it should. */
static const char *string_at(const remote_arg *pra, const uint32_t *bytes, uint32_t i)
{
    const remote_buf *b = &pra[2 + i].buf;
    const char *s = b->pv;

    return bytes[i] && b->nLen == bytes[i] && memchr(s, '\0', b->nLen) == s + b->nLen - 1 ? s : NULL;
}

int hx_logging_set(uint32_t sc, const remote_arg *pra)
{
    const char *files[FILES_MAX];
    uint32_t bytes[FILES_MAX];
    struct params_in in;

    if (REMOTE_SCALARS_INBUFS(sc) < 2 || REMOTE_SCALARS_OUTBUFS(sc) || pra[0].buf.nLen != sizeof(in))
        return (int)AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    if (in.n_files > FILES_MAX || REMOTE_SCALARS_INBUFS(sc) != 2 + in.n_files || pra[1].buf.nLen != in.n_files * sizeof(*bytes))
        return (int)AEE_DSP(AEE_EBADPARM);
    if (in.n_files)
        memcpy(bytes, pra[1].buf.pv, in.n_files * sizeof(*bytes));
    for (uint32_t i = 0; i < in.n_files; i++) {
        files[i] = string_at(pra, bytes, i);
        if (!files[i])
            return (int)AEE_DSP(AEE_EBADPARM);
    }
    if (REMOTE_SCALARS_METHOD(sc) == SET_PARAMS)
        in.mask &= UINT16_MAX;
    return HAP_setFARFRuntimeLoggingParams(in.mask, files, (unsigned short)in.n_files) ? (int)AEE_DSP(AEE_EBADPARM) : AEE_SUCCESS;
}

int hx_logging_asid(uint32_t sc, const remote_arg *pra)
{
    const uint32_t asid = (uint32_t)hx_pd_client;

    if (sc != REMOTE_SCALARS_MAKE(REMOTE_SCALARS_METHOD(sc), 0, 1) || pra[0].buf.nLen != sizeof(asid))
        return (int)AEE_DSP(AEE_EBADPARM);
    memcpy(pra[0].buf.pv, &asid, sizeof(asid));
    return AEE_SUCCESS;
}
