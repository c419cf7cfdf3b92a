/* One completion of hexrig run: text is shown as it comes, and both of its phases are counted and timed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "run_break.h"

int hx_run_open(struct hx_run *r, const uint32_t *ids, size_t n, size_t n_cached)
{
    const size_t n_ctx = r->e->kv->n_ctx;
    const struct hx_completion_cfg cfg = {
        .prompt = ids,
        .n_prompt = n,
        .n_cached = n_cached,
        .n_max = r->n ? r->n : n <= n_ctx ? n_ctx - n + 1 : 1,
        .at_end_token = r->chat && !r->ignore_eos,
        .whole_text = r->chat,
        .sampling = r->sampling,
        .stops = r->stops,
        .n_stops = r->n_stops,
    };
    struct hx_error err = {""};

    r->shown = 0;
    r->broken_off = 0;
    return hx_completion_open(&r->c, r->e, &cfg, &err) ? hx_cmd_fail(r->o.cmd, "%s", err.text)
                                                       : HX_EXIT_OK;
}

static void show(struct hx_run *r)
{
    const struct hx_stream *text = &r->c.text;

    if (!r->stream || text->ready == r->shown)
        return;
    fwrite(text->text + r->shown, 1, text->ready - r->shown, stdout);
    fflush(stdout);
    r->shown = text->ready;
}

/* Steps of the prefill, or those that make tokens.  Ctrl-C in a conversation ends them; what was made then is the text. */
static int steps(struct hx_run *r, int prefill, struct hx_error *err)
{
    int more = 1;

    while (more > 0 && !r->broken_off && (!prefill || !hx_completion_prefilled(&r->c))) {
        more = hx_completion_step(&r->c, err);
        r->broken_off = hx_break_wished();
        if (r->broken_off && more > 0 && hx_stream_end(&r->c.text))
            more = hx_error_set(err, -ENOMEM, "out of memory");
        show(r);
    }
    return more;
}

static struct hx_pager_sums paged(const struct hx_run *r)
{
    return r->e->core->pager ? hx_pager_sums(r->e->core->pager) : (struct hx_pager_sums){0};
}

/* What was paged since `before`. */
static struct hx_pager_sums paged_since(const struct hx_run *r, const struct hx_pager_sums *before)
{
    const struct hx_pager_sums now = paged(r);

    return (struct hx_pager_sums){now.stall_s - before->stall_s, now.read_s - before->read_s, now.bytes - before->bytes};
}

/* A drafter that failed has cost speed and no text. */
static void note_drafter(const struct hx_run *r)
{
    if (r->c.g.spec && *hx_spec_stats(r->c.g.spec)->off)
        fprintf(stderr, "hexrig %s: %s: switched off, the text goes on without guesses\n", r->o.cmd,
                hx_spec_stats(r->c.g.spec)->off);
}

int hx_run_complete(struct hx_run *r)
{
    struct hx_pager_sums prefilled;
    struct hx_session_stats start, middle, end;
    struct hx_error err = {""};
    double t0, t1, t2;
    int rc = hx_report_now(&start);

    t0 = hx_report_clock();
    if (!rc && steps(r, 1, &err) < 0)
        return hx_cmd_fail(r->o.cmd, "%s", err.text);
    prefilled = paged(r);
    t1 = hx_report_clock();
    if (!rc)
        rc = hx_report_now(&middle);
    if (!rc) {
        int failed = steps(r, 0, &err);

        if (r->stream)
            putchar('\n');
        if (failed < 0)
            return hx_cmd_fail(r->o.cmd, "%s", err.text);
    }
    t2 = hx_report_clock();
    note_drafter(r);
    r->paged = paged_since(r, &prefilled);
    if (!rc)
        rc = hx_report_now(&end);
    if (rc)
        return hx_cmd_fail(r->o.cmd, "cannot read the session's figures: %s", strerror(-rc));
    r->prefill = (struct hx_phase_report){r->c.n_prompt - 1, hx_report_diff(&middle, &start), t1 - t0};
    r->decode = (struct hx_phase_report){r->c.n_made, hx_report_diff(&end, &middle), t2 - t1};
    return HX_EXIT_OK;
}
