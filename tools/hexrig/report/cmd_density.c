/* hexrig density: what one token costs at a position, by how the work is cut into calls. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "density.h"
#include "cli/report.h"
#include "hx_rig.h"
#include "methods/spinor/kv_spinor.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_POS };
enum { MAX_LIST = 64, MAX_POS = 1 << 20 };

static const struct option options[] = {
    {"model", required_argument, NULL, 'm'},
    {"geometry", required_argument, NULL, OPT_GEOMETRY},
    {"kv", required_argument, NULL, HX_OPT_KV},
    {"density", required_argument, NULL, HX_OPT_DENSITY},
    {"pos", required_argument, NULL, OPT_POS},
    {"cal", required_argument, NULL, HX_OPT_CAL},
    {"calib", required_argument, NULL, HX_OPT_CALIB},
    {"basis", required_argument, NULL, HX_OPT_BASIS},
    {"k", required_argument, NULL, HX_OPT_K},
    {"profile", required_argument, NULL, HX_OPT_PROFILE},
    {"front-end", required_argument, NULL, HX_OPT_FRONT_END},
    {"filter", required_argument, NULL, HX_OPT_FILTER},
    {"time", required_argument, NULL, HX_OPT_TIME},
    {"host-us", required_argument, NULL, HX_OPT_HOST_US},
    {"farf", optional_argument, NULL, HX_OPT_FARF},
    {"json", no_argument, NULL, HX_OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig density [-m FILE | --geometry NAME] [OPTION]...\n\n"
    "Runs one token at each position and prints what its DSP calls and packets cost, one row for\n"
    "each density and position.\n\n"
    "  -m, --model FILE         GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)\n"
    "      --geometry NAME      instead of a model: the same calls on random vectors, tables made up.\n"
    "                           qwen3-4b | llama3-8b | gemma3-1b | smollm2-135m\n"
    "      --density LIST       per-vector,per-layer,batched,per-token,queue (all of them)\n"
    "      --pos LIST           positions of the token, from 0 (16,128)\n"
    "      --kv spinor          K and V cache\n"
    "      --cal FILE           calibration of the blocks (beside the model, or the shipped one)\n"
    "      --calib TEXT         calibrate on a text file at start instead\n"
    "      --basis B            vht2 | vht2w | klt: what blocks hold (klt, or as in --cal)\n"
    "      --k before|after     K coded before or after RoPE (before, or as in --cal)\n"
    "      --profile P          cost profile of a private rig, name or path (s22u-577)\n"
    "      --front-end F        " HX_FRONT_ENDS ": of a private rig (auto)\n"
    "      --filter SPEC        filter of a private rig, name:key=value,...; repeatable\n"
    HX_RIG_TIME_HELP
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "Times are modelled.\n\n"
    "Example: hexrig density --geometry qwen3-4b --density batched --pos 16,128,512\n";

struct sweep {
    struct hx_engine_opts o;
    const char *geometry, *densities, *positions; /* as given */
    const struct hx_geometry *shape;              /* NULL: a model */
    const char *density[MAX_LIST];
    size_t pos[MAX_LIST];
    size_t n_density, n_pos;
    struct hx_density_row *rows; /* [n_density][n_pos] */
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

static int take_density(struct sweep *s, const char *word)
{
    s->density[s->n_density++] = word;
    return hx_opt_name(s->o.cmd, "density", word, hx_kv_spinor_densities, NULL);
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
    if (!s->densities) {
        while (hx_kv_spinor_densities[s->n_density]) {
            s->density[s->n_density] = hx_kv_spinor_densities[s->n_density];
            s->n_density++;
        }
        return 0;
    }
    s->words = strdup(s->densities);
    if (!s->words)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    return each_word(s, "density", s->words, take_density);
}

static int read_geometry(struct sweep *s)
{
    size_t i;

    if (!s->geometry)
        return 0;
    if (s->o.cfg.model || s->o.cfg.cal || s->o.cfg.calib)
        return hx_cmd_usage(s->o.cmd, "--geometry excludes --model, --cal and --calib");
    if (hx_opt_name(s->o.cmd, "geometry", s->geometry, hx_geometry_names, &i))
        return HX_EXIT_USAGE;
    s->shape = &hx_geometries[i];
    return 0;
}

static int check(struct sweep *s)
{
    int rc = read_geometry(s);

    if (!rc)
        rc = read_densities(s);
    if (!rc)
        rc = read_positions(s);
    if (!rc)
        rc = hx_engine_opts_done(&s->o);
    if (!rc && !hx_engine_opts_rig(&s->o))
        rc = hx_cmd_usage(s->o.cmd, "--kv %s makes no calls: there is nothing to measure",
                          s->o.cfg.kv);
    return rc;
}

static int parse(struct sweep *s, int argc, char **argv)
{
    int c, rc = 0;

    while (!rc && (c = getopt_long(argc, argv, "m:h", options, NULL)) != -1) {
        switch (c) {
        case OPT_GEOMETRY:
            s->geometry = optarg;
            break;
        case HX_OPT_DENSITY:
            s->densities = optarg;
            break;
        case OPT_POS:
            s->positions = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            rc = hx_engine_opt(&s->o, c, optarg);
        }
    }
    if (!rc && optind < argc)
        rc = hx_cmd_usage(s->o.cmd, "unexpected argument '%s'", argv[optind]);
    return rc ? rc : check(s);
}

/* --- the report */

static json_t *row_json(const struct hx_density_row *r)
{
    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:o}", "density", r->density, "pos",
                     (json_int_t)r->pos, "calls_per_token", (double)r->sum.invokes,
                     "packets_per_token", (double)r->sum.packets, "bytes_copied_per_token",
                     (double)r->sum.bytes_copied, "bytes_shared_per_token",
                     (double)r->sum.bytes_shared, "model_us_per_token",
                     hx_report_model_us(&r->sum, 1));
}

static json_t *report(const struct sweep *s)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < s->n_density * s->n_pos; i++)
        json_array_append_new(rows, row_json(&s->rows[i]));
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o}", s->shape ? "geometry" : "model",
                     hx_json_text(s->shape ? s->shape->name : s->o.cfg.model), "kv",
                     s->o.cfg.kv, "basis", s->rows[0].basis, "front_end", hx_rig_front_end(),
                     "profile", hx_json_text(hx_rig_profile()), "rows", rows);
}

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static void print_row(const json_t *row)
{
    static const char *const parts[] = {"dispatch", "marshal", "queue", "exec", "total"};
    const json_t *us = json_object_get(row, "model_us_per_token");

    printf("%-11s %7.0f %12.0f %14.0f %15.0f %15.0f ",
           json_string_value(json_object_get(row, "density")), number(row, "pos"),
           number(row, "calls_per_token"), number(row, "packets_per_token"),
           number(row, "bytes_copied_per_token"), number(row, "bytes_shared_per_token"));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        printf(" %11.3f", number(us, parts[i]) / 1000);
    putchar('\n');
}

static void print_table(const struct sweep *s, const json_t *j)
{
    const json_t *row;
    size_t i;

    printf("%s: %s   basis: %s   front end: %s   profile: %s   "
           "times are modelled, ms per token\n\n",
           s->shape ? "geometry" : "model", s->shape ? s->shape->name : s->o.cfg.model,
           s->rows[0].basis, hx_rig_front_end(), hx_rig_profile());
    printf("%-11s %7s %12s %14s %15s %15s  %11s %11s %11s %11s %11s\n", "density", "pos",
           "calls/token", "packets/token", "copied B/token", "shared B/token", "dispatch",
           "marshal", "queue", "exec", "total");
    json_array_foreach(json_object_get(j, "rows"), i, row)
        print_row(row);
}

static int print_report(const struct sweep *s)
{
    json_t *j = report(s);

    if (!j || s->o.json)
        return hx_report_print(s->o.cmd, j, s->o.json);
    print_table(s, j);
    json_decref(j);
    return HX_EXIT_OK;
}

static int measure(struct sweep *s)
{
    const struct hx_density_job job = {&s->o, s->shape, s->pos, s->n_pos};
    int rc = hx_engine_opts_prepare(&s->o);

    s->rows = calloc(s->n_density * s->n_pos, sizeof(*s->rows));
    if (!rc && !s->rows)
        rc = hx_cmd_fail(s->o.cmd, "out of memory");
    for (size_t i = 0; !rc && i < s->n_density; i++)
        rc = hx_density_measure(&job, s->density[i], s->rows + i * s->n_pos);
    return rc ? rc : print_report(s);
}

int hx_cmd_density(int argc, char **argv)
{
    struct sweep s = {.o = {.cmd = "density"}};
    int rc = parse(&s, argc, argv);

    if (rc == 0)
        rc = measure(&s);
    free(s.rows);
    free(s.words);
    hx_engine_opts_free(&s.o);
    return rc < 0 ? HX_EXIT_OK : rc;
}
