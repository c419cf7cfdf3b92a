/* Plans on a text of their own, see held_out.h. */
#include "held_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/share.h"
#include "methods/lowrank/linear_lowrank.h"
#include "model/planted.h"
#include "text/text.h"

enum { CHUNKS = 24, MOST_SETTINGS = 8 };

static const double rounding = 1e-6; /* nats: what logits that are rounded otherwise make */

static int open_engine(const struct hx_held_out *h, const char *const *settings, struct hx_engine **e, struct hx_error *err)
{
    const struct hx_engine_cfg cfg = {.settings = settings, .model = h->s->path, .threads = h->s->threads, .n_ctx = HX_HELD_OUT_CTX,
                                      .max_batch = HX_HELD_OUT_CTX};

    return hx_engine_open(e, &cfg, err);
}

int hx_held_out_open(struct hx_held_out *h, struct hx_error *err)
{
    static const char *const plain[] = {"kv=f32", NULL};
    int rc = 0;

    h->chunks = h->chunks ? h->chunks : CHUNKS;
    if (!h->text && !(h->text = h->shipped = hx_share("books-holdout.txt")))
        return hx_error_set(err, -ENOMEM, "out of memory");
    h->planted = hx_gguf_is_planted(h->s->m->file);
    rc = hx_text_encode(h->s->m->tok, h->text, &h->ids, &h->n_ids, err);
    return rc ? rc : open_engine(h, plain, &h->plain, err);
}

void hx_held_out_close(struct hx_held_out *h)
{
    hx_engine_close(h->plain);
    free(h->ids);
    free(h->shipped);
}

/* A plan comes to the engine as it comes to everybody: as a file. */
static int write_plan(const struct hx_rank_plan *plan, char *path, size_t n, struct hx_error *err)
{
    const char *tmp = getenv("TMPDIR");
    int fd;

    if (snprintf(path, n, "%s/hexrig-plan-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= (int)n)
        return hx_error_set(err, -ENAMETOOLONG, "TMPDIR: %s", strerror(ENAMETOOLONG));
    fd = mkstemp(path);
    if (fd < 0)
        return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    close(fd);
    return hx_rank_plan_write(plan, path, err);
}

static double norm2(const struct hx_linear *w, float *row)
{
    double sum = 0;

    for (size_t r = 0; r < w->rows; r++) {
        hx_linear_row(w, r, row);
        for (size_t i = 0; i < w->cols; i++)
            sum += (double)row[i] * row[i];
    }
    return sum;
}

/* Method lowrank is one of those that the map names. */
static const struct hx_lowrank_factors *factors_of(const struct hx_engine *e)
{
    size_t i = 0;

    while (strcmp(e->core->linear[i].method->name, "lowrank") != 0)
        i++;
    return hx_linear_lowrank_factors(e->core->linear[i].open);
}

static int add_errors(const struct hx_engine *e, double *error, struct hx_error *err)
{
    const struct hx_lowrank_factors *f = factors_of(e);
    float *row = malloc(hx_model_most_cols(e->model) * sizeof(*row));

    if (!row)
        return hx_error_set(err, -ENOMEM, "out of memory");
    *error = 0;
    for (size_t i = 0; i < f->n_parts; i++)
        *error += f->parts[i].rel_f2 * norm2(f->parts[i].w, row);
    free(row);
    return 0;
}

static int score(const struct hx_held_out *h, const char *const *settings, struct hx_ppl *got, double *error, struct hx_error *err)
{
    const struct hx_ppl_cfg cfg = {.ctx = HX_HELD_OUT_CTX, .chunks = h->chunks, .bos = HX_NO_TOKEN, .reference = h->plain->forward};
    struct hx_engine *e = NULL;
    int rc = open_engine(h, settings, &e, err);

    if (!rc)
        rc = hx_ppl_windows(e->model, e->forward, h->ids, h->n_ids, &cfg, got, err);
    if (!rc)
        rc = add_errors(e, error, err);
    hx_engine_close(e);
    return rc;
}

int hx_held_out_score(const struct hx_held_out *h, const char *const *settings, const struct hx_rank_plan *plan, struct hx_ppl *got,
                      double *error, struct hx_error *err)
{
    static const char option[] = "axex-rank-plan=";
    const char *all[MOST_SETTINGS + 4] = {"kv=f32", "wproj-cache=none"};
    char with[1024 + sizeof(option)], *path = with + sizeof(option) - 1;
    size_t n = 2;
    int rc;

    while (*settings && n < MOST_SETTINGS + 2)
        all[n++] = *settings++;
    memcpy(with, option, sizeof(option));
    all[n] = with;
    rc = write_plan(plan, path, sizeof(with) - (sizeof(option) - 1), err);
    if (!rc)
        rc = score(h, all, got, error, err);
    unlink(path);
    return rc;
}

int hx_held_out_compare(const struct hx_held_out *h, const char *const *settings, struct hx_rank_plan *plain,
                        const struct hx_rank_plan *chosen, const char *who, struct hx_compared *c, struct hx_error *err)
{
    int rc = hx_held_out_score(h, settings, plain, &c->plain, &c->plain_error, err);

    if (!rc)
        rc = hx_held_out_score(h, settings, chosen, &c->chosen, &c->chosen_error, err);
    c->accepted = !rc && c->chosen.kl.mean < c->plain.kl.mean - rounding;
    for (size_t i = 0; i < plain->n && !rc && !c->accepted; i++)
        snprintf(plain->at[i].why, sizeof(plain->at[i].why), "%s rejected: kl %.4g, %.4g without", who, c->chosen.kl.mean,
                 c->plain.kl.mean);
    return rc;
}

const char *hx_compared_verdict(const struct hx_compared *c)
{
    return c->accepted ? "ACCEPTED" : "REJECTED";
}

json_t *hx_held_out_json(const struct hx_held_out *h, const struct hx_ppl *got)
{
    json_t *j = json_pack("{s:f, s:f}", "kl", got->kl.mean, "top1", got->kl.same_top);

    if (!h->planted) {
        json_object_set_new(j, "ppl", json_real(got->ppl));
        json_object_set_new(j, "ppl_ratio", json_real(got->ppl / got->kl.ppl));
    }
    return j;
}
