/* Drafters with OneDecode's table, see ott_draft.h. */
#include "ott_draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/plan.h"
#include "ott_readiness.h"
#include "text/text.h"

#define SHIPPED "books-holdout.txt"

static const char *const steps[] = {"straight", "geodesic", NULL};

const struct hx_option ott_options[] = {
    {.name = "draft-text", .arg = "FILE"},
    {.name = "ott-file", .arg = "FILE",
     .help = "keep the table in FILE, ott_one_decode.bin, and take it from there; a damaged one, or of another model, is made anew"},
    {.name = "ott-tokens", .arg = "N", .def = "2048", .min = 1, .max = 1 << 20,
     .help = "entries of the table: the N most frequent tokens of the text"},
    {.name = "ott-step", .arg = "straight|geodesic", .def = "straight", .names = steps,
     .help = "the step towards what follows: a straight line, or a geodesic of the metric of the table's states"},
    {.name = "ott-readiness", .arg = "FILE", .help = "at the end, how far the pipeline is ready, as JSON: ott_readiness_report.json"},
    {.name = "ott-prompt", .help = "also bake the prompt's own tokens, from their states there"},
    {.name = NULL},
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- where the table comes from */

static int take_text(struct ott_draft *d, const struct hx_open *o, uint32_t **ids, size_t *n, struct hx_error *err)
{
    const char *path = hx_plan_text(o->plan, "draft-text");
    char *shipped = NULL;
    int rc;

    if (!path && !o->share)
        return hx_error_set(err, -ENOENT, "OneDecode: no folder with " SHIPPED " is known: %s FILE",
                            hx_plan_spell(o->plan, "draft-text"));
    d->text = strdup(path ? path : SHIPPED);
    if (!d->text || (!path && asprintf(&shipped, "%s/" SHIPPED, o->share) < 0))
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    rc = hx_text_encode(o->model->tok, path ? path : shipped, ids, n, err);
    free(shipped);
    return rc;
}

static int wants_space(const struct ott_draft *d)
{
    return d->bakes_prompts && d->geodesic;
}

/* The file's table, if it is of this model and text; else `why` says what is wrong with it, unless there is none. */
static void read_table(struct ott_draft *d, uint64_t made_of)
{
    struct hx_ott *t = NULL;
    int rc = hx_ott_read(&t, d->file, d->model->vocab, &d->why);

    if (!rc && t->model != hx_ott_of_model(d->model))
        rc = hx_error_set(&d->why, -EINVAL, "%s: the table is of another model", d->file);
    else if (!rc && t->made_of != made_of)
        rc = hx_error_set(&d->why, -EINVAL, "%s: the table is of another text, step, or number of tokens", d->file);
    if (!rc) {
        d->table = t;
        d->origin = "file";
        return;
    }
    if (rc == -ENOENT)
        d->why.text[0] = '\0';
    hx_ott_free(t);
}

static int bake(struct ott_draft *d, const uint32_t *ids, size_t n, const struct hx_ott_how *how, struct hx_error *err)
{
    const double start = now_s();
    int rc = hx_ott_bake(&d->table, wants_space(d) ? &d->space : NULL, d->model, ids, n, how, err);

    d->bake_s = now_s() - start;
    d->origin = "baked";
    return rc || !d->file ? rc : hx_ott_write(d->table, d->file, err);
}

static int take_name(char **to, const struct hx_open *o, const char *option, struct hx_error *err)
{
    const char *name = hx_plan_text(o->plan, option);

    *to = name ? strdup(name) : NULL;
    return *to || !name ? 0 : hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
}

static int take_names(struct ott_draft *d, const struct hx_open *o, struct hx_error *err)
{
    int rc = take_name(&d->file, o, "ott-file", err);

    return rc ? rc : take_name(&d->readiness, o, "ott-readiness", err);
}

static int find_table(struct ott_draft *d, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_ott_how how = {hx_plan_number(o->plan, "ott-tokens"), d->geodesic};
    uint32_t *ids = NULL;
    size_t n;
    int rc = take_names(d, o, err);

    if (!rc)
        rc = take_text(d, o, &ids, &n, err);
    if (!rc && d->file)
        read_table(d, hx_ott_of_text(ids, n, &how));
    if (!rc && !d->table)
        rc = bake(d, ids, n, &how, err);
    else if (!rc && wants_space(d))
        rc = hx_ott_bake_space(&d->space, d->model, ids, n, &how, err);
    free(ids);
    return rc;
}

int ott_draft_open(struct hx_draft **out, const struct hx_draft_ops *ops, const struct hx_open *o, size_t k, struct hx_error *err)
{
    struct ott_draft *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    d->draft.ops = ops;
    d->model = o->model;
    d->bakes_prompts = hx_plan_given(o->plan, "ott-prompt");
    d->geodesic = strcmp(hx_plan_text(o->plan, "ott-step"), "geodesic") == 0;
    rc = find_table(d, o, err);
    if (rc) {
        ott_draft_close(&d->draft);
        return rc;
    }
    d->k = k < d->table->candidates ? k : d->table->candidates;
    *out = &d->draft;
    return 0;
}

void ott_draft_close(struct hx_draft *draft)
{
    struct ott_draft *d = (struct ott_draft *)draft;

    hx_ott_free(d->table);
    hx_ott_free(d->of_prompt);
    hx_ott_space_free(&d->space);
    free(d->prompt);
    free(d->file);
    free(d->readiness);
    free(d->text);
    free(d);
}

int ott_draft_check(const struct hx_plan *p, struct hx_error *err)
{
    if (hx_plan_given(p, "ott-prompt") && hx_plan_given(p, "release-file"))
        return hx_error_set(err, -EINVAL, "%sott-prompt runs the model's file with each prompt, and %srelease-file lets it go",
                            hx_plan_prefix(p), hx_plan_prefix(p));
    return 0;
}

/* --- what was made */

static void look_at(struct ott_draft *d, uint32_t before, uint32_t token)
{
    const struct hx_ott_entry *e = d->of_prompt ? hx_ott_find(d->of_prompt, before) : NULL;

    e = e ? e : hx_ott_find(d->table, before);
    d->seen.tokens++;
    if (!e)
        return;
    d->seen.entries++;
    d->seen.first += e->best[0].id == token;
    d->seen.followed += e->followed.p > 0 && e->followed.id == token;
    for (size_t k = 0; k < d->k; k++)
        d->seen.best += e->best[k].id == token;
}

/* ids [n] is the text; a step makes few tokens, so what is much longer is another one. */
static void look_back(struct ott_draft *d, const uint32_t *ids, size_t n)
{
    const int same = d->n_text && n > d->n_text && n - d->n_text <= HX_DRAFT_MAX + 1 && ids[d->n_text - 1] == d->last;

    for (size_t i = d->n_text; same && i < n; i++)
        look_at(d, ids[i - 1], ids[i]);
    d->n_text = n;
    d->last = ids[n - 1];
}

int ott_draft_accept(struct hx_draft *draft, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err)
{
    struct ott_draft *d = (struct ott_draft *)draft;

    (void)err;
    look_back(d, ids, n);
    d->seen.accepted += n_new - 1;
    return 0;
}

/* --- look-ups */

int ott_draft_meet(struct ott_draft *d, const uint32_t *ids, size_t n, struct hx_error *err)
{
    const int goes_on = d->n_prompt && n > d->n_prompt && memcmp(ids, d->prompt, d->n_prompt * sizeof(*ids)) == 0;
    uint32_t *prompt;

    look_back(d, ids, n);
    if (!d->bakes_prompts || goes_on)
        return 0;
    d->n_prompt = 0;
    hx_ott_free(d->of_prompt);
    d->of_prompt = NULL;
    prompt = realloc(d->prompt, n * sizeof(*prompt));
    if (!prompt)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    d->prompt = prompt;
    memcpy(prompt, ids, n * sizeof(*prompt));
    d->n_prompt = n;
    return hx_ott_bake_prompt(&d->of_prompt, d->model, d->space.bent ? &d->space : NULL, ids, n, err);
}

const struct hx_ott_entry *ott_draft_find(struct ott_draft *d, uint32_t token)
{
    const double start = now_s();
    const struct hx_ott_entry *e = d->of_prompt ? hx_ott_find(d->of_prompt, token) : NULL;

    if (!e)
        e = hx_ott_find(d->table, token);
    d->seen.lookup_s += now_s() - start;
    d->seen.lookups++;
    return e;
}

/* --- report */

static json_t *readiness(const struct ott_draft *d)
{
    return ott_readiness(&(struct ott_measured){.table = d->table, .from_file = !strcmp(d->origin, "file"),
                                                  .accepted = d->seen.accepted, .emitted = d->seen.tokens});
}

int ott_draft_finish(struct hx_draft *draft, struct hx_error *err)
{
    const struct ott_draft *d = (const struct ott_draft *)draft;
    json_t *j = d->readiness ? readiness(d) : NULL;
    int failed;

    if (!d->readiness)
        return 0;
    failed = !j || json_dump_file(j, d->readiness, JSON_INDENT(2));
    json_decref(j);
    return failed ? hx_error_set(err, -EIO, "%s: cannot be written", d->readiness) : 0;
}

static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static json_t *geodesics(const struct hx_ott_geometry *g)
{
    return json_pack("{s:I, s:I, s:f, s:f}", "steps", (json_int_t)g->geodesic, "left_straight", (json_int_t)g->straight, "drift",
                     (double)g->drift, "turn", (double)g->turn);
}

json_t *ott_draft_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct ott_draft *d = self;
    const struct ott_seen *s = &d->seen;
    json_t *j = json_pack("{s:s, s:s, s:I, s:i, s:s}", "origin", d->origin, "text", d->text, "entries", (json_int_t)d->table->n,
                          "candidates", (int)d->k, "step", d->table->flags & HX_OTT_STRAIGHT ? "straight line" : "geodesic");
    int rc = 0;

    (void)kv;
    (void)p;
    if (!j)
        return NULL;
    if (!(d->table->flags & HX_OTT_STRAIGHT))
        rc |= json_object_set_new(j, "geodesics", geodesics(&d->table->geometry));
    if (d->file)
        rc |= json_object_set_new(j, "file", json_string(d->file));
    if (d->why.text[0])
        rc |= json_object_set_new(j, "refused", json_string(d->why.text));
    if (d->bake_s > 0)
        rc |= json_object_set_new(j, "bake_s", json_real(d->bake_s));
    rc |= json_object_set_new(j, "lookup_us", json_real(s->lookups ? s->lookup_s * 1e6 / (double)s->lookups : 0));
    rc |= json_object_set_new(j, "seen", json_pack("{s:I, s:I, s:f, s:f, s:f}", "tokens", (json_int_t)s->tokens, "with_entry",
                                                   (json_int_t)s->entries, "first", share(s->first, s->tokens), "one_of",
                                                   share(s->best, s->tokens), "bigram", share(s->followed, s->tokens)));
    rc |= json_object_set_new(j, "readiness", readiness(d));
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}
