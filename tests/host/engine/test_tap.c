/* Protects seam `tap` (host/engine/tap.h): taps are called at every point, in order, with the rows that the page promises, on
 * every architecture; they may change the residual stream, and nobody notices one that does not; their errors end a run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "gen_model.h"
#include "golden.h"
#include "open_engine.h"

enum { N = 7, LAYERS = 6, VOCAB = 2048, MAX_EVENTS = 400, ALL = (1 << HX_TAP_POINTS) - 1 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7, 33, 900};
static const uint32_t other[N] = {11, 108, 205, 302, 399, 496, 593};

static const enum hx_tap_point of_layer[] = {HX_TAP_IN_QKV,     HX_TAP_Q,      HX_TAP_K,       HX_TAP_V,        HX_TAP_IN_O,
                                             HX_TAP_AFTER_ATTN, HX_TAP_IN_FFN, HX_TAP_IN_DOWN, HX_TAP_AFTER_FFN};
enum { PER_LAYER = HXT_LEN(of_layer) };

/* A tap of a test. */
struct probe {
    struct hx_tap tap;
    struct event {
        enum hx_tap_point point;
        size_t layer, n, row, pos[N];
        uint32_t tokens[N];
        float *rows; /* [n][row] */
    } events[MAX_EVENTS];
    size_t n_events;
    /* what it does where */
    enum hx_tap_point point;
    size_t layer;
    const float *put; /* [n][row] instead of what is there; NULL: nothing */
    int rc;           /* returned there */
    struct probe *before; /* has been called for this event already; NULL: does not matter */
};

static int at_probe(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct probe *p = (struct probe *)t;
    struct event *e = &p->events[p->n_events++];

    assert_true(p->n_events < MAX_EVENTS);
    assert_true(at->n >= 1 && at->n <= N);
    *e = (struct event){.point = at->point, .layer = at->layer, .n = at->n, .row = at->row};
    memcpy(e->pos, at->pos, at->n * sizeof(*at->pos));
    memcpy(e->tokens, at->tokens, at->n * sizeof(*at->tokens));
    if (p->before)
        assert_int_equal(p->before->n_events, p->n_events);
    e->rows = malloc(at->n * at->row * sizeof(*rows));
    memcpy(e->rows, rows, at->n * at->row * sizeof(*rows));
    if (at->point != p->point || at->layer != p->layer)
        return 0;
    if (p->put)
        memcpy(rows, p->put, at->n * at->row * sizeof(*rows));
    return p->rc ? hx_error_set(err, p->rc, "probe: layer %zu is enough", at->layer) : 0;
}

static const struct hx_tap_ops probe_ops = {.name = "probe", .at = at_probe};

static struct probe *new_probe(uint32_t points)
{
    struct probe *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->tap = (struct hx_tap){&probe_ops, points};
    p->point = HX_TAP_POINTS; /* none */
    return p;
}

static void forget(struct probe *p)
{
    while (p->n_events)
        free(p->events[--p->n_events].rows);
}

static void free_probe(struct probe *p)
{
    forget(p);
    free(p);
}

static const struct event *event_at(const struct probe *p, enum hx_tap_point point, size_t layer)
{
    for (size_t i = 0; i < p->n_events; i++)
        if (p->events[i].point == point && p->events[i].layer == layer)
            return &p->events[i];
    fail_msg("no %s of layer %zu", hx_tap_point_names[point], layer);
    return NULL;
}

/* --- order, shapes, positions */

static size_t row_of(const struct hx_model *m, enum hx_tap_point point)
{
    return point == HX_TAP_Q || point == HX_TAP_IN_O  ? m->n_head * m->dh
           : point == HX_TAP_K || point == HX_TAP_V   ? m->n_kv * m->dh
           : point == HX_TAP_IN_DOWN                  ? m->ffn
                                                     : m->width;
}

static void check_event(const struct event *e, const struct hx_model *m, enum hx_tap_point point, size_t layer, size_t n,
                        size_t pos, const uint32_t *tokens)
{
    if (e->point != point || e->layer != layer)
        fail_msg("%s of layer %zu where %s of layer %zu should be", hx_tap_point_names[e->point], e->layer,
                 hx_tap_point_names[point], layer);
    assert_int_equal(e->n, n);
    assert_int_equal(e->row, row_of(m, point));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(e->pos[i], pos + i);
        assert_int_equal(e->tokens[i], tokens[i]);
    }
}

/* One batch's events, and no more. */
static void check_batch(const struct probe *p, const struct hx_model *m, size_t n, size_t pos, const uint32_t *tokens)
{
    const struct event *e = p->events;

    assert_int_equal(p->n_events, 3 + PER_LAYER * m->n_layer);
    check_event(e++, m, HX_TAP_EMBEDDING, 0, n, pos, tokens);
    for (size_t layer = 0; layer < m->n_layer; layer++)
        for (size_t i = 0; i < PER_LAYER; i++)
            check_event(e++, m, of_layer[i], layer, n, pos, tokens);
    check_event(e++, m, HX_TAP_BEFORE_NORM, 0, n, pos, tokens);
    check_event(e++, m, HX_TAP_IN_OUT, 0, n, pos, tokens);
}

/* A pass over a model by the reference. */
struct small {
    struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
};

static void open_small(struct small *s, const struct gen_model *g)
{
    struct hx_gguf *file;
    struct hx_error err;

    *s = (struct small){0};
    if (hx_gguf_open_bytes(&file, g->arch, g->file, g->n_file, &err) || hx_model_from_gguf(&s->m, file, hx_archs, &err) ||
        hx_kv_f32_open(&s->kv, s->m->n_layer, s->m->n_kv, s->m->dh, s->m->n_ctx, &err) ||
        hx_attn_ref_open(&s->attn, s->m->n_ctx, &err) || hx_forward_open(&s->f, s->m, s->kv, s->attn, N, &err))
        fail_msg("%s: %s", g->arch, err.text);
}

static void close_small(struct small *s)
{
    hx_forward_close(s->f);
    hx_attn_close(s->attn);
    hx_kv_close(s->kv);
    hx_model_close(s->m);
}

static void test_every_architecture_calls_at_every_point_in_order(void **state)
{
    static const uint32_t tokens[N] = {1, 2, 3, 5, 8, 13, 21};

    (void)state;
    for (size_t a = 0; gen_archs[a]; a++) {
        struct probe *p = new_probe(ALL);
        struct hx_tap *const taps[] = {&p->tap, NULL};
        struct hx_error err = {""};
        struct gen_model g;
        struct small s;

        gen_init(&g, gen_archs[a]);
        gen_build(&g);
        open_small(&s, &g);
        assert_int_equal(hx_forward_use(s.f, &(struct hx_forward_parts){.taps = taps}, &err), 0);
        assert_int_equal(hx_forward_run(s.f, tokens, 5, 0, &err), 0);
        check_batch(p, s.m, 5, 0, tokens);
        forget(p);
        assert_int_equal(hx_forward_run(s.f, tokens + 5, 2, 5, &err), 0);
        check_batch(p, s.m, 2, 5, tokens + 5);
        close_small(&s);
        gen_free(&g);
        free_probe(p);
    }
}

static void test_names_and_layers_of_points(void **state)
{
    (void)state;
    for (int i = 0; i < HX_TAP_POINTS; i++) {
        int in_layer = 0;

        for (size_t k = 0; k < PER_LAYER; k++)
            in_layer |= (int)of_layer[k] == i;
        assert_int_equal(hx_tap_in_layer((enum hx_tap_point)i), in_layer);
        assert_non_null(hx_tap_point_names[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(hx_tap_point_names[i], hx_tap_point_names[k]);
    }
    assert_null(hx_tap_point_names[HX_TAP_POINTS]);
}

/* --- the project's model, by an engine */

static struct hx_engine *open_tapped(struct hx_tap *const *taps)
{
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = 16, .threads = 1});
    struct hx_error err;

    assert_int_equal(hx_forward_use(e->forward,
                                    &(struct hx_forward_parts){.matrices = &e->core->matrices, .taps = taps,
                                                               .trees = e->kv->ops->keep != NULL}, &err), 0);
    return e;
}

static void logits_of(struct hx_engine *e, const uint32_t *tokens, float *out)
{
    struct hx_error err;

    run(e, tokens, N, 0);
    if (hx_engine_logits(e, out, &err))
        fail_msg("%s", err.text);
}

/* A point that is wanted is the only one at which a tap is called. */
static void test_a_tap_is_called_only_where_it_asked_for(void **state)
{
    (void)state;
    for (int point = 0; point < HX_TAP_POINTS; point++) {
        struct probe *p = new_probe(1u << point);
        struct hx_tap *const taps[] = {&p->tap, NULL};
        struct hx_engine *e = open_tapped(taps);

        run(e, ids, N, 0);
        assert_int_equal(p->n_events, hx_tap_in_layer((enum hx_tap_point)point) ? LAYERS : 1);
        for (size_t i = 0; i < p->n_events; i++) {
            assert_int_equal(p->events[i].point, point);
            assert_int_equal(p->events[i].layer, i);
        }
        hx_engine_close(e);
        free_probe(p);
    }
}

static void apply(const struct hx_linear *w, const float *x, float *y)
{
    float scratch[2048];
    struct hx_error err;

    assert_true(w->cols <= HXT_LEN(scratch));
    assert_int_equal(hx_linear_apply(&w, &y, 1, x, N, scratch, &err), 0);
}

/* What stands at a point is what the page says: the matrices applied to their inputs give what comes behind them. */
static void test_rows_are_inputs_and_outputs_of_the_matrices(void **state)
{
    struct probe *p = new_probe(ALL);
    struct hx_tap *const taps[] = {&p->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    const struct hx_model *m = e->model;
    static float y[N * VOCAB], logits[VOCAB];

    (void)state;
    logits_of(e, ids, logits);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        const struct hx_layer *l = &m->layers[layer];
        const float *before = layer ? event_at(p, HX_TAP_AFTER_FFN, layer - 1)->rows : event_at(p, HX_TAP_EMBEDDING, 0)->rows;
        const float *middle = event_at(p, HX_TAP_AFTER_ATTN, layer)->rows;
        struct hx_kv_view view;
        struct hx_error err;

        apply(&l->v, event_at(p, HX_TAP_IN_QKV, layer)->rows, y);
        hxt_same_bytes(event_at(p, HX_TAP_V, layer)->rows, y, N * m->n_kv * m->dh * sizeof(*y));
        assert_int_equal(e->kv->ops->rows(e->kv, layer, N, &view, &err), 0);
        hxt_same_bytes(event_at(p, HX_TAP_K, layer)->rows, view.k, N * view.stride * sizeof(*y));
        apply(&l->o, event_at(p, HX_TAP_IN_O, layer)->rows, y);
        for (size_t i = 0; i < N * m->width; i++)
            assert_true(middle[i] == before[i] + y[i]);
        apply(&l->down, event_at(p, HX_TAP_IN_DOWN, layer)->rows, y);
        for (size_t i = 0; i < N * m->width; i++)
            assert_true(event_at(p, HX_TAP_AFTER_FFN, layer)->rows[i] == middle[i] + y[i]);
    }
    hxt_same_bytes(event_at(p, HX_TAP_BEFORE_NORM, 0)->rows, event_at(p, HX_TAP_AFTER_FFN, LAYERS - 1)->rows,
                   N * m->width * sizeof(*y));
    apply(&m->out, event_at(p, HX_TAP_IN_OUT, 0)->rows, y);
    hxt_same_bytes(logits, y + (N - 1) * VOCAB, sizeof(logits));
    hx_engine_close(e);
    free_probe(p);
}

/* --- changes */

static void test_a_tap_that_does_nothing_leaves_every_bit(void **state)
{
    struct probe *p = new_probe(ALL);
    struct hx_tap *const taps[] = {&p->tap, NULL};
    struct hx_engine *plain = open_tapped(NULL), *tapped = open_tapped(taps);
    static float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of(plain, ids, want);
    logits_of(tapped, ids, got);
    hxt_same_bytes(got, want, sizeof(want));
    hx_engine_close(plain);
    hx_engine_close(tapped);
    free_probe(p);
}

/* The stream of another text, put in place of this one's at any point of the stream, gives the other text's logits where
 * nothing of this one is left: at the last layer's end, and at the embedding. */
static void test_a_changed_stream_is_what_the_model_goes_on_with(void **state)
{
    static const struct {
        enum hx_tap_point point;
        size_t layer;
        int all; /* nothing of the old text is left */
    } places[] = {
        {HX_TAP_EMBEDDING, 0, 1},         {HX_TAP_AFTER_ATTN, 2, 0},         {HX_TAP_AFTER_FFN, 0, 0},
        {HX_TAP_AFTER_ATTN, LAYERS - 1, 1}, {HX_TAP_AFTER_FFN, LAYERS - 1, 1}, {HX_TAP_BEFORE_NORM, 0, 1},
        {HX_TAP_IN_OUT, 0, 1},
    };
    struct probe *from = new_probe(ALL);
    struct hx_tap *const from_taps[] = {&from->tap, NULL};
    struct hx_engine *e = open_tapped(from_taps);
    static float want[VOCAB], before[VOCAB], got[VOCAB];

    (void)state;
    logits_of(e, ids, before);
    forget(from);
    logits_of(e, other, want);
    hx_engine_close(e);
    for (size_t i = 0; i < HXT_LEN(places); i++) {
        struct probe *p = new_probe(ALL);
        struct hx_tap *const taps[] = {&p->tap, NULL};

        p->point = places[i].point;
        p->layer = places[i].layer;
        p->put = event_at(from, p->point, p->layer)->rows;
        e = open_tapped(taps);
        logits_of(e, ids, got);
        assert_memory_not_equal(got, before, sizeof(got));
        if (places[i].all)
            hxt_same_bytes(got, want, sizeof(want));
        hx_engine_close(e);
        free_probe(p);
    }
    free_probe(from);
}

static void test_a_stream_of_zeros_has_no_logits(void **state)
{
    static const float zeros[N * 256];
    struct probe *p = new_probe(1u << HX_TAP_BEFORE_NORM);
    struct hx_tap *const taps[] = {&p->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    static float got[VOCAB];

    (void)state;
    assert_int_equal(e->model->width, 256);
    p->point = HX_TAP_BEFORE_NORM;
    p->put = zeros;
    logits_of(e, ids, got);
    for (size_t i = 0; i < VOCAB; i++)
        assert_true(got[i] == 0);
    hx_engine_close(e);
    free_probe(p);
}

static void test_taps_are_called_in_their_order_and_see_what_came_before(void **state)
{
    static float ones[N * 256];
    struct probe *first = new_probe(ALL), *second = new_probe(ALL);
    struct hx_tap *const taps[] = {&first->tap, &second->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    const struct event *seen;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ones); i++)
        ones[i] = 1;
    first->point = HX_TAP_AFTER_FFN;
    first->layer = 3;
    first->put = ones;
    second->before = first;
    run(e, ids, N, 0);
    seen = event_at(second, HX_TAP_AFTER_FFN, 3);
    hxt_same_bytes(seen->rows, ones, sizeof(ones));
    assert_memory_not_equal(event_at(first, HX_TAP_AFTER_FFN, 3)->rows, ones, sizeof(ones));
    assert_int_equal(second->n_events, first->n_events);
    hx_engine_close(e);
    free_probe(first);
    free_probe(second);
}

static void test_a_tap_that_is_added_comes_behind_the_others(void **state)
{
    struct probe *first = new_probe(ALL), *second = new_probe(ALL);
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = 16, .threads = 1, .tap = &first->tap});
    struct hx_error err = {""};

    (void)state;
    run(e, ids, 2, 0);
    assert_int_equal(hx_engine_add_tap(e, &second->tap, &err), 0);
    forget(first);
    second->before = first;
    run(e, ids + 2, N - 2, 2);
    assert_true(first->n_events > 0 && second->n_events == first->n_events);
    for (size_t i = 2; i < HX_ENGINE_TAPS; i++)
        assert_int_equal(hx_engine_add_tap(e, &second->tap, &err), 0);
    assert_int_equal(hx_engine_add_tap(e, &second->tap, &err), -ENOSPC);
    assert_string_equal(err.text, "11 taps see the engine's states; 11 at most");
    hx_engine_close(e);
    free_probe(first);
    free_probe(second);
}

/* --- errors */

static void test_an_error_ends_the_run_with_its_reason(void **state)
{
    struct probe *first = new_probe(ALL), *second = new_probe(ALL);
    struct hx_tap *const taps[] = {&first->tap, &second->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    struct hx_error err = {""};
    static float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of(e, ids, want);
    for (int point = 0; point < HX_TAP_POINTS; point++) {
        forget(first);
        forget(second);
        first->point = (enum hx_tap_point)point;
        first->layer = hx_tap_in_layer(first->point) ? 2 : 0;
        first->rc = -ECANCELED;
        assert_int_equal(hx_engine_run(e, ids, N, 0, &err), -ECANCELED);
        assert_string_equal(err.text, hxt_path("probe: layer %zu is enough", first->layer));
        assert_int_equal(first->events[first->n_events - 1].point, point);
        assert_int_equal(second->n_events, first->n_events - 1); /* nobody is called afterwards */
        first->rc = 0;
    }
    forget(first);
    forget(second);
    logits_of(e, ids, got); /* the engine is as good as before */
    hxt_same_bytes(got, want, sizeof(want));
    hx_engine_close(e);
    free_probe(first);
    free_probe(second);
}

static void test_what_a_tap_puts_is_checked(void **state)
{
    static const struct {
        enum hx_tap_point point;
        size_t layer;
        const char *says;
    } places[] = {
        {HX_TAP_EMBEDDING, 0, "position 2: the embedding holds NaN at index 9"},
        {HX_TAP_AFTER_FFN, 4, "position 2: the output of layer 4 holds NaN at index 9"},
        {HX_TAP_BEFORE_NORM, 0, "position 2: the stream before the last norm holds NaN at index 9"},
    };
    static float poison[N * 256];

    (void)state;
    poison[2 * 256 + 9] = NAN;
    for (size_t i = 0; i < HXT_LEN(places); i++) {
        struct probe *p = new_probe(ALL);
        struct hx_tap *const taps[] = {&p->tap, NULL};
        struct hx_engine *e = open_tapped(taps);
        struct hx_error err = {""};

        p->point = places[i].point;
        p->layer = places[i].layer;
        p->put = poison;
        assert_int_equal(hx_engine_run(e, ids, N, 0, &err), -EDOM);
        if (strncmp(err.text, places[i].says, strlen(places[i].says)) != 0)
            fail_msg("'%s' does not begin with '%s'", err.text, places[i].says);
        hx_engine_close(e);
        free_probe(p);
    }
}

/* --- trees */

static void test_positions_in_a_tree_are_those_of_the_paths(void **state)
{
    static const int parent[N] = {-1, 0, 0, 1, 1, 2, 5};
    static const size_t depth[N] = {0, 1, 1, 2, 2, 2, 3};
    struct probe *p = new_probe(1u << HX_TAP_K);
    struct hx_tap *const taps[] = {&p->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    struct hx_error err;

    (void)state;
    run(e, ids, 3, 0);
    forget(p);
    assert_int_equal(hx_forward_run_tree(e->forward, ids, parent, N, 3, &err), 0);
    assert_int_equal(p->n_events, LAYERS);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(p->events[0].pos[i], 3 + depth[i]);
    hx_engine_close(e);
    free_probe(p);
}

static void test_an_error_in_a_tree_names_the_position_on_the_path(void **state)
{
    static const int parent[N] = {-1, 0, 0, 1, 1, 2, 5};
    static float poison[N * 256];
    struct probe *p = new_probe(ALL);
    struct hx_tap *const taps[] = {&p->tap, NULL};
    struct hx_engine *e = open_tapped(taps);
    struct hx_error err;

    (void)state;
    poison[4 * 256] = NAN; /* token 4 is the second behind the root */
    p->point = HX_TAP_AFTER_FFN;
    p->put = poison;
    assert_int_equal(hx_forward_run_tree(e->forward, ids, parent, N, 0, &err), -EDOM);
    assert_non_null(strstr(err.text, "position 2: the output of layer 0 holds NaN at index 0"));
    hx_engine_close(e);
    free_probe(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_architecture_calls_at_every_point_in_order),
    cmocka_unit_test(test_names_and_layers_of_points),
    cmocka_unit_test(test_a_tap_is_called_only_where_it_asked_for),
    cmocka_unit_test(test_rows_are_inputs_and_outputs_of_the_matrices),
    cmocka_unit_test(test_a_tap_that_does_nothing_leaves_every_bit),
    cmocka_unit_test(test_a_changed_stream_is_what_the_model_goes_on_with),
    cmocka_unit_test(test_a_stream_of_zeros_has_no_logits),
    cmocka_unit_test(test_taps_are_called_in_their_order_and_see_what_came_before),
    cmocka_unit_test(test_a_tap_that_is_added_comes_behind_the_others),
    cmocka_unit_test(test_an_error_ends_the_run_with_its_reason),
    cmocka_unit_test(test_what_a_tap_puts_is_checked),
    cmocka_unit_test(test_positions_in_a_tree_are_those_of_the_paths),
    cmocka_unit_test(test_an_error_in_a_tree_names_the_position_on_the_path),
};

int main(void)
{
    return HXT_RUN(tests);
}
