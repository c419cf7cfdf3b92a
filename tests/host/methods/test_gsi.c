/* Protects linear method `gsi` (host/methods/gsi): where the gate never opens nothing changes, at full rank it is the model; the error
 * bound holds; phi, perplexities and speedups on the project's model are those of prototypes; on a model whose streams lie in few
 * dimensions the gate opens and the text stays the same; results depend on neither batch nor threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "golden.h"
#include "hxt_each.h"
#include "methods/gsi/cascade.h"
#include "methods/gsi/figures.h"
#include "methods/gsi/linear_gsi.h"
#include "open_engine.h"
#include "ppl_window.h"
#include "quant/quant.h"

enum { CTX = 128, WINDOWS = 24, VOCAB = 2048, WIDTH = 256, LAYERS = 6, SOME = 24 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

/* --- engines */

static char text[4096]; /* a file: what bases are made of */

static size_t split(const char *words, char *copy, size_t room, const char **settings)
{
    char *rest = copy, *word;
    size_t n = 1;

    settings[0] = "kv=f32";
    snprintf(copy, room, "%s", words);
    while ((word = strsep(&rest, " ")))
        settings[n++] = word;
    settings[n] = NULL;
    return n;
}

static struct hx_engine *open_model(const char *model, const char *words, size_t threads)
{
    const char *settings[24];
    char copy[1024];

    split(words, copy, sizeof(copy), settings);
    return hxt_engine_open(&(struct hx_engine_cfg){.model = model, .settings = settings, .threads = threads, .n_ctx = CTX + 1});
}

static struct hx_engine *open_words(const char *words, size_t threads)
{
    return open_model(MODEL_F16, words, threads);
}

/* Why it does not open. */
static const char *refused(const char *model, const char *words)
{
    static struct hx_error err;
    const char *settings[24];
    char copy[1024];
    struct hx_engine *e = NULL;

    err = (struct hx_error){""};
    split(words, copy, sizeof(copy), settings);
    assert_int_not_equal(hx_engine_open(&e, &(struct hx_engine_cfg){.model = model, .settings = settings}, &err), 0);
    assert_null(e);
    return err.text;
}

/* Words, with the text. */
#define GSI(fmt, ...) hxt_path("gsi-text=%s " fmt, text, ##__VA_ARGS__)

static struct hx_linear_method *method_of(const struct hx_engine *e)
{
    for (size_t i = 0; i < e->core->n_linear; i++)
        if (strcmp(e->core->linear[i].method->name, "gsi") == 0)
            return e->core->linear[i].open;
    fail_msg("no gsi");
    return NULL;
}

static struct hx_gsi_sums sums_of(const struct hx_engine *e, enum hx_tap_point input)
{
    return hx_gsi_sum(hx_linear_gsi_classes(method_of(e)), input);
}

/* logits [n][VOCAB] */
static float *logits_of(struct hx_engine *e, const uint32_t *ids, size_t n)
{
    float *logits = malloc(n * VOCAB * sizeof(*logits));

    run(e, ids, n, 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, n, logits, NULL), 0);
    return logits;
}

static uint32_t top(const float *x)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < VOCAB; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static void greedy(struct hx_engine *e, uint32_t *made, size_t n)
{
    float *logits = malloc(VOCAB * sizeof(*logits));

    run(e, prompt, HXT_LEN(prompt), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
        made[i] = top(logits);
        run(e, &made[i], 1, HXT_LEN(prompt) + i);
    }
    free(logits);
}

/* --- the golden windows */

static uint32_t (*windows)[CTX + 1];

static int setup(void **state)
{
    size_t bytes;
    uint16_t *all = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);
    char *books = hxt_read_file(HOLDOUT, NULL);

    (void)state;
    windows = calloc(WINDOWS, sizeof(*windows));
    if (!all || !books || bytes != WINDOWS * (CTX + 1) * sizeof(*all))
        return -1;
    for (size_t i = 0; i < WINDOWS * (CTX + 1); i++)
        windows[i / (CTX + 1)][i % (CTX + 1)] = all[i];
    snprintf(text, sizeof(text), "%s/books.txt", hxt_tmpdir());
    hxt_write_file(text, books, 4000);
    free(books);
    free(all);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(windows);
    return 0;
}

/* --- the model itself */

static void test_a_gate_that_never_opens_changes_nothing(void **state)
{
    struct hx_engine *plain = open_words("linear=cpu", 2), *gated = open_words(GSI("linear=gsi:16 gsi-eps=0"), 2);
    float *want = logits_of(plain, windows[0], SOME), *got = logits_of(gated, windows[0], SOME);
    const struct hx_gsi_sums s = sums_of(gated, HX_TAP_POINTS);

    (void)state;
    hxt_same_bytes(got, want, SOME * VOCAB * sizeof(*got));
    assert_true(s.classes == 4 * LAYERS && s.vectors == (double)s.classes * SOME && s.fast == 0);
    free(want);
    free(got);
    hx_engine_close(plain);
    hx_engine_close(gated);
}

/* Everything that is WIDTH wide takes the images, and logits are the model's within 1e-3. */
static void test_at_full_rank_it_is_the_model(void **state)
{
    struct hx_engine *plain = open_words("linear=ref", 1), *gated = open_words(GSI("gsi gsi-k=%d gsi-eps=0.0001 gsi-by=ref", WIDTH), 2);
    float *want = logits_of(plain, windows[0], SOME), *got = logits_of(gated, windows[0], SOME);
    const struct hx_gsi_sums qkv = sums_of(gated, HX_TAP_IN_QKV), o = sums_of(gated, HX_TAP_IN_O), ffn = sums_of(gated, HX_TAP_IN_FFN);

    (void)state;
    for (size_t i = 0; i < SOME * VOCAB; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-3f))
            fail_msg("logit %zu of token %zu: %g, %g is right", i % VOCAB, i / VOCAB, (double)got[i], (double)want[i]);
    assert_true(hx_gsi_phi(&qkv) == 1 && hx_gsi_phi(&o) == 1 && hx_gsi_phi(&ffn) == 1);
    free(want);
    free(got);
    hx_engine_close(plain);
    hx_engine_close(gated);
}

/* Mean over some windows of a text. */
static double ppl_of(struct hx_engine *e, const uint32_t *ids, size_t n)
{
    struct hx_error err = {""};
    struct hx_ppl got;

    if (hxt_ppl_run(e->model, e->forward, ids, n, CTX, 8, &got, &err))
        fail_msg("%s", err.text);
    return got.ppl;
}

/* Prototypes in double precision measured S .944 and .807 with what the gate reads, phi .002 and .058, at eps .05: it costs more than it
 * saves.  Without a gate the perplexity was 17 and 2.1 times as high. */
static void test_on_this_model_the_gate_does_not_pay(void **state)
{
    static const struct {
        size_t k;
        double eps, ratio[2], phi, s_real[2]; /* least and most; eps 0: no gate */
    } rows[] = {{28, .05, {.999, 1.001}, .01, {.938, .95}}, {128, .05, {.999, 1.001}, .07, {.78, .82}},
                {28, .30, {.98, 1.02}, .1, {.94, 1}}, {28, 0, {10, 40}, 1, {6, 7}}};
    const char *books = hxt_read_file(HOLDOUT, NULL), *bases = hxt_path("%s/long.txt", hxt_tmpdir());
    struct hx_engine *plain = open_words("linear=cpu", 2), *e;
    struct hx_error err = {""};
    uint32_t *ids;
    size_t n;
    double want;

    (void)state;
    hxt_write_file(bases, books, 25000);
    assert_int_equal(hx_tokenizer_encode(plain->model->tok, books + 60000, 50000, &ids, &n), 0);
    e = open_words(hxt_path("linear=gsi:128 gsi-text=%s", bases), 2);
    want = ppl_of(plain, ids, n);
    for (size_t i = 0; i < HXT_LEN(rows); i += HXT_EACH) {
        const struct hx_gsi_gate gate = {.eps = rows[i].eps, .is_static = rows[i].eps == 0, .check = rows[i].eps > 0};
        struct hx_gsi_sums s;
        double ratio;

        assert_int_equal(hx_linear_gsi_set(method_of(e), rows[i].k, &gate, &err), 0);
        ratio = ppl_of(e, ids, n) / want;
        s = sums_of(e, HX_TAP_POINTS);
        print_message("k %zu eps %.2f: ratio %.4f, phi %.4f, S %.3f, %.3f with basis reads; worst error %.3f of the bound\n", rows[i].k,
                      rows[i].eps, ratio, hx_gsi_phi(&s), hx_gsi_s_seed(&s), hx_gsi_s_real(&s), s.worst);
        assert_true(s.violations == 0 && (s.checked > 0 || rows[i].eps == 0));
        assert_true(ratio > rows[i].ratio[0] && ratio < rows[i].ratio[1] && hx_gsi_phi(&s) <= rows[i].phi);
        assert_true(hx_gsi_s_real(&s) > rows[i].s_real[0] && hx_gsi_s_real(&s) < rows[i].s_real[1]);
    }
    free(ids);
    free((void *)books);
    hx_engine_close(e);
    hx_engine_close(plain);
}

/* What layers' bases have in common, beside chance: prototypes measured .476 from the first layer to the second, then .82 to .84. */
static void test_bases_of_deep_layers_are_alike(void **state)
{
    struct hx_engine *e = open_words(GSI("linear=cpu,wq=gsi:57,wk=gsi:57,wv=gsi:57"), 2);
    const struct hx_gsi_classes *c = hx_linear_gsi_classes(method_of(e));
    struct hx_gsi_coherence got, same;

    (void)state;
    for (size_t l = 1; l < LAYERS; l++) {
        assert_int_equal(hx_gsi_coherence(&c->at[l - 1].basis, &c->at[l].basis, &got, NULL), 0);
        print_message("layer %zu: %.3f, %.3f at least\n", l, got.mean, got.least);
        assert_true(l == 1 ? got.mean > .4 && got.mean < .55 : got.mean > .7 && got.mean < .9);
    }
    assert_int_equal(hx_gsi_coherence(&c->at[0].basis, &c->at[0].basis, &same, NULL), 0);
    assert_true(fabs(same.mean - 1) < 1e-6 && fabs(same.least - 1) < 1e-6);
    assert_int_equal(hx_gsi_coherence_of_chance(WIDTH, 57, &got, NULL), 0);
    assert_true(fabs(got.mean - .405) < .01); /* of random matrices of this shape */
    hx_engine_close(e);
}

/* --- a model whose streams lie in few dimensions */

enum { PLANTED = 32 }; /* directions of the residual stream */

/* What has been planted: all that writes into the stream of the model, in a copy of its file. */
struct planted {
    struct hx_model *m;
    uint8_t *file;
    struct hx_subspace v;
};

static void project_vector(const struct hx_subspace *v, float *x)
{
    float z[PLANTED], got[WIDTH] = {0};

    hx_subspace_project(v, x, 1, 0, v->k, z);
    for (size_t j = 0; j < v->k; j++)
        for (size_t i = 0; i < WIDTH; i++)
            got[i] += z[j] * v->v[j * WIDTH + i];
    memcpy(x, got, sizeof(got));
}

static void set_row(const struct planted *p, const struct hx_linear *w, size_t r, const float *row)
{
    const size_t bytes = hx_quant_row_bytes(w->type, w->cols);

    hx_quant_info(w->type)->narrow(p->file + hx_gguf_offset(p->m->file, w->w) + r * bytes, row, w->cols);
}

/* Each row of it is a vector of the stream. */
static void plant_rows(const struct planted *p, const struct hx_linear *w)
{
    float row[WIDTH];

    for (size_t r = 0; r < w->rows; r++) {
        hx_linear_row(w, r, row);
        project_vector(&p->v, row);
        set_row(p, w, r, row);
    }
}

/* Each column is one. */
static void plant_columns(const struct planted *p, const struct hx_linear *w)
{
    float *all = malloc(w->rows * w->cols * sizeof(*all)), column[WIDTH];

    for (size_t r = 0; r < w->rows; r++)
        hx_linear_row(w, r, all + r * w->cols);
    for (size_t c = 0; c < w->cols; c++) {
        for (size_t r = 0; r < WIDTH; r++)
            column[r] = all[r * w->cols + c];
        project_vector(&p->v, column);
        for (size_t r = 0; r < WIDTH; r++)
            all[r * w->cols + c] = column[r];
    }
    for (size_t r = 0; r < w->rows; r++)
        set_row(p, w, r, all + r * w->cols);
    free(all);
}

/* The path of that model's file. */
static const char *plant(void)
{
    static char path[4096];
    struct planted p;
    float x[WIDTH];
    size_t bytes;

    snprintf(path, sizeof(path), "%s/planted.gguf", hxt_tmpdir());
    p.file = hxt_read_file(MODEL_F16, &bytes);
    assert_int_equal(hx_model_open(&p.m, MODEL_F16, hx_archs, NULL), 0);
    assert_int_equal(hx_subspace_open(&p.v, WIDTH, PLANTED), 0);
    while (p.v.k < PLANTED) { /* the same each time, as a greedy text is compared: slow waves */
        for (size_t i = 0; i < WIDTH; i++)
            x[i] = cosf((float)M_PI / WIDTH * ((float)i + .5f) * (float)(p.v.k + 1));
        assert_int_equal(hx_subspace_add(&p.v, x), 1);
    }
    plant_rows(&p, &p.m->embd);
    for (size_t l = 0; l < LAYERS; l++) {
        plant_columns(&p, &p.m->layers[l].o);
        plant_columns(&p, &p.m->layers[l].down);
    }
    hxt_write_file(path, p.file, bytes);
    free(p.file);
    hx_subspace_free(&p.v);
    hx_model_close(p.m);
    return path;
}

/* wq, wk, wv, gate and up see PLANTED directions, wo those of two heads; what down sees is no linear image of them. */
#define MAP "linear=cpu,attn=gsi:64,gate=gsi:64,up=gsi:64"

static void test_on_a_planted_model_the_gate_opens_and_the_text_stays_the_same(void **state)
{
    enum { MADE = 50 };
    const char *model = plant();
    struct hx_engine *plain = open_model(model, "linear=cpu", 2), *gated = open_model(model, GSI(MAP " gsi-check"), 2);
    uint32_t want[MADE], got[MADE];
    const double out = 512 + 256 + 1024, in = 3 * 256; /* widths of a layer's matrices, and of their inputs */
    struct hx_gsi_sums s;
    double phi;

    (void)state;
    greedy(plain, want, MADE);
    greedy(gated, got, MADE);
    s = sums_of(gated, HX_TAP_POINTS);
    phi = hx_gsi_phi(&s);
    print_message("phi %.4f, S %.3f, with basis reads %.3f; error %.4f of the bound at most\n", phi, hx_gsi_s_seed(&s), hx_gsi_s_real(&s),
                  s.worst);
    hxt_same_bytes(got, want, sizeof(got));
    assert_true(phi > .99 && s.checked > 0 && s.violations == 0);
    assert_true(fabs(hx_gsi_s_real(&s) * (phi * 64 * (out + in) + (1 - phi) * (64 * in + 256 * out)) / (256 * out) - 1) < .02);
    assert_true(fabs(hx_gsi_s_seed(&s) * (phi * 64 / 256 + 1 - phi) - 1) < .02);
    hx_engine_close(plain);
    hx_engine_close(gated);
}

/* With too few directions the gate stays shut, until those of the vectors themselves have joined. */
static void test_directions_that_join_bring_phi_back(void **state)
{
    const char *model = plant();
    struct hx_engine *e[2] = {open_model(model, GSI("linear=cpu,wq=gsi:8,wk=gsi:8,wv=gsi:8"), 2),
                              open_model(model, GSI("linear=cpu,wq=gsi:8,wk=gsi:8,wv=gsi:8 gsi-grow=40 gsi-check"), 2)};
    struct hx_gsi_sums s[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        run(e[i], windows[0], CTX, 0);
        s[i] = sums_of(e[i], HX_TAP_POINTS);
    }
    print_message("phi %.3f, with %.0f directions more %.3f, %.0f bytes\n", hx_gsi_phi(&s[0]), s[1].added, hx_gsi_phi(&s[1]),
                  s[1].added_bytes);
    assert_true(hx_gsi_phi(&s[0]) < .05 && hx_gsi_phi(&s[1]) > .6 && s[1].violations == 0);
    assert_true(s[1].added >= LAYERS * (PLANTED - 8) && s[1].added <= LAYERS * 40);
    /* of each: weights read once more, f16; a row of the basis and of three images, f32 */
    assert_true(s[1].added_bytes == s[1].added * (512 * 256 * 2 + (256 + 512) * 4));
    for (size_t i = 0; i < hx_linear_gsi_classes(method_of(e[1]))->n; i++)
        assert_true(hx_subspace_defect(&hx_linear_gsi_classes(method_of(e[1]))->at[i].basis) < 1e-5);
    hx_engine_close(e[0]);
    hx_engine_close(e[1]);
}

/* A layer takes over what the one before it has; where streams lie in few dimensions little is missed. */
static void test_a_cascade_adds_what_the_layer_before_misses(void **state)
{
    struct hx_engine *e = open_model(plant(), GSI("linear=cpu,wq=gsi:128,wk=gsi:128,wv=gsi:128 gsi-basis=cascade"), 2);
    const struct hx_gsi_classes *c = hx_linear_gsi_classes(method_of(e));
    struct hx_gsi_sums s;

    (void)state;
    assert_int_equal(c->n, LAYERS);
    for (size_t l = 0; l < LAYERS; l++) {
        print_message("layer %zu: %zu directions, %zu its own\n", l, c->at[l].made, c->at[l].own);
        assert_true(c->at[l].made == (l ? c->at[l - 1].made : 0) + c->at[l].own);
        assert_true(l ? c->at[l].own < PLANTED : c->at[l].own <= PLANTED && c->at[l].own > PLANTED / 2);
        assert_true(hx_subspace_defect(&c->at[l].basis) < 1e-5);
    }
    run(e, windows[0], CTX, 0);
    s = sums_of(e, HX_TAP_POINTS);
    assert_true(hx_gsi_phi(&s) > .8);
    hx_engine_close(e);
}

/* --- order, threads, formats */

static void test_logits_depend_on_neither_batch_nor_threads(void **state)
{
    static const char *const words[] = {"linear=cpu,attn=gsi:64 gsi-eps=0.3",
                                        "linear=cpu,gate=gsi:16,up=gsi:16 gsi-eps=0.3 gsi-grow=20 gsi-image=q8_0",
                                        "linear=cpu,down@1-2=gsi:64 gsi-static gsi-image=f16"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        struct hx_engine *many = open_words(GSI("%s", words[i]), 3), *one = open_words(GSI("%s", words[i]), 1);
        float *want = logits_of(many, windows[1], SOME), *got = malloc(VOCAB * sizeof(*got));
        const struct hx_gsi_sums all = sums_of(many, HX_TAP_POINTS);
        struct hx_gsi_sums each;

        for (size_t t = 0; t < SOME; t++) {
            run(one, &windows[1][t], 1, t);
            assert_int_equal(hx_engine_logits(one, got, NULL), 0);
            hxt_same_bytes(got, want + t * VOCAB, VOCAB * sizeof(*got));
        }
        each = sums_of(one, HX_TAP_POINTS);
        assert_true(all.fast > 0 && all.fast == each.fast && all.read_real == each.read_real && all.added == each.added);
        free(want);
        free(got);
        hx_engine_close(many);
        hx_engine_close(one);
    }
}

static void test_images_of_fewer_bits_take_fewer_bytes_and_keep_the_text(void **state)
{
    static const struct {
        const char *name;
        double bytes, within; /* of a number; of the perplexity */
    } formats[] = {{"f32", 4, 0}, {"f16", 2, 1e-3}, {"q8_0", 34. / 32, 5e-3}};
    double want = 0;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(formats); i += HXT_EACH) {
        struct hx_engine *e = open_words(GSI("linear=cpu,attn=gsi:64 gsi-static gsi-image=%s", formats[i].name), 2);
        const struct hx_gsi_classes *c = hx_linear_gsi_classes(method_of(e));
        struct hx_error err = {""};
        double nll = 0;

        assert_true((double)c->bytes_images == LAYERS * 64. * (512 + 256) * formats[i].bytes);
        for (size_t w = 0; w < 4; w++)
            assert_int_equal(hxt_ppl_window(e->model, e->forward, windows[w], CTX, &nll, &err), 0);
        nll = exp(nll / (4 * CTX));
        want = i ? want : nll;
        print_message("%s: %.4f\n", formats[i].name, nll);
        assert_true(fabs(nll / want - 1) <= formats[i].within);
        hx_engine_close(e);
    }
}

static void test_gates_that_open_too_rarely_are_switched_off(void **state)
{
    struct hx_engine *e = open_words(GSI("linear=cpu,attn=gsi:28 gsi-off=0.5"), 2);
    struct hx_gsi_sums before, after;

    (void)state;
    for (size_t w = 0; w < HX_GSI_WINDOW / CTX; w++)
        run(e, windows[w], CTX, 0);
    before = sums_of(e, HX_TAP_POINTS);
    assert_true(before.off == before.classes && before.gated == before.vectors);
    run(e, windows[0], CTX, 0);
    after = sums_of(e, HX_TAP_POINTS);
    assert_true(after.gated == before.gated && after.vectors == before.vectors * 3 / 2);
    /* weights alone from then on */
    assert_true(after.read_real - before.read_real == after.full - before.full);
    hx_engine_close(e);
}

/* --- what cannot be */

static void test_what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *words, *says;
        int with_text;
    } cases[] = {
        {"linear=gsi:0", "linear: gsi:0: K is an integer from 1 to 65536", 0},
        {"gsi gsi-k=0", "gsi-k: unknown value '0'; legal: integers from 1 to 65536", 0},
        {"linear=gsi:257", "gsi: rank 257: what wq of layer 0 takes in is 256 wide", 1},
        {"linear=cpu,down@3=gsi:513", "gsi: rank 513: what down of layer 3 takes in is 512 wide", 1},
        {"linear=gsi:64", "linear gsi needs gsi-text FILE", 0},
        {"linear=cpu gsi-eps=0.1", "gsi-eps needs gsi", 0},
        {"gsi gsi-eps=1.5", "gsi-eps: unknown value '1.5'; legal: numbers from 0 to 1", 0},
        {"gsi gsi-static gsi-grow=3", "gsi-static and gsi-grow exclude each other: there is no gate", 1},
        {"linear=cpu,out=gsi:64", "gsi: none of its matrices is of a layer", 1},
        {"gsi gsi-text=/nonexistent", "/nonexistent", 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const char *says = refused(MODEL_F16, cases[i].with_text ? GSI("%s", cases[i].words) : cases[i].words);

        if (!strstr(says, cases[i].says))
            fail_msg("%s: '%s'", cases[i].words, says);
    }
}

static void test_a_text_shorter_than_the_rank_is_refused(void **state)
{
    const char *path = hxt_path("%s/short.txt", hxt_tmpdir());

    (void)state;
    hxt_write_file(path, "The king was dead.", 18);
    assert_non_null(strstr(refused(MODEL_F16, hxt_path("linear=gsi:64 gsi-text=%s", path)), "fewer than the rank, 64, of layer 0"));
}

static void test_a_weight_that_is_no_number_is_named(void **state)
{
    const char *path = hxt_path("%s/nan.gguf", hxt_tmpdir());
    struct planted p;
    float row[WIDTH];
    size_t bytes;

    (void)state;
    p.file = hxt_read_file(MODEL_F16, &bytes);
    assert_int_equal(hx_model_open(&p.m, MODEL_F16, hx_archs, NULL), 0);
    hx_linear_row(&p.m->layers[2].up, 7, row);
    row[9] = NAN;
    set_row(&p, &p.m->layers[2].up, 7, row);
    hxt_write_file(path, p.file, bytes);
    assert_string_equal(refused(path, GSI("linear=gsi:64")), "gsi: up of layer 2: weight [7][9] is no number");
    free(p.file);
    hx_model_close(p.m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_gate_that_never_opens_changes_nothing),
    cmocka_unit_test(test_at_full_rank_it_is_the_model),
    cmocka_unit_test(test_on_this_model_the_gate_does_not_pay),
    cmocka_unit_test(test_bases_of_deep_layers_are_alike),
    cmocka_unit_test(test_on_a_planted_model_the_gate_opens_and_the_text_stays_the_same),
    cmocka_unit_test(test_directions_that_join_bring_phi_back),
    cmocka_unit_test(test_a_cascade_adds_what_the_layer_before_misses),
    cmocka_unit_test(test_logits_depend_on_neither_batch_nor_threads),
    cmocka_unit_test(test_images_of_fewer_bits_take_fewer_bytes_and_keep_the_text),
    cmocka_unit_test(test_gates_that_open_too_rarely_are_switched_off),
    cmocka_unit_test(test_what_cannot_be_is_refused),
    cmocka_unit_test(test_a_text_shorter_than_the_rank_is_refused),
    cmocka_unit_test(test_a_weight_that_is_no_number_is_named),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
