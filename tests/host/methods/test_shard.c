/* Protects: work in two processes, one prime each.  A swap brings every word whatever its size, what goes wrong in one process is
 * said in the other, and no score, key or perplexity changes by a bit. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "methods/ntt/attn_poly.h"
#include "e2e.h"
#include "golden.h"
#include "methods/ntt/kv_ntt.h"
#include "methods/ntt/ring/crt.h"
#include "methods/ntt/shard/shard.h"

/* --- the transforms of one prime */

static void test_one_prime_is_half_of_a_block(void **state)
{
    _Alignas(64) uint32_t block[2 * HX_POLY_N_MAX], other[2 * HX_POLY_N_MAX], half[HX_POLY_N_MAX];
    _Alignas(64) uint32_t half_query[HX_POLY_N_MAX];
    uint32_t sums[HX_CRT_PRIMES], sum;
    int32_t a[HX_POLY_N_MAX];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    for (size_t v = 0; hx_crt_variants[v]; v++) {
        const struct hx_crt_ops *ops = hx_crt_variants[v];

        for (size_t n = HX_POLY_N_MIN; ops->supported() && n <= HX_POLY_N_MAX; n *= 2)
            for (int prime = 0; prime < HX_CRT_PRIMES; prime++) {
                const struct hx_crt *t = hx_crt_get(n);

                for (size_t i = 0; i < n; i++)
                    a[i] = (int32_t)hxt_u64(&rng);
                ops->transform(t, block, a);
                hx_crt_query(t, other, a);
                ops->transform_one(t, prime, half, a);
                hx_crt_query_one(t, prime, half_query, a);
                assert_memory_equal(half, block + (size_t)prime * n, n * sizeof(*half));
                assert_memory_equal(half_query, other + (size_t)prime * n, n * sizeof(*half));
                ops->dots(t, sums, other, block, 0, 1);
                ops->dots_one(t, prime, &sum, half_query, half, 0, 1);
                assert_int_equal(sum, sums[prime]);
                ops->inverse(t, block);
                ops->inverse_one(t, prime, half);
                assert_memory_equal(half, block + (size_t)prime * n, n * sizeof(*half));
            }
    }
}

/* --- two processes */

/* Both go on from here; process 1 must end in end(). */
static struct hx_shard *begin(void)
{
    struct hx_shard *s = NULL;
    struct hx_error err;

    fflush(NULL);
    if (hx_shard_open(&s, "", &err))
        fail_msg("%s", err.text);
    assert_string_equal(hx_shard_transport(s), "fork");
    return s;
}

/* ok: what this process saw was right.  Returns that of both. */
static int end(struct hx_shard *s, int ok)
{
    const int prime = hx_shard_prime(s);

    ok &= !hx_shard_close(s, !ok);
    if (prime)
        _exit(ok ? 0 : 1);
    return ok;
}

static uint32_t word(int prime, size_t n, size_t i)
{
    return (uint32_t)((i + n) * 2654435761u) ^ (prime ? 0xffffffffu : 0);
}

static int swap_once(struct hx_shard *s, size_t n)
{
    uint32_t *mine = calloc(n + 1, sizeof(*mine)), *theirs = calloc(n + 1, sizeof(*theirs));
    const int prime = hx_shard_prime(s);
    struct hx_error err = {""};
    int ok;

    for (size_t i = 0; i < n; i++)
        mine[i] = word(prime, n, i);
    ok = hx_shard_swap(s, n, mine, theirs, n, &err) == 0;
    for (size_t i = 0; i < n; i++)
        ok &= theirs[i] == word(1 - prime, n, i);
    ok &= theirs[n] == 0;
    free(mine);
    free(theirs);
    return ok;
}

static void test_every_word_arrives(void **state)
{
    static const size_t sizes[] = {1, 0, 2, 1000, 1 << 22, 3, 0, 77777};
    struct hx_shard *s = begin();
    uint64_t words = 0;
    int ok = 1;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        ok &= swap_once(s, sizes[i]);
        words += sizes[i];
    }
    ok &= hx_shard_words(s) == words;
    assert_true(end(s, ok));
}

static void test_a_killed_process_is_named(void **state)
{
    struct hx_shard *s = begin();
    uint32_t *words = calloc(1 << 20, 2 * sizeof(*words));
    struct hx_error err = {""};
    int rc;

    (void)state;
    if (hx_shard_prime(s)) {
        swap_once(s, 5);
        raise(SIGKILL);
    }
    assert_true(swap_once(s, 5));
    rc = hx_shard_swap(s, 0, words, words + (1 << 20), 1 << 20, &err);
    assert_int_equal(rc, -EPIPE);
    assert_non_null(strstr(err.text, "q2 has gone (signal 9)"));
    assert_int_equal(hx_shard_close(s, 1), 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    free(words);
}

static void test_a_process_that_fails_tells_the_other_one(void **state)
{
    struct hx_shard *s = begin();
    uint32_t word_here = 1, word_there;
    struct hx_error err = {""};

    (void)state;
    if (hx_shard_prime(s)) {
        fprintf(stderr, "this comes from process 1, on purpose\n");
        _exit(hx_shard_close(s, 1) == 0 ? 1 : 0);
    }
    assert_int_equal(hx_shard_swap(s, 0, &word_here, &word_there, 1, &err), -EPIPE);
    assert_non_null(strstr(err.text, "q2 failed"));
    assert_int_equal(hx_shard_close(s, 1), 1);
}

static void test_other_numbers_and_other_steps_are_refused(void **state)
{
    (void)state;
    for (int what = 0; what < 2; what++) {
        struct hx_shard *s = begin();
        const size_t one = (size_t)hx_shard_prime(s);
        uint32_t here[2] = {1, 2}, there[2];
        struct hx_error err = {""};
        /* another digest, or another number of words */
        int rc = hx_shard_swap(s, what ? 5 : one, here, there, what ? 1 + one : 1, &err);
        int ok = rc == -EPROTO && strstr(err.text,
                                         what ? "words of step 0" : "step 0 is of other numbers");

        if (hx_shard_prime(s))
            _exit(hx_shard_close(s, 1) == 1 && ok ? 0 : 1);
        assert_true(ok);
        assert_int_equal(hx_shard_close(s, 1), 1);
    }
}

/* --- attention and the cache */

enum { HEADS = 4, KV_HEADS = 2, POSITIONS = 9, MOST = POSITIONS * HEADS * 80 };

struct rows {
    float q[MOST], k[MOST], v[MOST];
};

static const struct shape {
    size_t dh, window, batch;
    int persistent;
} shapes[] = {{80, 0, 9, 0}, {80, 0, 9, 1}, {64, 4, 3, 1}, {48, 3, 1, 0}, {80, 20, 3, 0}, {80, 5, 9, 1}};

static int attend(const struct shape *c, const struct hx_poly_cfg *cfg, const struct rows *r,
                  float *out,
                  struct hx_kv **kept)
{
    const struct hx_kv_shape shape = {1, KV_HEADS, c->dh, POSITIONS};
    struct hx_attn *a = NULL;
    struct hx_kv *kv = NULL;
    struct hx_error err = {""};
    int rc = hx_attn_poly_open(&a, cfg, c->dh, NULL, &err);

    if (!rc)
        rc = c->persistent ? hx_kv_ntt_open(&kv, &shape, cfg, NULL, &err)
                           : hx_kv_f32_open(&kv, 1, KV_HEADS, c->dh, POSITIONS, &err);
    for (size_t pos = 0; !rc && pos < POSITIONS; pos += c->batch) {
        const struct hx_attn_in in = {
            .pos = pos, .n = c->batch, .q = r->q + pos * HEADS * c->dh,
            .k = r->k + pos * KV_HEADS * c->dh, .v = r->v + pos * KV_HEADS * c->dh, .kv = kv,
            .n_head = HEADS, .scale = 0.1f, .window = c->window};

        rc = kv->ops->put(kv, 0, pos, c->batch, in.k, in.v, &err);
        if (!rc)
            rc = a->ops->run(a, &in, out + pos * HEADS * c->dh, &err);
    }
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    hx_attn_close(a);
    *kept = kv;
    return rc == 0;
}

/* Scores and rows of a cache, one behind the other. */
static int ask(struct hx_kv *kv, const struct rows *r, float *scores, float *keys)
{
    const struct hx_attn_in in = {.pos = POSITIONS - 2, .n = 1, .q = r->q, .n_head = HEADS, .scale = 0.3f,
                                  .window = POSITIONS - 3};
    struct hx_kv_view view;
    struct hx_error err = {""};
    int ok = kv->ops->scores(kv, &in, scores, &err) == 0 &&
             kv->ops->rows(kv, 0, POSITIONS - 1, &view, &err) == 0;

    if (ok)
        memcpy(keys, view.k, (POSITIONS - 1) * KV_HEADS * kv->dh * sizeof(*keys));
    return ok;
}

/* Of all blocks of n positions. */
static size_t cache_bytes(const struct hx_kv *kv, size_t n)
{
    return kv->n_layer * n * kv->n_kv * hx_kv_ntt_ring(kv)->block_bytes;
}

static int same_as_one(struct hx_shard *s, const struct shape *c, const struct rows *r)
{
    const struct hx_poly_cfg one = {0}, two = {.shard = s};
    const size_t n = POSITIONS * HEADS * c->dh;
    static float want[MOST], got[MOST];
    static float want_scores[HEADS * POSITIONS], got_scores[HEADS * POSITIONS];
    struct hx_kv *kv_one = NULL, *kv_two = NULL;
    int ok = attend(c, &one, r, want, &kv_one) && attend(c, &two, r, got, &kv_two) &&
             memcmp(want, got, n * sizeof(*want)) == 0;

    memset(want, 1, sizeof(want));
    memset(got, 2, sizeof(got));
    if (ok && c->persistent) {
        const size_t words = (POSITIONS - 1) * KV_HEADS * c->dh, n_scores = HEADS * (POSITIONS - 3);

        ok = ask(kv_one, r, want_scores, want) && ask(kv_two, r, got_scores, got) &&
             memcmp(want_scores, got_scores, n_scores * sizeof(*want_scores)) == 0 &&
             memcmp(want, got, words * sizeof(*want)) == 0 &&
             cache_bytes(kv_two, POSITIONS) * 2 == cache_bytes(kv_one, POSITIONS);
    }
    hx_kv_close(kv_one);
    hx_kv_close(kv_two);
    return ok;
}

static void test_attention_scores_and_keys_have_the_same_bits(void **state)
{
    struct rows *r = malloc(sizeof(*r));
    struct hx_shard *s;
    struct hxt_rng rng;
    int ok = 1;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < MOST; i++) {
        r->q[i] = (float)hxt_normal(&rng);
        r->k[i] = (float)hxt_normal(&rng);
        r->v[i] = (float)hxt_normal(&rng);
    }
    r->k[5] = 12345.678f; /* of which one prime alone does not know the sign */
    r->k[6] = -22345.678f;
    s = begin();
    for (size_t i = 0; i < HXT_LEN(shapes); i++)
        if (!same_as_one(s, &shapes[i], r)) {
            fprintf(stderr, "shape %zu differs\n", i);
            ok = 0;
        }
    assert_true(end(s, ok));
    free(r);
}

static void test_only_two_primes_can_be_shared_out(void **state)
{
    struct hx_shard *s = begin();
    struct hx_attn *a = NULL;
    struct hx_error err = {""};
    const struct hx_poly_cfg one = {.mode = HX_POLY_60, .shard = s};
    int ok = hx_attn_poly_open(&a, &one, 64, NULL, &err) == -EINVAL && strstr(err.text, "60-bit");

    (void)state;
    assert_true(end(s, ok));
}

/* --- the command */

static double figure(const char *words, json_t **report)
{
    struct e2e_run r;
    struct hxt_result got;

    e2e_command(&r, words);
    assert_int_equal(hxt_run(&got, &r.cmd), 0);
    if (got.exit_code)
        fail_msg("%s: exit %d: %s", words, got.exit_code, got.err);
    *report = json_loads(got.out, 0, NULL); /* process 1 would have made it two objects */
    assert_non_null(*report);
    assert_int_equal(hxt_group_alive(got.group), 0);
    hxt_result_free(&got);
    return json_real_value(json_object_get(*report, "ppl"));
}

static void test_perplexity_is_the_same_to_the_last_digit(void **state)
{
    json_t *one, *two, *shard;
    const double want = figure("ppl -f " HOLDOUT " --ctx 48 --chunks 2 --kv ntt --json", &one);
    const double got = figure("ppl -f " HOLDOUT " --ctx 48 --chunks 2 --kv ntt --crt-shard --json",
                              &two);

    (void)state;
    assert_true(want == got);
    assert_true(want > 1);
    assert_null(json_object_get(one, "shard"));
    shard = json_object_get(two, "shard");
    assert_string_equal(json_string_value(json_object_get(shard, "transport")), "fork");
    assert_int_equal(json_integer_value(json_object_get(shard, "prime")), 0);
    /* windows, layers, heads, products of 48 tokens */
    assert_int_equal(json_integer_value(json_object_get(shard, "words")),
                     2 * 6 * 2 * (48 * 49 / 2));
    json_decref(one);
    json_decref(two);
}

static void refused(const char *words, int exit_code, const char *reason)
{
    struct e2e_run r;
    struct hxt_result got;

    e2e_command(&r, words);
    assert_int_equal(hxt_run(&got, &r.cmd), 0);
    assert_int_equal(got.exit_code, exit_code);
    if (!strstr(got.err, reason))
        fail_msg("%s: %s", words, got.err);
    assert_ptr_equal(strchr(got.err, '\n'), got.err + got.err_len - 1); /* one line */
    assert_int_equal(got.out_len, 0);
    hxt_result_free(&got);
}

static void test_what_cannot_be_is_refused_in_one_line(void **state)
{
    (void)state;
    refused("ppl -f " HOLDOUT " --kv f32 --crt-shard", 2, "--crt-shard needs --poly-attn or --kv ntt");
    refused("ppl -f " HOLDOUT " --kv f32 --poly-attn --crt-shard", 2, "it needs --poly-attn --ntt-crt");
    refused("ppl -f " HOLDOUT " --kv ntt --ntt --crt-shard", 2, "it needs --poly-attn --ntt-crt");
    refused("run -p - --kv ntt --crt-shard", 2, "stdin");
    refused("ppl -f /none/there --kv ntt --crt-shard", 1, "/none/there");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_prime_is_half_of_a_block),
        cmocka_unit_test(test_every_word_arrives),
        cmocka_unit_test(test_a_killed_process_is_named),
        cmocka_unit_test(test_a_process_that_fails_tells_the_other_one),
        cmocka_unit_test(test_other_numbers_and_other_steps_are_refused),
        cmocka_unit_test(test_attention_scores_and_keys_have_the_same_bits),
        cmocka_unit_test(test_only_two_primes_can_be_shared_out),
        cmocka_unit_test(test_perplexity_is_the_same_to_the_last_digit),
        cmocka_unit_test(test_what_cannot_be_is_refused_in_one_line),
    };

    unsetenv("OMPI_COMM_WORLD_SIZE"); /* of an mpirun around this */
    unsetenv("PMI_SIZE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
