/* Protects kernels/ok: the HVX kernel's 64-bit sums are the reference's bit for bit, for extreme numbers, however columns
 * and vectors are cut.  Through a rig: test_ok_rig.c. */
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "ok/ok_sums.h"

enum { ALIGN = 128, MAX_N = 9 };

/* A group of random weights, and vectors. */
struct group {
    size_t cols, planes, n;
    int32_t *w, *x;
    struct hx_ok_acc *want, *got;
};

static void fill(struct hxt_rng *rng, int32_t *v, size_t n, int extreme)
{
    static const int32_t edges[] = {INT32_MIN, INT32_MAX, -1, 0, 1, 0x8000, 0xffff, -0x8000};

    for (size_t i = 0; i < n; i++)
        v[i] = extreme ? edges[hxt_below(rng, HXT_LEN(edges))] : (int32_t)hxt_u32(rng);
}

static void group_alloc(struct group *g, size_t cols, size_t planes, size_t n, int extreme)
{
    const size_t weights = cols * planes * HX_OKW_ROWS;
    struct hxt_rng rng;

    hxt_rng_init(&rng, cols * 100 + planes * 10 + n);
    *g = (struct group){.cols = cols, .planes = planes, .n = n};
    g->w = hxt_guard_alloc(weights * sizeof(*g->w), ALIGN);
    g->x = hxt_guard_alloc(n * cols * sizeof(*g->x), 4);
    g->want = hxt_guard_alloc(n * planes * sizeof(*g->want), ALIGN);
    g->got = hxt_guard_alloc(n * planes * sizeof(*g->got), ALIGN);
    fill(&rng, g->w, weights, extreme);
    fill(&rng, g->x, n * cols, extreme);
    fill(&rng, (int32_t *)g->want, n * planes * 2 * HX_OKW_ROWS, 0); /* sums go on from what was there */
    memcpy(g->got, g->want, n * planes * sizeof(*g->got));
}

static void group_free(struct group *g)
{
    void *all[] = {g->w, g->x, g->want, g->got};

    for (size_t i = 0; i < HXT_LEN(all); i++)
        hxt_guard_free(all[i]);
}

static struct hx_ok_tile tile(const struct group *g, size_t first, size_t cols, struct hx_ok_acc *acc)
{
    return (struct hx_ok_tile){.w = (const uint8_t *)(g->w + first * g->planes * HX_OKW_ROWS),
                               .cols = cols, .planes = g->planes, .x = g->x + first,
                               .x_stride = g->cols, .n = g->n, .acc = acc};
}

static void compare(const struct group *g)
{
    assert_memory_equal(g->got, g->want, g->n * g->planes * sizeof(*g->got));
    hxt_guard_intact(g->got);
}

static void test_sums_are_the_references_bit_for_bit(void **state)
{
    static const size_t cols[] = {1, 2, 7, 64, 100};

    (void)state;
    for (size_t c = 0; c < HXT_LEN(cols); c++)
        for (size_t planes = 1; planes <= HX_OKW_PLANES; planes++)
            for (size_t n = 1; n <= MAX_N; n += 2)
                for (int extreme = 0; extreme < 2; extreme++) {
                    struct group g;

                    group_alloc(&g, cols[c], planes, n, extreme);
                    const struct hx_ok_tile want = tile(&g, 0, g.cols, g.want);
                    const struct hx_ok_tile got = tile(&g, 0, g.cols, g.got);

                    hx_ok_sums_ref(&want);
                    hx_ok_sums_hvx(&got);
                    compare(&g);
                    group_free(&g);
                }
}

static void test_columns_may_come_in_tiles(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 50; cut += 6) {
        struct group g;

        group_alloc(&g, 50, 2, 5, 1);
        const struct hx_ok_tile want = tile(&g, 0, 50, g.want);
        const struct hx_ok_tile first = tile(&g, 0, cut, g.got), rest = tile(&g, cut, 50 - cut, g.got);

        hx_ok_sums_ref(&want);
        hx_ok_sums_hvx(&first);
        hx_ok_sums_hvx(&rest);
        compare(&g);
        group_free(&g);
    }
}

static void test_stored_rows_are_int64_and_no_more(void **state)
{
    struct hx_ok_acc acc;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    hxt_fill_bytes(&rng, &acc, sizeof(acc));
    for (size_t rows = 1; rows <= HX_OKW_ROWS; rows++) {
        int64_t *want = hxt_guard_alloc(rows * sizeof(*want), 8);
        int64_t *got = hxt_guard_alloc(rows * sizeof(*got), 8);

        hx_ok_store_ref(want, &acc, rows);
        hx_ok_store_hvx(got, &acc, rows);
        assert_memory_equal(got, want, rows * sizeof(*got));
        assert_true(want[0] == (int64_t)((uint64_t)acc.high[0] << 32 | acc.low[0]));
        hxt_guard_intact(got);
        hxt_guard_free(want);
        hxt_guard_free(got);
    }
}

/* Two of 32 by 16 bits for each column. */
static void test_a_product_takes_two_hvx_multiplies(void **state)
{
    struct group g;

    (void)state;
    group_alloc(&g, 10, 1, 1, 0);
    const struct hx_ok_tile one = tile(&g, 0, 10, g.got);

    hx_hvx_reset();
    hx_ok_sums_hvx(&one);
    assert_int_equal(hx_hvx_counts.op[HX_SLOT_VX_DV], 20);
    group_free(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sums_are_the_references_bit_for_bit),
    cmocka_unit_test(test_columns_may_come_in_tiles),
    cmocka_unit_test(test_stored_rows_are_int64_and_no_more),
    cmocka_unit_test(test_a_product_takes_two_hvx_multiplies),
};

int main(void)
{
    return HXT_RUN(tests);
}
