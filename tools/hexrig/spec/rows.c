/* Results as objects, objects as rows. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "html/page.h"

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static json_t *texts_json(const struct hx_spec_stats *n)
{
    const double steps = (double)n->steps;

    return json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}", "tokens_per_step", ratio((double)n->emitted, steps), "accept",
                     hx_spec_share_right(n), "law", hx_spec_law(n), "accept_rate", ratio((double)n->accepted, (double)n->proposed),
                     "steps", (json_int_t)n->steps, "emitted", (json_int_t)n->emitted, "proposed", (json_int_t)n->proposed, "accepted",
                     (json_int_t)n->accepted, "verified", (json_int_t)n->verified);
}

/* Times of one kind, measured or modelled. */
struct times {
    double guess, alone, with; /* of one guess, of a pass without and with guesses */
    double token;              /* of the text, all included */
    double plain;              /* likewise without a drafter, which is a pass of one row */
};

static struct times times_of(const struct hx_spec_result *r, double draft, const double pass[2], double plain)
{
    struct times t = {
        .guess = ratio(draft, (double)r->greedy.proposed),
        .alone = ratio(pass[0], (double)r->n_pass[0]),
        .with = ratio(pass[1], (double)r->n_pass[1]),
        .token = ratio(draft + pass[0] + pass[1], (double)r->greedy.emitted),
        .plain = plain,
    };

    t.plain = plain > 0 ? plain : t.token;
    return t;
}

/* Tokens of the law's steps over what its step costs: its guesses, and a pass with or without some. */
static double gain_of_law(const struct hx_spec_result *r, const struct times *t)
{
    const double steps = (double)r->greedy.steps, with = ratio((double)r->n_pass[1], steps);
    const double step = ratio((double)r->greedy.proposed, steps) * t->guess + with * t->with + (1 - with) * t->plain;

    return ratio(hx_spec_law(&r->greedy) * t->plain, step);
}

static json_t *times_json(const struct hx_spec_result *r, const struct times *t, const char *unit)
{
    char key[3][16];

    snprintf(key[0], sizeof(key[0]), "t_d_%s", unit);
    snprintf(key[1], sizeof(key[1]), "t_v1_%s", unit);
    snprintf(key[2], sizeof(key[2]), "t_v_%s", unit);
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", key[0], t->guess, key[1], t->plain, key[2], t->with, "gain",
                     ratio(t->plain, t->token), "law", gain_of_law(r, t));
}

json_t *hx_spec_row(const char *draft, size_t guesses, const struct hx_spec_result *r, const json_t *plain)
{
    const double n = (double)r->greedy.emitted, s[] = {r->pass[0].s, r->pass[1].s}, us[] = {r->pass[0].us, r->pass[1].us};
    const struct times host = times_of(r, r->draft.s, s, plain ? hx_page_number(plain, "host.t_v1_s") : 0);
    const struct times model = times_of(r, r->draft.us, us, plain ? hx_page_number(plain, "model.t_v1_us") : 0);

    return json_pack("{s:o, s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "draft", hx_json_text(draft), "guesses",
                     (json_int_t)guesses, "greedy", texts_json(&r->greedy), "along", texts_json(&r->along), "calls_per_token",
                     ratio((double)r->sum.invokes, n), "packets_per_token", ratio((double)r->sum.packets, n), "bytes_copied_per_token",
                     ratio((double)r->sum.bytes_copied, n), "bytes_shared_per_token", ratio((double)r->sum.bytes_shared, n),
                     "model_us_per_token", hx_report_model_us(&r->sum, n), "model", times_json(r, &model, "us"), "host",
                     times_json(r, &host, "s"));
}

/* --- printing */

enum { DRAFT_WIDTH = 12 };

static void print_csv_head(const struct hx_spec_column *c)
{
    fputs("draft", stdout);
    for (; c->head; c++) {
        putchar(',');
        for (const char *p = c->path; *p; p++)
            putchar(*p == '.' ? '_' : *p);
    }
    putchar('\n');
}

/* A group's name begins where its first column does. */
static void print_groups(const struct hx_spec_column *c)
{
    int at = printf("%-*s", DRAFT_WIDTH, ""), named = at;

    for (; c->head; c++) {
        if (*c->group)
            named += printf("%*s%s", at + 2 - named, "", c->group);
        at += 2 + c->width;
    }
    putchar('\n');
}

static void print_table_head(const struct hx_spec_column *columns)
{
    print_groups(columns);
    printf("%-*s", DRAFT_WIDTH, "drafter");
    for (const struct hx_spec_column *c = columns; c->head; c++)
        printf("  %*s", c->width, c->head);
    putchar('\n');
}

void hx_spec_print_head(const struct hx_spec_column *columns, int csv)
{
    if (csv)
        print_csv_head(columns);
    else
        print_table_head(columns);
    fflush(stdout);
}

void hx_spec_print_row(const struct hx_spec_column *columns, int csv, const json_t *row)
{
    const char *draft = hx_page_text(row, "draft");

    if (csv)
        printf("%s", draft);
    else
        printf("%-*s", DRAFT_WIDTH, draft);
    for (const struct hx_spec_column *c = columns; c->head; c++) {
        const double value = hx_page_number(row, c->path);

        if (csv)
            printf(",%.12g", value);
        else
            printf("  %*.*f", c->width, c->digits, c->times * value);
    }
    putchar('\n');
    fflush(stdout); /* a row is there when it is done */
}
