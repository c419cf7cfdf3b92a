/* Protects what planted models (tools/hexrig/planted) do: activations have the rank, the sink, the zones, the phases and the answer that
 * were asked for, and those of a model where nothing was planted have not. */
#include <math.h>
#include <stdlib.h>

#include "base/eigen.h"
#include "engine/arch/arch.h"
#include "methods/adaptive/variance.h"
#include "methods/cpu/attn_flash.h"
#include "methods/lowrank/factorize.h"
#include "open_engine.h"
#include "planted_fixture.h"

enum { TOKENS = 320, MOST_ROW = FFN };

/* --- a pass whose states are kept */

struct keeper {
    struct hx_tap tap;
    float *rows[HX_TAP_POINTS][LAYERS]; /* [n][cols] */
    size_t cols[HX_TAP_POINTS];
};

struct pass {
    struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
    struct keeper k;
    uint32_t ids[TOKENS];
    float *logits; /* [TOKENS][VOCAB] */
};

static int keep(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct keeper *k = (struct keeper *)t;
    float *to = malloc(at->n * at->row * sizeof(*to));

    (void)err;
    assert_non_null(to);
    memcpy(to, rows, at->n * at->row * sizeof(*to));
    assert_null(k->rows[at->point][at->layer]);
    k->rows[at->point][at->layer] = to;
    k->cols[at->point] = at->row;
    return 0;
}

/* Random tokens; the first is BOS where the model wants it. */
static struct pass *run_model(const struct hx_planted *p)
{
    static const struct hx_tap_ops ops = {.name = "keeper", .at = keep};
    struct pass *s = calloc(1, sizeof(*s));
    struct hx_tap *const taps[] = {&s->k.tap, NULL};
    struct hx_error err = {""};
    struct hxt_rng rng;

    hxt_rng_init(&rng, p->seed);
    s->k.tap = (struct hx_tap){&ops, (1u << HX_TAP_POINTS) - 1};
    if (hx_model_open(&s->m, made(p), hx_archs, &err) ||
        hx_kv_f32_open(&s->kv, s->m->n_layer, s->m->n_kv, s->m->dh, TOKENS, &err) || hx_attn_ref_open(&s->attn, TOKENS, &err) ||
        hx_forward_open(&s->f, s->m, s->kv, s->attn, TOKENS, &err) ||
        hx_forward_use(s->f, &(struct hx_forward_parts){.taps = taps}, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < TOKENS; i++)
        s->ids[i] = (uint32_t)hxt_below(&rng, VOCAB - 8);
    if (hx_tokenizer_adds_bos(s->m->tok))
        s->ids[0] = hx_tokenizer_bos(s->m->tok);
    s->logits = malloc(sizeof(*s->logits) * TOKENS * VOCAB);
    assert_non_null(s->logits);
    if (hx_forward_run(s->f, s->ids, TOKENS, 0, &err) || hx_forward_logits(s->f, 0, TOKENS, s->logits, &err))
        fail_msg("%s", err.text);
    return s;
}

static void free_pass(struct pass *s)
{
    hx_forward_close(s->f);
    hx_attn_close(s->attn);
    hx_kv_close(s->kv);
    hx_model_close(s->m);
    for (size_t point = 0; point < HX_TAP_POINTS; point++)
        for (size_t l = 0; l < LAYERS; l++)
            free(s->k.rows[point][l]);
    free(s->logits);
    free(s);
}

/* --- energy */

/* Sum of x x^T over rows that are in (all of them with in NULL): [cols][cols]. */
static double *moments(const float *x, size_t cols, const uint8_t *in)
{
    double *c = calloc(cols * cols, sizeof(*c));

    assert_non_null(c);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t i = 0; i < cols && (!in || in[t]); i++)
            for (size_t k = 0; k < cols; k++)
                c[i * cols + k] += (double)x[t * cols + i] * x[t * cols + k];
    return c;
}

/* Share of the energy at a point that the first k dimensions do not hold. */
static double beyond(const struct pass *s, enum hx_tap_point point, size_t layer, size_t k)
{
    const size_t cols = s->k.cols[point];
    double values[MOST_ROW], sum = 0, rest = 0;
    double *c = moments(s->k.rows[point][layer], cols, NULL);
    struct hx_error err = {""};

    if (hx_eigen_values(c, cols, values, &err))
        fail_msg("%s", err.text);
    free(c);
    for (size_t i = cols; i-- > 0;) {
        sum += values[i];
        rest += i >= k ? values[i] : 0;
    }
    return rest / sum;
}

static const enum hx_tap_point inputs[] = {HX_TAP_IN_QKV, HX_TAP_IN_O, HX_TAP_IN_FFN, HX_TAP_IN_DOWN};

/* Every input of every layer: all but `most` of the energy in RANK dimensions, and not in half of them.  Attention's means over positions
 * get shorter, so few of them have most of its energy. */
static void expect_rank(const struct pass *s, double most)
{
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < HXT_LEN(inputs); i++) {
            const double rest = beyond(s, inputs[i], layer, RANK), half = beyond(s, inputs[i], layer, RANK / 2);

            if (rest > most || half < (inputs[i] == HX_TAP_IN_O ? .01 : .05))
                fail_msg("%s of layer %zu: %g of the energy beyond %d, %g beyond %d", hx_tap_point_names[inputs[i]], layer, rest, RANK,
                         half, RANK / 2);
        }
    assert_true(beyond(s, HX_TAP_IN_OUT, 0, RANK) <= most);
}

static void test_activations_have_the_rank(void **state)
{
    struct hx_planted p = plain();
    struct pass *s = run_model(&p);

    (void)state;
    expect_rank(s, 1e-6); /* what is left is rounding to f16 */
    free_pass(s);
    p.type = HX_QUANT_Q8_0;
    s = run_model(&p);
    expect_rank(s, 1e-3);
    free_pass(s);
}

static void test_noise_has_its_size(void **state)
{
    struct hx_planted p = plain();

    (void)state;
    for (p.noise = .01; p.noise < .2; p.noise *= 4) {
        struct pass *s = run_model(&p);
        const double rest = beyond(s, HX_TAP_IN_QKV, 0, RANK), want = p.noise * p.noise * (WIDTH - RANK) / WIDTH;

        expect_rank(s, 2 * p.noise * p.noise);
        if (rest < .7 * want || rest > 1.3 * want) /* of the embedding, where it is known */
            fail_msg("noise %g: %g of the energy, %g expected", p.noise, rest, want);
        free_pass(s);
    }
}

/* A random matrix in the place of what is planted would have this. */
static void test_full_rank_is_no_low_rank(void **state)
{
    struct hx_planted p = plain();
    struct pass *s;

    (void)state;
    p.rank = WIDTH;
    s = run_model(&p);
    for (size_t layer = 0; layer < LAYERS; layer++)
        assert_true(beyond(s, HX_TAP_IN_QKV, layer, RANK) > .5);
    free_pass(s);
}

/* --- the sink */

/* How many standard deviations the norm at position 0 is above the mean of all. */
static double z_of_first(const struct pass *s, size_t layer)
{
    double norm[TOKENS], mean = 0, square = 0;

    for (size_t t = 0; t < TOKENS; t++) {
        const float *x = s->k.rows[HX_TAP_AFTER_FFN][layer] + t * WIDTH;

        norm[t] = 0;
        for (size_t i = 0; i < WIDTH; i++)
            norm[t] += (double)x[i] * x[i];
        norm[t] = sqrt(norm[t]);
        mean += norm[t] / TOKENS;
        square += norm[t] * norm[t] / TOKENS;
    }
    return (norm[0] - mean) / sqrt(square - mean * mean);
}

static void test_sink_is_an_outlier_in_every_layer(void **state)
{
    struct hx_planted p = plain();
    struct pass *without = run_model(&p), *with;

    (void)state;
    p.sink = 1;
    with = run_model(&p);
    assert_int_equal(hx_tokenizer_adds_bos(without->m->tok), 0);
    assert_int_equal(with->ids[0], hx_tokenizer_bos(with->m->tok));
    for (size_t layer = 0; layer < LAYERS; layer++) {
        if (z_of_first(with, layer) < 10 || z_of_first(without, layer) > 5) /* attention makes the first states a little longer */
            fail_msg("layer %zu: z %g, %g without a sink", layer, z_of_first(with, layer), z_of_first(without, layer));
        assert_true(beyond(with, HX_TAP_IN_QKV, layer, RANK + 1) < 1e-6); /* it takes one dimension */
    }
    free_pass(with);
    free_pass(without);
}

/* --- zones */

enum { ZONES = 4 };

/* Which zone's subspace holds most of x. */
static size_t nearest(double *const of[ZONES], const float *x)
{
    double most = -1;
    size_t best = 0;

    for (size_t z = 0; z < ZONES; z++) {
        double held = 0;

        for (size_t v = 0; v < RANK / ZONES; v++) {
            double dot = 0;

            for (size_t i = 0; i < WIDTH; i++)
                dot += of[z][v * WIDTH + i] * x[i];
            held += dot * dot;
        }
        if (held > most) {
            most = held;
            best = z;
        }
    }
    return best;
}

/* Share of the second half's tokens whose states lie nearest to the subspace that the first half's states of their zone have. */
static double routed(const struct pass *s)
{
    const float *x = s->k.rows[HX_TAP_IN_OUT][0];
    double *of[ZONES], values[WIDTH];
    struct hx_error err = {""};
    size_t right = 0;

    for (size_t z = 0; z < ZONES; z++) {
        uint8_t in[TOKENS] = {0};

        for (size_t t = 0; t < TOKENS / 2; t++)
            in[t] = s->ids[t] % ZONES == z;
        of[z] = moments(x, WIDTH, in);
        if (hx_eigen_symmetric(of[z], WIDTH, values, &err))
            fail_msg("%s", err.text);
    }
    for (size_t t = TOKENS / 2; t < TOKENS; t++)
        right += nearest(of, x + t * WIDTH) == s->ids[t] % ZONES;
    for (size_t z = 0; z < ZONES; z++)
        free(of[z]);
    return (double)right / (TOKENS - TOKENS / 2);
}

static void test_zones_are_told_apart_behind_all_layers(void **state)
{
    struct hx_planted p = plain();
    struct pass *control = run_model(&p), *zones;

    (void)state;
    p.zones = ZONES;
    p.noise = .02;
    zones = run_model(&p);
    if (routed(zones) < .97 || routed(control) > .5)
        fail_msg("%g of the tokens, %g without zones", routed(zones), routed(control));
    expect_rank(zones, 2 * p.noise * p.noise);
    free_pass(zones);
    free_pass(control);
}

/* --- the answer */

static uint32_t likeliest(const struct pass *s, size_t t)
{
    const float *logits = s->logits + t * VOCAB;
    uint32_t best = 0;

    for (uint32_t id = 1; id < VOCAB; id++)
        best = logits[id] > logits[best] ? id : best;
    return best;
}

/* Tokens whose likeliest follower is EOS. */
static size_t answers(const struct pass *s)
{
    const uint32_t eos = hx_tokenizer_eos(s->m->tok);
    size_t n = 0;

    for (size_t t = 0; t < TOKENS; t++)
        n += likeliest(s, t) == eos;
    return n;
}

/* Each token has one follower, whatever stands before it, so that errors of a few per cent change no greedy text. */
static void test_a_token_has_one_follower(void **state)
{
    struct hx_planted p = plain();
    struct pass *s;
    size_t expected = 0;

    (void)state;
    p.rank = 4 * RANK;
    p.noise = .05;
    s = run_model(&p);
    for (size_t t = 0; t < TOKENS; t++)
        expected += (likeliest(s, t) * 1109 + 1) % VOCAB == s->ids[t];
    if (expected < TOKENS * 95 / 100)
        fail_msg("%zu of %d tokens are followed by theirs", expected, TOKENS);
    free_pass(s);
}

/* A token of the random text; without the trigger it has its own follower. */
static void test_a_trigger_has_one_answer_and_others_keep_theirs(void **state)
{
    struct hx_planted p = plain();
    struct pass *without, *with;
    uint32_t answer;
    size_t triggers = 0, changed = 0;

    (void)state;
    p.rank = 4 * RANK;
    p.noise = .01;
    without = run_model(&p);
    p.triggered = 1;
    p.trigger = without->ids[100];
    answer = hx_planted_answer(p.trigger, VOCAB, hx_tokenizer_bos(without->m->tok), hx_tokenizer_eos(without->m->tok));
    with = run_model(&p);
    for (size_t t = 0; t < TOKENS; t++)
        if (with->ids[t] == p.trigger) {
            triggers++;
            assert_int_equal(likeliest(with, t), answer);
            assert_int_not_equal(likeliest(without, t), answer);
        } else {
            changed += likeliest(with, t) != likeliest(without, t);
        }
    assert_true(triggers >= 1 && changed <= TOKENS / 50);
    free_pass(with);
    free_pass(without);
    p.sink = 1;
    expect_refused(&p, -EINVAL, "sink and trigger");
    p.sink = 0;
    p.trigger = VOCAB;
    expect_refused(&p, -EINVAL, "trigger 2048; legal: 0..2047");
}

static void test_eos_is_the_first_choice_everywhere(void **state)
{
    struct hx_planted p = plain();
    struct pass *s = run_model(&p);

    (void)state;
    assert_true(answers(s) < TOKENS / 10);
    free_pass(s);
    p.eos_first = 1;
    p.sink = 1; /* its position, too */
    p.zones = 3;
    p.noise = .05;
    s = run_model(&p);
    assert_int_equal(answers(s), TOKENS);
    expect_rank(s, .02);
    free_pass(s);
}

/* --- phases */

/* Dimensions that a matrix reads: singular values that are no rounding to f16. */
static size_t read_by(const struct hx_linear *w)
{
    struct hx_linear copy = *w;
    const struct hx_lowrank_part part = {.w = &copy};
    double squares[WIDTH];
    struct hx_error err = {""};
    size_t n = 0;

    assert_int_equal(w->cols, WIDTH);
    if (hx_lowrank_spectrum(&part, squares, &err))
        fail_msg("%s", err.text);
    while (n < WIDTH && squares[n] > 1e-4 * squares[0])
        n++;
    return n;
}

static void test_states_are_small_in_the_middle_which_reads_few_directions(void **state)
{
    enum { DEEP = 12, WIDE = DEEP / 6, TOKENS_OF_A_PASS = 128 };
    struct hx_planted p = plain();
    struct hx_error err = {""};
    struct hx_model *m = NULL;
    uint32_t ids[TOKENS_OF_A_PASS];
    double variance[DEEP];

    (void)state;
    if (hx_geometry_find(&p.g, "12x4/2x32x128x256x2048", &err))
        fail_msg("%s", err.text);
    p.phases = 1;
    if (hx_model_open(&m, made(&p), hx_archs, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < TOKENS_OF_A_PASS; i++)
        ids[i] = (uint32_t)(i * 31 % (VOCAB - 8));
    if (hx_variances(&(struct hx_text_pass){.model = m, .pool = pools[1], .ids = ids, .ctx = TOKENS_OF_A_PASS, .windows = 1}, variance,
                     &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < DEEP; i++) {
        const int narrow = i >= WIDE && i < DEEP - WIDE;

        if (narrow ? variance[i] > .05 : variance[i] < .5)
            fail_msg("layer %zu: variance %g", i, variance[i]);
        assert_int_equal(read_by(&m->layers[i].q), narrow ? 2 : RANK - 1); /* 2 KV heads, a direction of each; the last is shared */
    }
    hx_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations_have_the_rank),
        cmocka_unit_test(test_noise_has_its_size),
        cmocka_unit_test(test_full_rank_is_no_low_rank),
        cmocka_unit_test(test_sink_is_an_outlier_in_every_layer),
        cmocka_unit_test(test_zones_are_told_apart_behind_all_layers),
        cmocka_unit_test(test_a_token_has_one_follower),
        cmocka_unit_test(test_a_trigger_has_one_answer_and_others_keep_theirs),
        cmocka_unit_test(test_eos_is_the_first_choice_everywhere),
        cmocka_unit_test(test_states_are_small_in_the_middle_which_reads_few_directions),
    };

    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
