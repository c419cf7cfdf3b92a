/* Calibration files (.cal): the tables that the spinor blocks of one model need.
 *
 * Layout, little-endian: 8 bytes "HXCAL\0\0\0"; u32 version (2, or 3 with lanes); u32 dh; u32 basis (enum hx_block_basis);
 * u32 flags (bit 0: K was taken after RoPE; bit 1: code sheet); u64 fingerprint of the model (struct hx_model); u32 n_slots; u32 bytes per
 * table; version 3 alone: u32 n_skel, u32 n_res; n_slots tables as hx_block.h lays them out; u32 CRC-32 of everything before
 * it.  A reader refuses what it does not know, and version 1, whose tables were laid out otherwise. */
#ifndef HX_CAL_FILE_H
#define HX_CAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "hx_block_codec.h"
#include "base/error.h"

/* What a calibration was made of; zeroes in one that was read from a file. */
struct hx_cal_seen {
    size_t windows, ctx;       /* so many windows of so many tokens */
    size_t vectors;            /* of each slot */
    struct hx_cal_part_seen {
        double retained;       /* mean over the slots of struct hx_fit_seen's, and the least */
        double retained_min;
        size_t rank_min;       /* klt: of the slot with the fewest directions; else 0 */
    } k, v;
};

struct hx_cal {
    struct hx_codec_format format;
    int k_after_rope;      /* 1: K as it is cached after RoPE */
    uint64_t fingerprint;  /* hx_model.fingerprint of the model that it was made with */
    uint32_t n_slots;      /* n_layer * 2 * n_kv, see hx_block.h for the order */
    size_t table_bytes;    /* of one slot */
    uint8_t *tables;       /* [n_slots][table_bytes] */
    struct hx_cal_seen seen;
};

/* By k_after_rope: the values of --k-rope, "pre", "post", NULL; and of its older spelling --k, "before", "after", NULL. */
extern const char *const hx_cal_k_rope_names[];
extern const char *const hx_cal_k_names[];

/* One slot's table. */
void *hx_cal_table(const struct hx_cal *cal, size_t slot);

/* 0, -errno of the file, -ENOMEM, -EINVAL (not a .cal file, damaged, another version). */
int hx_cal_read(struct hx_cal **out, const char *path, struct hx_error *err);

/* The same from n bytes; `name` is used in messages. */
int hx_cal_parse(struct hx_cal **out, const char *name, const void *bytes, size_t n,
                 struct hx_error *err);

/* Writes a new file or replaces one; a failure leaves no partial file.  -EIO, or fopen()'s errno. */
int hx_cal_write(const struct hx_cal *cal, const char *path, struct hx_error *err);

/* n_slots zeroed tables, or NULL. */
struct hx_cal *hx_cal_alloc(const struct hx_codec_format *f, uint32_t n_slots);

/* Accepts NULL. */
void hx_cal_free(struct hx_cal *cal);

/* A codec of all slots, to be released with free(); NULL: no memory. */
struct hx_codec *hx_cal_codec(const struct hx_cal *cal);

#endif
