/* Protects trees of guesses: a drafter changes how many steps a text takes and no token of it; each token of a tree has the
 * bits of its path run alone; drafters learn what became of their guesses; wrong proposals end the run with a reason. */
#include <errno.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "gen_model.h"
#include "generate/generate.h"
#include "golden.h"
#include "hxt_each.h"
#include "methods/cpu/attn_flash.h"
#include "open_engine.h"

enum { VOCAB = 2048, CTX = 64, N_PROMPT = 3, N = 40 };

static const uint32_t prompt[N_PROMPT] = {505, 1560, 351};

/* Batches may be trees, as with an engine whose own drafter makes such. */
static void allow_trees(struct hx_engine *e)
{
    const struct hx_forward_parts parts = {.matrices = &e->core->matrices, .kernels = e->core->kernels,
                                           .pool = e->core->kernels ? e->core->pool : NULL, .taps = e->taps, .trees = 1};
    struct hx_error err;

    assert_non_null(e->kv->ops->keep);
    assert_int_equal(hx_forward_use(e->forward, &parts, &err), 0);
    assert_true(hx_forward_trees(e->forward));
}

static struct hx_engine *open_engine(const char *kv, const char *linear, const char *attn)
{
    return hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .n_ctx = CTX, .threads = 2,
        .settings = HXT_SETTINGS(hxt_setting("kv", kv), hxt_setting("linear", linear), hxt_setting("attn", attn))});
}

/* --- one batch */

/* A random tree of n tokens: ids, parents, and how deep each is. */
static void random_tree(struct hxt_rng *rng, size_t n, uint32_t vocab, uint32_t *ids, int *parent)
{
    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t)hxt_below(rng, vocab);
        parent[i] = i == 0 ? -1 : (int)hxt_below(rng, i);
    }
}

/* Indexes of the path from the root to token i; how many. */
static size_t path_to(const int *parent, size_t i, size_t *path)
{
    size_t n = 0;

    for (int j = (int)i; j >= 0; j = parent[j])
        n++;
    for (int j = (int)i, at = (int)n; j >= 0; j = parent[j])
        path[--at] = (size_t)j;
    return n;
}

/* Every token's logits, in the tree and with its path alone. */
static void check_tree(struct hx_forward *tree, struct hx_forward *alone, const uint32_t *past, size_t n_past,
                       const uint32_t *ids, const int *parent, size_t n, size_t vocab)
{
    float *got = malloc(n * vocab * sizeof(*got)), *want = malloc(vocab * sizeof(*want));
    uint32_t on_path[64];
    size_t path[64];
    struct hx_error err;

    if (hx_forward_run(tree, past, n_past, 0, &err) || hx_forward_run_tree(tree, ids, parent, n, n_past, &err) ||
        hx_forward_logits(tree, 0, n, got, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++) {
        const size_t n_path = path_to(parent, i, path);

        for (size_t k = 0; k < n_path; k++)
            on_path[k] = ids[path[k]];
        if (hx_forward_run(alone, past, n_past, 0, &err) || hx_forward_run(alone, on_path, n_path, n_past, &err) ||
            hx_forward_logits(alone, n_path - 1, 1, want, &err))
            fail_msg("%s", err.text);
        hxt_same_bytes(got + i * vocab, want, vocab * sizeof(*want));
    }
    free(got);
    free(want);
}

static void test_each_token_has_the_bits_of_its_path(void **state)
{
    static const char *const ways[][2] = {{"ref", "ref"}, {"ref", "flash"}, {"cpu", "flash"}, {"ref", "poly"}};
    enum { PAST = 9, MOST = 30 };
    uint32_t past[PAST], ids[MOST];
    int parent[MOST];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t w = 0; w < HXT_LEN(ways); w += HXT_EACH) {
        struct hx_engine *tree = open_engine("f32", ways[w][0], ways[w][1]);
        struct hx_engine *alone = open_engine("f32", ways[w][0], ways[w][1]);

        allow_trees(tree);
        for (size_t n = 2; n <= MOST; n += 14) {
            for (size_t i = 0; i < PAST; i++)
                past[i] = (uint32_t)hxt_below(&rng, VOCAB);
            random_tree(&rng, n, VOCAB, ids, parent);
            check_tree(tree->forward, alone->forward, past, PAST, ids, parent, n, VOCAB);
        }
        hx_engine_close(tree);
        hx_engine_close(alone);
    }
}

/* A pass over a generated model. */
struct small {
    struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
};

static void open_small(struct small *s, const struct gen_model *g, int flash)
{
    struct hx_gguf *file;
    struct hx_error err;

    *s = (struct small){0};
    if (hx_gguf_open_bytes(&file, g->arch, g->file, g->n_file, &err) || hx_model_from_gguf(&s->m, file, hx_archs, &err) ||
        hx_kv_f32_open(&s->kv, s->m->n_layer, s->m->n_kv, s->m->dh, s->m->n_ctx, &err) ||
        (flash ? hx_attn_flash_open(&s->attn, NULL, NULL, &err) : hx_attn_ref_open(&s->attn, s->m->n_ctx, &err)) ||
        hx_forward_open(&s->f, s->m, s->kv, s->attn, 16, &err) ||
        hx_forward_use(s->f, &(struct hx_forward_parts){.trees = 1}, &err))
        fail_msg("%s: %s", g->arch, err.text);
}

static void close_small(struct small *s)
{
    hx_forward_close(s->f);
    hx_attn_close(s->attn);
    hx_kv_close(s->kv);
    hx_model_close(s->m);
}

/* Windows, soft-caps, learned positions, and all the rest. */
static void test_trees_are_the_same_on_every_architecture(void **state)
{
    enum { PAST = 10, TREE = 12 };
    uint32_t past[PAST], ids[TREE];
    int parent[TREE];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t a = 0; gen_archs[a]; a++)
        for (int flash = 0; flash < 2; flash++) {
            struct small tree, alone;
            struct gen_model g;

            gen_init(&g, gen_archs[a]);
            gen_build(&g);
            open_small(&tree, &g, flash);
            open_small(&alone, &g, flash);
            for (size_t i = 0; i < PAST; i++)
                past[i] = (uint32_t)hxt_below(&rng, GEN_VOCAB);
            random_tree(&rng, TREE, GEN_VOCAB, ids, parent);
            check_tree(tree.f, alone.f, past, PAST, ids, parent, TREE, GEN_VOCAB);
            close_small(&tree);
            close_small(&alone);
            gen_free(&g);
        }
}

static void test_what_was_kept_is_the_past_of_what_follows(void **state)
{
    static const uint32_t ids[] = {10, 20, 30, 40, 50, 60, 70};
    static const int parent[] = {-1, 0, 0, 1, 2, 4, 3};
    static const size_t path[] = {0, 2, 4, 5};
    static const uint32_t taken[] = {10, 30, 50, 60};
    struct hx_engine *tree = open_engine("f32", "cpu", "flash"), *plain = open_engine("f32", "cpu", "flash");
    static float want[VOCAB], got[VOCAB];
    const uint32_t next = 999;
    struct hx_error err;

    (void)state;
    allow_trees(tree);
    run(tree, prompt, N_PROMPT, 0);
    assert_int_equal(hx_forward_run_tree(tree->forward, ids, parent, HXT_LEN(ids), N_PROMPT, &err), 0);
    assert_int_equal(tree->kv->ops->keep(tree->kv, N_PROMPT, path, HXT_LEN(path), &err), 0);
    run(tree, &next, 1, N_PROMPT + HXT_LEN(path));
    assert_int_equal(hx_engine_logits(tree, got, &err), 0);
    run(plain, prompt, N_PROMPT, 0);
    run(plain, taken, HXT_LEN(taken), N_PROMPT);
    run(plain, &next, 1, N_PROMPT + HXT_LEN(taken));
    assert_int_equal(hx_engine_logits(plain, want, &err), 0);
    hxt_same_bytes(got, want, sizeof(want));
    hx_engine_close(tree);
    hx_engine_close(plain);
}

static void test_a_chain_is_a_tree(void **state)
{
    static const uint32_t ids[] = {10, 20, 30, 40, 50};
    static const int parent[] = {-1, 0, 1, 2, 3};
    struct hx_engine *e = open_engine("f32", "cpu", "flash");
    static float want[5 * VOCAB], got[5 * VOCAB];
    struct hx_error err;

    (void)state;
    allow_trees(e);
    assert_int_equal(hx_forward_run(e->forward, ids, 5, 0, &err), 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, 5, want, &err), 0);
    assert_int_equal(hx_forward_run_tree(e->forward, ids, parent, 5, 0, &err), 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, 5, got, &err), 0);
    hxt_same_bytes(got, want, sizeof(want));
    hx_engine_close(e);
}

static void test_batches_that_are_no_trees_are_refused(void **state)
{
    static const int bad[][4] = {{0, 0, 0, 0}, {-1, 1, 0, 0}, {-1, 0, 3, 0}, {-1, -1, 0, 0}, {-1, 0, 0, -2}, {-2, 0, 0, 0}};
    static const uint32_t ids[4] = {1, 2, 3, 4};
    struct hx_engine *e = open_engine("f32", "ref", "ref"), *none = open_engine("f32", "ref", "ref");
    struct hx_error err = {""};

    (void)state;
    allow_trees(e);
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        assert_int_equal(hx_forward_run_tree(e->forward, ids, bad[i], 4, 0, &err), -EINVAL);
        assert_non_null(strstr(err.text, "does not stand before it"));
    }
    assert_int_equal(hx_forward_run_tree(none->forward, ids, (const int[]){-1, 0, 0, 1}, 4, 0, &err), -ENOTSUP);
    assert_string_equal(err.text, "cache 'f32' takes no trees of tokens");
    assert_int_equal(hx_forward_run_tree(none->forward, ids, NULL, 4, 0, &err), 0);
    hx_engine_close(e);
    hx_engine_close(none);
}

static void test_caches_keep_paths_where_they_say_so(void **state)
{
    static const char *const kvs[] = {"f32", "ntt", "banded"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kvs); i++) {
        struct hx_engine *e = open_engine(kvs[i], "ref", "ref");
        const struct hx_method *m = hx_method_find(hx_methods, HX_SEAM_KV, kvs[i], strlen(kvs[i]));

        assert_int_equal(e->kv->ops->keep != NULL, (m->gives & HX_TRAIT_TREE) != 0);
        assert_false(hx_forward_trees(e->forward)); /* nobody guesses */
        hx_engine_close(e);
    }
}

/* --- drafters */

enum shape { CHAIN, COMB, BUSH };

/* Knows the text and guesses it, sometimes wrong. */
struct knowing {
    struct hx_draft draft;
    const uint32_t *text;
    enum shape shape;
    struct hxt_rng rng;
    size_t steps, guesses;
    struct hx_draft_room room;    /* of the last proposal */
    struct hx_draft_tree last;
    size_t n_known;
    size_t n_accepted, most_new;
    int trees_offered, rc, accept_rc;
    void (*spoil)(struct hx_draft_tree *t, const struct hx_draft_room *room); /* NULL: leaves it legal */
};

static void put(struct hx_draft_tree *t, uint32_t id, int parent)
{
    t->id[t->n] = id;
    t->parent[t->n++] = parent;
}

static uint32_t wrong(const struct knowing *k, size_t at, uint32_t by)
{
    return (k->text[at] + by) % VOCAB;
}

/* One behind the other, with every fifth wrong. */
static void chain(struct knowing *k, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *t)
{
    for (size_t i = 0; i < room->depth && t->n < room->n; i++)
        put(t, (n + i) % 5 ? k->text[n + i] : wrong(k, n + i, 1), (int)i - 1);
}

/* The text's tokens, each between two wrong ones, of which the first goes on with what would be right. */
static void comb(struct knowing *k, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *t)
{
    int from = HX_DRAFT_ROOT;

    for (size_t i = 0; i < room->depth && t->n + 4 <= room->n; i++) {
        const int lost = (int)t->n;

        put(t, wrong(k, n + i, 1), from);
        put(t, k->text[n + i], from);
        put(t, wrong(k, n + i, 2), from);
        if (i + 1 < room->depth)
            put(t, k->text[n + i + 1], lost);
        from = lost + 1;
    }
}

/* Tokens at random places, right or wrong at random; equal siblings among them. */
static void bush(struct knowing *k, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *t)
{
    size_t depth[HX_DRAFT_MAX];

    while (t->n < room->n) {
        const int up = (int)hxt_below(&k->rng, t->n + 1) - 1;
        const size_t at = up < 0 ? 0 : depth[up];

        if (at >= room->depth)
            break;
        depth[t->n] = at + 1;
        put(t, hxt_below(&k->rng, 3) ? k->text[n + at] : wrong(k, n + at, 1 + (uint32_t)hxt_below(&k->rng, 4)), up);
    }
}

static int propose(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    static void (*const shapes[])(struct knowing *k, size_t n, const struct hx_draft_room *room,
                                  struct hx_draft_tree *t) = {chain, comb, bush};
    struct knowing *k = (struct knowing *)d;

    assert_true(room->n >= 1 && room->n <= HX_DRAFT_MAX && room->depth >= 1);
    assert_true(n + room->n <= CTX);
    assert_true(n + room->depth < N_PROMPT + N); /* the model's own token comes behind them */
    assert_memory_equal(ids, k->text, n * sizeof(*ids));
    k->trees_offered += room->tree;
    if (k->rc)
        return hx_error_set(err, k->rc, "knowing: no more guesses");
    shapes[room->tree ? k->shape : CHAIN](k, n, room, out);
    if (k->spoil)
        k->spoil(out, room);
    k->guesses += out->n;
    k->room = *room;
    k->last = *out;
    k->n_known = n;
    return 0;
}

/* The guess behind `from` that is `id`; HX_DRAFT_ROOT: there is none. */
static int guess(const struct hx_draft_tree *t, int from, uint32_t id)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->parent[i] == from && t->id[i] == id)
            return (int)i;
    return HX_DRAFT_ROOT;
}

static int accept(struct hx_draft *d, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err)
{
    struct knowing *k = (struct knowing *)d;
    int at = HX_DRAFT_ROOT;

    assert_int_equal(n, k->n_known + n_new);
    assert_true(n_new >= 1 && n_new <= 1 + k->room.depth);
    assert_memory_equal(ids, k->text, n * sizeof(*ids));
    for (size_t i = 0; i + 1 < n_new; i++) { /* guesses that were right */
        at = guess(&k->last, at, ids[k->n_known + i]);
        assert_true(at >= 0);
    }
    if (n_new <= k->room.depth && k->shape != BUSH) /* as far as they were */
        assert_int_equal(guess(&k->last, at, ids[n - 1]), HX_DRAFT_ROOT);
    k->n_accepted++;
    k->most_new = n_new > k->most_new ? n_new : k->most_new;
    return k->accept_rc ? hx_error_set(err, k->accept_rc, "knowing: not what I meant") : 0;
}

static const struct hx_draft_ops knowing_ops = {.name = "knowing", .propose = propose, .accept = accept};

/* The text without a drafter; `temp` 0: greedy. */
static size_t generate(struct hx_engine *e, struct hx_draft *d, double temp, uint32_t *ids)
{
    struct hx_sampler *s = hx_sampler_open(&(struct hx_sampler_cfg){.temp = temp, .top_p = 1, .seed = 11}, VOCAB);
    const struct hx_generate g = {.e = e, .s = s, .draft = d};
    struct hx_error err;
    size_t steps;

    memcpy(ids, prompt, sizeof(prompt));
    if (hx_generate_prefill(&g, ids, N_PROMPT, &err) || hx_generate_run(&g, ids, N_PROMPT, N, &steps, &err))
        fail_msg("%s", err.text);
    hx_sampler_close(s);
    return steps;
}

static void check_drafted(const char *linear, const char *attn, enum shape shape, double temp)
{
    struct hx_engine *e = open_engine("f32", linear, attn);
    uint32_t want[N_PROMPT + N], got[N_PROMPT + N] = {0};
    struct knowing k = {.draft = {&knowing_ops}, .text = want, .shape = shape};
    size_t steps;

    hxt_rng_init(&k.rng, 3);
    assert_int_equal(generate(e, NULL, temp, want), N);
    allow_trees(e);
    steps = generate(e, &k.draft, temp, got);
    assert_memory_equal(got, want, sizeof(want));
    assert_true(k.trees_offered > 0);
    assert_true(k.guesses > N);
    if (steps >= (shape == BUSH ? N : N / 3))
        fail_msg("shape %d: %zu steps for %d tokens", (int)shape, steps, N);
    assert_true(k.most_new > 2);
    assert_true(k.n_accepted <= steps && k.n_accepted + 1 >= steps); /* the last one has no room for guesses */
    hx_engine_close(e);
}

static void test_drafters_change_steps_but_no_token(void **state)
{
    static const char *const ways[][2] = {{"ref", "ref"}, {"cpu", "flash"}};

    (void)state;
    for (size_t w = 0; w < HXT_LEN(ways); w += HXT_EACH)
        for (int shape = CHAIN; shape <= BUSH; shape++) {
            check_drafted(ways[w][0], ways[w][1], (enum shape)shape, 0);
            check_drafted(ways[w][0], ways[w][1], (enum shape)shape, 0.8);
        }
}

static void test_an_engine_that_makes_no_trees_is_offered_chains(void **state)
{
    struct hx_engine *e = open_engine("ntt", "ref", "poly");
    uint32_t want[N_PROMPT + N], got[N_PROMPT + N] = {0};
    struct knowing k = {.draft = {&knowing_ops}, .text = want, .shape = CHAIN};
    size_t steps;

    (void)state;
    generate(e, NULL, 0, want);
    steps = generate(e, &k.draft, 0, got);
    assert_memory_equal(got, want, sizeof(want));
    assert_int_equal(k.trees_offered, 0);
    assert_true(k.n_accepted > 0 && steps < N / 3);
    hx_engine_close(e);
}

/* --- proposals that are wrong */

static void too_many(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    t->n = room->n + 1;
}

static void no_token(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    (void)room;
    t->id[0] = VOCAB;
}

static void own_parent(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    (void)room;
    t->parent[1] = 1;
}

static void no_parent(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    (void)room;
    t->parent[1] = -2;
}

static void too_deep(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    t->n = 0;
    for (size_t i = 0; i <= room->depth; i++)
        put(t, 0, (int)i - 1);
}

static void fork_of_two(struct hx_draft_tree *t, const struct hx_draft_room *room)
{
    (void)room;
    t->n = 0;
    put(t, 1, HX_DRAFT_ROOT);
    put(t, 2, HX_DRAFT_ROOT);
}

static void check_refused(struct hx_engine *e, struct knowing *k, int want_rc, const char *says)
{
    struct hx_sampler *s = hx_sampler_open(&(struct hx_sampler_cfg){.top_p = 1}, VOCAB);
    const struct hx_generate g = {.e = e, .s = s, .draft = &k->draft};
    uint32_t ids[N_PROMPT + N];
    struct hx_error err = {""};
    size_t steps = 99;

    memcpy(ids, prompt, sizeof(prompt));
    assert_int_equal(hx_generate_prefill(&g, ids, N_PROMPT, &err), 0);
    assert_int_equal(hx_generate_run(&g, ids, N_PROMPT, 20, &steps, &err), want_rc);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_int_equal(steps, 0);
    hx_sampler_close(s);
}

static void test_wrong_proposals_end_the_run(void **state)
{
    static const struct {
        void (*spoil)(struct hx_draft_tree *t, const struct hx_draft_room *room);
        int trees;
        const char *says;
    } cases[] = {
        {too_many, 1, "guesses where"},
        {no_token, 1, "draft knowing: guess 0 is token 2048 (of 2048) behind guess -1"},
        {own_parent, 1, "draft knowing: guess 1 is token"},
        {no_parent, 1, "behind guess -2"},
        {too_deep, 1, "draft knowing: guess 19, 20 deep behind guess 18, where chains of 19 fit"},
        {too_deep, 0, "draft knowing: guess 19, 20 deep behind guess 18, where chains of 19 fit"},
        {fork_of_two, 0, "draft knowing: guess 1"},
    };
    struct hx_engine *e = open_engine("f32", "ref", "ref"), *none = open_engine("f32", "ref", "ref");
    uint32_t text[N_PROMPT + N];

    (void)state;
    generate(e, NULL, 0, text);
    allow_trees(e);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct knowing k = {.draft = {&knowing_ops}, .text = text, .shape = CHAIN, .spoil = cases[i].spoil};

        check_refused(cases[i].trees ? e : none, &k, -EPROTO, cases[i].says);
    }
    hx_engine_close(e);
    hx_engine_close(none);
}

static void test_what_a_drafter_cannot_do_ends_the_run(void **state)
{
    struct hx_engine *e = open_engine("f32", "ref", "ref");
    uint32_t text[N_PROMPT + N];
    struct knowing k = {.draft = {&knowing_ops}, .text = text, .rc = -EIO};

    (void)state;
    generate(e, NULL, 0, text);
    check_refused(e, &k, -EIO, "knowing: no more guesses");
    k = (struct knowing){.draft = {&knowing_ops}, .text = text, .accept_rc = -ENODATA};
    check_refused(e, &k, -ENODATA, "knowing: not what I meant");
    hx_engine_close(e);
}

static int propose_nothing(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                           struct hx_draft_tree *out, struct hx_error *err)
{
    (void)d;
    (void)ids;
    (void)n;
    (void)room;
    (void)err;
    assert_int_equal(out->n, 0);
    return 0;
}

static void test_no_guess_is_a_legal_proposal(void **state)
{
    static const struct hx_draft_ops ops = {.name = "silent", .propose = propose_nothing};
    struct hx_draft silent = {.ops = &ops};
    struct hx_engine *e = open_engine("f32", "ref", "ref");
    uint32_t want[N_PROMPT + N], got[N_PROMPT + N];

    (void)state;
    generate(e, NULL, 0, want);
    allow_trees(e);
    assert_int_equal(generate(e, &silent, 0, got), N);
    assert_memory_equal(got, want, sizeof(want));
    hx_engine_close(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_each_token_has_the_bits_of_its_path),
    cmocka_unit_test(test_trees_are_the_same_on_every_architecture),
    cmocka_unit_test(test_what_was_kept_is_the_past_of_what_follows),
    cmocka_unit_test(test_a_chain_is_a_tree),
    cmocka_unit_test(test_batches_that_are_no_trees_are_refused),
    cmocka_unit_test(test_caches_keep_paths_where_they_say_so),
    cmocka_unit_test(test_drafters_change_steps_but_no_token),
    cmocka_unit_test(test_an_engine_that_makes_no_trees_is_offered_chains),
    cmocka_unit_test(test_wrong_proposals_end_the_run),
    cmocka_unit_test(test_what_a_drafter_cannot_do_ends_the_run),
    cmocka_unit_test(test_no_guess_is_a_legal_proposal),
};

int main(void)
{
    return HXT_RUN(tests);
}
