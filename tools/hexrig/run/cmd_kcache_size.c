/* hexrig kcache-size: what the keys of --kv ntt take, for a model, a known geometry or any other. */
#include <jansson.h>
#include <stdint.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "engine/arch/arch.h"
#include "methods/ntt/ring/poly.h"
#include "model/geometry.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_LAYERS, OPT_KV_HEADS, OPT_DH, OPT_POSITIONS };
enum { MOST = 1 << 24, F16_BYTES = 2, MIB = 1 << 20 };

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "the shape of a GGUF model", 0},
    {"geometry", OPT_GEOMETRY, "NAME", 0,
     "qwen3-4b | llama3-8b | gemma3-1b | smollm2-135m | gptj-6b | FILE, a model's config.json (gemma3-1b)", 0},
    {"layers", OPT_LAYERS, "N", 0, "instead of the shape's", 0},
    {"kv-heads", OPT_KV_HEADS, "N", 0, "likewise", 0},
    {"dh", OPT_DH, "N", 0, "elements of a head, likewise; up to 512", 0},
    {"positions", OPT_POSITIONS, "N", 0, "of the cache (4096)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] = "Prints how many bytes the keys of the cache ntt take: layers * KV heads * positions * 8 N."
                          "\vExample: hexrig kcache-size --layers 26 --kv-heads 1 --positions 4096";

static const char cmd[] = "kcache-size";

struct size {
    const char *model;
    const char *geometry;        /* a name or a file; NULL: the paper's case */
    size_t layers, kv_heads, dh; /* 0: those of the model or geometry */
    size_t positions;
    int json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct size *s = state->input;

    switch (key) {
    case 'm': s->model = arg; return 0;
    case OPT_GEOMETRY: s->geometry = arg; return 0;
    case OPT_LAYERS: return hx_opt_error(hx_opt_size(cmd, "layers", arg, 1, MOST, &s->layers));
    case OPT_KV_HEADS: return hx_opt_error(hx_opt_size(cmd, "kv-heads", arg, 1, MOST, &s->kv_heads));
    case OPT_DH: return hx_opt_error(hx_opt_size(cmd, "dh", arg, 1, HX_POLY_N_MAX, &s->dh));
    case OPT_POSITIONS: return hx_opt_error(hx_opt_size(cmd, "positions", arg, 1, MOST, &s->positions));
    case HX_OPT_JSON: s->json = 1; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What the command line left open. */
static void fill(struct size *s, size_t layers, size_t kv_heads, size_t dh)
{
    s->layers = s->layers ? s->layers : layers;
    s->kv_heads = s->kv_heads ? s->kv_heads : kv_heads;
    s->dh = s->dh ? s->dh : dh;
}

/* Both return an enum hx_exit. */
static int shape_of_model(struct size *s)
{
    struct hx_error err = {""};
    struct hx_model *m;

    if (hx_model_open(&m, s->model, hx_archs, &err))
        return hx_cmd_fail(cmd, "%s", err.text);
    fill(s, m->n_layer, m->n_kv, m->dh);
    hx_model_close(m);
    return HX_EXIT_OK;
}

static int shape_of_geometry(struct size *s)
{
    const char *name = s->geometry ? s->geometry : "gemma3-1b";
    struct hx_geometry g;
    struct hx_error err = {""};

    if (hx_geometry_find(&g, name, &err))
        return hx_cmd_usage(cmd, "--geometry: %s", err.text);
    fill(s, g.n_layer, g.n_kv, g.dh);
    return HX_EXIT_OK;
}

static int report(const struct size *s)
{
    const struct hx_poly_cfg cfg = {0};
    struct hx_error err = {""};
    struct hx_poly ring;
    size_t keys, bytes;

    if (hx_poly_open(&ring, &cfg, s->dh, &err))
        return hx_cmd_fail(cmd, "%s", err.text);
    if (__builtin_mul_overflow(s->layers * s->kv_heads, s->positions, &keys) ||
        __builtin_mul_overflow(keys, ring.block_bytes, &bytes) || bytes > INT64_MAX)
        return hx_cmd_fail(cmd, "%zu layers of %zu heads and %zu positions: more than 2^63 bytes", s->layers, s->kv_heads,
                           s->positions);
    return hx_report_print(
        cmd, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I}", "layers", (json_int_t)s->layers, "kv_heads",
                       (json_int_t)s->kv_heads, "dh", (json_int_t)s->dh, "positions", (json_int_t)s->positions, "n",
                       (json_int_t)ring.n, "block_bytes", (json_int_t)ring.block_bytes, "bytes_per_position",
                       (json_int_t)(bytes / s->positions), "bytes", (json_int_t)bytes, "mib", (double)bytes / MIB, "f16_bytes",
                       (json_int_t)(keys * s->dh * F16_BYTES)),
        s->json);
}

int hx_cmd_kcache_size(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct size s = {.positions = 4096};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &s);

    if (!rc && s.model && s.geometry)
        rc = hx_cmd_usage(cmd, "--geometry excludes --model");
    if (!rc)
        rc = s.model ? shape_of_model(&s) : shape_of_geometry(&s);
    return rc ? rc : report(&s);
}
