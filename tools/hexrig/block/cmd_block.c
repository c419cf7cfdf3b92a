/* hexrig block: the spinor block's tools.  This file chooses the action and parses what several have in common. */
#include "cmd_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "options/engine_opts.h"
#include "text/text.h"

static const char help[] =
    "usage: hexrig block ACTION [OPTION]...\n\n"
    "Makes, reads and checks spinor blocks: one K or V vector in 46, 63, 96 or 183 bytes.\n\n"
    "  calibrate   makes a model's tables from its own K and V\n"
    "  encode      vectors (raw f32) to blocks\n"
    "  decode      blocks to vectors\n"
    "  inspect     shows the fields of one block\n"
    "  validate    checks every block of a file\n"
    "  golden      prints the published test vectors, or checks them\n"
    "  stats       how well blocks hold the K and V of a model, per layer and head\n\n"
    "Each has --help and --json.\n\n"
    "Example: hexrig block validate cache.blk\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} actions[] = {
    {"calibrate", hx_block_calibrate}, {"encode", hx_block_encode},
    {"decode", hx_block_decode},       {"inspect", hx_block_inspect},
    {"validate", hx_block_validate},   {"golden", hx_block_golden},
    {"stats", hx_block_stats},
};

#define ACTIONS "calibrate, encode, decode, inspect, validate, golden, stats"

int hx_cmd_block(int argc, char **argv)
{
    char name[64];
    int rc;

    if (argc < 2)
        return hx_cmd_usage("block", "one action is needed; legal: " ACTIONS);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(help, stdout);
        return HX_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(actions[i].name, argv[1]))
            continue;
        snprintf(name, sizeof(name), "hexrig block %s", argv[1]);
        argv[1] = name;
        rc = actions[i].run(argc - 1, argv + 1);
        return rc < 0 ? HX_EXIT_OK : rc;
    }
    return hx_cmd_usage("block", "unknown action '%s'; legal: " ACTIONS, argv[1]);
}

static int one_option(struct hx_block_opts *o, int c)
{
    switch (c) {
    case 'm':
        o->model = optarg;
        return 0;
    case 'f':
        o->text = optarg;
        return 0;
    case 'o':
        o->out = optarg;
        return 0;
    case HX_BLOCK_OPT_CAL:
        o->cal = optarg;
        return 0;
    case HX_BLOCK_OPT_BASIS:
        o->basis_given = 1;
        return hx_opt_name("block", "basis", optarg, hx_block_basis_names, &o->basis);
    case HX_BLOCK_OPT_K:
        o->k_given = 1;
        return hx_opt_name("block", "k", optarg, hx_cal_k_names, &o->k);
    case HX_BLOCK_OPT_CODE:
        return hx_opt_name("block", "code", optarg, hx_block_code_names, &o->code);
    case HX_BLOCK_OPT_SLOT:
        return hx_opt_size("block", "slot", optarg, 0, UINT32_MAX, &o->slot);
    case HX_BLOCK_OPT_STRIDE:
        return hx_opt_size("block", "stride", optarg, 1, HX_BLOCK_MAX_SLOT, &o->stride);
    case HX_BLOCK_OPT_DH:
        return hx_opt_size("block", "dh", optarg, 1, HX_BLOCK_MAX_DH, &o->dh);
    case HX_BLOCK_OPT_WRITE:
        o->write = 1;
        return 0;
    case HX_BLOCK_OPT_JSON:
        o->json = 1;
        return 0;
    default: /* getopt_long has printed its line */
        return HX_EXIT_USAGE;
    }
}

int hx_block_parse(struct hx_block_opts *o, int argc, char **argv, const struct option *table,
                   const char *text)
{
    int c, rc = 0;

    optind = 1;
    while (!rc && (c = getopt_long(argc, argv, "m:f:o:h", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(text, stdout);
            return -1;
        }
        rc = one_option(o, c);
    }
    return rc;
}

int hx_block_layout(struct hx_block_file *f, const struct hx_block_opts *o,
                    const struct hx_cal *cal)
{
    const size_t dh = o->dh ? o->dh : cal ? cal->format.shape->dh : 128;

    *f = (struct hx_block_file){.shape = hx_block_shape(dh)};
    if (!f->shape)
        return hx_cmd_usage("block", "--dh %zu: legal: 64, 128, 256, 512", dh);
    if (cal && cal->format.shape != f->shape)
        return hx_cmd_usage("block", "--dh %zu, but the calibration is for %u", dh,
                            cal->format.shape->dh);
    f->stride = o->stride ? o->stride : f->shape->slot;
    if (f->stride != f->shape->slot && f->stride != f->shape->payload)
        return hx_cmd_usage("block", "--stride %zu: legal at dh %zu: %u (payload), %u (slots)",
                            f->stride, dh, f->shape->payload, f->shape->slot);
    return HX_EXIT_OK;
}

int hx_block_file_read(struct hx_block_file *f, const char *path, struct hx_error *err)
{
    char *bytes;
    size_t n;
    int rc = hx_text_read(strcmp(path, "-") ? path : "/dev/stdin", &bytes, &n, err);

    if (rc)
        return rc;
    if (n % f->stride || n == 0) {
        free(bytes);
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are no whole number of records of %zu (dh "
                          "%u)", path, n, f->stride, f->shape->dh);
    }
    f->records = (uint8_t *)bytes;
    f->n = n / f->stride;
    return 0;
}

enum hx_block_fault hx_block_file_fault(const struct hx_block_file *f, size_t i)
{
    const uint8_t *record = f->records + i * f->stride;

    return f->stride == f->shape->slot ? hx_block_fault(f->shape, record)
                                       : hx_block_payload_fault(f->shape, record);
}
