/* Texts by topic under projections, see bench.h. */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/forward.h"
#include "engine/row_ops.h"
#include "generate/log_sum.h"
#include "methods/guard/guard.h"
#include "methods/ugt/ugt_file.h"
#include "model/planted.h"

enum { AT_ONCE = 64, MOST_K = 1 << 14 };

static int no_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "out of memory");
}

int hx_bench_option(struct hx_bench *b, int key, char *arg)
{
    const char *cmd = b->from.s.cmd;
    int rc;

    switch (key) {
    case HX_OPT_K:
        return hx_opt_size(cmd, "k", arg, 1, MOST_K, &b->k);
    case HX_OPT_BASIS:
        b->basis = arg;
        return 0;
    case HX_OPT_MOST:
        return hx_opt_size(cmd, "most", arg, 1, MOST_K, &b->most);
    case HX_OPT_BUDGET_GUARD:
        rc = hx_opt_real(cmd, "budget", arg, 0, 100, &b->budget);
        b->budget /= 100;
        return rc;
    case HX_OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, INT64_MAX, &b->seed);
    default:
        return hx_ugt_source_option(&b->from, key, arg);
    }
}

/* --- predictions */

/* Of a row of logits: -log p of the token behind, or the likeliest token. */
static double said(const struct hx_bench *b, const float *logits, uint32_t next)
{
    const struct hx_log_sum s = hx_log_sum(logits, b->from.s.m->vocab);

    return b->planted ? (double)s.top : hx_log_sum_nll(&s, logits[next]);
}

/* The token behind state i; UINT32_MAX: its text ends there.  States are those of all tokens, text by text. */
static uint32_t next_of(const struct hx_bench *b, size_t i)
{
    const struct hx_states *s = &b->from.states;
    size_t first = i;

    while (first && s->text[first - 1] == s->text[i])
        first--;
    {
        const struct hx_topic_text *t = &b->from.topics.at[s->text[i]];

        return i - first + 1 < t->n ? t->ids[i - first + 1] : UINT32_MAX;
    }
}

/* What the output matrix reads of n rows: they themselves, or what the last norm makes of them, in `normed`. */
static const float *read_of(const struct hx_bench *b, const float *rows, size_t n, float *normed)
{
    const struct hx_model *m = b->from.s.m;

    for (size_t i = 0; i < n && b->basis; i++)
        hx_row_ops_ref.rms_norm(normed + i * m->width, rows + i * m->width, m->out_norm.w, m->width, m->eps);
    return b->basis ? normed : rows;
}

/* out[j] of states at[j], from rows [n][d]. */
static int predict(struct hx_bench *b, const size_t *at, size_t n, const float *rows, double *out, struct hx_error *err)
{
    const struct hx_model *m = b->from.s.m;
    const struct hx_linear *w = &b->runner.matrices.out;
    float *logits = malloc(AT_ONCE * m->vocab * sizeof(*logits)), *scratch = malloc(m->width * sizeof(*scratch));
    float *normed = malloc(AT_ONCE * m->width * sizeof(*normed));
    int rc = logits && scratch && normed ? 0 : no_memory(err);

    for (size_t i = 0; i < n && !rc; i += AT_ONCE) {
        const size_t now = n - i < AT_ONCE ? n - i : AT_ONCE;

        rc = hx_linear_apply(&w, &logits, 1, read_of(b, rows + i * m->width, now, normed), now, scratch, err);
        for (size_t j = 0; j < now && !rc; j++)
            out[i + j] = said(b, logits + j * m->vocab, next_of(b, at[i + j]));
    }
    free(logits);
    free(scratch);
    free(normed);
    return rc;
}

/* --- open */

static void find_halves(struct hx_bench *b)
{
    const struct hx_topics *t = &b->from.topics;

    for (size_t i = 0; i < b->from.states.n; i++) {
        const size_t text = b->from.states.text[i];
        size_t before = 0;

        for (size_t k = 0; k < text; k++)
            before += t->at[k].topic == t->at[text].topic;
        b->held_out[i] = before % 2 == 1;
    }
}

static int build_basis(struct hx_bench *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    double *h = malloc(s->n * s->d * sizeof(*h));
    size_t n = 0;
    int rc = h ? 0 : no_memory(err);

    for (size_t i = 0; i < s->n && !rc; i++)
        if (!b->held_out[i])
            memcpy(h + n++ * s->d, s->h + i * s->d, s->d * sizeof(*h));
    if (!rc)
        rc = hx_ugt_build(&b->u, h, n, s->d, b->k, err);
    free(h);
    return rc;
}

/* All of the file's coordinates. */
static int read_basis(struct hx_bench *b, struct hx_error *err)
{
    int rc = hx_ugt_read(&b->u, b->basis, b->from.s.m->fingerprint, NULL, err);

    if (!rc && b->u.d != b->from.states.d)
        rc = hx_error_set(err, -EINVAL, "%s: states of %zu; the model's are %zu wide", b->basis, b->u.d, b->from.states.d);
    b->k = b->u.k;
    return rc;
}

static void place(struct hx_bench *b)
{
    const struct hx_states *s = &b->from.states;

    for (size_t i = 0; i < s->n; i++)
        for (size_t a = 0; a < b->k; a++) {
            double sum = 0;

            for (size_t x = 0; x < s->d; x++)
                sum += b->u.basis[a * s->d + x] * s->h[i * s->d + x];
            b->z[i * b->k + a] = sum;
        }
    for (size_t i = 0; i < s->n * s->d; i++)
        b->rows[i] = (float)s->h[i];
}

static int fill_plain(struct hx_bench *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    size_t *at = malloc(s->n * sizeof(*at));
    int rc = at ? 0 : no_memory(err);

    for (size_t i = 0; i < s->n && !rc; i++)
        at[i] = i;
    for (size_t i = 0, n = 0; i < s->n && !rc; i += n) { /* a text at a time: its last state has no token behind it */
        n = b->from.topics.at[s->text[i]].n;
        rc = n > 1 ? predict(b, at + i, n - 1, b->rows + i * s->d, b->plain + i, err) : 0;
        b->plain[i + n - 1] = -1;
    }
    free(at);
    return rc;
}

/* States, their halves and the basis. */
static int open_basis(struct hx_bench *b, struct hx_error *err)
{
    const struct hx_states_cfg cfg = {.model = b->from.s.m, .pool = b->from.s.pool, .every = 1,
                                      .point = b->basis ? HX_TAP_BEFORE_NORM : HX_TAP_IN_OUT};
    int rc;

    if (b->basis && b->from.s.m->out_norm.b)
        return hx_error_set(err, -ENOTSUP, "--basis: the model's last norm is a layer norm; RMS norms are supported");
    rc = hx_states_take(&b->from.states, &b->from.topics, &cfg, err);
    if (rc)
        return rc;
    b->held_out = malloc(b->from.states.n);
    if (!b->held_out)
        return no_memory(err);
    find_halves(b);
    return b->basis ? read_basis(b, err) : build_basis(b, err);
}

/* What is measured by it. */
static int open_rest(struct hx_bench *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    int rc;

    b->planted = hx_gguf_is_planted(b->from.s.m->file);
    b->z = malloc(s->n * b->k * sizeof(*b->z));
    b->rows = malloc(s->n * s->d * sizeof(*b->rows));
    b->plain = malloc(s->n * sizeof(*b->plain));
    if (!b->z || !b->rows || !b->plain)
        return no_memory(err);
    place(b);
    rc = hx_runner_open(&b->runner, b->from.s.m, b->from.s.pool, NULL, 2, NULL, err);
    return rc ? rc : fill_plain(b, err);
}

static int open_source(struct hx_bench *b, size_t topics)
{
    const int rc = hx_ugt_source_open(&b->from);

    return !rc && b->from.topics.n_topics < topics
               ? hx_cmd_fail(b->from.s.cmd, "%zu topics; %zu are needed", b->from.topics.n_topics, topics) : rc;
}

int hx_bench_open(struct hx_bench *b)
{
    struct hx_error err = {""};
    int rc = open_source(b, 2);

    if (!rc && (open_basis(b, &err) || open_rest(b, &err)))
        rc = hx_cmd_fail(b->from.s.cmd, "%s", err.text);
    return rc;
}

int hx_bench_open_basis(struct hx_bench *b)
{
    struct hx_error err = {""};
    const int rc = open_source(b, 1);

    return !rc && open_basis(b, &err) ? hx_cmd_fail(b->from.s.cmd, "%s", err.text) : rc;
}

void hx_bench_close(struct hx_bench *b)
{
    hx_runner_close(&b->runner);
    hx_ugt_free(&b->u);
    free(b->z);
    free(b->rows);
    free(b->held_out);
    free(b->plain);
    hx_ugt_source_close(&b->from);
}

/* --- without some directions */

void hx_bench_directions(const struct hx_bench *b, const size_t *coordinates, size_t n, float *q)
{
    for (size_t i = 0; i < n; i++)
        for (size_t x = 0; x < b->u.d; x++)
            q[i * b->u.d + x] = (float)b->u.basis[coordinates[i] * b->u.d + x];
}

struct sums {
    double before[2], after[2], changed[2], n[2]; /* of others, of the topic */
};

static double change(const struct hx_bench *b, const struct sums *s, int side)
{
    if (b->planted)
        return s->n[side] > 0 ? s->changed[side] / s->n[side] : 0;
    return s->before[side] > 0 ? s->after[side] / s->before[side] - 1 : 0;
}

void hx_bench_plain(const struct hx_bench *b, size_t topic, int held_out, double nll[2])
{
    double n[2] = {0};

    nll[0] = nll[1] = 0;
    for (size_t i = 0; i < b->from.states.n; i++)
        if (b->held_out[i] == held_out && b->plain[i] >= 0) {
            nll[b->from.states.topic[i] == topic] += b->plain[i];
            n[b->from.states.topic[i] == topic]++;
        }
    for (int side = 0; side < 2; side++)
        nll[side] /= n[side] > 0 ? n[side] : 1;
}

int hx_bench_without(struct hx_bench *b, size_t topic, int held_out, const float *q, size_t f, double *own, double *others,
                     struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    const struct hx_guard_q g = {q, f, s->d};
    size_t *at = calloc(s->n, sizeof(*at)), n = 0;
    float *rows = calloc(s->n * s->d, sizeof(*rows));
    double *after = malloc(s->n * sizeof(*after));
    struct sums sums = {.n = {0}};
    int rc = at && rows && after ? 0 : no_memory(err);

    for (size_t i = 0; i < s->n && !rc; i++) {
        if (b->held_out[i] != held_out || b->plain[i] < 0)
            continue;
        memcpy(rows + n * s->d, b->rows + i * s->d, s->d * sizeof(*rows));
        hx_guard_project(&g, rows + n * s->d);
        at[n++] = i;
    }
    if (!rc)
        rc = predict(b, at, n, rows, after, err);
    for (size_t j = 0; j < n && !rc; j++) {
        const int side = s->topic[at[j]] == topic;

        sums.before[side] += b->plain[at[j]];
        sums.after[side] += after[j];
        sums.changed[side] += after[j] != b->plain[at[j]];
        sums.n[side]++;
    }
    *own = change(b, &sums, 1);
    *others = change(b, &sums, 0);
    free(at);
    free(rows);
    free(after);
    return rc;
}
