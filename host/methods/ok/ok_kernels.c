/* The portable kernel and the choice among all, see ok_planes.h. */
#include "ok_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static inline __attribute__((always_inline)) void dots(int64_t *sum, const int32_t *w,
                                                       const int32_t *x, size_t stride, size_t n,
                                                       size_t n_x)
{
    for (size_t t = 0; t < n_x; t++) {
        uint64_t s = 0;

        for (size_t j = 0; j < n; j++)
            s += (uint64_t)((int64_t)w[j] * x[t * stride + j]);
        sum[t] = (int64_t)s;
    }
}

static void dot1(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride, size_t n)
{
    dots(sum, w, x, stride, n, 1);
}

static void dot4(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride, size_t n)
{
    dots(sum, w, x, stride, n, HX_OK_AT_ONCE);
}

static uint64_t times(int64_t x, int64_t y)
{
    return (uint64_t)x * (uint64_t)y;
}

static struct hx_ok dot_ok(const struct hx_ok *w, const struct hx_ok *x, size_t n)
{
    uint64_t ac = 0, bd = 0, ad = 0, bc = 0;

    for (size_t j = 0; j < n; j++) {
        ac += times(w[j].a, x[j].a);
        bd += times(w[j].b, x[j].b);
        ad += times(w[j].a, x[j].b);
        bc += times(w[j].b, x[j].a);
    }
    return hx_ok_of_sums(ac, bd, ad, bc);
}

static int always(void)
{
    return 1;
}

static const struct hx_ok_kernel scalar = {"scalar", always, dot1, dot4, dot_ok};

const struct hx_ok_kernel *const hx_ok_kernels[] = {
    &scalar,
#if defined(__x86_64__)
    &hx_ok_avx2, &hx_ok_avx512,
#endif
    NULL,
};

int hx_ok_kernel(const struct hx_ok_kernel **out, const char *name, struct hx_error *err)
{
    char usable[64] = "";

    *out = NULL;
    for (size_t i = 0; hx_ok_kernels[i]; i++) {
        const struct hx_ok_kernel *k = hx_ok_kernels[i];

        if (!k->usable())
            continue;
        if (!name || strcmp(k->name, name) == 0)
            *out = k;
        snprintf(usable + strlen(usable), sizeof(usable) - strlen(usable), "%s%s", i ? ", " : "",
                 k->name);
    }
    return *out ? 0
                : hx_error_set(err, -EINVAL, "unknown value '%.64s'; this CPU has %s", name, usable);
}
