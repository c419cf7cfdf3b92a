/* Measures drafters one behind the other, see sweep.h. */
#include "sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/share.h"
#include "rows.h"
#include "text/text.h"

enum { VERSION = 1, DEFAULT_TEXTS = 4, DEFAULT_TOKENS = 64 };

/* --- options */

int hx_spec_sweep_init(struct hx_spec_sweep *s, const char *cmd)
{
    *s = (struct hx_spec_sweep){.most = DEFAULT_TEXTS, .tokens = DEFAULT_TOKENS, .rest = -1};
    return hx_engine_opts_init(&s->o, cmd, 0);
}

int hx_spec_sweep_option(struct hx_spec_sweep *s, int key, const char *arg)
{
    switch (key) {
    case HX_SPEC_OPT_DRAFT:
        s->drafts = arg;
        return 0;
    case HX_SPEC_OPT_PROMPTS:
        s->prompts = arg;
        return 0;
    case HX_SPEC_OPT_TEXTS:
        return hx_opt_size(s->o.cmd, "texts", arg, 1, HX_SPEC_TEXTS, &s->most);
    case HX_SPEC_OPT_CSV:
        s->csv = 1;
        return 0;
    case 'f':
        s->text = arg;
        return 0;
    case 'n':
        return hx_opt_size(s->o.cmd, "tokens", arg, 1, HX_MAX_TOKENS, &s->tokens);
    default:
        return HX_OPT_UNKNOWN;
    }
}

/* What a row says by itself. */
static int check_plan_options(const struct hx_spec_sweep *s)
{
    static const char *const others[] = {"spec-adapt", "spec-warmup", "no-verifier", "eos-guard"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (hx_plan_given(s->o.plan, others[i]))
            return hx_cmd_usage(s->o.cmd, "--%s is of hexrig run: here each step has as many guesses as a row says, and the model "
                                "verifies them", others[i]);
    return s->csv && s->o.json ? hx_cmd_usage(s->o.cmd, "--csv and --json exclude each other") : 0;
}

/* --- texts */

/* The shipped text is counted by drafters, and nobody should guess at what he has counted: pieces come from its last quarter, from the
 * beginning of a line on, and drafters get the rest. */
static int split_shipped_text(struct hx_spec_sweep *s)
{
    struct hx_error err = {""};
    const char *end;
    char *all;
    size_t n;
    int rc;

    if (hx_text_read(s->shipped_text, &all, &n, &err))
        return hx_cmd_fail(s->o.cmd, "%s", err.text);
    end = memchr(all + n * 3 / 4, '\n', n - n * 3 / 4);
    s->skip = end ? (size_t)(end + 1 - all) : n;
    s->rest = memfd_create("text", MFD_CLOEXEC);
    rc = s->rest < 0 || write(s->rest, all, s->skip) != (ssize_t)s->skip ? errno : 0;
    free(all);
    return rc ? hx_cmd_fail(s->o.cmd, "cannot make a file in memory: %s", strerror(rc)) : 0;
}

static int find_texts(struct hx_spec_sweep *s)
{
    s->shipped_text = hx_share("books-holdout.txt");
    if (!s->shipped_text)
        return hx_cmd_fail(s->o.cmd, "cannot find this program's share folder");
    return s->text || hx_plan_given(s->o.plan, "draft-text") ? 0 : split_shipped_text(s);
}

/* --- plans */

/* A drafter by its name is there once. */
static int check_drafts(const struct hx_spec_sweep *s)
{
    for (size_t i = 0; i < s->draft.n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->draft.at[i], s->draft.at[k]) == 0)
                return hx_cmd_usage(s->o.cmd, "--draft: %s twice", s->draft.at[i]);
    return 0;
}

/* 1: the drafter counts the part of the shipped text that is there for that. */
static int counts_rest(const struct hx_spec_sweep *s, const char *draft)
{
    return s->rest >= 0 && hx_method_has(hx_method_find(hx_methods, HX_SEAM_DRAFT, draft, strcspn(draft, ":")), "draft-text");
}

static int make_plan(const struct hx_spec_sweep *s, const char *draft, struct hx_plan **out)
{
    struct hx_error err = {""};
    char rest[64];
    int rc = hx_plan_drafted(out, s->o.plan, draft, &err);

    snprintf(rest, sizeof(rest), "/proc/self/fd/%d", s->rest);
    if (!rc && counts_rest(s, draft))
        rc = hx_plan_set(*out, "draft-text", rest, &err);
    if (!rc)
        rc = hx_plan_resolve(*out, &err);
    return rc ? hx_cmd_refused(s->o.cmd, rc, err.text) : 0;
}

/* Without a drafter; the command's own. */
static int make_plain(struct hx_spec_sweep *s)
{
    struct hx_plan *given = s->o.plan;
    struct hx_error err = {""};
    int rc = hx_plan_drafted(&s->o.plan, given, NULL, &err);

    hx_plan_close(given);
    return rc ? hx_cmd_fail(s->o.cmd, "%s", err.text) : hx_engine_opts_done(&s->o);
}

int hx_spec_sweep_check(struct hx_spec_sweep *s, const char *batches)
{
    int rc = check_plan_options(s);

    if (!rc)
        rc = hx_spec_read_words(s->o.cmd, "draft", s->drafts ? s->drafts : "lookup,bigram,onedecode,swarm:4,gp:128,perfect", &s->draft);
    if (!rc)
        rc = check_drafts(s);
    if (!rc)
        rc = hx_spec_read_numbers(s->o.cmd, "spec-batch", batches, 1, HX_DRAFT_MAX, &s->guesses);
    if (!rc)
        rc = find_texts(s);
    for (size_t i = 0; !rc && i < s->draft.n; i++)
        rc = make_plan(s, s->draft.at[i], &s->plan[i]);
    return rc ? rc : make_plain(s);
}

/* --- at work */

/* What one run has open. */
struct run {
    struct hx_spec_sweep *s;
    struct hx_core *core;
    struct hx_spec_texts texts;
    hx_spec_take *take;
    void *arg;
};

static int open_core(struct run *r, struct hx_error *err)
{
    const struct hx_engine_cfg cfg = hx_engine_opts_cfg(&r->s->o);
    const struct hx_core_cfg core = {.path = cfg.model, .share = cfg.share, .threads = cfg.threads, .paging = cfg.paging,
                                     .watch = cfg.watch};

    return hx_core_open(&r->core, &core, cfg.plan, err);
}

static int read_texts(struct run *r, struct hx_error *err)
{
    const struct hx_spec_sweep *s = r->s;

    return hx_spec_texts_read(&r->texts, r->core->model->tok,
                              &(struct hx_spec_texts_cfg){.prompts = s->prompts,
                                                          .text = s->text ? s->text : s->shipped_text, .skip = s->skip,
                                                          .most = s->most, .tokens = s->tokens}, err);
}

/* Positions that all texts need, as far as the model has them. */
static size_t positions(const struct run *r)
{
    size_t n = 0, most = 0;

    for (size_t i = 0; i < r->s->guesses.n; i++)
        most = r->s->guesses.at[i] > most ? r->s->guesses.at[i] : most;
    for (size_t i = 0; i < r->texts.n_prompts; i++)
        n = r->texts.prompt[i].n > n ? r->texts.prompt[i].n : n;
    n = r->s->tokens + (n > HX_SPEC_FROM + most ? n : HX_SPEC_FROM + most);
    return n < r->core->model->n_ctx ? n : r->core->model->n_ctx;
}

/* None are left out, unless that was asked for. */
static double threshold(const struct hx_engine *e)
{
    return hx_plan_given(e->plan, "spec-thresh") ? hx_plan_real(e->plan, "spec-thresh") : 0;
}

/* "none" without guesses.  These return an enum hx_exit after a message. */
static int measure(struct run *r, struct hx_engine *e, const char *draft, size_t guesses)
{
    const struct hx_spec_question q = {e, &r->texts, r->s->tokens, guesses, threshold(e)};
    struct hx_error err = {""};
    struct hx_spec_result got;
    json_t *row;
    int rc;

    if (hx_spec_measure(&got, &q, &err))
        return hx_cmd_fail(r->s->o.cmd, "%s: %s", draft, err.text);
    row = hx_spec_row(draft, guesses, &got, r->s->plain);
    if (!row)
        return hx_cmd_fail(r->s->o.cmd, "out of memory");
    if (!guesses)
        r->s->plain = json_incref(row);
    rc = r->take(r->arg, row);
    json_decref(row);
    return rc;
}

/* A drafter's rows; plan: the command's own for the row without one. */
static int measure_drafter(struct run *r, const struct hx_plan *plan, const char *draft, const struct hx_spec_numbers *guesses)
{
    struct hx_engine_cfg cfg = hx_engine_opts_cfg(&r->s->o);
    struct hx_error err = {""};
    struct hx_engine *e;
    int rc = 0;

    cfg.plan = plan;
    cfg.core = r->core;
    if (hx_engine_open(&e, &cfg, &err))
        return hx_cmd_fail(r->s->o.cmd, "%s", err.text);
    for (size_t i = 0; !rc && i < guesses->n; i++)
        rc = measure(r, e, draft, guesses->at[i]);
    if (!rc && hx_engine_finish(e, &err))
        rc = hx_cmd_fail(r->s->o.cmd, "%s", err.text);
    hx_engine_close(e);
    return rc;
}

static int measure_all(struct run *r)
{
    static const struct hx_spec_numbers none = {{0}, 1};
    int rc = measure_drafter(r, r->s->o.plan, "none", &none);

    for (size_t i = 0; !rc && i < r->s->draft.n; i++)
        rc = measure_drafter(r, r->s->plan[i], r->s->draft.at[i], &r->s->guesses);
    return rc;
}

int hx_spec_sweep_run(struct hx_spec_sweep *s, hx_spec_take *take, void *arg)
{
    struct run r = {.s = s, .take = take, .arg = arg};
    struct hx_error err = {""};
    int rc = hx_engine_opts_prepare(&s->o);

    if (rc)
        return rc;
    if (open_core(&r, &err) || read_texts(&r, &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    if (!rc && !s->o.n_ctx)
        s->o.n_ctx = positions(&r);
    if (!rc)
        s->n_layer = r.core->model->n_layer;
    if (!rc)
        rc = measure_all(&r);
    hx_spec_texts_free(&r.texts);
    hx_core_close(r.core);
    return rc;
}

json_t *hx_spec_sweep_report(const struct hx_spec_sweep *s, json_t *rows)
{
    json_t *j = json_pack("{s:i, s:o, s:I, s:I}", "version", VERSION, "model", hx_json_text(s->o.model), "texts", (json_int_t)s->most,
                          "tokens", (json_int_t)s->tokens);

    j = hx_engine_opts_report_plan(&s->o, s->n_layer, j);
    if (j)
        json_object_set(j, "rows", rows);
    return j;
}

void hx_spec_sweep_free(struct hx_spec_sweep *s)
{
    for (size_t i = 0; i < s->draft.n; i++)
        hx_plan_close(s->plan[i]);
    json_decref(s->plain);
    free(s->draft.text);
    free(s->shipped_text);
    if (s->rest >= 0)
        close(s->rest);
    hx_engine_opts_free(&s->o);
}
