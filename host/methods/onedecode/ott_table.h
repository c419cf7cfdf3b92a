/* OneDecode's table: for frequent tokens of a text what the model itself says comes next, worked out once (ott_bake.h), so that
 * a guess is a look-up.  Files of it are called ott_one_decode.bin.
 *
 * Layout, little-endian: 8 bytes "HXOTT\0\0\0"; u32 version (2); u32 flags (bit 0: the step was a straight line); u64 digest of the model;
 * u64 digest of what it was baked from and how; u32 n entries; u32 candidates of an entry; u32 steps along a geodesic, u32 others, f32
 * largest drift, f32 mean turn; u32 axioms accepted, survived, u32 likewise of noise; n entries by rising token, each u32 token,
 * u32 the token that followed it most often in the text, f32 the share of that, then (u32 token, f32 probability) for each candidate
 * by falling probability; u32 CRC-32 of all before it.  The same table has the same bytes. */
#ifndef HX_OTT_TABLE_H
#define HX_OTT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ott_axioms.h"

enum { HX_OTT_BEST = 16, HX_OTT_STRAIGHT = 1 << 0 };

struct hx_ott_candidate {
    uint32_t id;
    float p; /* (0, 1], of all tokens */
};

struct hx_ott_entry {
    uint32_t token;
    struct hx_ott_candidate followed;          /* in the text, most often; p 0: nothing did */
    struct hx_ott_candidate best[HX_OTT_BEST]; /* [candidates], the most probable first */
};

/* Of a table whose steps are geodesics; zeros of another. */
struct hx_ott_geometry {
    uint32_t geodesic, straight; /* entries whose step is one; is none, since it leaves what numbers can say */
    float drift;                 /* the largest, of the squared speed */
    float turn;                  /* how far a geodesic's end is from the straight step's, in steps, mean */
    struct hx_ott_axioms axioms;
};

struct hx_ott {
    uint32_t flags;
    uint64_t model, made_of; /* digests */
    size_t n, candidates;    /* candidates: 1..HX_OTT_BEST */
    struct hx_ott_geometry geometry;
    struct hx_ott_entry *at; /* [n], by rising token */
};

/* Room for n entries, which are zeros; NULL: no memory. */
struct hx_ott *hx_ott_alloc(size_t n, size_t candidates);

/* Accepts NULL. */
void hx_ott_free(struct hx_ott *t);

/* NULL: the token has none. */
const struct hx_ott_entry *hx_ott_find(const struct hx_ott *t, uint32_t token);

/* Adds n bytes to a digest, which starts as 0. */
uint64_t hx_ott_digest(uint64_t so_far, const void *bytes, size_t n);

/* A table from n bytes; `name` is used in messages.  0; -ENOMEM; -EINVAL with a reason: none, damaged, of another version, or with a
 * token that a vocabulary of `vocab` does not have. */
int hx_ott_parse(struct hx_ott **out, const char *name, const void *bytes, size_t n, size_t vocab, struct hx_error *err);

/* The same from a file; also -errno of it. */
int hx_ott_read(struct hx_ott **out, const char *path, size_t vocab, struct hx_error *err);

/* Writes a file beside it and renames that, so that there is always a whole one.  0 or -errno. */
int hx_ott_write(const struct hx_ott *t, const char *path, struct hx_error *err);

#endif
