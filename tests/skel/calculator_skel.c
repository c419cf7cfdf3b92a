/* The calculator skel, see calculator.h. */
#include "calculator.h"

#include <string.h>
#include <time.h>

#include "HAP_mmap.h"
#include "hexrig_uncosted.h"
#include "remote.h"

HX_UNCOSTED("what a test calls, not a kernel");

static int sequence_ok(const remote_arg *pra, size_t out_bytes)
{
    uint32_t n;

    if (pra[0].buf.nLen != sizeof(n))
        return 0;
    memcpy(&n, pra[0].buf.pv, sizeof(n));
    return pra[1].buf.nLen == (uint64_t)n * sizeof(int32_t) && pra[2].buf.nLen == out_bytes;
}

static int sum(const remote_arg *pra)
{
    const int32_t *v = pra[1].buf.pv;
    int64_t s = 0;

    if (!sequence_ok(pra, sizeof(s)))
        return AEE_EBADPARM;
    for (size_t i = 0; i < pra[1].buf.nLen / sizeof(*v); i++)
        s += v[i];
    memcpy(pra[2].buf.pv, &s, sizeof(s));
    return AEE_SUCCESS;
}

static int max(const remote_arg *pra)
{
    const int32_t *v = pra[1].buf.pv;
    int32_t m = INT32_MIN;

    if (!sequence_ok(pra, sizeof(m)) || pra[1].buf.nLen == 0)
        return AEE_EBADPARM;
    for (size_t i = 0; i < pra[1].buf.nLen / sizeof(*v); i++)
        if (v[i] > m)
            m = v[i];
    memcpy(pra[2].buf.pv, &m, sizeof(m));
    return AEE_SUCCESS;
}

static int sleep_ms(const remote_arg *pra)
{
    struct timespec t = {0};
    int32_t ms;

    memcpy(&ms, pra[0].buf.pv, sizeof(ms));
    t.tv_nsec = ms * 1000000L;
    nanosleep(&t, NULL);
    return AEE_SUCCESS;
}

static int mapped(const remote_arg *pra)
{
    void *va = NULL;
    uint64_t at;
    int32_t fd;

    memcpy(&fd, pra[0].buf.pv, sizeof(fd));
    if (HAP_mmap_get(fd, &va, NULL) == AEE_SUCCESS)
        HAP_mmap_put(fd);
    at = (uintptr_t)va;
    memcpy(pra[1].buf.pv, &at, sizeof(at));
    return AEE_SUCCESS;
}

__attribute__((visibility("default"))) int
calculator_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    static int opened;

    (void)h;
    switch (sc) {
    case REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1):
        pra[2].h64 = (remote_handle64)++opened;
        return AEE_SUCCESS;
    case REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0):
        return AEE_SUCCESS;
    case REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1):
        return sum(pra);
    case REMOTE_SCALARS_MAKE(CALC_MAX, 2, 1):
        return max(pra);
    case REMOTE_SCALARS_MAKE(CALC_SLEEP_MS, 1, 0):
        return sleep_ms(pra);
    case REMOTE_SCALARS_MAKE(CALC_CRASH, 0, 0):
        __builtin_trap();
    case REMOTE_SCALARS_MAKE(CALC_MAPPED, 1, 1):
        return mapped(pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}
