/* hexrig block: the 63-byte block's tools.  `calibrate` makes a model's tables. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "calibrate.h"
#include "cmd.h"
#include "engine_opts.h"
#include "figures.h"

static const struct option options[] = {
    {"model", required_argument, NULL, 'm'}, {"file", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'}, {"json", no_argument, NULL, HX_OPT_JSON},
    {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig block calibrate -m MODEL -f TEXT -o FILE [--json]\n\n"
    "Runs the model over the first 120 windows of 128 tokens of a text and writes the tables that\n"
    "its K and V blocks need.  Choose a text that you will not quote a perplexity on.\n\n"
    "  -m, --model FILE         GGUF model\n"
    "  -f, --file TEXT          text file, at least 24 tokens\n"
    "  -o, --output FILE        calibration file to write\n"
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "The file serves every quantisation of the same model.\n\n"
    "Example: hexrig block calibrate -m model-f16.gguf -f text.txt -o model.cal\n";

struct calibrate {
    const char *model, *text, *out;
    int json;
};

static int parse(struct calibrate *k, int argc, char **argv)
{
    int c;

    while ((c = getopt_long(argc, argv, "m:f:o:h", options, NULL)) != -1) {
        switch (c) {
        case 'm':
            k->model = optarg;
            break;
        case 'f':
            k->text = optarg;
            break;
        case 'o':
            k->out = optarg;
            break;
        case HX_OPT_JSON:
            k->json = 1;
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            return HX_EXIT_USAGE;
        }
    }
    if (argc - optind != 1)
        return hx_cmd_usage("block", "one action is needed; legal: calibrate");
    if (strcmp(argv[optind], "calibrate"))
        return hx_cmd_usage("block", "unknown action '%s'; legal: calibrate", argv[optind]);
    if (!k->model || !k->text || !k->out)
        return hx_cmd_usage("block", "calibrate needs -m, -f and -o");
    return 0;
}

static int print_report(const struct calibrate *k, const struct hx_cal *cal)
{
    char fingerprint[17];
    json_t *j;

    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, cal->fingerprint);
    j = json_pack("{s:o, s:o, s:s, s:s, s:i, s:I}", "model", hx_figures_text(k->model), "file",
                  hx_figures_text(k->out), "fingerprint", fingerprint, "basis", "vht2", "dh",
                  HX_BLOCK_DH, "slots", (json_int_t)cal->n_slots);
    return hx_figures_report("block", j, k->json);
}

static int calibrate(const struct calibrate *k)
{
    struct hx_why why = {""};
    struct hx_model *m;
    struct hx_cal *cal = NULL;
    int rc = hx_model_open(&m, k->model, &why);

    if (rc)
        return hx_cmd_fail("block", "%s", why.text);
    rc = hx_calibrate_text(&cal, m, k->text, &why);
    if (!rc)
        rc = hx_cal_write(cal, k->out, &why);
    rc = rc ? hx_cmd_fail("block", "%s", why.text) : print_report(k, cal);
    hx_cal_free(cal);
    hx_model_close(m);
    return rc;
}

int hx_cmd_block(int argc, char **argv)
{
    struct calibrate k = {0};
    int rc = parse(&k, argc, argv);

    if (rc == 0)
        rc = calibrate(&k);
    return rc < 0 ? HX_EXIT_OK : rc;
}
