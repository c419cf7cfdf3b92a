/* A file of trajectories, and the coordinates that they are told in.
 *
 * Little endian, nothing aligned:
 *   char[8] "HXGTC\0\0\0"; u32 version (1), axes n, width of a state, steps, neighbours, candidates of a record; f32 step; u32 0; u64
 *   digest of the model, u64 digest of the text; f32 mean [width], axes [n][width], deviation [n]; u32 CRC-32 of all before it
 * then records, all of one size (hx_store_record_bytes()):
 *   u32 kind (1: a trajectory, 2: record `of` is no longer served), u32 of; f32 q, v, end [n], correct [n][n], g [n][n]; f16 way [17][n];
 *   f32 rho, reach, drift; u32 token, then candidates times u32 id, f32 logit; f16 state [width]; u32 CRC-32 of all before it in the record
 *
 * A record is appended by one write(), so a writer that is killed leaves whole records and at most a part of one, which readers pass over
 * and the next writer cuts off.  A whole record whose CRC is wrong has been altered, and the file is refused.  One writer at a time; any
 * number of readers beside it, each of which sees the records that were whole when it opened. */
#ifndef HX_STORE_H
#define HX_STORE_H

#include <stdint.h>

#include "model/model.h"
#include "trajectory.h"
#include "whitening.h"

enum { HX_STORE_BEST = 16 };

/* What all records share. */
struct hx_store_frame {
    size_t steps, neighbours, candidates; /* candidates: of a record, up to HX_STORE_BEST */
    double step;
    uint64_t model, text;    /* digests */
    struct hx_whitening w;   /* n and width of the records */
};

struct hx_store_record {
    struct hx_trajectory t;
    double rho;              /* how far corrections are worth something; 0: not at all */
    uint32_t token;          /* whose state the start is */
    struct {
        uint32_t id;
        float logit;
    } best[HX_STORE_BEST];   /* of the state that the trajectory aims at */
    float *state;            /* [width] that state; its owner's */
};

struct hx_store {
    struct hx_store_frame frame;
    struct hx_store_record *at; /* [n] those that are served */
    size_t n, dropped;          /* dropped: evicted ones that are still in the file */
    size_t torn;                /* bytes of a record that was never finished */
    float *states;              /* [n][width], of at[].state */
};

/* Of what tells models and their quantisations apart. */
uint64_t hx_store_model(const struct hx_model *m);

size_t hx_store_record_bytes(const struct hx_store_frame *f);

/* A new file with a header alone; it is written beside it and renamed.  0; -EEXIST; -ENOMEM; negative errno. */
int hx_store_create(const char *path, const struct hx_store_frame *f, struct hx_error *err);

/* All of it.  model: whose it has to be; 0: anybody's.  The caller closes.  0; -EINVAL with a reason: none, of another version or model,
 * altered; -ENOMEM; negative errno. */
int hx_store_read(struct hx_store **out, const char *path, uint64_t model, struct hx_error *err);
void hx_store_close(struct hx_store *s);

struct hx_store_writer;

/* Cuts off what a killed writer left.  *n becomes the number of records that are in the file, of both kinds.  0; -EBUSY: another one
 * writes; as hx_store_read(). */
int hx_store_append_open(struct hx_store_writer **out, const char *path, uint64_t model, size_t *n, struct hx_error *err);

/* 0 or negative errno; in the file is all of it or a part that will be passed over. */
int hx_store_append(struct hx_store_writer *w, const struct hx_store_record *r, struct hx_error *err);

/* Record number `of` of the file (trajectories and evictions count) is no longer served. */
int hx_store_evict(struct hx_store_writer *w, size_t of, struct hx_error *err);

/* 0, or -errno of what could not be kept; accepts NULL. */
int hx_store_append_close(struct hx_store_writer *w, struct hx_error *err);

#endif
