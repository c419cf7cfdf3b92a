/* hexrig density: what one token costs at a position, by how the work is cut into calls. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "answer.h"
#include "geometry_run.h"
#include "options/engine_opts.h"
#include "cli/report.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_DENSITY, OPT_POS, OPT_ROWS };
enum { MAX_LIST = 64, MAX_POS = 1 << 20, MANY_CALLS = 40000 };

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "NAME", 0,
     "instead of a model: calls of the cache and of matrices on the DSP, on random vectors.  qwen3-4b | llama3-8b | gemma3-1b | "
     "smollm2-135m | gptj-6b | FILE, a model's config.json", 0},
    {"density", OPT_DENSITY, "LIST", 0,
     "per-vector,per-layer,batched,per-token,queue (all that the methods allow); of caches with this option", 0},
    {"pos", OPT_POS, "LIST", 0, "positions of the token, from 0 (16,128)", 0},
    {"rows", OPT_ROWS, "HOW", 0,
     "auto | counted | analytic: far positions of a geometry follow from two near ones that are counted, where counting them would take "
     "long, never, or always (auto)", 0},
    {0},
};

static const char doc[] =
    "Runs one token at each position and prints what its DSP calls and packets cost, one row for each density and position."
    "\vTimes are modelled.\n\n"
    "Example: hexrig density --geometry qwen3-4b --density batched --pos 16,128,512";

struct row {
    const char *density; /* the value of --density, or the cache's name where it has no such option */
    size_t pos;
    struct hx_density_answer a;
};

struct sweep {
    struct hx_engine_opts o;
    const char *geometry, *densities, *positions; /* as given */
    const struct hx_geometry *shape;              /* NULL: a model */
    struct hx_geometry file;                      /* what it points to, of a FILE */
    const char *density[MAX_LIST];
    struct hx_plan *plan[MAX_LIST]; /* of each density, resolved */
    struct hx_density_memo memo[MAX_LIST]; /* of each density */
    size_t pos[MAX_LIST];
    size_t n_density, n_pos;
    enum hx_density_how how;
    struct row *rows; /* [n_density][n_pos] */
    char *words;                 /* what density points into */
};

/* --- options */

/* Calls `take` for each word of a comma-separated list.  0, or HX_EXIT_USAGE after a message. */
static int each_word(struct sweep *s, const char *option, char *list,
                     int (*take)(struct sweep *s, const char *word))
{
    char *save = NULL;
    size_t n = 0;
    int rc = 0;

    for (char *w = strtok_r(list, ",", &save); w && !rc; w = strtok_r(NULL, ",", &save)) {
        if (n++ == MAX_LIST)
            return hx_cmd_usage(s->o.cmd, "--%s: more than %d values", option, MAX_LIST);
        rc = take(s, w);
    }
    return rc || n ? rc : hx_cmd_usage(s->o.cmd, "--%s: the list is empty", option);
}

/* --density, as the plan has it. */
static const char *const *densities(void)
{
    const struct hx_method *owner;
    const struct hx_option *o;

    for (size_t i = 0; (o = hx_plan_option(i, &owner)); i++)
        if (strcmp(o->name, "density") == 0)
            return o->names;
    return NULL;
}

static int take_density(struct sweep *s, const char *word)
{
    s->density[s->n_density++] = word;
    return hx_opt_name(s->o.cmd, "density", word, densities(), NULL);
}

static int take_pos(struct sweep *s, const char *word)
{
    return hx_opt_size(s->o.cmd, "pos", word, 0, MAX_POS, &s->pos[s->n_pos++]);
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static int read_positions(struct sweep *s)
{
    char *list = strdup(s->positions ? s->positions : "16,128");
    size_t n = 0;
    int rc = list ? each_word(s, "pos", list, take_pos) : hx_cmd_fail(s->o.cmd, "out of memory");

    free(list);
    if (rc)
        return rc;
    qsort(s->pos, s->n_pos, sizeof(s->pos[0]), by_size);
    for (size_t i = 0; i < s->n_pos; i++)
        if (i == 0 || s->pos[i] != s->pos[n - 1])
            s->pos[n++] = s->pos[i];
    s->n_pos = n;
    return 0;
}

static int read_densities(struct sweep *s)
{
    s->words = s->densities ? strdup(s->densities) : NULL;
    if (!s->densities)
        return 0;
    return s->words ? each_word(s, "density", s->words, take_density) : hx_cmd_fail(s->o.cmd, "out of memory");
}

/* The plan with a density; 0, -1: the methods do not allow it, or HX_EXIT_USAGE after a message. */
static int plan_of(struct sweep *s, const char *density, struct hx_plan **out, struct hx_error *err)
{
    int rc = hx_plan_copy(out, s->o.plan, err);

    if (!rc && density)
        rc = hx_plan_set(*out, "density", density, err);
    if (!rc)
        rc = hx_plan_resolve(*out, err);
    if (!rc && density && !hx_plan_uses_option(*out, "density"))
        rc = hx_error_set(err, -EINVAL, "--kv %s has no --density", hx_plan_method(*out, HX_SEAM_KV)->name);
    if (rc) {
        hx_plan_close(*out);
        *out = NULL;
    }
    return rc;
}

static int add(struct sweep *s, const char *density, struct hx_plan *plan)
{
    s->density[s->n_density] = density;
    s->plan[s->n_density++] = plan;
    return 0;
}

/* All densities that the methods allow; where the cache has no such option, itself. */
static int all_plans(struct sweep *s)
{
    struct hx_error err = {""};
    struct hx_plan *p;
    int rc;

    for (size_t i = 0; densities()[i]; i++) {
        rc = plan_of(s, densities()[i], &p, &err);
        if (rc == -ENOMEM)
            return hx_cmd_refused(s->o.cmd, rc, err.text);
        if (!rc)
            add(s, densities()[i], p);
    }
    if (s->n_density)
        return 0;
    rc = plan_of(s, NULL, &p, &err);
    if (rc)
        return hx_cmd_refused(s->o.cmd, rc, err.text);
    return add(s, hx_plan_method(p, HX_SEAM_KV)->name, p);
}

static int make_plans(struct sweep *s)
{
    struct hx_error err = {""};

    if (!s->n_density)
        return all_plans(s);
    for (size_t i = 0; i < s->n_density; i++) {
        int rc = plan_of(s, s->density[i], &s->plan[i], &err);

        if (rc)
            return hx_cmd_refused(s->o.cmd, rc, err.text);
    }
    return 0;
}

static int read_geometry(struct sweep *s)
{
    struct hx_error err;
    size_t i;

    if (!s->geometry)
        return 0;
    if (s->o.model || hx_plan_given(s->o.plan, "cal") || hx_plan_given(s->o.plan, "calibrate-on"))
        return hx_cmd_usage(s->o.cmd, "--geometry excludes --model, --cal and --calibrate-on");
    s->shape = &s->file;
    if (hx_geometry_is_file(s->geometry))
        return hx_geometry_read(&s->file, s->geometry, &err) ? hx_cmd_usage(s->o.cmd, "--geometry: %s", err.text) : 0;
    if (hx_opt_name(s->o.cmd, "geometry", s->geometry, hx_geometry_names, &i))
        return HX_EXIT_USAGE;
    s->shape = &hx_geometries[i];
    return 0;
}

/* What was said about parts of an engine that a geometry has not. */
static int check_geometry(const struct sweep *s)
{
    struct hx_error err = {""};

    return hx_geometry_check(s->shape, s->o.plan, &err) ? hx_cmd_usage(s->o.cmd, "%s", err.text) : 0;
}

static int check(struct sweep *s)
{
    int rc = read_geometry(s);

    if (!rc)
        rc = read_densities(s);
    if (!rc)
        rc = read_positions(s);
    if (!rc)
        rc = make_plans(s);
    if (!rc)
        rc = hx_engine_opts_done(&s->o);
    if (!rc && s->shape)
        rc = check_geometry(s);
    if (!rc && !hx_plan_rig(s->plan[0]))
        rc = hx_cmd_usage(s->o.cmd, "--kv %s makes no calls: there is nothing to measure",
                          hx_plan_method(s->plan[0], HX_SEAM_KV)->name);
    return rc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct sweep *s = state->input;
    size_t how = 0;
    int rc;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->o;
        return 0;
    case OPT_GEOMETRY:
        s->geometry = arg;
        return 0;
    case OPT_DENSITY:
        s->densities = arg;
        return 0;
    case OPT_POS:
        s->positions = arg;
        return 0;
    case OPT_ROWS:
        rc = hx_opt_name(s->o.cmd, "rows", arg, hx_density_how_names, &how);
        s->how = (enum hx_density_how)how;
        return hx_opt_error(rc);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int parse(struct sweep *s, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&s->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(s->o.cmd, &argp, argc, argv, s);

    return rc ? rc : check(s);
}

/* --- the report */

static json_t *row_json(const struct row *r)
{
    const struct hx_session_stats *sum = &r->a.sum;
    json_t *j = json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "density", r->density, "pos",
                     (json_int_t)r->pos, "how", hx_density_how_names[r->a.how], "calls_per_token", (double)sum->invokes,
                     "packets_per_token", (double)sum->packets, "bytes_copied_per_token",
                     (double)sum->bytes_copied, "bytes_shared_per_token",
                     (double)sum->bytes_shared, "formula_calls_per_token", r->a.formula.invokes,
                     "formula_packets_per_token", r->a.formula.packets, "model_us_per_token",
                     hx_report_model_us(sum, 1));

    hx_report_add_traffic(j, sum, 1);
    return j;
}

/* "batched,queue": of all rows; a cache without densities keeps what the plan says. */
static int add_densities(const struct sweep *s, json_t *j)
{
    char list[MAX_LIST * 16] = "";
    size_t used = 0;

    if (!hx_plan_uses_option(s->plan[0], "density"))
        return 0;
    for (size_t i = 0; i < s->n_density && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? "," : "", s->density[i]);
    return json_object_set_new(j, "density", json_string(list));
}

/* Of a geometry the cache was at work, and matrices on the DSP. */
static int add_nothing_else(const struct sweep *s, json_t *j)
{
    int rc = hx_geometry_has_matrices(s->shape, s->o.plan) ? 0 : json_object_set_new(j, "linear", json_string("none"));

    return rc | json_object_set_new(j, "attn", json_string("none"));
}

static json_t *report(const struct sweep *s)
{
    json_t *rows = json_array(), *j;
    int rc;

    for (size_t i = 0; i < s->n_density * s->n_pos; i++)
        json_array_append_new(rows, row_json(&s->rows[i]));
    j = json_pack("{s:o, s:s}", s->shape ? "geometry" : "model", hx_json_text(s->shape ? s->shape->name : s->o.model),
                  "basis", s->rows[0].a.basis);
    j = hx_engine_opts_report_plan(&s->o, s->rows[0].a.n_layer, j);
    rc = j ? add_densities(s, j) : -1;
    if (!rc && s->shape)
        rc = add_nothing_else(s, j);
    if (!rc)
        rc = json_object_set(j, "rows", rows);
    json_decref(rows);
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
    return json_string_value(json_object_get(j, key));
}

static void print_row(const json_t *row)
{
    static const char *const parts[] = {"dispatch", "marshal", "queue", "exec", "total"};
    static const char *const places[] = HX_PLACE_NAMES;
    const json_t *us = json_object_get(row, "model_us_per_token"), *bytes = json_object_get(row, "dsp_bytes_per_token");

    printf("%-11s %7.0f %12.0f %14.0f %15.0f %15.0f ",
           text(row, "density"), number(row, "pos"),
           number(row, "calls_per_token"), number(row, "packets_per_token"),
           number(row, "bytes_copied_per_token"), number(row, "bytes_shared_per_token"));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        printf(" %11.3f", number(us, parts[i]) / 1000);
    putchar(' ');
    for (size_t i = 0; i < HX_PLACES; i++)
        printf(" %11.0f", number(bytes, places[i]));
    putchar('\n');
}

static void print_table(const json_t *j)
{
    const char *what = json_object_get(j, "geometry") ? "geometry" : "model";
    const json_t *row;
    size_t i;

    printf("%s: %s   basis: %s   front end: %s   profile: %s   "
           "times are modelled, ms per token\n\n",
           what, text(j, what), text(j, "basis"), text(j, "front_end"), text(j, "profile"));
    printf("%-11s %7s %12s %14s %15s %15s  %11s %11s %11s %11s %11s  %11s %11s %11s %11s\n", "density", "pos",
           "calls/token", "packets/token", "copied B/token", "shared B/token", "dispatch",
           "marshal", "queue", "exec", "total", "DDR bytes", "DMA bytes", "L2 bytes", "VTCM bytes");
    json_array_foreach(json_object_get(j, "rows"), i, row)
        print_row(row);
}

static int print_report(const struct sweep *s)
{
    json_t *j = report(s);

    if (!j || s->o.json || hx_json_lost())
        return hx_report_print(s->o.cmd, j, s->o.json);
    print_table(j);
    json_decref(j);
    return HX_EXIT_OK;
}

/* The row that is being measured. */
struct running {
    const struct sweep *s;
    const struct row *r;
};

/* Says so before it takes minutes. */
static void warn_of_many(void *arg, double calls)
{
    const struct running *now = arg;

    if (calls > MANY_CALLS)
        fprintf(stderr, "hexrig %s: %s makes %.0f calls up to position %zu, this takes a while\n", now->s->o.cmd, now->r->density,
                calls, now->r->pos);
}

static int measure_row(struct sweep *s, size_t density, size_t pos, struct row *r)
{
    const struct hx_engine_cfg cfg = hx_engine_opts_cfg(&s->o);
    struct running now = {s, r};
    const struct hx_density_question q = {s->plan[density], s->shape, &cfg, s->pos[pos], s->how, &s->memo[density], warn_of_many, &now};
    struct hx_error err = {""};

    *r = (struct row){.density = s->density[density], .pos = q.pos};
    return hx_density_answer(&q, &r->a, &err) ? hx_cmd_fail(s->o.cmd, "%s", err.text) : 0;
}

static int measure(struct sweep *s)
{
    int rc = hx_engine_opts_prepare(&s->o);

    s->rows = calloc(s->n_density * s->n_pos, sizeof(*s->rows));
    if (!rc && !s->rows)
        rc = hx_cmd_fail(s->o.cmd, "out of memory");
    for (size_t i = 0; !rc && i < s->n_density * s->n_pos; i++)
        rc = measure_row(s, i / s->n_pos, i % s->n_pos, &s->rows[i]);
    return rc ? rc : print_report(s);
}

int hx_cmd_density(int argc, char **argv)
{
    struct sweep s = {.n_pos = 0};
    int rc = hx_engine_opts_init(&s.o, "density", 0);

    if (rc == 0)
        rc = parse(&s, argc, argv);
    if (rc == 0)
        rc = measure(&s);
    free(s.rows);
    free(s.words);
    for (size_t i = 0; i < MAX_LIST; i++)
        hx_plan_close(s.plan[i]);
    hx_engine_opts_free(&s.o);
    return rc;
}
