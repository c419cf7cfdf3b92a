/* Protects projected K and V on the DSP (kv method proj-attn, kernels/kvproj): attention is that of the cache on this CPU, with several
 * KV heads and queries, whatever the batch and however often a position is put; one call of a layer, or a packet; what cannot work is
 * said, by commands, by the engine and by the skel. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "e2e.h"
#include "engine/attn.h"
#include "golden.h"
#include "kv_proj.h"
#include "methods/kvproj/proj_cache_dsp.h"
#include "open_engine.h"
#include "own_rig.h"

enum { LAYERS = 2, KV_HEADS = 3, HEADS = 6, DH = 96, CTX = 150, N = 140, IDS = 20, VOCAB = 2048, DEFAULT_LAYERS = 6 };

static const uint32_t ids[IDS] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273,
                                  505,  1560, 351, 258, 270, 271, 361, 810, 273, 260};

/* --- beside the cache on this CPU */

struct shape {
    struct hx_model m;
    struct hx_kv_basis *basis;
    float *q, *k, *v; /* [CTX][heads][DH] */
};

/* Of each head a random orthonormal basis, by Gram and Schmidt. */
static void random_basis(struct hxt_rng *rng, float *u)
{
    for (size_t i = 0; i < DH; i++) {
        double x[DH], length = 0;

        for (size_t d = 0; d < DH; d++)
            x[d] = hxt_normal(rng);
        for (size_t j = 0; j < i; j++) {
            double share = 0;

            for (size_t d = 0; d < DH; d++)
                share += x[d] * u[j * DH + d];
            for (size_t d = 0; d < DH; d++)
                x[d] -= share * u[j * DH + d];
        }
        for (size_t d = 0; d < DH; d++)
            length += x[d] * x[d];
        for (size_t d = 0; d < DH; d++)
            u[i * DH + d] = (float)(x[d] / sqrt(length));
    }
}

static float *random_rows(struct hxt_rng *rng, size_t n)
{
    float *x = malloc(n * sizeof(*x));

    for (size_t i = 0; i < n; i++)
        x[i] = (float)hxt_normal(rng);
    return x;
}

static void open_shape(struct shape *s)
{
    struct hx_error err;
    struct hxt_rng rng;

    hxt_rng_init(&rng, 95);
    *s = (struct shape){.m = {.n_layer = LAYERS, .n_kv = KV_HEADS, .n_head = HEADS, .dh = DH, .n_ctx = CTX,
                              .rope.global = {HX_ROPE_HALVES, DH, 1e4f, 1, NULL}}};
    assert_int_equal(hx_kv_basis_units(&s->basis, &s->m, 1, &err), 0);
    for (size_t i = 0; i < LAYERS * 2 * KV_HEADS; i++)
        random_basis(&rng, s->basis->u + i * DH * DH);
    s->q = random_rows(&rng, CTX * HEADS * DH);
    s->k = random_rows(&rng, CTX * KV_HEADS * DH);
    s->v = random_rows(&rng, CTX * KV_HEADS * DH);
}

static void close_shape(struct shape *s)
{
    hx_kv_basis_free(s->basis);
    free(s->q), free(s->k), free(s->v);
}

static struct hx_attn_in batch(const struct shape *s, struct hx_kv *kv, size_t layer, size_t pos, size_t n)
{
    return (struct hx_attn_in){.layer = layer, .pos = pos, .n = n, .q = s->q + pos * HEADS * DH, .k = s->k + pos * KV_HEADS * DH,
                               .v = s->v + pos * KV_HEADS * DH, .kv = kv, .n_head = HEADS, .scale = 0.1f};
}

/* All positions of both layers in batches: out [LAYERS][N][HEADS][DH]. */
static void attend_all(const struct shape *s, struct hx_kv *kv, struct hx_attn *attn, size_t each, float *out)
{
    struct hx_error err;

    for (size_t pos = 0; pos < N; pos += each)
        for (size_t layer = 0; layer < LAYERS; layer++) {
            const struct hx_attn_in in = batch(s, kv, layer, pos, N - pos < each ? N - pos : each);

            if ((kv->ops->put && kv->ops->put(kv, layer, pos, in.n, in.k, in.v, &err)) ||
                attn->ops->run(attn, &in, out + (layer * N + pos) * HEADS * DH, &err))
                fail_msg("%s", err.text);
        }
}

static struct hx_kv *open_dsp(const struct shape *s, size_t rank, enum hx_kv_z z, int packets)
{
    struct hx_kv *kv = NULL;
    struct hx_error err;

    if (hx_kv_proj_dsp_open(&kv, &s->m, s->basis, rank, z, packets, CTX, &err))
        fail_msg("%s", err.text);
    return kv;
}

static float want[LAYERS * N * HEADS * DH], got[LAYERS * N * HEADS * DH], again[LAYERS * N * HEADS * DH];

static void want_of_cpu(const struct shape *s, size_t rank, enum hx_kv_z z)
{
    struct hx_attn *attn;
    struct hx_error err;
    struct hx_kv *kv;

    if (hx_kv_proj_open(&kv, &s->m, s->basis, rank, z, CTX, &err) || hx_attn_ref_open(&attn, CTX, &err))
        fail_msg("%s", err.text);
    attend_all(s, kv, attn, 16, want);
    hx_attn_close(attn);
    hx_kv_close(kv);
}

static void near(size_t rank, double tolerance)
{
    for (size_t i = 0; i < LAYERS * N * HEADS * DH; i++)
        if (!(fabs(got[i] - want[i]) < tolerance))
            fail_msg("rank %zu: layer %zu, position %zu: %g, not %g", rank, i / (N * HEADS * DH), i / (HEADS * DH) % N, (double)got[i],
                     (double)want[i]);
}

static const struct {
    size_t rank;
    enum hx_kv_z z;
    double tolerance; /* results are some 1 */
} kinds[] = {{24, HX_KV_Z_F16, 2e-3}, {37, HX_KV_Z_F32, 2e-5}, {DH, HX_KV_Z_F16, 2e-3}};

static void test_attention_is_that_of_the_cpu(void **state)
{
    struct hx_attn *attn;
    struct hx_error err;
    struct shape s;

    (void)state;
    open_shape(&s);
    assert_int_equal(hx_attn_kv_open(&attn, &err), 0);
    for (size_t i = 0; i < HXT_LEN(kinds); i++) {
        struct hx_kv *kv = open_dsp(&s, kinds[i].rank, kinds[i].z, 0);

        want_of_cpu(&s, kinds[i].rank, kinds[i].z);
        attend_all(&s, kv, attn, 70, got);
        near(kinds[i].rank, kinds[i].tolerance);
        if (i == 0) { /* the same cache, positions again, in other batches */
            attend_all(&s, kv, attn, 1, again);
            hxt_same_bytes(again, got, sizeof(got));
        }
        hx_kv_close(kv);
    }
    hx_attn_close(attn);
    close_shape(&s);
}

/* Positions of a wrong guess are put again. */
static void test_a_guess_leaves_nothing_behind(void **state)
{
    static float wrong[8 * HEADS * DH];
    struct hx_attn *attn;
    struct hx_error err;
    struct hx_kv *kv;
    struct shape s;
    struct hx_attn_in in;

    (void)state;
    open_shape(&s);
    kv = open_dsp(&s, 40, HX_KV_Z_F16, 1);
    assert_int_equal(hx_attn_kv_open(&attn, &err), 0);
    attend_all(&s, kv, attn, 20, got);
    in = batch(&s, kv, 1, 60, 8);
    in.k = s.v, in.v = s.q;
    assert_int_equal(attn->ops->run(attn, &in, wrong, &err), 0);
    in = batch(&s, kv, 1, 60, 8);
    assert_int_equal(attn->ops->run(attn, &in, wrong, &err), 0);
    hxt_same_bytes(wrong, got + (N + 60) * HEADS * DH, sizeof(wrong));
    in = batch(&s, kv, 1, 100, 8);
    assert_int_equal(attn->ops->run(attn, &in, wrong, &err), 0);
    hxt_same_bytes(wrong, got + (N + 100) * HEADS * DH, sizeof(wrong));
    hx_attn_close(attn);
    hx_kv_close(kv);
    close_shape(&s);
}

static void test_what_the_dsp_cannot_keep_is_said(void **state)
{
    struct hx_kv_basis *before;
    struct hx_kv *kv = NULL;
    struct hx_error err;
    struct shape s;
    struct hx_attn_in in;

    (void)state;
    open_shape(&s);
    assert_int_equal(hx_kv_proj_dsp_open(&kv, &s.m, s.basis, DH + 1, HX_KV_Z_F16, 0, CTX, &err), -EINVAL);
    assert_int_equal(hx_kv_basis_units(&before, &s.m, 0, &err), 0);
    assert_int_equal(hx_kv_proj_dsp_open(&kv, &s.m, before, 8, HX_KV_Z_F16, 0, CTX, &err), -EINVAL);
    assert_non_null(strstr(err.text, "K after RoPE"));
    s.m.dh = 80;
    assert_int_equal(hx_kv_proj_dsp_open(&kv, &s.m, s.basis, 8, HX_KV_Z_F16, 0, CTX, &err), -EINVAL);
    assert_string_equal(err.text, "kv proj: head dimension 80; on the DSP multiples of 32 are legal");
    s.m.dh = DH;
    assert_int_equal(hx_kv_proj_dsp_open(&kv, &s.m, s.basis, DH, HX_KV_Z_F32, 0, (size_t)1 << 20, &err), -EINVAL);
    assert_non_null(strstr(err.text, "2 GiB is the limit"));
    kv = open_dsp(&s, 8, HX_KV_Z_F16, 0);
    s.v[0] = 1e5f;
    in = batch(&s, kv, 0, 0, 1);
    assert_int_equal(kv->ops->attend(kv, &in, got, &err), -EDOM);
    assert_non_null(strstr(err.text, "V of layer 0, position 0"));
    s.v[0] = 0;
    s.q[DH] = NAN;
    assert_int_equal(kv->ops->attend(kv, &in, got, &err), -EDOM);
    assert_non_null(strstr(err.text, "query"));
    hx_kv_close(kv);
    hx_kv_basis_free(before);
    close_shape(&s);
}

/* --- the skel */

static void test_shapes_and_lengths_that_do_not_fit_are_refused(void **state)
{
    static const kv_proj_shape bad[] = {
        {0, 8, 1, 64, 8, 2}, {1, 0, 1, 64, 8, 2}, {1, 8, 0, 64, 8, 2}, {1, 8, 1, 48, 8, 2}, {1, 8, 1, 64, 0, 2},
        {1, 8, 1, 64, 65, 2}, {1, 8, 1, 64, 8, 3},
    };
    static float x[64];
    kv_proj_cycles cycles;
    remote_handle64 h;
    unsigned in_vtcm;

    (void)state;
    assert_int_equal(kv_proj_open(kv_proj_URI "&_dom=cdsp", &h), 0);
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(kv_proj_load(h, 3, 1 << 20, &bad[i], &in_vtcm), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(kv_proj_load(h, 3, 16, &(kv_proj_shape){1, 8, 1, 64, 8, 2}, &in_vtcm), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(kv_proj_cache(h, 3, 1 << 20), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(kv_proj_attend(h, 1, 0, 0, 1, 1, x, 64, x, 64, x, 64, x, 64, &cycles), AEE_DSP(AEE_EBADSTATE));
    kv_proj_close(h);
}

static void test_calls_that_do_not_fit_are_refused(void **state)
{
    struct hx_error err;
    struct hx_attn_in in;
    struct hx_kv *kv;
    struct shape s;

    (void)state;
    open_shape(&s);
    kv = open_dsp(&s, 8, HX_KV_Z_F16, 0);
    in = batch(&s, kv, LAYERS, 0, 1); /* no such layer */
    assert_int_equal(kv->ops->attend(kv, &in, got, &err), -EIO);
    in = batch(&s, kv, 0, CTX - 1, 1);
    in.pos = CTX;
    assert_int_equal(kv->ops->attend(kv, &in, got, &err), -EIO);
    in = batch(&s, kv, 0, 0, 1);
    in.n_head = KV_HEADS + 1; /* no multiple */
    assert_int_equal(kv->ops->attend(kv, &in, got, &err), -EIO);
    assert_non_null(strstr(err.text, "attend failed at layer 0, positions 0..0"));
    hx_kv_close(kv);
    close_shape(&s);
}

/* --- the engine */

static void logits_of(size_t batch_of, float *logits)
{
    const struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .n_ctx = 32, .max_batch = batch_of,
                                      .settings = HXT_SETTINGS("axex-kv=48", "linear=ref", "offload=attn")};
    struct hx_engine *e = hxt_engine_open(&cfg);

    run(e, ids, IDS, 0);
    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
    hx_engine_close(e);
}

static void test_logits_do_not_depend_on_batches(void **state)
{
    static float whole[VOCAB], parts[VOCAB];

    (void)state;
    logits_of(IDS, whole);
    for (size_t n = 1; n < IDS; n += 6) {
        logits_of(n, parts);
        hxt_same_bytes(parts, whole, sizeof(whole));
    }
}

/* --- commands */

#define RUN "run -p PROMPT -n 8 --json --linear ref --axex-kv %d %s"

static json_t *json_of(int rank, const char *options)
{
    return e2e_json(hxt_path(RUN, rank, options));
}

static void test_a_layer_is_a_call_or_a_packet(void **state)
{
    json_t *here = json_of(64, "--k-rope post --attn ref"), *calls = json_of(64, "--offload attn");
    json_t *packets = json_of(64, "--offload attn --packets");

    (void)state;
    assert_true(e2e_number(calls, "dispatch.calls_per_token") == DEFAULT_LAYERS);
    assert_true(e2e_number(packets, "dispatch.packets_per_token") == DEFAULT_LAYERS);
    assert_true(e2e_number(packets, "dispatch.calls_per_token") == 0);
    assert_true(json_equal(json_object_get(calls, "tokens"), json_object_get(packets, "tokens")));
    assert_true(json_equal(json_object_get(calls, "tokens"), json_object_get(here, "tokens")));
    assert_true(e2e_number(calls, "proj.bytes") == 128);
    assert_true(e2e_number(calls, "proj.basis_bytes_in_vtcm") == e2e_number(calls, "proj.basis_bytes"));
    json_decref(here), json_decref(calls), json_decref(packets);
    e2e_clean();
}

static void test_full_rank_has_the_tokens_of_the_plain_cache(void **state)
{
    json_t *plain = e2e_json("run -p PROMPT -n 8 --json --linear ref --kv f32 --attn ref");
    json_t *there = json_of(128, "--kv-z f32 --offload attn");

    (void)state;
    assert_true(json_equal(json_object_get(plain, "tokens"), json_object_get(there, "tokens")));
    json_decref(plain), json_decref(there);
    e2e_clean();
}

static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x --axex-kv 0", 2, "--axex-kv: unknown value '0'; legal: integers from 1 to 4096");
    e2e_refused("run -p x --axex-kv 129", 1, "rank 129; 1 to 128, the head dimension, are legal");
    e2e_refused("run -p x --kv f32 --axex-kv 8", 2, "exclude each other");
    e2e_refused("run -p x --kv proj --kv-basis pca", 2, "unknown value 'pca'; legal: weight, calib");
    e2e_refused("run -p x --kv proj --kv-basis calib", 2, "--kv-basis calib needs --calibrate-on TEXT, or --kv-basis-file FILE");
    e2e_refused("run -p x --kv proj --kv-basis weight --calibrate-on y", 2, "exclude each other");
    e2e_refused("run -p x --kv proj --kv-z f8", 2, "legal: f16, f32");
    e2e_refused("run -p x --kv proj --offload attn --k-rope pre", 2, "attention on the DSP needs K after RoPE");
    e2e_refused("run -p x --kv proj --offload kv", 2, "--offload kv: the cache proj cannot be on the DSP");
    e2e_refused("run -p x --kv proj --kv-basis calib --kv-basis-file /nowhere/none", 1, "on what text to make it");
    e2e_refused("run -p x --kv proj --kv-basis-file " MODEL_Q8_0, 1, "no file of bases");
}

static const struct CMUnitTest on_rig[] = {
    cmocka_unit_test(test_attention_is_that_of_the_cpu),
    cmocka_unit_test(test_a_guess_leaves_nothing_behind),
    cmocka_unit_test(test_what_the_dsp_cannot_keep_is_said),
    cmocka_unit_test(test_shapes_and_lengths_that_do_not_fit_are_refused),
    cmocka_unit_test(test_calls_that_do_not_fit_are_refused),
    cmocka_unit_test(test_logits_do_not_depend_on_batches),
};

static const struct CMUnitTest commands[] = {
    cmocka_unit_test(test_a_layer_is_a_call_or_a_packet),
    cmocka_unit_test(test_full_rank_has_the_tokens_of_the_plain_cache),
    cmocka_unit_test(test_what_cannot_work_is_said),
};

static int with_own_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(on_rig, own_rig_start, own_rig_stop);
}

static int with_commands(const char *unused)
{
    (void)unused;
    return HXT_RUN(commands);
}

int main(void)
{
    int rc = own_rig_run(with_own_rig, "socket");

    return rc | own_rig_run(with_commands, "commands");
}
