/* A plan's table, what stands below it, and its object. */
#include "rows.h"

#include <math.h>
#include <stdio.h>

#include "cli/report.h"
#include "density/row.h"
#include "options/engine_opts.h"

/* Dispatch queues that hold more packets than one help nobody: a packet's input is the result of the one before. */
static int depth_of(const struct hx_planned *row)
{
    return row->formula.packets > 0;
}

static double tokens_per_s(double us)
{
    return us > 0 ? 1e6 / us : 0;
}

static size_t pos_of(const struct hx_plan_found *f)
{
    return f->s->pos[0];
}

/* What shapes alone tell is the same for all of them. */
static const char *placement_of(const struct hx_planned *row)
{
    return row->choice->placement && !row->counted ? "any" : row->choice->placement;
}

/* --- text */

void hx_plan_print_head(const struct hx_plan_found *f)
{
    printf("geometry: %s   position: %zu   profile: %s   target: %g tokens/s, %.3f ms each   times are modelled, ms per token\n\n",
           f->s->cases[0].shape.name, pos_of(f), f->profile, f->target, f->budget_us / 1e3);
    printf("%-11s %-5s %-7s %-9s %12s %14s %11s %11s %11s %11s  %-9s %6s\n", "density", "attn", "packets", "placement", "calls/token",
           "packets/token", "dispatch", "exec", "total", "tokens/s", "bound", "%");
    fflush(stdout); /* the first row may take a minute */
}

static void print_counted(const struct hx_plan_found *f, const struct hx_planned *row)
{
    const struct hx_session_stats *s = &row->answer.sum;
    const struct hx_verdict *v = &row->verdict;

    printf("%12.0f %14.0f %11.3f %11.3f %11.3f %11.3f  %-9s %6.1f%s\n", (double)s->invokes, (double)s->packets,
           (double)s->dispatch_ns / 1e6, (double)s->exec_ns / 1e6, v->total_us / 1e3, tokens_per_s(v->total_us), hx_bound_names[v->bound],
           100 * v->share, v->total_us <= f->budget_us ? "  reaches it" : "");
}

static void print_least(const struct hx_planned *row)
{
    char total[32], rate[32];

    snprintf(total, sizeof(total), ">%.3f", row->least_us / 1e3);
    snprintf(rate, sizeof(rate), "<%.3f", tokens_per_s(row->least_us));
    printf("%12.0f %14.0f %11s %11s %11s %11s  %s\n", row->formula.invokes, row->formula.packets, "-", "-", total, rate,
           hx_bound_names[row->least]);
}

void hx_plan_print_row(const struct hx_plan_found *f, const struct hx_planned *row)
{
    const struct hx_choice *c = row->choice;
    const char *placement = placement_of(row);

    printf("%-11s %-5s %-7s %-9s ", c->density, c->attn ? "dsp" : "-", c->packets ? "yes" : "-", placement ? placement : "-");
    if (row->counted)
        print_counted(f, row);
    else
        print_least(row);
    fflush(stdout); /* a row is there when it is done */
}

static const char *told(const struct hx_choice *c)
{
    return *c->options ? c->options : "what was said, and nothing else";
}

static void print_needs(const struct hx_verdict *v, int enough, const char *heading)
{
    int any = 0;

    for (size_t i = 0; i < v->n_needs; i++) {
        const struct hx_need *n = &v->need[i];
        const struct hx_need_name *name = &hx_need_names[n->what];

        if (n->enough != enough)
            continue;
        if (!any++)
            printf("%s\n", heading);
        printf("  %-34s at %-5s %14.*f  now %14.*f\n", name->text, name->at_least ? "least" : "most", name->decimals, n->wanted,
               name->decimals, n->now);
    }
}

void hx_plan_print_end(const struct hx_plan_found *f)
{
    const struct hx_planned *row = f->cheapest ? f->cheapest : f->nearest;

    if (f->cheapest)
        printf("\ncheapest: %s\n", told(row->choice));
    else
        printf("\nnothing reaches %g tokens/s; nearest: %s\n", f->target, told(row->choice));
    printf("queue depth: %d   bound by: %s, %.1f %% of %.3f ms\n", depth_of(row), hx_bound_names[row->verdict.bound],
           100 * row->verdict.share, row->verdict.total_us / 1e3);
    if (f->matrix_bytes > 0)
        printf("matrices on the DSP: %.1f MB a token, of which VTCM and L2 can keep %.1f MB (%.1f %%)\n", f->matrix_bytes / 1e6,
               fmin(f->kept_bytes, f->matrix_bytes) / 1e6, 100 * fmin(f->kept_bytes / f->matrix_bytes, 1));
    if (!f->cheapest && !row->verdict.n_needs)
        printf("marshalling and waiting alone take longer than %.3f ms\n", f->budget_us / 1e3);
    print_needs(&row->verdict, 1, "it would, with any one of these:");
    print_needs(&row->verdict, 0, "no single change is enough; without these, all else as it is, it would not:");
}

/* --- JSON */

static json_t *needs_json(const struct hx_verdict *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_needs; i++) {
        const struct hx_need *n = &v->need[i];
        const struct hx_need_name *name = &hx_need_names[n->what];

        json_array_append_new(all, json_pack("{s:s, s:f, s:f, s:b}", "what", name->key, "now", n->now,
                                             name->at_least ? "at_least" : "at_most", n->wanted, "enough", n->enough));
    }
    return all;
}

static json_t *choice_json(const struct hx_planned *row)
{
    const struct hx_choice *c = row->choice;

    return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:i, s:b}", "options", c->options, "density", c->density, "attn", c->attn, "packets",
                     c->packets, "placement", placement_of(row), "queue_depth", depth_of(row), "counted", row->counted);
}

static json_t *row_json(const struct hx_plan_found *f, const struct hx_planned *row)
{
    const double us = row->counted ? row->verdict.total_us : row->least_us;
    json_t *j = choice_json(row);

    if (!j)
        return NULL;
    json_object_set_new(j, "reaches", json_boolean(row->counted && us <= f->budget_us));
    json_object_set_new(j, row->counted ? "tokens_per_s" : "most_tokens_per_s", json_real(tokens_per_s(us)));
    json_object_set_new(j, "bound", json_string(hx_bound_names[row->counted ? row->verdict.bound : row->least]));
    if (!row->counted) {
        json_object_set_new(j, "least_us_per_token", json_real(us));
        return j;
    }
    json_object_set_new(j, "bound_percent", json_real(100 * row->verdict.share));
    json_object_set_new(j, "row", hx_density_row(row->choice->density, pos_of(f), &row->answer));
    return j;
}

static json_t *index_json(const struct hx_plan_found *f, const struct hx_planned *row)
{
    return row ? json_integer(row - f->rows) : json_null();
}

json_t *hx_plan_json(const struct hx_plan_found *f)
{
    const struct hx_planned *row = f->cheapest ? f->cheapest : f->nearest;
    json_t *rows = json_array(), *j;

    for (size_t i = 0; i < f->n_rows; i++)
        json_array_append_new(rows, row_json(f, &f->rows[i]));
    j = json_pack("{s:i, s:o, s:I, s:f, s:f, s:f, s:f, s:i, s:o, s:o, s:o, s:o, s:o}", "version", HX_PLAN_JSON_VERSION, "geometry",
                  hx_json_text(f->s->cases[0].shape.name), "pos", (json_int_t)pos_of(f), "target_tokens_per_s", f->target,
                  "budget_us_per_token", f->budget_us, "matrix_bytes_per_token", f->matrix_bytes, "kept_bytes",
                  f->kept_bytes, "choices", (int)f->n_choices, "ceilings", hx_ceilings_json(&f->c), "rows", rows,
                  "cheapest", index_json(f, f->cheapest), "nearest", index_json(f, f->nearest), "needs", needs_json(&row->verdict));
    j = hx_engine_opts_report_plan(&f->s->o, f->s->cases[0].shape.n_layer, j);
    if (j) {
        json_object_set_new(j, "front_end", json_string(f->front_end));
        json_object_set_new(j, "profile", hx_json_text(f->profile));
    }
    return j;
}
