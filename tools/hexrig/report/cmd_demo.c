/* hexrig demo: the point of the project in one table, from what `hexrig run --json` and `hexrig ppl --json` say. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/share.h"
#include "methods/spinor/kv_spinor.h"
#include "options/rig_time.h"
#include "run_json.h"

static const char cmd[] = "demo";

static const struct argp_option options[] = {
    {"prompt", 'p', "TEXT", 0, "what to continue (\"In the beginning\")", 0},
    {"tokens", 'n', "N", 0, "tokens to generate (32)", 0},
    {"filter", HX_OPT_FILTER, "SPEC", 0,
     "one more filter, for the rig of the batched run only: with error:method=6,nth=20,corrupt=all its tokens are others, "
     "and the demo fails", 0},
    HX_RIG_TIME_ROWS(0),
    {0},
};

static const char doc[] =
    "Generates the same text with the K and V cache as f32 and as 63-byte spinor blocks that the DSP encodes and decodes, "
    "at each dispatch density, and prints what the DSP calls cost.  Exit 1 when the tokens differ between the densities."
    "\vExample: hexrig demo -p \"Once upon a time\" -n 24";

enum { COLUMN = 46, MAX_LINES = 64, PPL_CTX = 128, PPL_CHUNKS = 8, MAX_DENSITIES = 8 };

struct demo {
    const char *prompt, *n;
    const char *filter; /* of the batched run; NULL: none */
    struct hx_rig_time time;
    char front_end[16]; /* of the first run that needed a rig; the others get the same */
    json_t *f32, *ppl_f32, *ppl_spinor;
    json_t *spinor[MAX_DENSITIES]; /* one run for each of hx_kv_spinor_densities */
    json_t *batched;               /* one of them */
};

/* --- its runs */

static const char *text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s ? s : "?";
}

static double number(const json_t *j, const char *path)
{
    char key[64];

    while (strchr(path, '.')) {
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
        j = json_object_get(j, key);
        path += strlen(key) + 1;
    }
    return json_number_value(json_object_get(j, path));
}

static json_t *generate(struct demo *d, const char *kv, const char *density, const char *filter)
{
    const char *argv[20] = {"hexrig", "run", "--json", "-p", d->prompt, "-n", d->n, "--kv", kv};
    size_t n = 9;
    json_t *j;

    if (density) {
        argv[n++] = "--density";
        argv[n++] = density;
        argv[n++] = "--front-end";
        argv[n++] = d->front_end;
    }
    if (density && hx_rig_time_filter(&d->time)) {
        argv[n++] = "--filter";
        argv[n++] = d->time.spec;
    }
    if (filter) {
        argv[n++] = "--filter";
        argv[n++] = filter;
    }
    j = hx_run_json(cmd, argv, -1, NULL);
    if (j && density) /* what auto has become, so that the reason is given once */
        snprintf(d->front_end, sizeof(d->front_end), "%s", text(j, "front_end"));
    return j;
}

static json_t *perplexity(struct demo *d, const char *kv, int on_rig)
{
    char ctx[16], chunks[16], *file = hx_share("books-holdout.txt");
    const char *argv[20] = {"hexrig", "ppl",      "--json", "-f", file ? file : "", "--ctx",
                            ctx,      "--chunks", chunks,   "--kv", kv};
    json_t *j;

    snprintf(ctx, sizeof(ctx), "%d", PPL_CTX);
    snprintf(chunks, sizeof(chunks), "%d", PPL_CHUNKS);
    if (on_rig) {
        argv[11] = "--front-end";
        argv[12] = d->front_end;
    }
    j = hx_run_json(cmd, argv, -1, NULL);
    free(file);
    return j;
}

/* --- two texts beside each other */

struct column {
    char line[MAX_LINES][4 * COLUMN + 1];
    int used[MAX_LINES]; /* characters */
    int n;
};

static int characters(const char *s, size_t bytes)
{
    int n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += (s[i] & 0xc0) != 0x80;
    return n;
}

static void append(struct column *c, const char *word, size_t bytes)
{
    int width = characters(word, bytes);
    char *line;
    size_t at;

    if (width > COLUMN || bytes > 4 * COLUMN)
        return; /* no word is that long; what is, would break the picture */
    if (c->n == 0 || c->used[c->n - 1] + 1 + width > COLUMN) {
        if (c->n == MAX_LINES)
            return;
        c->n++;
    }
    line = c->line[c->n - 1];
    at = strlen(line);
    if (at)
        line[at++] = ' ';
    memcpy(line + at, word, bytes);
    c->used[c->n - 1] = characters(line, at + bytes);
}

static void wrap(struct column *c, const char *s)
{
    memset(c, 0, sizeof(*c));
    for (;;) {
        size_t bytes;

        s += strspn(s, " \n\r\t");
        bytes = strcspn(s, " \n\r\t");
        if (bytes == 0)
            return;
        append(c, s, bytes);
        s += bytes;
    }
}

static void print_texts(const struct demo *d)
{
    static struct column a, b;

    wrap(&a, text(d->f32, "text"));
    wrap(&b, text(d->batched, "text"));
    printf("prompt: %s\n\n%-*s | %s\n", d->prompt, COLUMN, "text with f32 K/V",
           "text with K/V as 63-byte blocks through the DSP");
    for (int i = 0; i < a.n || i < b.n; i++) {
        printf("%s%*s | %s\n", i < a.n ? a.line[i] : "", COLUMN - (i < a.n ? a.used[i] : 0), "",
               i < b.n ? b.line[i] : "");
    }
    putchar('\n');
}

/* --- the table */

static void print_row(const json_t *j)
{
    static const char *const parts[] = {"dispatch", "marshal", "queue", "exec", "total"};
    char key[64];

    printf("%-11s %12.1f %14.1f %15.0f %15.0f %17s", text(j, "density"),
           number(j, "dispatch.calls_per_token"), number(j, "dispatch.packets_per_token"),
           number(j, "dispatch.bytes_copied_per_token"),
           number(j, "dispatch.bytes_shared_per_token"), "");
    for (size_t i = 0; i < 5; i++) {
        snprintf(key, sizeof(key), "dispatch.model_us_per_token.%s", parts[i]);
        printf(" %10.3f", number(j, key) / 1000);
    }
    printf(" %16.2f\n", number(j, "host_s") * 1000 / number(j, "dispatch.steps"));
}

static void print_table(const struct demo *d, int identical)
{
    double f32 = number(d->ppl_f32, "ppl"), spinor = number(d->ppl_spinor, "ppl");
    int same = strcmp(text(d->f32, "text"), text(d->batched, "text")) == 0;
    const json_t *block = json_object_get(d->batched, "block");

    printf("front end: %s   profile: %s   model ms are modelled, host ms are measured here\n\n",
           text(d->batched, "front_end"), text(d->batched, "profile"));
    printf("%-11s %12s %14s %15s %15s   %s %10s %10s %10s %10s %10s %16s\n", "density",
           "calls/token", "packets/token", "copied B/token", "shared B/token", "model ms/token:",
           "dispatch", "marshal", "queue", "exec", "total", "host ms/token");
    for (size_t i = 0; hx_kv_spinor_densities[i]; i++)
        print_row(d->spinor[i]);
    printf("tokens identical: %s    block %.0f B: %.2fx (154 padded f32)  %.2fx (f32)  %.2fx (f16)"
           "    ppl f32 kv / spinor kv: %.2f / %.2f\n",
           identical ? "yes" : "no", number(d->batched, "block.payload_bytes"),
           number(d->batched, "block.ratio_padded_f32"), number(d->batched, "block.ratio_f32"),
           number(d->batched, "block.ratio_f16"), f32, spinor);
    printf("\nPerplexity (measured: %d windows of %d tokens of held-out text) is %+.1f %% with blocks: "
           "basis %s, K %s RoPE%s.\nThe papers' basis: hexrig run --basis vht2.  More figures: docs/block.md\n",
           PPL_CHUNKS, PPL_CTX, 100 * (spinor / f32 - 1), text(block, "basis"),
           text(block, "k"), same ? "; these two texts are the same" : "");
}

static int run_densities(struct demo *d)
{
    for (size_t i = 0; hx_kv_spinor_densities[i]; i++) {
        const char *density = hx_kv_spinor_densities[i];
        int is_batched = strcmp(density, "batched") == 0;

        d->spinor[i] = generate(d, "spinor", density, is_batched ? d->filter : NULL);
        if (!d->spinor[i])
            return HX_EXIT_FAILED;
        if (is_batched)
            d->batched = d->spinor[i];
    }
    return HX_EXIT_OK;
}

static int all_identical(const struct demo *d)
{
    for (size_t i = 1; hx_kv_spinor_densities[i]; i++)
        if (!json_equal(json_object_get(d->spinor[0], "tokens"),
                        json_object_get(d->spinor[i], "tokens")))
            return 0;
    return 1;
}

static int measure(struct demo *d)
{
    d->f32 = generate(d, "f32", NULL, NULL);
    if (!d->f32 || run_densities(d))
        return HX_EXIT_FAILED;
    d->ppl_f32 = perplexity(d, "f32", 0);
    if (d->ppl_f32)
        d->ppl_spinor = perplexity(d, "spinor", 1);
    return d->ppl_spinor ? HX_EXIT_OK : HX_EXIT_FAILED;
}

static int demo(struct demo *d)
{
    int rc = measure(d), identical;

    if (rc == HX_EXIT_OK) {
        identical = all_identical(d);
        print_texts(d);
        print_table(d, identical);
        if (!identical)
            rc = hx_cmd_fail(cmd, "the densities made different tokens");
    }
    json_decref(d->f32);
    for (size_t i = 0; hx_kv_spinor_densities[i]; i++)
        json_decref(d->spinor[i]);
    json_decref(d->ppl_f32);
    json_decref(d->ppl_spinor);
    return rc;
}

static int option(struct demo *d, int key, const char *arg)
{
    size_t n;

    switch (key) {
    case 'p':
        d->prompt = arg;
        return *arg ? 0 : hx_cmd_usage(cmd, "the prompt is empty");
    case 'n':
        d->n = arg;
        return hx_opt_size(cmd, "tokens", arg, 1, HX_MAX_TOKENS, &n);
    case HX_OPT_FILTER:
        d->filter = arg;
        return 0;
    case HX_OPT_TIME:
    case HX_OPT_HOST_US:
        return hx_rig_time_option(&d->time, cmd, key, arg);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

int hx_cmd_demo(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct demo d = {.prompt = "In the beginning", .n = "32", .front_end = "auto"};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &d);

    return rc ? rc : demo(&d);
}
