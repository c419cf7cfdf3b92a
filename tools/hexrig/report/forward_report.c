/* What `hexrig report timing --forward` prints, see forward.h. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "forward.h"

static const char *host_from(const struct hx_forward_ask *ask)
{
    return ask->host_ms < 0 ? "published" : "given";
}

static double tokens_per_s(const struct hx_forward_ask *ask, const struct hx_forward *f)
{
    return ask->tokens / f->ttft_ms * 1e3;
}

static json_t *line_json(const struct hx_forward_line *l, double dsp_ms)
{
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f}", "name", l->name, "where", l->where, "count", (json_int_t)l->count,
                     "pcycles_each", l->pcycles / (double)l->count, "ms", l->ms, "share", l->ms / dsp_ms);
}

json_t *hx_forward_json(const struct hx_forward_ask *ask, const struct hx_forward *f, const char *variant, const char *profile)
{
    json_t *lines = json_array();

    for (int i = 0; i < f->lines; i++)
        json_array_append_new(lines, line_json(&f->line[i], f->dsp_ms));
    return json_pack("{s:s, s:s, s:s, s:I, s:b, s:o, s:f, s:f, s:f, s:s, s:f, s:f}", "model", ask->model->name, "variant",
                     variant, "profile", profile, "tokens", (json_int_t)ask->tokens, "cold", ask->how.cold, "operations",
                     lines, "dsp_ms", f->dsp_ms, "call_ms", f->call_ms, "host_ms", f->host_ms, "host_from",
                     host_from(ask), "ttft_ms", f->ttft_ms, "prefill_tokens_per_s", tokens_per_s(ask, f));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void print_sum(const char *name, const char *what, double value)
{
    printf("%-26s %-28s %33.3f\n", name, what, value);
}

int hx_forward_print(const char *cmd, json_t *pass)
{
    const int published = strcmp(text(pass, "host_from"), "published") == 0;
    json_t *line;
    size_t i;

    if (hx_json_lost()) {
        json_decref(pass);
        return hx_cmd_fail(cmd, "out of memory");
    }
    printf("%-26s %-28s %7s %14s %10s %7s\n", "operation", "where", "count", "pcycles each", "ms", "share");
    json_array_foreach(json_object_get(pass, "operations"), i, line)
        printf("%-26s %-28s %7.0f %14.0f %10.3f %6.2f%%\n", text(line, "name"), text(line, "where"), number(line, "count"),
               number(line, "pcycles_each"), number(line, "ms"), 100 * number(line, "share"));
    puts("");
    print_sum("DSP ms", "all of the above", number(pass, "dsp_ms"));
    print_sum("call ms", "the one call, with the DSP", number(pass, "call_ms"));
    print_sum("host ms", published ? "published, not modelled" : "as given", number(pass, "host_ms"));
    print_sum("ms to the first token", "call and host", number(pass, "ttft_ms"));
    print_sum("prefill tokens/s", "", number(pass, "prefill_tokens_per_s"));
    json_decref(pass);
    return HX_EXIT_OK;
}
