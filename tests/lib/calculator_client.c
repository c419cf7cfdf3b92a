/* The calculator skel's stub, on the public headers alone. */
#include "calculator_client.h"

remote_handle64 open_calculator(const char *more)
{
    char uri[200];
    remote_handle64 h = 0;

    snprintf(uri, sizeof(uri), "%s%s", calculator_URI, more);
    assert_int_equal(remote_handle64_open(uri, &h), AEE_SUCCESS);
    return h;
}

/* CALC_SUM or CALC_MAX of n numbers; the result has out_bytes. */
static int calc_reduce(remote_handle64 h, uint32_t method, const int32_t *v, uint32_t n, void *out,
                       size_t out_bytes)
{
    remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {(void *)v, n * sizeof(*v)}},
                         {.buf = {out, out_bytes}}};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(method, 2, 1), pra);
}

int calc_sum(remote_handle64 h, const int32_t *v, uint32_t n, int64_t *s)
{
    return calc_reduce(h, CALC_SUM, v, n, s, sizeof(*s));
}

int calc_max(remote_handle64 h, const int32_t *v, uint32_t n, int32_t *m)
{
    return calc_reduce(h, CALC_MAX, v, n, m, sizeof(*m));
}

uint64_t calc_mapped(remote_handle64 h, int32_t fd)
{
    uint64_t at = 0;
    remote_arg pra[2] = {{.buf = {&fd, sizeof(fd)}}, {.buf = {&at, sizeof(at)}}};

    assert_int_equal(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(CALC_MAPPED, 1, 1), pra), 0);
    return at;
}

int calc_crash(remote_handle64 h)
{
    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(CALC_CRASH, 0, 0), NULL);
}

void expect_sum(remote_handle64 h, int32_t *v, uint32_t n)
{
    int64_t s = -1, want = 0;
    int32_t m = -1, top = INT32_MIN;

    for (uint32_t i = 0; i < n; i++) {
        v[i] = (int32_t)(i * 2654435761u);
        want += v[i];
        top = v[i] > top ? v[i] : top;
    }
    assert_int_equal(calc_sum(h, v, n, &s), AEE_SUCCESS);
    assert_int_equal(s, want);
    assert_int_equal(calc_max(h, v, n, &m), AEE_SUCCESS);
    assert_int_equal(m, top);
}
