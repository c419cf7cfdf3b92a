/* Captures: what flowed through a model, in a file that calibrations, tests and other programs read.
 *
 * The file, little endian:
 *   struct hx_capture_header, then n_records times
 *   struct hx_capture_record, u32 token[n], u32 position[n], f32 row[n][row]
 * Records stand in the order of the pass: batch by batch, layer by layer, point by point (engine/tap.h).  docs/capture.md. */
#ifndef HX_CAPTURE_H
#define HX_CAPTURE_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "engine/method.h"
#include "engine/tap.h"

#define HX_CAPTURE_MAGIC "HXCAPT1"

struct hx_capture_header {
    char magic[8];        /* HX_CAPTURE_MAGIC and a 0 */
    uint32_t version;     /* 1 */
    uint32_t points;      /* bits (1 << enum hx_tap_point) that were captured */
    uint32_t n_layer, n_head, n_kv, dh, width, ffn, vocab;
    uint32_t layer_from, layer_to; /* inclusive; points of no layer are always there */
    uint32_t reserved;    /* 0 */
    uint64_t fingerprint; /* of the model, struct hx_model */
    uint64_t n_records;   /* 0 in a file whose writer did not get to its end */
};
_Static_assert(sizeof(struct hx_capture_header) == 72, "the header's size is part of the format");

struct hx_capture_record {
    uint32_t point; /* enum hx_tap_point */
    uint32_t layer; /* 0 for points of no layer */
    uint32_t n;     /* tokens, 1 at least */
    uint32_t row;   /* floats of each */
};
_Static_assert(sizeof(struct hx_capture_record) == 16, "a record's head is part of the format");

/* --- writing */

struct hx_capture_cfg {
    const char *path;        /* a capture that is there is replaced at close() */
    uint32_t points;         /* bits, one at least */
    size_t from, to;         /* layers of the model, inclusive */
};

/* A tap that writes PATH.part.  Its close() completes the file, puts it in PATH's place and tells what went wrong, -ENODATA:
 * nothing was run; until then, and after abandon(), PATH is as it was.
 * 0; -ENOMEM; -EBUSY: another engine writes the file; -EEXIST: PATH is no regular file, or has something else than a capture;
 * negative errno of the file. */
int hx_capture_open(struct hx_tap **out, const struct hx_capture_cfg *cfg, const struct hx_model *m,
                    struct hx_error *err);

/* "after_ffn,k,v" or "all" to bits.  0, or -EINVAL with a reason that lists the names. */
int hx_capture_points(const char *list, uint32_t *points, struct hx_error *err);

/* --- reading */

struct hx_capture_reader;

/* Reads and checks the header.  0; -ENOMEM; -EINVAL: no capture, or one that was not completed; negative errno. */
int hx_capture_read(struct hx_capture_reader **out, const char *path, struct hx_error *err);

/* Accepts NULL. */
void hx_capture_read_close(struct hx_capture_reader *r);

const struct hx_capture_header *hx_capture_header(const struct hx_capture_reader *r);

/* The next record; tokens [n], positions [n] and rows [n][row] are the reader's until the next call.  1; 0: there are no more;
 * -EINVAL: a record that cannot be, or something behind the last one; -ENOMEM; negative errno.  After an error there is no
 * next one. */
int hx_capture_next(struct hx_capture_reader *r, struct hx_capture_record *record, const uint32_t **tokens,
                    const uint32_t **positions, const float **rows, struct hx_error *err);

#endif
