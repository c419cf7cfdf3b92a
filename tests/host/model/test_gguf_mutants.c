/* Protects: everybody who opens a damaged or hostile model.  Thousands of mutants of small models are opened; each loads
 * or is refused with one line, fast, and a sanitizer build has nothing to say.  What loads must also run.
 * The mutants are the same in every run: the generator's state is a constant. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "gen_model.h"
#include "gguf_use.h"
#include "hxt.h"
#include "tiny_gguf.h"

enum { MUTANTS = 3200, MAX_PLACES = 1024, MAX_MODELS = 20 };

static struct hxt_rng rng = {{11, 22, 33, 44}};

/* Where the fields of a well-formed file lie: bytes from its start. */
struct places {
    size_t length[MAX_PLACES], n_length; /* u64: of names, strings and arrays, dimensions, offsets, the two counts */
    size_t type[MAX_PLACES], n_type;     /* u32: of metadata */
    size_t quant[MAX_PLACES], n_quant;   /* u32: of tensors */
    size_t header_bytes;
};

static void add(size_t *list, size_t *n, size_t place)
{
    assert_true(*n < MAX_PLACES);
    list[(*n)++] = place;
}

/* A model as it should be. */
struct pristine {
    uint8_t *p;
    size_t n;
    struct places at;
};

static void find_places(struct places *p, const uint8_t *file, size_t n)
{
    struct hx_gguf *g;
    struct hx_error err;

    *p = (struct places){.length = {8, 16}, .n_length = 2};
    if (hx_gguf_open_bytes(&g, "pristine", file, n, &err))
        fail_msg("%s", err.text);
    const struct hx_gguf_facts f = hx_gguf_facts(g);

    for (size_t i = 0; i < f.n_kv; i++) {
        const struct hx_gguf_kv *kv = &f.kv[i];
        const size_t key = hx_gguf_offset(g, kv->key.p), data = hx_gguf_offset(g, kv->data);

        add(p->length, &p->n_length, key - 8);
        add(p->type, &p->n_type, key + kv->key.n);
        if (kv->elem == HX_GGUF_STRING && kv->n)
            add(p->length, &p->n_length, data);
        if (kv->type == HX_GGUF_ARRAY) {
            add(p->length, &p->n_length, data - 8);
            add(p->type, &p->n_type, data - 12);
        }
    }
    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *x = &f.tensors[i];
        const size_t name = hx_gguf_offset(g, x->name.p), dims = name + x->name.n + 4;

        add(p->length, &p->n_length, name - 8);
        for (uint32_t d = 0; d < x->n_dims; d++)
            add(p->length, &p->n_length, dims + 8 * d);
        add(p->quant, &p->n_quant, dims + 8 * x->n_dims);
        add(p->length, &p->n_length, dims + 8 * x->n_dims + 4);
    }
    p->header_bytes = f.data_start;
    hx_gguf_close(g);
}

static void take_model(struct pristine *to, const uint8_t *file, size_t n)
{
    to->p = malloc(n);
    to->n = n;
    memcpy(to->p, file, n);
    find_places(&to->at, file, n);
}

/* One model of every architecture, and models whose matrices are of different types.  Returns how many. */
static size_t make_models(struct pristine *all)
{
    static const uint32_t types[] = {HX_QUANT_Q8_0, HX_QUANT_Q4_0, HX_QUANT_Q4_1,   HX_QUANT_Q5_0,
                                     HX_QUANT_Q5_1, HX_QUANT_BF16, HX_QUANT_IQ4_NL, HX_QUANT_F16};
    size_t n = 0;

    for (size_t i = 0; i < HXT_LEN(types); i++) {
        struct tiny t = {.type_tensor = "blk.0.ffn_up.weight", .type = types[i]};

        tiny_build(&t);
        take_model(&all[n++], t.p, t.n);
        free(t.p);
    }
    for (size_t i = 0; gen_archs[i]; i++) {
        struct gen_model g;

        assert_true(n < MAX_MODELS);
        gen_init(&g, gen_archs[i]);
        g.type = HX_QUANT_Q8_0;
        g.llama3_keys = strcmp(g.arch, "llama") == 0;
        gen_build(&g);
        take_model(&all[n++], g.file, g.n_file);
        gen_free(&g);
    }
    return n;
}

/* --- one kind of damage each: changes the n bytes at p and returns how many there are now */

struct mutant {
    uint8_t *p;
    size_t n;
};

static size_t below(size_t n)
{
    return hxt_below(&rng, n);
}

static void flip_bits(struct mutant *m, const struct places *at)
{
    for (size_t i = 0, n = 1 + below(8); i < n; i++)
        m->p[below(below(2) ? m->n : at->header_bytes)] ^= (uint8_t)(1u << below(8));
}

static void truncate_file(struct mutant *m, const struct places *at)
{
    m->n = below(below(4) ? m->n : at->header_bytes);
}

static void edit_length(struct mutant *m, const struct places *at)
{
    const size_t place = at->length[below(at->n_length)];
    uint64_t v;

    memcpy(&v, m->p + place, sizeof(v));
    const uint64_t edits[] = {0, 1, v + 1, v - 1, v * 2, v + 32, v ^ 1ull << 32, m->n, m->n - place,
                              UINT32_MAX, UINT64_MAX, 1ull << 63, UINT64_MAX / 8, hxt_u64(&rng)};

    v = edits[below(HXT_LEN(edits))];
    memcpy(m->p + place, &v, sizeof(v));
}

static void swap_type(struct mutant *m, const struct places *at)
{
    const uint32_t v = (uint32_t)below(15);

    memcpy(m->p + at->type[below(at->n_type)], &v, sizeof(v));
}

static void swap_quant(struct mutant *m, const struct places *at)
{
    const uint32_t v = (uint32_t)below(HX_QUANT_NAMES + 2);

    memcpy(m->p + at->quant[below(at->n_quant)], &v, sizeof(v));
}

static void copy_over(struct mutant *m, const struct places *at)
{
    const size_t n = 1 + below(64);

    memmove(m->p + below(at->header_bytes - n), m->p + below(m->n - n), n);
}

static void cut_out(struct mutant *m, const struct places *at)
{
    const size_t n = 1 + below(40), from = below(at->header_bytes);

    memmove(m->p + from, m->p + from + n, m->n - from - n);
    m->n -= n;
}

static void fill(struct mutant *m, const struct places *at)
{
    static const uint8_t values[] = {0, 0xff, 0x7f, 0x80};
    const size_t n = 1 + below(256), from = below(below(2) ? m->n - n : at->header_bytes);

    memset(m->p + from, values[below(HXT_LEN(values))], n);
}

static const struct {
    const char *name;
    void (*damage)(struct mutant *m, const struct places *at);
} kinds[] = {
    {"bit flips", flip_bits},   {"truncations", truncate_file}, {"lengths", edit_length},
    {"types", swap_type},       {"tensor types", swap_quant},   {"copies", copy_over},
    {"cuts", cut_out},          {"fills", fill},
};

/* --- what is expected of each */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From memory of exactly its size, so that ASan sees a read past the end. */
static int open_bytes(const struct mutant *x, struct hx_error *err)
{
    uint8_t *copy = malloc(x->n ? x->n : 1);
    struct hx_model *m = NULL;
    struct hx_gguf *g;
    int rc;

    memcpy(copy, x->p, x->n);
    rc = hx_gguf_open_bytes(&g, "mutant", copy, x->n, err);
    if (!rc)
        rc = hx_model_from_gguf(&m, g, hx_archs, err);
    if (!rc && gguf_use(m))
        fail_msg("it loads but does not run");
    hx_model_close(m);
    free(copy);
    return rc;
}

static int open_file(const struct mutant *x, const char *path, struct hx_error *err)
{
    struct hx_model *m = NULL;
    int rc;

    hxt_write_file(path, x->p, x->n);
    rc = hx_model_open(&m, path, hx_archs, err);
    hx_model_close(m);
    unlink(path); /* a file that is written over again and again goes to the disk each time */
    return rc;
}

/* Returns 1 when it loads. */
static int judge(const struct mutant *x, size_t number, const char *kind, const char *path)
{
    struct hx_error err = {""}, file_why = {""};
    const double start = cpu_seconds();
    const int rc = open_bytes(x, &err), file_rc = open_file(x, path, &file_why);
    const double seconds = cpu_seconds() - start;

    /* not a timing but the promise itself; usual are milliseconds, in a sanitizer build, too */
    if (seconds > 2)
        fail_msg("mutant %zu (%s) took %.3f s of CPU time for two openings", number, kind, seconds);
    if (rc != file_rc)
        fail_msg("mutant %zu (%s): %d from memory, %d from a file", number, kind, rc, file_rc);
    if (rc && (!err.text[0] || strchr(err.text, '\n')))
        fail_msg("mutant %zu (%s): refused with %d and '%s'", number, kind, rc, err.text);
    return rc == 0;
}

static void test_every_mutant_loads_or_is_refused(void **state)
{
    static struct pristine models[MAX_MODELS];
    const char *path = hxt_path("%s/mutant.gguf", hxt_tmpdir());
    const size_t n_models = make_models(models);
    size_t loaded[HXT_LEN(kinds)] = {0}, all[HXT_LEN(kinds)] = {0}, n_loaded = 0;

    (void)state;
    for (size_t i = 0; i < n_models; i++)
        if (!judge(&(struct mutant){models[i].p, models[i].n}, i, "as it should be", path))
            fail_msg("model %zu does not load", i);
    for (size_t i = 0; i < MUTANTS; i++) {
        const size_t kind = i % HXT_LEN(kinds);
        const struct pristine *from = &models[i / HXT_LEN(kinds) % n_models];
        struct mutant m = {malloc(from->n), from->n};

        memcpy(m.p, from->p, from->n);
        for (size_t times = 1 + (below(4) == 0); times && m.n == from->n; times--)
            kinds[kind].damage(&m, &from->at);
        all[kind]++;
        loaded[kind] += (size_t)judge(&m, i, kinds[kind].name, path);
        free(m.p);
    }
    for (size_t i = 0; i < n_models; i++)
        free(models[i].p);
    for (size_t k = 0; k < HXT_LEN(kinds); k++) {
        printf("%-12s %4zu mutants, %4zu load\n", kinds[k].name, all[k], loaded[k]);
        n_loaded += loaded[k];
    }
    printf("%zu load, %zu are refused\n", n_loaded, MUTANTS - n_loaded);
    assert_true(n_loaded > 0 && n_loaded < MUTANTS);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_mutant_loads_or_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
