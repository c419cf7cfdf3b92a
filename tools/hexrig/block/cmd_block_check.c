/* hexrig block inspect, validate: what lies in a file of blocks, without any table. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/spinor/block_report.h"
#include "cmd_block.h"
#include "cli/report.h"
#include "hx_f16.h"

static const struct argp_option options[] = {
    {"dh", HX_BLOCK_OPT_DH, "N", 0, "head dimension: 64, 128, 256, 512 (128)", 0},
    {"stride", HX_BLOCK_OPT_STRIDE, "N", 0,
     "bytes of a record: of a slot (default) or of a payload, which has no CRC (at dh 128: 64, 63)", 0},
    {"skeleton", HX_BLOCK_OPT_SKELETON, "N", 0, "skeleton lanes (14)", 0},
    {"residual", HX_BLOCK_OPT_RESIDUAL, "N", 0, "residual lanes (25, 60, 127, 300 by head dimension, which are also the most)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const struct hx_block_syntax inspect_syntax = {
    .cmd = "block inspect",
    .options = options,
    .words = "FILE[@OFFSET]",
    .doc = "Prints the fields of the block that begins at byte OFFSET (0) of a file.  Exit 1 when it is bad."
           "\vExample: hexrig block inspect cache.blk@0x40",
    .min_words = 1,
    .max_words = 1,
};

static const struct hx_block_syntax validate_syntax = {
    .cmd = "block validate",
    .options = options,
    .words = "FILE",
    .doc = "Checks every record of a file: CRC-8, fill bytes, and that skeleton and amax are numbers.  Exit 1 when one is "
           "bad; each is named by its position."
           "\vExample: hexrig block validate --json cache.blk",
    .min_words = 1,
    .max_words = 1,
};

static int parse(struct hx_block_opts *o, struct hx_block_file *f, const struct hx_block_syntax *syntax, int argc,
                 char **argv)
{
    int rc = hx_block_parse(o, syntax, argc, argv);

    return rc ? rc : hx_block_layout(f, o, NULL);
}

/* --- inspect */

/* FILE@OFFSET -> path (malloc'ed) and offset. */
static int split(const char *arg, char **path, size_t *offset)
{
    const char *at = strrchr(arg, '@');
    char *end;

    *offset = 0;
    *path = at ? strndup(arg, (size_t)(at - arg)) : strdup(arg);
    if (!*path)
        return hx_cmd_fail(inspect_syntax.cmd, "out of memory");
    if (!at)
        return HX_EXIT_OK;
    errno = 0;
    *offset = strtoull(at + 1, &end, 0);
    if (at[1] < '0' || at[1] > '9' || *end || errno)
        return hx_cmd_usage(inspect_syntax.cmd, "'%s': the offset is no number of bytes", at + 1);
    return HX_EXIT_OK;
}

static int read_record(const char *path, size_t offset, uint8_t *record, size_t n)
{
    FILE *f = fopen(path, "rbe");
    int bad;

    if (!f)
        return hx_cmd_fail(inspect_syntax.cmd, "%s: %s", path, strerror(errno));
    bad = offset > INT64_MAX || fseeko(f, (off_t)offset, SEEK_SET) || fread(record, 1, n, f) != n;
    fclose(f);
    return bad ? hx_cmd_fail(inspect_syntax.cmd, "%s: no record of %zu bytes at offset %zu", path, n, offset)
               : HX_EXIT_OK;
}

static json_t *fields(const struct hx_block_file *f, const uint8_t *b)
{
    const struct hx_block_shape *s = f->shape;
    json_t *skeleton = json_array(), *mag = json_array(), *phase = json_array();
    char hex[8];

    for (size_t j = 0; j < s->n_skel; j++) {
        const float v = hx_f32_from_f16(hx_block_skeleton(b, j));

        snprintf(hex, sizeof(hex), "%04x", hx_block_skeleton(b, j));
        /* JSON knows neither infinity nor NaN */
        json_array_append_new(skeleton, v - v == 0 ? json_real((double)v) : json_string(hex));
    }
    for (size_t i = 0; i < s->n_res; i++) {
        json_array_append_new(mag, json_integer(hx_block_magnitude(s, b, i)));
        json_array_append_new(phase, json_integer(hx_block_phase(s, b, i)));
    }
    return json_pack("{s:o, s:o, s:o}", "skeleton", skeleton, "magnitudes", mag, "phases", phase);
}

static void add_crc(json_t *j, const struct hx_block_file *f, const uint8_t *b)
{
    char stored[8] = "none", computed[8];
    const size_t n = f->shape->slot - 1u;
    uint8_t padded[HX_BLOCK_MAX_SLOT] = {0};

    memcpy(padded, b, f->stride);
    if (f->stride == f->shape->slot)
        snprintf(stored, sizeof(stored), "%02x", b[n]);
    snprintf(computed, sizeof(computed), "%02x", hx_crc8(padded, n));
    json_object_set_new(j, "crc_stored", json_string(stored));
    json_object_set_new(j, "crc_computed", json_string(computed));
}

int hx_block_inspect(int argc, char **argv)
{
    uint8_t record[HX_BLOCK_MAX_SLOT];
    struct hx_block_opts o = {.json = 0};
    struct hx_block_file f;
    char *path = NULL;
    size_t offset;
    int rc = parse(&o, &f, &inspect_syntax, argc, argv);

    if (!rc)
        rc = split(o.file, &path, &offset);
    if (!rc)
        rc = read_record(path, offset, record, f.stride);
    if (!rc) {
        const int has_crc = f.stride == f.shape->slot;
        const enum hx_block_fault fault = has_crc ? hx_block_fault(f.shape, record)
                                                  : hx_block_payload_fault(f.shape, record);
        const float amax = hx_block_amax(f.shape, record);
        json_t *j = json_pack("{s:o, s:I, s:i, s:s}", "file", hx_json_text(path), "offset",
                              (json_int_t)offset, "dh", f.shape->dh, "verdict",
                              has_crc || fault ? hx_block_fault_names[fault] : "unknown (no CRC)");

        if (j) {
            json_object_update_new(j, fields(&f, record));
            json_object_set_new(j, "amax", amax - amax == 0 ? json_real((double)amax)
                                                            : json_string("not finite"));
            add_crc(j, &f, record);
        }
        rc = hx_report_print(o.cmd, j, o.json);
        if (!rc && fault)
            rc = HX_EXIT_FAILED;
    }
    free(path);
    return rc;
}

/* --- validate */

static json_t *one_bad(const struct hx_block_file *f, size_t i, enum hx_block_fault fault)
{
    return json_pack("{s:I, s:I, s:s}", "record", (json_int_t)i, "offset",
                     (json_int_t)(i * f->stride), "fault", hx_block_fault_names[fault]);
}

int hx_block_validate(int argc, char **argv)
{
    struct hx_block_opts o = {.json = 0};
    struct hx_error err = {""};
    struct hx_block_file f;
    int rc = parse(&o, &f, &validate_syntax, argc, argv);
    json_t *bad, *report;
    size_t n;

    if (rc)
        return rc;
    if (hx_block_file_read(&f, o.file, &err))
        return hx_cmd_fail(o.cmd, "%s", err.text);
    bad = json_array();
    for (size_t i = 0; i < f.n; i++) {
        const enum hx_block_fault fault = hx_block_file_fault(&f, i);

        if (fault)
            json_array_append_new(bad, one_bad(&f, i, fault));
        if (fault && !o.json)
            printf("record=%zu offset=%zu fault=%s\n", i, i * f.stride,
                   hx_block_fault_names[fault]);
    }
    free(f.records);
    n = json_array_size(bad);
    report = json_pack("{s:o, s:I, s:I, s:s, s:o}", "file", hx_json_text(o.file),
                       "records", (json_int_t)f.n, "bad", (json_int_t)n, "crc",
                       f.stride == f.shape->slot ? "checked" : "not stored", "block",
                       hx_block_sizes(f.shape));
    if (report && o.json)
        json_object_set(report, "positions", bad);
    json_decref(bad);
    rc = hx_report_print(o.cmd, report, o.json);
    return rc ? rc : n ? HX_EXIT_FAILED : HX_EXIT_OK;
}
