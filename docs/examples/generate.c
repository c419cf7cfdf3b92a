/* A text from a model, as it is made; then the same model answers two questions in turn, each in a context of its own.
 *
 *     cc generate.c $(pkg-config --cflags --libs hexrig) -o generate
 *     ./generate [MODEL.gguf [PROMPT]] */
#include <hexrig.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PROMPT = 512 };

static int print(void *arg, const char *text, size_t n)
{
    (void)arg;
    fwrite(text, 1, n, stdout);
    fflush(stdout);
    return 0; /* 1 would end it here */
}

/* Goes on with the text, until n tokens are made. */
static int complete(struct hexrig_model *m, const char *prompt, size_t n, struct hexrig_error *err)
{
    uint32_t ids[MAX_PROMPT];
    long n_ids = hexrig_tokenize(m, prompt, strlen(prompt), HEXRIG_BOS, ids, MAX_PROMPT, err);
    struct hexrig_generation g = {.prompt = ids, .n_prompt = (size_t)n_ids, .max_tokens = n, .text = print};
    struct hexrig_context *c;
    int rc;

    if (n_ids < 0 || n_ids > MAX_PROMPT)
        return -1;
    rc = hexrig_context_open(&c, m, 256, err);
    if (rc)
        return rc;
    printf("%s", prompt);
    rc = hexrig_generate(c, &g, err);
    printf("\n[%zu tokens]\n", g.n_made);
    hexrig_context_close(c);
    return rc;
}

/* One step at a time: what follows each of two texts, in turn. */
static int take_turns(struct hexrig_model *m, struct hexrig_error *err)
{
    static const char *const texts[2] = {"The king", "In the beginning"};
    struct hexrig_context *c[2] = {NULL, NULL};
    char word[64];
    int rc = 0;

    for (int i = 0; !rc && i < 2; i++) {
        uint32_t ids[MAX_PROMPT];
        long n = hexrig_tokenize(m, texts[i], strlen(texts[i]), HEXRIG_BOS, ids, MAX_PROMPT, err);

        rc = n < 0 ? (int)n : hexrig_context_open(&c[i], m, 64, err);
        if (!rc)
            rc = hexrig_feed(c[i], ids, (size_t)n, err);
    }
    for (int step = 0; !rc && step < 10; step++) {
        struct hexrig_context *now = c[step % 2];
        uint32_t id = 0;

        rc = hexrig_sample(now, &id, err);
        if (!rc)
            rc = hexrig_feed(now, &id, 1, err);
        if (!rc && hexrig_detokenize(m, &id, 1, word, sizeof(word), err) >= 0)
            printf("%s%s", word, step % 2 ? "\n" : " |");
    }
    hexrig_context_close(c[0]);
    hexrig_context_close(c[1]);
    return rc;
}

int main(int argc, char **argv)
{
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    struct hexrig_model *m;
    struct hexrig_error err = {""};
    int rc;

    cfg.model = argc > 1 ? argv[1] : NULL; /* NULL: the one that comes with hexrig */
    cfg.kv = "f32";                        /* no DSP */
    rc = hexrig_model_open(&m, &cfg, &err);
    if (!rc) {
        rc = complete(m, argc > 2 ? argv[2] : "The king was", 16, &err);
        if (!rc)
            rc = take_turns(m, &err);
        hexrig_model_close(m);
    }
    if (rc)
        fprintf(stderr, "generate: %s\n", err.text);
    return rc != 0;
}
