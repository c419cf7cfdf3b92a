/* The peer's figures for `make bench-peer`: llama.cpp's library, loaded from a folder, does what `hexrig bench engine` does: a
 * prompt at once, then token after token, each with logits; f32 K and V are not asked for, the library's defaults stand.
 *
 * usage: peer_llama DIR MODEL THREADS PREFILL DECODE RUNS LIBRARY...  Prints prefill.tok_per_s= and decode.tok_per_s= (the fastest run)
 * and the medians.  Exit 77: the library cannot be used.
 *
 * Declarations are ours: structs are passed by value, larger than the library's, and only fields that have been first since
 * the functions exist are touched.  That holds for ABIs that pass large structs in memory: System V on x86-64. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 1000 };

struct opaque {
    uint32_t first[4]; /* of the context's: n_ctx, n_batch, n_ubatch, n_seq_max */
    char rest[1008];
};

static struct {
    void (*load_all)(const char *dir);
    void (*init)(void);
    void (*log_set)(void (*log)(int level, const char *text, void *user), void *user);
    struct opaque (*model_params)(void);
    struct opaque (*context_params)(void);
    void *(*load)(const char *path, struct opaque params);
    void *(*context)(void *model, struct opaque params);
    void (*threads)(void *ctx, int32_t n, int32_t n_batch);
    const void *(*vocab)(const void *model);
    int32_t (*n_tokens)(const void *vocab);
    struct opaque (*batch)(int32_t *tokens, int32_t n);
    int32_t (*decode)(void *ctx, struct opaque batch);
    float *(*logits)(void *ctx, int32_t i);
    void *(*memory)(const void *ctx);
    void (*clear)(void *memory, bool data);
} lib;

static const struct {
    const char *name;
    void *to;
} symbols[] = {
    {"ggml_backend_load_all_from_path", &lib.load_all}, {"llama_backend_init", &lib.init},
    {"llama_log_set", &lib.log_set}, {"llama_model_default_params", &lib.model_params},
    {"llama_context_default_params", &lib.context_params},
    {"llama_model_load_from_file", &lib.load}, {"llama_init_from_model", &lib.context},
    {"llama_set_n_threads", &lib.threads}, {"llama_model_get_vocab", &lib.vocab},
    {"llama_vocab_n_tokens", &lib.n_tokens}, {"llama_batch_get_one", &lib.batch},
    {"llama_decode", &lib.decode}, {"llama_get_logits_ith", &lib.logits},
    {"llama_get_memory", &lib.memory}, {"llama_memory_clear", &lib.clear},
};

static void quiet(int level, const char *text, void *user)
{
    (void)user;
    if (level >= 4) /* errors */
        fputs(text, stderr);
}

/* The names carry the version, so the caller lists them: libggml-base, libggml, libllama. */
static int load_library(char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (!dlopen(names[i], RTLD_NOW | RTLD_GLOBAL)) {
            fprintf(stderr, "peer_llama: %s\n", dlerror());
            return -1;
        }
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *f = dlsym(RTLD_DEFAULT, symbols[i].name);

        if (!f) {
            fprintf(stderr, "peer_llama: the library has no %s\n", symbols[i].name);
            return -1;
        }
        memcpy(symbols[i].to, &f, sizeof(f));
    }
    return 0;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* As tools/hexrig/bench/bench_engine.c. */
static void fill_tokens(int32_t *ids, size_t n, uint32_t vocab)
{
    uint32_t s = 1;

    for (size_t i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        ids[i] = (int32_t)((uint64_t)s * vocab >> 32);
    }
}

static double run_phase(void *ctx, int32_t *ids, size_t n, size_t batch)
{
    const double t0 = now();

    for (size_t i = 0; i < n; i += batch) {
        if (lib.decode(ctx, lib.batch(ids + i, (int32_t)batch)) || !lib.logits(ctx, -1)) {
            fprintf(stderr, "peer_llama: cannot decode\n");
            exit(1);
        }
    }
    return now() - t0;
}

static int less(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print(const char *name, size_t tokens, double *s, size_t runs)
{
    qsort(s, runs, sizeof(*s), less);
    printf("%s.tok_per_s=%.2f\n%s.median_tok_per_s=%.2f\n", name, (double)tokens / s[0], name,
           (double)tokens / s[runs / 2]);
}

static void *open_context(const char *path, int threads, size_t n_ctx, uint32_t *vocab)
{
    struct opaque params;
    void *model, *ctx;

    lib.init();
    model = lib.load(path, lib.model_params());
    if (!model)
        return NULL;
    params = lib.context_params();
    params.first[0] = params.first[1] = params.first[2] = (uint32_t)((n_ctx + 255) / 256 * 256);
    ctx = lib.context(model, params);
    if (ctx)
        lib.threads(ctx, threads, threads);
    *vocab = (uint32_t)lib.n_tokens(lib.vocab(model));
    return ctx;
}

int main(int argc, char **argv)
{
    static double prefill_s[MAX_RUNS], decode_s[MAX_RUNS];
    uint32_t vocab;
    int32_t *ids;
    void *ctx;

    if (argc < 8) {
        fprintf(stderr, "usage: peer_llama DIR MODEL THREADS PREFILL DECODE RUNS LIBRARY...\n");
        return 2;
    }
    const size_t prefill = strtoul(argv[4], NULL, 10), decode = strtoul(argv[5], NULL, 10);
    const size_t runs = strtoul(argv[6], NULL, 10);

    if (!prefill || !decode || !runs || runs > MAX_RUNS)
        return 2;
    if (load_library(argv + 7, argc - 7))
        return 77;
    lib.log_set(quiet, NULL);
    lib.load_all(argv[1]);
    ids = calloc(prefill + decode, sizeof(*ids));
    ctx = open_context(argv[2], atoi(argv[3]), prefill + decode, &vocab);
    if (!ids || !ctx) {
        fprintf(stderr, "peer_llama: cannot open %s\n", argv[2]);
        return 1;
    }
    fill_tokens(ids, prefill + decode, vocab);
    for (size_t run = 0; run <= runs; run++) { /* the first does not count */
        lib.clear(lib.memory(ctx), true);
        double p = run_phase(ctx, ids, prefill, prefill), d = run_phase(ctx, ids + prefill, decode, 1);

        if (run) {
            prefill_s[run - 1] = p;
            decode_s[run - 1] = d;
        }
    }
    print("prefill", prefill, prefill_s, runs);
    print("decode", decode, decode_s, runs);
    fflush(stdout);
    _Exit(0); /* the library's threads need no farewell */
}
