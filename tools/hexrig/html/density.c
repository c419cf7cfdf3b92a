/* A sweep of dispatch density: what a token costs over its position, and each row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "page.h"
#include "sections.h"

/* A line of a chart: rows that have all but the position in common. */
struct line {
    char *name;
    size_t *row, n;
};

struct lines {
    struct line *line; /* [n], room for one of each row */
    size_t n;
};

static int is_swept(const char *key, const json_t *value)
{
    return json_is_string(value) && strcmp(key, "density") != 0 && strcmp(key, "how") != 0;
}

/* The density and the values of what is swept; the caller frees.  NULL: out of memory. */
static char *name_of(const json_t *row)
{
    char *name = strdup(hx_page_text(row, "density")), *longer;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)row, key, value) {
        if (!name || !is_swept(key, value))
            continue;
        if (asprintf(&longer, "%s, %s", name, json_string_value(value)) < 0)
            longer = NULL;
        free(name);
        name = longer;
    }
    return name;
}

/* The line of that name, which it takes; a new one, if there is none.  NULL: out of memory. */
static struct line *line_of(struct lines *l, char *name, size_t rows)
{
    struct line *new = &l->line[l->n];

    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].name, name) == 0) {
            free(name);
            return &l->line[i];
        }
    *new = (struct line){name, calloc(rows, sizeof(*new->row)), 0};
    l->n++;
    return new->row ? new : NULL;
}

static int lines_of(struct lines *l, const json_t *rows)
{
    const size_t n = json_array_size(rows);

    l->line = calloc(n + 1, sizeof(*l->line));
    for (size_t i = 0; i < n; i++) {
        char *name = l->line ? name_of(json_array_get(rows, i)) : NULL;
        struct line *line = name ? line_of(l, name, n) : NULL;

        if (!line)
            return -ENOMEM;
        line->row[line->n++] = i;
    }
    return 0;
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->line[i].name);
        free(l->line[i].row);
    }
    free(l->line);
}

/* --- charts */

static double ms_of(const json_t *row)
{
    return hx_page_number(row, "model_us_per_token.total") / 1000;
}

static double calls_of(const json_t *row)
{
    return hx_page_number(row, "calls_per_token") + hx_page_number(row, "packets_per_token");
}

static const struct picture {
    const char *caption, *y;
    double (*value)(const json_t *row); /* where it is 0, there is no point */
} pictures[] = {
    {"What a token costs over its position", "ms per token, modelled", ms_of},
    {"DSP calls and packets of a token over its position", "calls and packets per token", calls_of},
};

static int draw(FILE *f, const struct picture *p, const struct lines *l, const json_t *rows)
{
    const size_t n = json_array_size(rows);
    struct hx_chart_line *line = calloc(l->n + 1, sizeof(*line));
    double (*at)[2] = calloc(n + 1, sizeof(*at));
    size_t used = 0;

    for (size_t i = 0; line && at && i < l->n; i++) {
        line[i] = (struct hx_chart_line){.name = l->line[i].name, .at = at + used};
        for (size_t k = 0; k < l->line[i].n; k++) {
            const json_t *row = json_array_get(rows, l->line[i].row[k]);

            if (p->value(row) > 0) {
                line[i].at[line[i].n][0] = hx_page_number(row, "pos");
                line[i].at[line[i].n++][1] = p->value(row);
                used++;
            }
        }
    }
    if (line && at)
        hx_chart(f, &(struct hx_chart){p->caption, "position", p->y, line, l->n});
    free(line);
    free(at);
    return line && at ? 0 : -ENOMEM;
}

/* --- rows */

static const char *const plain_heads[] = {
    "<density", "pos", "<how", "calls", "packets", "copied B", "shared B", "dispatch ms", "marshal ms", "queue ms", "exec ms",
    "total ms", "DDR B", "DMA B", "L2 B", "VTCM B"};
enum { PLAIN = sizeof(plain_heads) / sizeof(plain_heads[0]), SWEPT = 8 };

static void put_heads(FILE *f, const json_t *row)
{
    const char *heads[SWEPT + PLAIN], *key;
    char name[SWEPT][64];
    size_t n = 0;
    json_t *value;

    json_object_foreach((json_t *)row, key, value)
        if (is_swept(key, value) && n < SWEPT) {
            snprintf(name[n], sizeof(name[n]), "<%s", key);
            heads[n] = name[n];
            n++;
        }
    memcpy(heads + n, plain_heads, sizeof(plain_heads));
    hx_page_table_begin(f, "Rows, figures per token", heads, n + PLAIN);
}

static void put_row(FILE *f, const json_t *row)
{
    static const char *const counts[] = {"calls_per_token", "packets_per_token", "bytes_copied_per_token", "bytes_shared_per_token"};
    static const char *const times[] = {"model_us_per_token.dispatch", "model_us_per_token.marshal", "model_us_per_token.queue",
                                        "model_us_per_token.exec", "model_us_per_token.total"};
    static const char *const places[] = {"dsp_bytes_per_token.ddr", "dsp_bytes_per_token.dma", "dsp_bytes_per_token.l2",
                                         "dsp_bytes_per_token.vtcm"};
    const char *key;
    size_t swept = 0;
    json_t *value;

    hx_page_row_begin(f);
    json_object_foreach((json_t *)row, key, value)
        if (is_swept(key, value) && swept++ < SWEPT)
            hx_page_cell_text(f, json_string_value(value));
    hx_page_cell_text(f, hx_page_text(row, "density"));
    hx_page_cell(f, "%.0f", hx_page_number(row, "pos"));
    hx_page_cell_text(f, hx_page_text(row, "how"));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        hx_page_cell(f, "%.0f", hx_page_number(row, counts[i]));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        hx_page_cell(f, "%.3f", hx_page_number(row, times[i]) / 1000);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        hx_page_cell(f, "%.0f", hx_page_number(row, places[i]));
    hx_page_row_end(f);
}

static void put_rows(FILE *f, const json_t *rows)
{
    json_t *row;
    size_t i;

    put_heads(f, json_array_get(rows, 0));
    json_array_foreach(rows, i, row)
        put_row(f, row);
    hx_page_table_end(f);
}

void hx_section_uncosted(FILE *f, const json_t *answer)
{
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(answer, "uncosted"), i, one)
        hx_page_says(f, "Not exactly costed: %s: %s.", hx_page_text(one, "name"), hx_page_text(one, "reason"));
}

int hx_section_density(FILE *f, const json_t *answer)
{
    const json_t *rows = json_object_get(answer, "rows");
    const char *of = json_object_get(answer, "geometry") ? "geometry" : "model";
    struct lines l = {.n = 0};
    int rc = lines_of(&l, rows);

    hx_page_says(f, "%s %s, profile %s, K and V %s, basis %s, front end %s.  Times are modelled.", of, hx_page_text(answer, of),
                 hx_page_text(answer, "profile"), hx_page_text(answer, "kv"), hx_page_text(answer, "basis"),
                 hx_page_text(answer, "front_end"));
    fputs("<div class=\"charts\">\n", f);
    for (size_t i = 0; !rc && i < sizeof(pictures) / sizeof(pictures[0]); i++)
        rc = draw(f, &pictures[i], &l, rows);
    fputs("</div>\n", f);
    free_lines(&l);
    if (!rc)
        put_rows(f, rows);
    hx_section_uncosted(f, answer);
    return rc;
}
