/* HMX: what tiles are multiplied to, who may use it, and what it takes.  That V69 refuses is test_reader_rig.c's. */
#include "qurt_threads.h"

#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_power.h"
#include "hexrig_asm.h"
#include "base/machine.h"
#include "machine/hmx_tile.h"

enum { SIDE = HX_HMX_SIDE, HALVES = SIDE * SIDE, TILE_PCYCLES = 15, ONE = 0x3c00, MAX_TILES = 32, HANDOFF = 100 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 6,
    .arch = 73,
    .hmx = 1,
    .cost = {.packet_pcycles = 1, .hvx_pcycles = 1, .handoff_pcycles = HANDOFF, .dma_bytes_per_pcycle = 8,
             .hmx_tile_pcycles = TILE_PCYCLES},
};

static int setup(void **state)
{
    (void)state;
    return hx_machine ? 0 : hx_machine_init(&profile);
}

static unsigned at(unsigned row, unsigned column)
{
    return row / 2 * 64 + column * 2 + row % 2;
}

/* Halves of a few bits, whose sums are exact. */
static double value_of(unsigned row, unsigned column)
{
    return (double)((int)(row * 7 + column * 13) % 31 - 15);
}

/* -31 to 31 as a half. */
static uint16_t small_half(int v)
{
    unsigned m = (unsigned)abs(v), e = 0;

    if (!m)
        return 0;
    while (m >> (e + 1))
        e++;
    return (uint16_t)((v < 0 ? 0x8000u : 0) | (e + 15) << 10 | (m << (10 - e) & 0x3ff));
}

static void fill(uint16_t *tile, double (*value)(unsigned, unsigned))
{
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned c = 0; c < SIDE; c++)
            tile[at(r, c)] = small_half((int)value(r, c));
}

static double identity(unsigned row, unsigned column)
{
    return row == column;
}

static void plain_table(uint32_t *table)
{
    for (unsigned c = 0; c < HX_HMX_TABLE_WORDS; c++)
        table[c] = ONE;
}

static void test_a_product_is_that_of_rows_and_columns(void **state)
{
    static uint16_t a[HALVES], w[HALVES];
    static hx_hmx_sums sums;

    (void)state;
    memset(sums, 0, sizeof(sums));
    fill(a, value_of);
    for (unsigned k = 0; k < SIDE; k++)
        for (unsigned c = 0; c < SIDE; c++)
            w[at(k, c)] = small_half((int)value_of(c * 3, k));
    hx_hmx_multiply(sums, a, w);
    hx_hmx_multiply(sums, a, w);
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned c = 0; c < SIDE; c++) {
            double want = 0;

            for (unsigned k = 0; k < SIDE; k++)
                want += value_of(r, k) * value_of(c * 3, k);
            assert_true(sums[r][c] == 2 * want);
        }
}

/* Each half times 1 is itself. */
static void test_all_halves_come_back(void **state)
{
    static uint16_t eye[HALVES], w[HALVES], out[HALVES];
    static hx_hmx_sums sums;
    uint32_t table[HX_HMX_TABLE_WORDS];

    (void)state;
    plain_table(table);
    fill(eye, identity);
    for (unsigned first = 0; first < 0x10000; first += HALVES) {
        unsigned i;

        for (i = 0; i < HALVES; i++)
            w[i] = (uint16_t)(first + i);
        memset(sums, 0, sizeof(sums));
        hx_hmx_multiply(sums, eye, w);
        hx_hmx_convert(out, (const double(*)[SIDE])sums, table);
        for (i = 0; i < HALVES; i++)
            assert_int_equal(out[i], w[i] == 0x8000 ? 0 : w[i]); /* 0 - 0 is 0 */
    }
}

static uint16_t converted(double sum, uint32_t word)
{
    static uint16_t out[HALVES];
    static hx_hmx_sums sums;
    uint32_t table[HX_HMX_TABLE_WORDS] = {0};

    memset(sums, 0, sizeof(sums));
    sums[5][3] = sum;
    table[3] = word;
    hx_hmx_convert(out, (const double(*)[SIDE])sums, table);
    return out[at(5, 3)];
}

static void test_sums_are_scaled_biased_and_rounded_once(void **state)
{
    static const struct {
        double sum;
        uint32_t word;
        uint16_t want;
    } cases[] = {
        {2049, ONE, 0x6800},           /* a tie, to even */
        {2051, ONE, 0x6802},           /* likewise */
        {2049 + 0x1p-20, ONE, 0x6801}, /* no tie */
        {65519, ONE, 0x7bff},   {65520, ONE, 0x7c00},       {100000, ONE, 0x7e1a}, /* the largest exponent is one as any other */
        {131007, ONE, 0x7fff},  {131040, ONE, 0x7fff},      {-1e9, ONE, 0xffff},   /* up to the largest half */
        {0x1p-24, ONE, 1},      {0x1p-25, ONE, 0},          {0x3p-25, ONE, 2},
        {1023.6 * 0x1p-24, ONE, 0x400}, /* up to the least normal one */
        {3, 0x4000, 0x4600},            /* x 2 */
        {3, 0x3c00u << 16 | ONE, 0x4400},
        {3, 0x3c00u << 16, ONE}, /* a scale of 0: the bias alone */
        {3, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        assert_int_equal(converted(cases[i].sum, cases[i].word), cases[i].want);
}

/* A skel may leave rows of a tile as they were, and multiply them by 0: what IEEE would read as infinite or no number must not reach
 * the other rows.  llama.cpp's FLASH_ATTN_EXT does. */
static void test_zero_times_any_half_is_zero(void **state)
{
    static uint16_t eye[HALVES], w[HALVES], out[HALVES];
    static hx_hmx_sums sums;
    uint32_t table[HX_HMX_TABLE_WORDS];

    (void)state;
    plain_table(table);
    fill(eye, identity);
    fill(w, value_of);
    for (unsigned c = 0; c < SIDE; c++)
        w[at(SIDE - 1, c)] = (uint16_t)(0x7c00 + c * 33 + (c & 1) * 0x8000);
    memset(sums, 0, sizeof(sums));
    hx_hmx_multiply(sums, eye, w);
    hx_hmx_convert(out, (const double(*)[SIDE])sums, table);
    assert_memory_equal(out, w, sizeof(w));
}

/* --- a thread's way to it */

static int power_context;

static void power(int up)
{
    HAP_power_request_t p = {.type = HAP_power_set_HMX, .hmx = {.power_up = up != 0}};

    assert_int_equal(HAP_power_set(&power_context, &p), AEE_SUCCESS);
}

static unsigned acquire(int hmx, unsigned vtcm_bytes, void **vtcm)
{
    compute_res_attr_t a;
    unsigned id;

    assert_int_equal(HAP_compute_res_attr_init(&a), 0);
    assert_int_equal(HAP_compute_res_attr_set_hmx_param(&a, hmx != 0), 0);
    assert_int_equal(HAP_compute_res_attr_set_vtcm_param(&a, vtcm_bytes, 1), 0);
    id = HAP_compute_res_acquire(&a, 10000);
    assert_int_not_equal(id, 0);
    *vtcm = HAP_compute_res_attr_get_vtcm_ptr(&a);
    return id;
}

static void test_deep_loads_take_a_product_s_time_per_tile(void **state)
{
    enum { A = 0, W = MAX_TILES * HX_HMX_TILE_BYTES, OUT = 2 * W, TABLE = OUT + HX_HMX_TILE_BYTES };
    uint8_t *vtcm;
    uint64_t start;
    unsigned id;
    void *p;

    (void)state;
    begin();
    power(1);
    id = acquire(1, 256 << 10, &p);
    vtcm = p;
    assert_int_equal(HAP_compute_res_hmx_lock(id), 0);
    for (unsigned t = 0; t < MAX_TILES; t++) {
        fill((uint16_t *)(vtcm + A) + t * HALVES, identity);
        fill((uint16_t *)(vtcm + W) + t * HALVES, value_of);
    }
    plain_table((uint32_t *)(vtcm + TABLE));
    start = hx_vt_now();
    hexrig_asm_hmx_bias(vtcm + TABLE);
    hexrig_asm_hmx_clear();
    hexrig_asm_hmx_multiply(vtcm + A, MAX_TILES * HX_HMX_TILE_BYTES - 1, 1, vtcm + W, MAX_TILES * HX_HMX_TILE_BYTES - 1);
    hexrig_asm_hmx_multiply(vtcm + A, HX_HMX_TILE_BYTES - 1, 0, vtcm + W, HX_HMX_TILE_BYTES - 1);
    hexrig_asm_hmx_store(vtcm + OUT + 1024, 0); /* the lower bits of the address do not count */
    assert_int_equal(hx_vt_now() - start, 3 + (MAX_TILES + 1) * TILE_PCYCLES);
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned c = 0; c < SIDE; c++)
            assert_int_equal(((uint16_t *)(vtcm + OUT))[at(r, c)], small_half((int)value_of(r, c)) == 0
                                                                        ? 0
                                                                        : converted((MAX_TILES + 1) * value_of(r, c), ONE));
    hexrig_asm_hmx_store(vtcm + OUT, 0); /* the accumulator is 0 now */
    assert_int_equal(((uint16_t *)(vtcm + OUT))[at(3, 4)], 0);
    assert_int_equal(HAP_compute_res_hmx_unlock(id), 0);
    assert_int_equal(HAP_compute_res_release(id), 0);
    power(0);
    hx_vt_call_end();
}

static void test_the_lock_needs_a_context_with_hmx_and_is_one_thread_s(void **state)
{
    unsigned with, without;
    void *p;

    (void)state;
    begin();
    with = acquire(1, 256 << 10, &p);
    without = acquire(0, 256 << 10, &p);
    assert_int_equal(HAP_compute_res_hmx_lock(without), AEE_EBADPARM);
    assert_int_equal(HAP_compute_res_hmx_lock(12345), AEE_EBADPARM);
    assert_int_equal(HAP_compute_res_hmx_unlock(with), AEE_EBADSTATE);
    assert_int_equal(HAP_compute_res_hmx_lock2(with, HAP_COMPUTE_RES_HMX_SHARED), (int)HAP_COMPUTE_RES_NOT_SUPPORTED);
    assert_int_equal(HAP_compute_res_hmx_lock2(with, HAP_COMPUTE_RES_HMX_NON_SHARED), 0);
    assert_int_equal(HAP_compute_res_hmx_lock(with), AEE_EALREADY);
    assert_int_equal(HAP_compute_res_hmx_unlock2(with, HAP_COMPUTE_RES_HMX_NON_SHARED), 0);
    assert_int_equal(HAP_compute_res_release(with), 0);
    assert_int_equal(HAP_compute_res_release(without), 0);
    hx_vt_call_end();
}

static unsigned shared_context;
static uint64_t second_began;

static void take_after(void *arg)
{
    (void)arg;
    work(10);
    assert_int_equal(HAP_compute_res_hmx_lock(shared_context), 0);
    second_began = hx_vt_now();
    assert_int_equal(HAP_compute_res_hmx_unlock(shared_context), 0);
}

static void test_a_second_thread_waits_for_it(void **state)
{
    const uint64_t began = begin();
    qurt_thread_t id;
    void *p;

    (void)state;
    shared_context = acquire(1, 256 << 10, &p);
    assert_int_equal(HAP_compute_res_hmx_lock(shared_context), 0);
    id = start(0, take_after, NULL);
    work(5000);
    assert_int_equal(HAP_compute_res_hmx_unlock(shared_context), 0);
    join(id);
    assert_int_equal(second_began - began, 5000);
    assert_int_equal(HAP_compute_res_release(shared_context), 0);
    hx_vt_call_end();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_product_is_that_of_rows_and_columns),
        cmocka_unit_test(test_all_halves_come_back),
        cmocka_unit_test(test_sums_are_scaled_biased_and_rounded_once),
        cmocka_unit_test(test_zero_times_any_half_is_zero),
        cmocka_unit_test(test_deep_loads_take_a_product_s_time_per_tile),
        cmocka_unit_test(test_the_lock_needs_a_context_with_hmx_and_is_one_thread_s),
        cmocka_unit_test(test_a_second_thread_waits_for_it),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
