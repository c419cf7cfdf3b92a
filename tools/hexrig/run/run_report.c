/* What `hexrig run` reports: the text, both phases, what the DSP did per token. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roofline/model_bound.h"
#include "run.h"

static json_t *id_array(const uint32_t *ids, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer(ids[i]));
    return array;
}

static json_t *utf8_string(const char *bytes, size_t n)
{
    char *utf8 = hx_json_utf8(bytes, n);
    json_t *text = json_string(utf8);

    free(utf8);
    return text;
}

static const char *finish_name(enum hx_finish finish)
{
    static const char *const names[] = {"not", "length", "end", "stop"};

    return names[finish];
}

/* The options that give this sampler, whoever chose it. */
static json_t *sampler_json(const struct hx_sampler_cfg *s)
{
    const int repeats = s->repeat_penalty > 0 && s->repeat_penalty != 1 && s->repeat_last;
    const struct {
        const char *option;
        double value;
        int counts; /* 1: it makes a difference */
    } parts[] = {
        {"temp", s->temp, 1},
        {"repeat-penalty", s->repeat_penalty, repeats},
        {"repeat-last", (double)s->repeat_last, repeats},
        {"presence-penalty", s->presence_penalty, s->presence_penalty != 0},
        {"frequency-penalty", s->frequency_penalty, s->frequency_penalty != 0},
        {"top-k", (double)s->top_k, s->temp > 0 && s->top_k},
        {"top-p", s->top_p, s->temp > 0 && s->top_p < 1},
        {"min-p", s->min_p, s->temp > 0 && s->min_p > 0},
    };
    char text[512]; /* of at most nine options, each some 40 bytes */
    int n = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].counts)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s--%s %.12g", n ? " " : "", parts[i].option, parts[i].value);
    if (s->temp > 0)
        snprintf(text + n, sizeof(text) - (size_t)n, " --seed %" PRIu64, s->seed);
    return json_string(text);
}

static json_t *dispatch_json(const struct hx_run *r)
{
    const struct hx_session_stats *s = &r->decode.sum;
    const double n = (double)r->decode.tokens;

    json_t *j = json_pack("{s:I, s:f, s:I, s:f, s:f, s:f, s:o, s:f, s:I, s:I, s:I}", "calls",
                     (json_int_t)s->invokes, "calls_per_token", (double)s->invokes / n, "packets",
                     (json_int_t)s->packets, "packets_per_token", (double)s->packets / n,
                     "bytes_copied_per_token",
                     (double)s->bytes_copied / n, "bytes_shared_per_token",
                     (double)s->bytes_shared / n, "model_us_per_token", hx_report_model_us(s, n),
                     "hvx_ops_per_token", (double)s->hvx_ops / n, "slow_path_calls", (json_int_t)s->slow_path_calls, "steps",
                     (json_int_t)r->c.steps, "first_position",
                     (json_int_t)(r->c.n_prompt - 1));

    hx_report_add_traffic(j, s, n);
    return j;
}

static json_t *prefill_json(const struct hx_run *r)
{
    const struct hx_session_stats *s = &r->prefill.sum;

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:f}", "tokens",
                     (json_int_t)r->prefill.tokens, "calls", (json_int_t)s->invokes, "packets",
                     (json_int_t)s->packets, "bytes_copied", (json_int_t)s->bytes_copied,
                     "bytes_shared", (json_int_t)s->bytes_shared, "model_us",
                     hx_report_model_us(s, 1), "host_s", r->prefill.host_s);
}

static json_t *report(const struct hx_run *r, double tok_s)
{
    const struct hx_completion *c = &r->c;
    json_t *emulated = hx_cpu_opts_emulated(&r->o.cpus, (double)r->decode.tokens, r->decode.host_s, &r->paged);
    json_t *j = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:f, s:{s:I}}", "model", hx_json_text(r->o.model),
                          "prompt", utf8_string(r->text, r->text_bytes), "prompt_tokens", id_array(c->ids, c->n_prompt),
                          "tokens", id_array(c->ids + c->n_prompt, c->n_made), "text",
                          utf8_string(c->text.text, c->text.n), "finish", finish_name(c->finish),
                          "sampler", sampler_json(&r->sampling), "dispatch", dispatch_json(r),
                          "prefill", prefill_json(r), "host_s", r->decode.host_s, "host",
                          "peak_rss_bytes", (json_int_t)hx_report_peak_rss());

    if (j && tok_s > 0)
        json_object_set_new(j, "roofline_tok_s", json_real(tok_s));
    if (j && emulated)
        json_object_set_new(j, "emulated", emulated);
    if (j && c->g.spec)
        json_object_set_new(j, "spec", hx_spec_report(c->g.spec));
    if (j && r->chat)
        json_object_set_new(j, "chat", json_string(hx_chat_name(&r->template)));
    return hx_engine_opts_report(&r->o, r->e, j);
}

/* The text and one newline are printed (or have been); what is left of the report is figures. */
static void print_text(const struct hx_run *r, json_t *j)
{
    if (!r->stream) { /* the model's bytes as they are; JSON's text is UTF-8 */
        fwrite(r->c.text.text, 1, r->c.text.n, stdout);
        putchar('\n');
    }
    json_object_del(j, "text");
    json_object_del(j, "prompt");
}

/* For budgets: what was counted and modelled. */
static json_t *figures(const struct hx_run *r)
{
    json_t *prefill = prefill_json(r);

    json_object_del(prefill, "host_s");
    return json_pack("{s:o, s:o}", "dispatch", dispatch_json(r), "prefill", prefill);
}

int hx_run_report(struct hx_run *r)
{
    struct hx_error err;
    double tok_s;
    int rc = hx_model_roofline(&tok_s, r->e->model, r->o.profile, &err);
    json_t *j = report(r, tok_s);

    if (j && !r->o.json)
        print_text(r, j);
    if (rc)
        hx_cmd_fail(r->o.cmd, "%s", err.text);
    if (r->quiet)
        rc |= hx_report_print_aside(r->o.cmd, j);
    else
        rc |= hx_report_print(r->o.cmd, j, r->o.json);
    if (rc)
        return HX_EXIT_FAILED;
    return hx_gate_is_on(&r->gate) ? hx_gate_end(&r->gate, figures(r)) : HX_EXIT_OK;
}
