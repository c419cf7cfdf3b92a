/* Rows as a table, as CSV and as JSON. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "geometry_run.h"

json_t *hx_rows_of_line(const struct hx_sweep *s, const struct hx_sweep_point *p, const json_t *line)
{
    json_t *row = json_object_get(line, "row"), *j = row ? json_object() : NULL;
    int rc = j ? 0 : -1;

    for (size_t i = 0; !rc && i < s->n_swept; i++)
        rc = json_object_set_new(j, s->swept[i].name, hx_json_text(s->cases[p->at].value[i]));
    if (!rc)
        rc = json_object_update(j, row);
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static const char *text(const json_t *j, const char *key)
{
    const char *t = json_string_value(json_object_get(j, key));

    return t ? t : "none";
}

/* The last one where clients are side by side alone: of others it is the total. */
static const char *const parts[] = {"dispatch", "marshal", "queue", "exec", "total", "wall"};
static const char *const places[] = HX_PLACE_NAMES;
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static size_t n_parts(const struct hx_sweep *s)
{
    return hx_sweep_has_clients(s) ? PARTS : PARTS - 1;
}

/* --- CSV */

static const char *const plain[] = {"pos", "how", "calls_per_token", "packets_per_token", "bytes_copied_per_token",
                                    "bytes_shared_per_token"};
enum { PLAIN = sizeof(plain) / sizeof(plain[0]) };

static void csv_head(const struct hx_sweep *s)
{
    for (size_t i = 0; i < s->n_swept; i++)
        printf("%s,", s->swept[i].name);
    printf("density");
    for (size_t i = 0; i < PLAIN; i++)
        printf(",%s", plain[i]);
    for (size_t i = 0; i < n_parts(s); i++)
        printf(",%s_us", parts[i]);
    for (size_t i = 0; i < HX_PLACES; i++)
        printf(",%s_bytes", places[i]);
    putchar('\n');
}

/* Quoted where it has to be.  Source: RFC 4180. */
static void csv_text(const char *t)
{
    if (!strpbrk(t, ",\"\r\n")) {
        fputs(t, stdout);
        return;
    }
    putchar('"');
    for (; *t; t++)
        printf(*t == '"' ? "\"\"" : "%c", *t);
    putchar('"');
}

static void csv_row(const struct hx_sweep *s, const json_t *row)
{
    const json_t *us = json_object_get(row, "model_us_per_token"), *bytes = json_object_get(row, "dsp_bytes_per_token");

    for (size_t i = 0; i < s->n_swept; i++) {
        csv_text(text(row, s->swept[i].name));
        putchar(',');
    }
    csv_text(text(row, "density"));
    for (size_t i = 0; i < PLAIN; i++)
        if (json_is_string(json_object_get(row, plain[i])))
            printf(",%s", text(row, plain[i]));
        else
            printf(",%.15g", number(row, plain[i]));
    for (size_t i = 0; i < n_parts(s); i++)
        printf(",%.12g", number(us, parts[i]));
    for (size_t i = 0; i < HX_PLACES; i++)
        printf(",%.15g", number(bytes, places[i]));
    putchar('\n');
}

/* --- the table */

/* Columns of what is swept are as wide as their widest value. */
static int width_of(const struct hx_swept *w)
{
    size_t most = strlen(w->name);

    for (size_t i = 0; i < w->n; i++)
        most = strlen(w->value[i]) > most ? strlen(w->value[i]) : most;
    return (int)most;
}

/* The text of a heading: "by row" where a sweep says it. */
static const char *heading(const struct hx_sweep *s, const char *name, const char *value)
{
    for (size_t i = 0; i < s->n_swept; i++)
        if (strcmp(s->swept[i].name, name) == 0)
            return "by row";
    return value;
}

static const char *subject(const struct hx_sweep *s)
{
    return s->cases[0].shape.name ? "geometry" : "model";
}

static const char *subject_name(const struct hx_sweep *s)
{
    return s->cases[0].shape.name ? s->cases[0].shape.name : s->o.model;
}

static void table_head(const struct hx_sweep *s, const json_t *line)
{
    printf("%s: %s   basis: %s   front end: %s   profile: %s   times are modelled, ms per token\n\n", subject(s),
           heading(s, subject(s), subject_name(s)), heading(s, "basis", text(line, "basis")), text(line, "front_end"),
           heading(s, "profile", text(line, "profile")));
    for (size_t i = 0; i < s->n_swept; i++)
        printf("%-*s ", width_of(&s->swept[i]), s->swept[i].name);
    printf("%-11s %7s %12s %14s %15s %15s ", "density", "pos", "calls/token", "packets/token", "copied B/token", "shared B/token");
    for (size_t i = 0; i < n_parts(s); i++)
        printf(" %11s", parts[i]);
    printf("  %11s %11s %11s %11s\n", "DDR bytes", "DMA bytes", "L2 bytes", "VTCM bytes");
}

static void table_row(const struct hx_sweep *s, const json_t *row)
{
    const json_t *us = json_object_get(row, "model_us_per_token"), *bytes = json_object_get(row, "dsp_bytes_per_token");
    const int digits = json_object_get(row, "guesses") ? 3 : 0; /* a step's calls make several tokens */

    for (size_t i = 0; i < s->n_swept; i++)
        printf("%-*s ", width_of(&s->swept[i]), text(row, s->swept[i].name));
    printf("%-11s %7.0f %12.*f %14.*f %15.0f %15.0f ", text(row, "density"), number(row, "pos"), digits, number(row, "calls_per_token"),
           digits, number(row, "packets_per_token"), number(row, "bytes_copied_per_token"), number(row, "bytes_shared_per_token"));
    for (size_t i = 0; i < n_parts(s); i++)
        printf(" %11.3f", number(us, parts[i]) / 1000);
    putchar(' ');
    for (size_t i = 0; i < HX_PLACES; i++)
        printf(" %11.0f", number(bytes, places[i]));
    puts(strcmp(text(row, "how"), "analytic") == 0 ? "  analytic" : "");
}

void hx_rows_head(const struct hx_sweep *s, enum hx_rows_form form, const json_t *line)
{
    if (form == HX_ROWS_CSV)
        csv_head(s);
    else if (form == HX_ROWS_TABLE)
        table_head(s, line);
}

void hx_rows_print(const struct hx_sweep *s, enum hx_rows_form form, const json_t *row)
{
    if (form == HX_ROWS_CSV)
        csv_row(s, row);
    else if (form == HX_ROWS_TABLE)
        table_row(s, row);
    fflush(stdout); /* a row is there when it is done */
}

/* --- the object */

/* "a,b" */
static json_t *list(const char *const *value, size_t n)
{
    json_t *j;
    char *all = NULL, *longer;

    for (size_t i = 0; i < n; i++) {
        int rc = asprintf(&longer, "%s%s%s", all ? all : "", all ? "," : "", value[i]);

        free(all);
        all = rc < 0 ? NULL : longer;
        if (!all)
            return NULL;
    }
    j = hx_json_text(all ? all : "");
    free(all);
    return j;
}

/* "batched,queue": of all rows; a cache without densities keeps what the plan says, unless some were asked for.  What is swept likewise. */
static int add_lists(const struct hx_sweep *s, json_t *j)
{
    const struct hx_sweep_case *c = &s->cases[0];
    int rc = 0;

    if (s->words || hx_plan_uses_option(c->plan[0], "density"))
        rc = json_object_set_new(j, "density", list(c->density, c->n_density));
    for (size_t i = 0; !rc && i < s->n_swept; i++)
        rc = json_object_set_new(j, s->swept[i].name, list(s->swept[i].value, s->swept[i].n));
    return rc;
}

/* Of a geometry the cache was at work, and attention and matrices on the DSP. */
static int add_nothing_else(const struct hx_sweep *s, json_t *j)
{
    const struct hx_sweep_case *c = &s->cases[0];
    int rc = 0;

    if (!c->shape.name)
        return 0;
    if (!hx_geometry_has_matrices(&c->shape, c->plan[0]))
        rc = json_object_set_new(j, "linear", json_string("none"));
    if (!(hx_plan_method(c->plan[0], HX_SEAM_KV)->gives & HX_TRAIT_ATTEND))
        rc |= json_object_set_new(j, "attn", json_string("none"));
    return rc;
}

/* What the child's rig was, where this process has none. */
static int add_rig(json_t *j, const json_t *line)
{
    return json_object_set_new(j, "front_end", json_string(text(line, "front_end"))) |
           json_object_set_new(j, "profile", hx_json_text(text(line, "profile")));
}

json_t *hx_rows_report(const struct hx_sweep *s, json_t *rows, const json_t *line, json_t *uncosted)
{
    const size_t n_layer = (size_t)json_integer_value(json_object_get(line, "n_layer"));
    json_t *j = json_pack("{s:i, s:o, s:s}", "version", HX_DENSITY_JSON_VERSION, subject(s), hx_json_text(subject_name(s)), "basis",
                          text(line, "basis"));
    int rc;

    j = hx_engine_opts_report_plan(&s->o, n_layer, j);
    rc = j ? add_rig(j, line) : -1;
    if (!rc)
        rc = add_nothing_else(s, j) | add_lists(s, j);
    if (!rc)
        rc = json_object_set_new(j, "complete", json_boolean(json_array_size(rows) == hx_sweep_points(s)));
    if (!rc)
        rc = json_object_set(j, "rows", rows);
    if (!rc && uncosted)
        rc = json_object_set(j, "uncosted", uncosted);
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}

/* --- what had no cost */

static int is_of(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(text(a, key), text(b, key)) == 0;
}

static int add_to(json_t *have, const json_t *more, const char *key)
{
    return json_object_set_new(have, key, json_integer(json_integer_value(json_object_get(have, key)) +
                                                       json_integer_value(json_object_get(more, key))));
}

static int add_one(json_t *to, json_t *more)
{
    json_t *have;
    size_t i;

    json_array_foreach(to, i, have)
        if (is_of(have, more, "name") && is_of(have, more, "reason"))
            return add_to(have, more, "pcycles") | add_to(have, more, "hvx_ops");
    return json_array_append_new(to, json_copy(more));
}

int hx_rows_add_uncosted(json_t *to, const json_t *more)
{
    json_t *one;
    size_t i;
    int rc = 0;

    json_array_foreach(more, i, one)
        rc |= add_one(to, one);
    return rc;
}

/* --- figures */

/* "s22u-sync/queue@16".  The caller frees. */
static char *row_name(const struct hx_sweep *s, const json_t *row)
{
    size_t bytes;
    char *name = NULL;
    FILE *f = open_memstream(&name, &bytes);

    if (!f)
        return NULL;
    for (size_t i = 0; i < s->n_swept; i++)
        fprintf(f, "%s/", text(row, s->swept[i].name));
    fprintf(f, "%s@%.0f", text(row, "density"), number(row, "pos"));
    if (fclose(f) == 0)
        return name;
    free(name);
    return NULL;
}

char *hx_rows_name(const struct hx_sweep *s, const struct hx_sweep_point *p)
{
    json_t *line = json_pack("{s:{s:s, s:I}}", "row", "density", s->cases[p->at].density[p->density], "pos",
                             (json_int_t)s->pos[p->pos]);
    json_t *row = line ? hx_rows_of_line(s, p, line) : NULL;
    char *name = row ? row_name(s, row) : NULL;

    json_decref(row);
    json_decref(line);
    return name;
}

static int add_figures(const struct hx_sweep *s, json_t *to, const json_t *row)
{
    static const char *const others[] = {"pos", "formula_calls_per_token", "formula_packets_per_token"};
    char *name = row_name(s, row), *utf8 = name ? hx_json_utf8(name, strlen(name)) : NULL;
    json_t *figures = json_copy((json_t *)row);
    int rc;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        json_object_del(figures, others[i]);
    rc = utf8 && figures ? json_object_set(to, utf8, figures) : -1;
    json_decref(figures);
    free(utf8);
    free(name);
    return rc;
}

json_t *hx_rows_figures(const struct hx_sweep *s, const json_t *rows)
{
    json_t *j = json_object(), *row;
    int rc = j ? 0 : -1;
    size_t i;

    json_array_foreach(rows, i, row)
        rc = rc ? rc : add_figures(s, j, row);
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}
