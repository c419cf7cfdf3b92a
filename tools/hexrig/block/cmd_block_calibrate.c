/* hexrig block calibrate: a model's tables from its own K and V. */
#include <inttypes.h>
#include <jansson.h>

#include "engine/arch/arch.h"
#include "methods/spinor/block_report.h"
#include "methods/spinor/calibrate.h"
#include "cli/cmd.h"
#include "cmd_block.h"
#include "cli/report.h"

static const struct option options[] = {
    {"model", required_argument, NULL, 'm'},
    {"file", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"basis", required_argument, NULL, HX_BLOCK_OPT_BASIS},
    {"k", required_argument, NULL, HX_BLOCK_OPT_K},
    {"code", required_argument, NULL, HX_BLOCK_OPT_CODE},
    {"json", no_argument, NULL, HX_BLOCK_OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig block calibrate -m MODEL -f TEXT -o FILE [OPTION]...\n\n"
    "Runs the model over the first 120 windows of 128 tokens of a text and writes the tables that\n"
    "its K and V blocks need.  Choose a text that you will not quote a perplexity on.\n\n"
    "  -m, --model FILE         GGUF model\n"
    "  -f, --file TEXT          text file, at least 24 tokens\n"
    "  -o, --output FILE        calibration file to write\n"
    "      --basis B            vht2 | vht2w | klt: what blocks hold (klt)\n"
    "      --k before|after     K before or after RoPE (before)\n"
    "      --code C             sign | sheet: how residuals are coded (sign)\n"
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "The file serves every quantisation of the same model.\n\n"
    "Example: hexrig block calibrate -m model-f16.gguf -f text.txt -o model.cal\n";

static int print_report(const struct hx_block_opts *o, const struct hx_cal *cal)
{
    char fingerprint[17];
    json_t *j;

    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, cal->fingerprint);
    j = json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:o}", "model", hx_json_text(o->model), "text",
                  hx_json_text(o->text), "file", hx_json_text(o->out), "fingerprint",
                  fingerprint, "slots", (json_int_t)cal->n_slots, "table_bytes",
                  (json_int_t)cal->table_bytes, "block",
                  hx_block_report(&cal->format, cal->k_after_rope));
    return hx_report_print("block", j, o->json);
}

static int calibrate(const struct hx_block_opts *o)
{
    const struct hx_cal_cfg cfg = {(uint32_t)o->basis, (uint32_t)o->code, (int)o->k};
    struct hx_error err = {""};
    struct hx_model *m;
    struct hx_cal *cal = NULL;
    int rc = hx_model_open(&m, o->model, hx_archs, &err);

    if (rc)
        return hx_cmd_fail("block", "%s", err.text);
    rc = hx_calibrate_text(&cal, m, &cfg, o->text, &err);
    if (!rc)
        rc = hx_cal_write(cal, o->out, &err);
    rc = rc ? hx_cmd_fail("block", "%s", err.text) : print_report(o, cal);
    hx_cal_free(cal);
    hx_model_close(m);
    return rc;
}

int hx_block_calibrate(int argc, char **argv)
{
    struct hx_block_opts o = {.basis = HX_BASIS_KLT};
    int rc = hx_block_parse(&o, argc, argv, options, help);

    if (rc)
        return rc;
    if (optind != argc)
        return hx_cmd_usage("block", "calibrate: unexpected argument '%s'", argv[optind]);
    if (!o.model || !o.text || !o.out)
        return hx_cmd_usage("block", "calibrate needs -m, -f and -o");
    return calibrate(&o);
}
