/* hexrig block encode, decode: vectors to blocks and back, with the host's reference codec. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "methods/spinor/block_report.h"
#include "cmd_block.h"
#include "cli/report.h"
#include "text/text.h"

static const struct argp_option options[] = {
    {"cal", HX_BLOCK_OPT_CAL, "FILE", 0, "calibration: says head dimension, basis and code", 0},
    {"slot", HX_BLOCK_OPT_SLOT, "N", 0, "whose table: layer * 2 * heads + is_v * heads + head (0)", 0},
    {"output", 'o', "FILE", 0, "file to write", 0},
    {"stride", HX_BLOCK_OPT_STRIDE, "N", 0, "bytes of a record: of a slot (default) or of a payload", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const struct hx_block_syntax encode_syntax = {
    .cmd = "block encode",
    .options = options,
    .words = "--cal FILE -o BLOCKS VECTORS",
    .doc = "Encodes vectors (raw little-endian f32, one after the other; - is stdin) of one slot.  K vectors must be before "
           "or after RoPE as the calibration has them."
           "\vExample: hexrig block encode --cal model.cal --slot 3 -o v.blk v.f32",
    .min_words = 1,
    .max_words = 1,
};

static const struct hx_block_syntax decode_syntax = {
    .cmd = "block decode",
    .options = options,
    .words = "--cal FILE -o VECTORS BLOCKS",
    .doc = "Decodes blocks of one slot to raw little-endian f32.  When a block is bad its position is printed, nothing is "
           "written, and the exit code is 1."
           "\vExample: hexrig block decode --cal model.cal --slot 3 -o v.f32 v.blk",
    .min_words = 1,
    .max_words = 1,
};

struct job {
    struct hx_block_opts o;
    struct hx_block_file blocks;
    struct hx_cal *cal;
    struct hx_codec *codec;
    float *x; /* [blocks.n][dh] */
};

static int open_job(struct job *j, const struct hx_block_syntax *syntax, int argc, char **argv)
{
    struct hx_error err = {""};
    int rc = hx_block_parse(&j->o, syntax, argc, argv);

    if (rc)
        return rc;
    if (!j->o.cal || !j->o.out)
        return hx_cmd_usage(j->o.cmd, "--cal and -o are needed");
    if (hx_cal_read(&j->cal, j->o.cal, &err))
        return hx_cmd_fail(j->o.cmd, "%s", err.text);
    if (j->o.slot >= j->cal->n_slots)
        return hx_cmd_usage(j->o.cmd, "--slot %zu: %s has slots 0 to %u", j->o.slot, j->o.cal,
                            j->cal->n_slots - 1);
    rc = hx_block_layout(&j->blocks, &j->o, j->cal);
    if (rc)
        return rc;
    j->codec = hx_cal_codec(j->cal);
    return j->codec ? HX_EXIT_OK : hx_cmd_fail(j->o.cmd, "out of memory");
}

static void close_job(struct job *j)
{
    free(j->codec);
    free(j->x);
    free(j->blocks.records);
    hx_cal_free(j->cal);
}

static int report(const struct job *j)
{
    json_t *r = json_pack("{s:o, s:I, s:I, s:o}", "file", hx_json_text(j->o.out), "blocks",
                          (json_int_t)j->blocks.n, "stride", (json_int_t)j->blocks.stride, "block",
                          hx_block_report(&j->cal->format, j->cal->k_after_rope));

    return hx_report_print(j->o.cmd, r, j->o.json);
}

static int read_vectors(struct job *j)
{
    const char *path = j->o.file;
    const size_t bytes = j->blocks.shape->dh * sizeof(float);
    struct hx_error err = {""};
    char *text;
    size_t n;

    if (hx_text_read(strcmp(path, "-") ? path : "/dev/stdin", &text, &n, &err))
        return hx_cmd_fail(j->o.cmd, "%s", err.text);
    j->x = (float *)text;
    if (n == 0 || n % bytes)
        return hx_cmd_fail(j->o.cmd, "%s: %zu bytes are no whole number of vectors of %zu", path, n,
                           bytes);
    j->blocks.n = n / bytes;
    j->blocks.records = calloc(j->blocks.n, j->blocks.stride);
    return j->blocks.records ? HX_EXIT_OK : hx_cmd_fail(j->o.cmd, "out of memory");
}

static int encode_all(struct job *j)
{
    const size_t dh = j->blocks.shape->dh;

    for (size_t i = 0; i < j->blocks.n; i++) {
        uint8_t block[HX_BLOCK_MAX_SLOT];

        if (hx_codec_encode(j->codec, j->o.slot, j->x + i * dh, block))
            return hx_cmd_fail(j->o.cmd, "vector %zu cannot be encoded: a value is not finite "
                               "or too large for a block", i);
        memcpy(j->blocks.records + i * j->blocks.stride, block, j->blocks.stride);
    }
    return HX_EXIT_OK;
}

int hx_block_encode(int argc, char **argv)
{
    struct job j = {.o = {.slot = 0}};
    int rc = open_job(&j, &encode_syntax, argc, argv);

    if (!rc)
        rc = read_vectors(&j);
    if (!rc)
        rc = encode_all(&j);
    if (!rc)
        rc = hx_block_write(j.o.cmd, j.o.out, j.blocks.records, j.blocks.n * j.blocks.stride);
    if (!rc)
        rc = report(&j);
    close_job(&j);
    return rc;
}

static int decode_all(struct job *j)
{
    const size_t dh = j->blocks.shape->dh;
    int rc = HX_EXIT_OK;

    j->x = calloc(j->blocks.n, dh * sizeof(*j->x));
    if (!j->x)
        return hx_cmd_fail(j->o.cmd, "out of memory");
    for (size_t i = 0; i < j->blocks.n; i++) {
        enum hx_block_fault fault = hx_block_file_fault(&j->blocks, i);

        if (fault)
            rc = hx_cmd_fail(j->o.cmd, "%s: record %zu, offset %zu: %s is bad", j->o.file, i, i * j->blocks.stride,
                             hx_block_fault_names[fault]);
        else
            hx_codec_decode_payload(j->codec, j->o.slot, j->blocks.records + i * j->blocks.stride,
                                    j->x + i * dh);
    }
    return rc;
}

int hx_block_decode(int argc, char **argv)
{
    struct job j = {.o = {.slot = 0}};
    struct hx_error err = {""};
    int rc = open_job(&j, &decode_syntax, argc, argv);

    if (!rc && hx_block_file_read(&j.blocks, j.o.file, &err))
        rc = hx_cmd_fail(j.o.cmd, "%s", err.text);
    if (!rc)
        rc = decode_all(&j);
    if (!rc)
        rc = hx_block_write(j.o.cmd, j.o.out, j.x, j.blocks.n * j.blocks.shape->dh * sizeof(float));
    if (!rc)
        rc = report(&j);
    close_job(&j);
    return rc;
}
