/* Protects the figure slow_path_calls of the skels whose kernels read or write a client's vectors where they lie: of buffers that are not
 * aligned each of these accesses crosses a line of the cache.  Such a call gives the same, takes no less time on the modelled
 * DSP, and is counted once; one whose vectors scalar code reads is not. */
#include <stdlib.h>

#include "hex_linear.h"
#include "hx_ok_weights.h"
#include "hx_rig.h"
#include "hx_weights.h"
#include "ntt_kv.h"
#include "ok_linear.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"

enum { PAGE = 4096, BYTES = 1 << 20 };

/* rpcmem, with room for an offset. */
static uint8_t *weights, *in, *out;

static uint8_t *alloc(void)
{
    uint8_t *p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES + PAGE);

    assert_non_null(p);
    return p;
}

static int open_memory(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    weights = alloc();
    in = alloc();
    out = alloc();
    hxt_fill_bytes(&rng, weights, BYTES / 2);
    return 0;
}

static int close_memory(void **state)
{
    (void)state;
    rpcmem_free(weights);
    rpcmem_free(in);
    rpcmem_free(out);
    return 0;
}

/* After a handle is open, and before it is closed. */
static int map_weights(void)
{
    return fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, 0, BYTES, FASTRPC_MAP_FD);
}

static int unmap_weights(void)
{
    return fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, BYTES);
}

struct spent {
    uint64_t slow, exec_ns;
};

static struct spent spent(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return (struct spent){s.slow_path_calls, s.exec_ns};
}

/* A call whose input and output lie so many bytes behind a page's begin. */
typedef int call_fn(remote_handle64 h, const uint8_t *from, uint8_t *to);

struct method {
    const char *name;
    call_fn *call;
    size_t in_bytes, out_bytes;
    unsigned in_counts, out_counts; /* 1: HVX reads it, or writes it, where it lies */
};

static struct spent run(const struct method *m, remote_handle64 h, size_t in_at, size_t out_at, uint8_t *result)
{
    struct spent before, after;

    memset(in, 0, BYTES + PAGE);
    for (size_t i = 0; i < m->in_bytes; i++)
        in[in_at + i] = i % 4 ? 0 : (uint8_t)(i / 4); /* small integers, or floats next to 0 */
    memset(out, HXT_POISON, m->out_bytes + PAGE);
    before = spent();
    assert_int_equal(m->call(h, in + in_at, out + out_at), AEE_SUCCESS);
    after = spent();
    memcpy(result, out + out_at, m->out_bytes);
    hxt_untouched(out + out_at + m->out_bytes, 64);
    return (struct spent){after.slow - before.slow, after.exec_ns - before.exec_ns};
}

static void check(const struct method *m, remote_handle64 h)
{
    uint8_t *want = malloc(m->out_bytes + 1), *got = malloc(m->out_bytes + 1);
    struct spent aligned;

    assert_true(want && got);
    run(m, h, 0, 0, want); /* the first call finds the DSP cold */
    aligned = run(m, h, 0, 0, want);
    assert_int_equal(aligned.slow, 0);
    for (int is_out = 0; is_out < 2; is_out++) {
        const struct spent slow = run(m, h, is_out ? 0 : 8, is_out ? 8 : 0, got);

        if (slow.slow != (is_out ? m->out_counts : m->in_counts) || slow.exec_ns < aligned.exec_ns)
            fail_msg("%s, %s at 8: %llu slow paths, %llu ns, aligned %llu", m->name, is_out ? "output" : "input",
                     (unsigned long long)slow.slow, (unsigned long long)slow.exec_ns, (unsigned long long)aligned.exec_ns);
        hxt_same_bytes(got, want, m->out_bytes);
    }
    free(want);
    free(got);
}

/* --- matrices of int8 */

enum { ROWS = 256, COLS = 256, VECTORS = 8 };

static int apply(remote_handle64 h, const uint8_t *from, uint8_t *to)
{
    const hex_linear_how how = {HEX_LINEAR_DDR, 1};
    const uint32_t which = 0;
    hex_linear_cycles unused;

    return hex_linear_apply(h, &how, &which, 1, VECTORS, (const float *)from, VECTORS * COLS, (float *)to, VECTORS * ROWS, &unused);
}

static void test_matrices(void **state)
{
    const struct method m = {"apply", apply, VECTORS * COLS * 4, VECTORS * ROWS * 4, 0, 1};
    const hex_linear_matrix matrix = {HX_WEIGHTS_ROW8, ROWS, COLS, 0};
    remote_handle64 h;

    (void)state;
    assert_int_equal(hex_linear_open(hex_linear_URI CDSP_DOMAIN, &h), 0);
    assert_int_equal(map_weights(), 0);
    assert_int_equal(hex_linear_load(h, rpcmem_to_fd(weights), BYTES, &matrix, 1), 0);
    check(&m, h);
    assert_int_equal(hex_linear_load(h, -1, 0, NULL, 0), 0);
    assert_int_equal(unmap_weights(), 0);
    assert_int_equal(hex_linear_close(h), 0);
}

/* --- exact sums */

static int sums(remote_handle64 h, const uint8_t *from, uint8_t *to)
{
    const uint32_t which = 0;
    ok_linear_cycles unused;

    return ok_linear_sums(h, 1, &which, 1, VECTORS, (const int *)from, VECTORS * COLS, (int64_t *)to, VECTORS * ROWS, &unused);
}

static void test_sums(void **state)
{
    const struct method m = {"sums", sums, VECTORS * COLS * 4, VECTORS * ROWS * 8, 0, 1};
    const ok_linear_matrix matrix = {ROWS, COLS, 1, 0};
    remote_handle64 h;

    (void)state;
    assert_int_equal(ok_linear_open(ok_linear_URI CDSP_DOMAIN, &h), 0);
    assert_int_equal(map_weights(), 0);
    assert_int_equal(ok_linear_load(h, rpcmem_to_fd(weights), BYTES, &matrix, 1), 0);
    check(&m, h);
    assert_int_equal(ok_linear_load(h, -1, 0, NULL, 0), 0);
    assert_int_equal(unmap_weights(), 0);
    assert_int_equal(ok_linear_close(h), 0);
}

/* --- transforms */

enum { N = 256, POSITIONS = 32 };

static int put(remote_handle64 h, const uint8_t *from, uint8_t *to)
{
    ntt_kv_cycles unused;

    (void)to;
    return ntt_kv_put(h, 1, 0, 0, (const int *)from, POSITIONS * N, &unused);
}

static int past(remote_handle64 h, const uint8_t *from, uint8_t *to)
{
    ntt_kv_cycles unused;

    (void)from;
    return ntt_kv_past(h, 1, 0, POSITIONS, (unsigned *)to, POSITIONS * 2 * N, &unused);
}

static int scores(remote_handle64 h, const uint8_t *from, uint8_t *to)
{
    ntt_kv_cycles unused;

    return ntt_kv_scores(h, 1, 0, 0, POSITIONS, (const int *)from, 8 * N, (unsigned *)to, 2 * 8 * POSITIONS, &unused);
}

static void test_transforms(void **state)
{
    static const struct method m[] = {{"put", put, POSITIONS * N * 4, 0, 1, 0},
                                      {"past", past, 0, POSITIONS * 2 * N * 4, 0, 0},
                                      {"scores", scores, 8 * N * 4, 2 * 8 * POSITIONS * 4, 1, 0}};
    remote_handle64 h;

    (void)state;
    assert_int_equal(ntt_kv_open(ntt_kv_URI CDSP_DOMAIN, &h), 0);
    assert_int_equal(ntt_kv_cache(h, N, 1, POSITIONS, 1), 0);
    for (size_t i = 0; i < HXT_LEN(m); i++)
        check(&m[i], h);
    assert_int_equal(ntt_kv_close(h), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_memory, close_memory)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_matrices), CASE(test_sums), CASE(test_transforms)};

    own_rig_front_end = "socket";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
