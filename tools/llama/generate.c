/* llama_generate: greedy tokens by llama.cpp's own library, for `hexrig llama`.  Compiled against the sources that it fetched.
 * Usage: llama_generate BACKEND-DIR MODEL CPU|HTP0 TOKENS PROMPTS
 *
 * PROMPTS is a file, one prompt a line.  Each is generated on its own, TOKENS long or up to the end of its text; a line on stdout says
 * tokens=ID,ID,... and one text=...  Everything that llama.cpp logs goes to stderr. */
#include <ggml-backend.h>
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 512, PROMPT_BYTES = 4096, PIECE_BYTES = 256 };

static void to_stderr(enum ggml_log_level level, const char *text, void *unused)
{
    (void)level, (void)unused;
    fputs(text, stderr);
}

static struct llama_model *load(const char *path, const char *device)
{
    static ggml_backend_dev_t devices[2];
    struct llama_model_params params = llama_model_default_params();
    int on_cpu = strcmp(device, "CPU") == 0;

    devices[0] = on_cpu ? NULL : ggml_backend_dev_by_name(device);
    if (!on_cpu && !devices[0]) {
        fprintf(stderr, "llama_generate: there is no device %s\n", device);
        return NULL;
    }
    params.devices = devices;
    params.n_gpu_layers = on_cpu ? 0 : 99;
    return llama_model_load_from_file(path, params);
}

static struct llama_context *new_context(struct llama_model *model)
{
    struct llama_context_params params = llama_context_default_params();

    params.n_ctx = params.n_batch = CONTEXT;
    params.n_threads = params.n_threads_batch = 1;
    params.no_perf = false;
    return llama_init_from_model(model, params);
}

static llama_token best(struct llama_context *ctx, int vocabulary)
{
    const float *logits = llama_get_logits_ith(ctx, -1);
    llama_token token = 0;

    for (int i = 1; i < vocabulary; i++)
        if (logits[i] > logits[token])
            token = i;
    return token;
}

/* What `tokens` say, on one line. */
static void print_text(const struct llama_vocab *vocab, const llama_token *tokens, int count)
{
    char piece[PIECE_BYTES];

    fputs("text=", stdout);
    for (int i = 0; i < count; i++) {
        int bytes = llama_token_to_piece(vocab, tokens[i], piece, sizeof(piece), 0, false);

        for (int j = 0; j < bytes; j++)
            putchar(piece[j] == '\n' ? ' ' : piece[j]);
    }
    putchar('\n');
}

static int generate(struct llama_model *model, char *prompt, int want)
{
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    llama_token tokens[CONTEXT];
    int given = llama_tokenize(vocab, prompt, (int)strlen(prompt), tokens, CONTEXT, true, true), made = 0;
    struct llama_context *ctx = given > 0 && given + want <= CONTEXT ? new_context(model) : NULL;
    struct llama_batch batch = llama_batch_get_one(tokens, given);

    if (!ctx) {
        fprintf(stderr, "llama_generate: '%s' and %d tokens do not fit into %d\n", prompt, want, CONTEXT);
        return 1;
    }
    while (made < want && llama_decode(ctx, batch) == 0) {
        llama_token *next = &tokens[given + made];

        *next = best(ctx, llama_vocab_n_tokens(vocab));
        if (llama_vocab_is_eog(vocab, *next))
            break;
        printf("%s%d", made++ ? "," : "tokens=", *next);
        batch = llama_batch_get_one(next, 1);
    }
    putchar('\n');
    print_text(vocab, tokens, given + made);
    fflush(stdout);
    llama_free(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    char prompt[PROMPT_BYTES];
    struct llama_model *model;
    FILE *prompts;
    int rc = 0;

    if (argc != 6) {
        fprintf(stderr, "usage: llama_generate BACKEND-DIR MODEL CPU|HTP0 TOKENS PROMPTS\n");
        return 2;
    }
    llama_log_set(to_stderr, NULL);
    ggml_backend_load_all_from_path(argv[1]);
    prompts = fopen(argv[5], "r");
    model = prompts ? load(argv[2], argv[3]) : NULL;
    if (!model)
        return 1;
    while (rc == 0 && fgets(prompt, sizeof(prompt), prompts)) {
        prompt[strcspn(prompt, "\n")] = '\0';
        rc = generate(model, prompt, atoi(argv[4]));
    }
    fclose(prompts);
    llama_model_free(model);
    return rc;
}
