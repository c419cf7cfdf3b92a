/* Elements of the ring for tests: random ones, and products that must fit. */
#ifndef OK_RING_H
#define OK_RING_H

#include "hxt.h"
#include "methods/ok/ok.h"

#define ASSERT_OK(x, want_a, want_b)                                                               \
    do {                                                                                           \
        assert_int_equal((x).a, want_a);                                                           \
        assert_int_equal((x).b, want_b);                                                           \
    } while (0)

static inline int64_t within(struct hxt_rng *rng, int64_t top)
{
    return (int64_t)hxt_below(rng, 2 * (uint64_t)top + 1) - top;
}

static inline struct hx_ok element(struct hxt_rng *rng, int64_t top)
{
    return (struct hx_ok){within(rng, top), within(rng, top)};
}

static inline struct hx_ok mul(struct hx_ok x, struct hx_ok y)
{
    struct hx_ok p = {0, 0};

    assert_int_equal(hx_ok_mul(&p, x, y), 0);
    return p;
}

#endif
