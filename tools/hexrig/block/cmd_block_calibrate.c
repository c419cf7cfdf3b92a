/* hexrig block calibrate: a model's tables from its own K and V. */
#include <inttypes.h>
#include <jansson.h>

#include "engine/arch/arch.h"
#include "methods/spinor/block_report.h"
#include "methods/spinor/calibrate.h"
#include "cmd_block.h"
#include "cli/report.h"

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model", 0},
    {"file", 'f', "TEXT", 0, "text file, at least 24 tokens; of klt more than its directions, 74 at head dimension 128", 0},
    {"output", 'o', "FILE", 0, "calibration file to write", 0},
    {"basis", HX_BLOCK_OPT_BASIS, "B", 0, "vht2 | vht2w | klt: what blocks hold (klt)", 0},
    {"k-rope", HX_BLOCK_OPT_K_ROPE, "pre|post", 0, "K coded before or after RoPE (pre)", 0},
    {"k", HX_BLOCK_OPT_K, "before|after", OPTION_HIDDEN, "", 0},
    {"code", HX_BLOCK_OPT_CODE, "C", 0, "sign | sheet: how residuals are coded (sign)", 0},
    {"skeleton", HX_BLOCK_OPT_SKELETON, "N", 0, "skeleton lanes (14)", 0},
    {"residual", HX_BLOCK_OPT_RESIDUAL, "N", 0, "residual lanes (25, 60, 127, 300 by head dimension, which are also the most)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const struct hx_block_syntax syntax = {
    .cmd = "block calibrate",
    .options = options,
    .words = "-m MODEL -f TEXT -o FILE",
    .doc = "Runs the model over the first 120 windows of 128 tokens of a text and writes the tables that its K and V "
           "blocks need.  Choose a text that you will not quote a perplexity on."
           "\vThe file serves every quantisation of the same model.\n\n"
           "Example: hexrig block calibrate -m model-f16.gguf -f text.txt -o model.cal",
};

static json_t *part_json(const struct hx_cal_part_seen *part)
{
    json_t *j = json_pack("{s:f, s:f}", "retained", part->retained, "retained_min", part->retained_min);

    if (j && part->rank_min)
        json_object_set_new(j, "rank", json_integer((json_int_t)part->rank_min));
    return j;
}

static json_t *seen_json(const struct hx_cal_seen *seen)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "windows", (json_int_t)seen->windows, "window_tokens", (json_int_t)seen->ctx,
                     "vectors", (json_int_t)seen->vectors, "k", part_json(&seen->k), "v", part_json(&seen->v));
}

static int print_report(const struct hx_block_opts *o, const struct hx_cal *cal)
{
    char fingerprint[17];
    json_t *j;

    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, cal->fingerprint);
    j = json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:o, s:o}", "model", hx_json_text(o->model), "text",
                  hx_json_text(o->text), "file", hx_json_text(o->out), "fingerprint",
                  fingerprint, "slots", (json_int_t)cal->n_slots, "table_bytes",
                  (json_int_t)cal->table_bytes, "block",
                  hx_block_report(&cal->format, cal->k_after_rope), "seen", seen_json(&cal->seen));
    return hx_report_print(o->cmd, j, o->json);
}

static int calibrate(const struct hx_block_opts *o)
{
    const struct hx_cal_cfg cfg = {(uint32_t)o->basis, (uint32_t)o->code, (int)o->k, o->skeleton, o->residual};
    struct hx_error err = {""};
    struct hx_model *m;
    struct hx_cal *cal = NULL;
    int rc = hx_model_open(&m, o->model, hx_archs, &err);

    if (rc)
        return hx_cmd_fail(o->cmd, "%s", err.text);
    rc = hx_calibrate_text(&cal, m, &cfg, o->text, &err);
    if (!rc)
        rc = hx_cal_write(cal, o->out, &err);
    rc = rc ? hx_cmd_fail(o->cmd, "%s", err.text) : print_report(o, cal);
    hx_cal_free(cal);
    hx_model_close(m);
    return rc;
}

int hx_block_calibrate(int argc, char **argv)
{
    struct hx_block_opts o = {.basis = HX_BASIS_KLT};
    int rc = hx_block_parse(&o, &syntax, argc, argv);

    if (!rc && (!o.model || !o.text || !o.out))
        rc = hx_cmd_usage(o.cmd, "-m, -f and -o are needed");
    return rc ? rc : calibrate(&o);
}
