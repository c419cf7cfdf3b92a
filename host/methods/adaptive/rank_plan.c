/* Rank plans, in memory and as text; see rank_plan.h. */
#include "rank_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/capture/part.h"
#include "model/matrix.h"
#include "text/text.h"

#define FIRST_LINE "hexrig rank plan 1"
enum { MAGIC_BYTES = 16 }; /* of it: what a file has to begin with to be replaced */

const char *const hx_phase_names[] = {"-", "mix", "compress", "refine", NULL};

enum { QKV = 1 << HX_WQ | 1 << HX_WK | 1 << HX_WV };

int hx_rank_plan_alloc(struct hx_rank_plan *p, const struct hx_model *m, size_t n)
{
    *p = (struct hx_rank_plan){.model = m->fingerprint, .at = calloc(n + 1, sizeof(*p->at)), .n = n};
    return p->at ? 0 : -ENOMEM;
}

int hx_rank_plan_qkv(struct hx_rank_plan *p, const struct hx_model *m, const size_t *ranks, size_t equal)
{
    const int rc = hx_rank_plan_alloc(p, m, m->n_layer);

    for (size_t i = 0; i < p->n && !rc; i++)
        p->at[i] = (struct hx_rank){.layer = i, .matrices = QKV, .rank = ranks ? ranks[i] : equal};
    return rc;
}

void hx_rank_plan_free(struct hx_rank_plan *p)
{
    free(p->at);
    free(p->gain);
    *p = (struct hx_rank_plan){0};
}

size_t hx_rank_plan_sum(const struct hx_rank_plan *p)
{
    size_t sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += p->at[i].rank;
    return sum;
}

const struct hx_rank *hx_rank_plan_entry(const struct hx_rank_plan *p, size_t layer, uint32_t which)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i].layer == layer && p->at[i].matrices & 1u << which)
            return &p->at[i];
    return NULL;
}

size_t hx_rank_plan_find(const struct hx_rank_plan *p, size_t layer, uint32_t which)
{
    const struct hx_rank *at = hx_rank_plan_entry(p, layer, which);

    return at ? at->rank : 0;
}

/* --- reading */

struct reader {
    struct hx_rank_plan *p;
    const struct hx_model *m;
    const char *path;
    size_t line, room; /* room: for ranks */
    int has_model, has_sum;
    struct hx_error *err;
};

static int wrong(const struct reader *r, const char *what, const char *value, const char *legal)
{
    return hx_error_set(r->err, -EINVAL, "%s:%zu: %s '%.64s'; legal: %s", r->path, r->line, what, value ? value : "", legal);
}

static int read_number(const struct reader *r, const char *what, const char *word, size_t least, size_t most, size_t *to)
{
    char legal[64], *end = NULL;
    unsigned long long n;

    snprintf(legal, sizeof(legal), "%zu..%zu", least, most);
    errno = 0;
    n = word && *word >= '0' && *word <= '9' ? strtoull(word, &end, 10) : 0;
    if (!end || *end || errno || n < least || n > most)
        return wrong(r, what, word, legal);
    *to = (size_t)n;
    return 0;
}

static int read_model(struct reader *r, char **rest)
{
    const char *word = strsep(rest, " ");
    char *end = NULL, legal[32];

    snprintf(legal, sizeof(legal), "%016" PRIx64, r->m->fingerprint);
    errno = 0;
    r->p->model = word ? strtoull(word, &end, 16) : 0;
    if (!end || end == word || *end || errno)
        return wrong(r, "model", word, "a fingerprint of 16 hexadecimal digits");
    if (r->p->model != r->m->fingerprint)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: plan of another model (fingerprint %016" PRIx64 ", %s has %s)", r->path, r->line,
                            r->p->model, hx_gguf_name(r->m->file), legal);
    r->has_model = 1;
    return 0;
}

static uint32_t matrices_of(const char *word)
{
    if (word && strcmp(word, "qkv") == 0)
        return QKV;
    for (uint32_t w = 0; word && w < HX_PER_LAYER; w++)
        if (strcmp(word, hx_matrix_names[w]) == 0)
            return 1u << w;
    return 0;
}

static int phase_of(const char *word, enum hx_phase *phase)
{
    for (int i = 0; word && i < HX_PHASES; i++)
        if (strcmp(word, hx_phase_names[i]) == 0) {
            *phase = (enum hx_phase)i;
            return 1;
        }
    return 0;
}

/* 1: one of these matrices has a rank already. */
static int is_taken(const struct hx_rank_plan *p, const struct hx_rank *of)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i].layer == of->layer && p->at[i].matrices & of->matrices)
            return 1;
    return 0;
}

static int read_rank(struct reader *r, char **rest)
{
    const char *layer = strsep(rest, " "), *slot = strsep(rest, " "), *rank = strsep(rest, " "), *phase = strsep(rest, " ");
    struct hx_rank got = {.matrices = matrices_of(slot)};
    int rc = read_number(r, "layer", layer, 0, r->m->n_layer - 1, &got.layer);

    if (!rc && !got.matrices)
        rc = wrong(r, "slot", slot, "wq, wk, wv, wo, gate, up, down, qkv");
    if (!rc)
        rc = read_number(r, "rank", rank, 1, hx_model_most_cols(r->m), &got.rank);
    if (!rc && !phase_of(phase, &got.phase))
        rc = wrong(r, "phase", phase, "-, mix, compress, refine");
    if (!rc && is_taken(r->p, &got))
        rc = hx_error_set(r->err, -EINVAL, "%s:%zu: a second rank of %s of layer %zu", r->path, r->line, slot, got.layer);
    if (rc)
        return rc;
    snprintf(got.why, sizeof(got.why), "%s", *rest ? *rest : "");
    r->p->at[r->p->n++] = got; /* there is room: no more than matrices */
    return 0;
}

static int read_sum(struct reader *r, char **rest)
{
    const size_t is = hx_rank_plan_sum(r->p);
    size_t sum = 0;
    int rc = read_number(r, "sum", strsep(rest, " "), 0, SIZE_MAX / 2, &sum);

    if (!rc && sum != is)
        rc = hx_error_set(r->err, -EINVAL, "%s:%zu: sum %zu; the ranks before it add up to %zu", r->path, r->line, sum, is);
    r->has_sum = 1;
    return rc;
}

static int read_gain(struct reader *r, char **rest)
{
    const char *word;
    char *end = NULL;
    size_t i = 0;
    int rc = read_number(r, "gain", strsep(rest, " "), r->p->n_gain, r->m->width - 1, &i);

    if (!rc && i != r->p->n_gain)
        rc = hx_error_set(r->err, -EINVAL, "%s:%zu: gain %zu; the next is %zu", r->path, r->line, i, r->p->n_gain);
    if (rc)
        return rc;
    if (!r->p->gain && !(r->p->gain = calloc(r->m->width, sizeof(*r->p->gain))))
        return hx_error_set(r->err, -ENOMEM, "out of memory");
    word = strsep(rest, " ");
    r->p->gain[i] = word ? strtod(word, &end) : 0;
    if (!end || *end || !isfinite(r->p->gain[i]) || r->p->gain[i] <= 0)
        return wrong(r, "gain", word, "positive numbers");
    r->p->n_gain++;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct reader *r, char **rest);
} kinds[] = {{"model", read_model}, {"rank", read_rank}, {"sum", read_sum}, {"gain", read_gain}};

static int read_line(struct reader *r, char *line)
{
    const char *word = strsep(&line, " ");

    if (!*word || *word == '#')
        return 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(word, kinds[i].name) == 0)
            return kinds[i].read(r, &line);
    return wrong(r, "line", word, "model, rank, sum, gain");
}

/* What every plan has to have. */
static int check_whole(const struct reader *r)
{
    if (!r->has_model || !r->has_sum)
        return hx_error_set(r->err, -EINVAL, "%s: it ends without a line '%s'", r->path, r->has_model ? "sum" : "model");
    if (r->p->n_gain && r->p->n_gain != r->m->width)
        return hx_error_set(r->err, -EINVAL, "%s: %zu gains; the model's stream has %zu values", r->path, r->p->n_gain, r->m->width);
    return 0;
}

static int read_lines(struct reader *r, char *text)
{
    char *line = strsep(&text, "\n");
    int rc = 0;

    r->line = 1;
    if (strcmp(line, FIRST_LINE) != 0)
        return wrong(r, "first line", line, FIRST_LINE);
    while (!rc && (line = strsep(&text, "\n"))) {
        r->line++;
        rc = read_line(r, line);
    }
    return rc ? rc : check_whole(r);
}

int hx_rank_plan_read(struct hx_rank_plan *p, const char *path, const struct hx_model *m, struct hx_error *err)
{
    struct reader r = {.p = p, .m = m, .path = path, .err = err};
    char *text = NULL;
    size_t n;
    int rc = hx_text_read(path, &text, &n, err);

    if (rc)
        return rc;
    if (hx_rank_plan_alloc(p, m, m->n_layer * HX_PER_LAYER))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    p->n = 0;
    if (!rc)
        rc = read_lines(&r, text);
    free(text);
    if (rc)
        hx_rank_plan_free(p);
    return rc;
}

/* --- writing */

static const char *slot_of(uint32_t matrices)
{
    for (uint32_t w = 0; w < HX_PER_LAYER; w++)
        if (matrices == 1u << w)
            return hx_matrix_names[w];
    return "qkv";
}

static void print(const struct hx_rank_plan *p, FILE *f)
{
    fprintf(f, FIRST_LINE "\nmodel %016" PRIx64 "\n", p->model);
    for (size_t i = 0; i < p->n; i++) {
        const struct hx_rank *r = &p->at[i];

        fprintf(f, "rank %zu %s %zu %s%s%s\n", r->layer, slot_of(r->matrices), r->rank, hx_phase_names[r->phase], *r->why ? " " : "",
                r->why);
    }
    fprintf(f, "sum %zu\n", hx_rank_plan_sum(p));
    for (size_t i = 0; i < p->n_gain; i++)
        fprintf(f, "gain %zu %.17g\n", i, p->gain[i]);
}

static int write_text(const char *path, const char *text, size_t n, struct hx_error *err)
{
    struct hx_capture_part part;
    int rc = hx_capture_part_open(&part, path, FIRST_LINE, MAGIC_BYTES, err);

    if (rc)
        return rc;
    if (fwrite(text, 1, n, part.file) != n) {
        hx_capture_part_drop(&part);
        return hx_error_set(err, -EIO, "%s: cannot write", path);
    }
    rc = hx_capture_part_keep(&part);
    return rc ? hx_error_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int hx_rank_plan_write(const struct hx_rank_plan *p, const char *path, struct hx_error *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        print(p, f);
        rc = fclose(f) ? hx_error_set(err, -ENOMEM, "out of memory") : 0;
    }
    if (!rc)
        rc = write_text(path, text, n, err);
    free(text);
    return rc;
}
