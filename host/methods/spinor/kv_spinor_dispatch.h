/* Inside the spinor cache: what all densities share, and the table that each of them is (one file per density).
 *
 * Two layouts.  By layer: the positions of a layer lie together, and x holds one layer at a time.
 *     blocks [n_layer][n_ctx][n_slots][slot bytes]   x [n_ctx][n_slots][dh]
 * By token: the layers of a position lie together, and x holds all of them.
 *     blocks [n_ctx][n_layer][n_slots][slot bytes]   x [n_ctx][n_layer][n_slots][dh]
 * n_slots: of a layer, K heads, then V heads. */
#ifndef HX_KV_SPINOR_DISPATCH_H
#define HX_KV_SPINOR_DISPATCH_H

#include "hx_block_dsp.h"
#include "kv_spinor.h"
#include "kv_spinor_dsp.h"
#include "model/rope.h"

struct hx_kv_spinor;

/* One way of cutting the work into calls. */
struct hx_spinor_dispatch {
    const char *name;
    int by_token;   /* the layout */
    int one_by_one; /* 1: one token per run, so that prefill dispatches like generation */
    void *(*alloc)(size_t bytes); /* of x and blocks; zeroed */
    void (*free)(void *p);

    /* NULL: nothing to do.  open: sp_hex is open, buffers are there; close copes with a half-open density. */
    int (*open)(struct hx_kv_spinor *s, struct hx_error *err);
    void (*close)(struct hx_kv_spinor *s);

    /* K and V of positions pos..pos+n-1 of `layer` lie in x. */
    int (*encode)(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err);
    /* Positions 0..n-1 go to x: of `layer`, or of all layers (by token). */
    int (*decode)(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err);

    /* As hx_kv_ops.keep(), of what is not encoded yet: n positions from pos on, whose rows have been moved.  NULL: there is none. */
    void (*keep)(struct hx_kv_spinor *s, size_t pos, size_t n);

    /* For one token at position pos. */
    struct hx_calls (*calls)(double layers, double kv_heads, double pos);
};

extern const struct hx_spinor_dispatch hx_spinor_dispatch_vector, hx_spinor_dispatch_layer, hx_spinor_dispatch_batched,
    hx_spinor_dispatch_token, hx_spinor_dispatch_queue;

/* No density: this CPU's codecs in place of the DSP. */
extern const struct hx_spinor_dispatch hx_spinor_dispatch_cpu;

struct hx_spinor_queue; /* of density `queue` */
struct hx_spinor_guess; /* of batches by token */

struct hx_kv_spinor {
    struct hx_kv kv;
    const struct hx_spinor_dispatch *dispatch;
    const struct hx_block_shape *shape; /* the format's */
    struct hx_codec_format format;
    int k_after_rope;
    struct hx_ropes ropes; /* of K coded before RoPE; empty otherwise */
    struct hx_skel dsp;
    struct hx_block_dsp *exact; /* this CPU's, one of them where it takes the DSP's place; exact with guesses by token, too */
    struct hx_codec *codec;
    size_t n_slots; /* of a layer */
    uint8_t *blocks;
    float *x;          /* what goes to be encoded, then what comes back decoded */
    size_t x_bytes, block_bytes;
    size_t decoded;    /* by token: so many positions of x hold what was decoded */
    struct hx_spinor_queue *queue;
    struct hx_spinor_guess *guess; /* NULL: there are none, or the layout is by layer */
    struct hx_kv_tree tree; /* of the running batch; n 0: tokens in a row */
    uint8_t *entries;       /* with a spill, [n_layer][HX_SPINOR_ENTRIES] blocks of a tree's entries, some of which keep() puts again */
    struct hx_spill *spill; /* has the blocks of all layers, and `blocks` those of one; NULL: `blocks` has all */
};

/* The n_slots vectors and blocks of a position. */
float *hx_spinor_x(const struct hx_kv_spinor *s, size_t layer, size_t pos);
uint8_t *hx_spinor_blocks(const struct hx_kv_spinor *s, size_t layer, size_t pos);

/* Floats of x from one position to the next. */
size_t hx_spinor_stride(const struct hx_kv_spinor *s);

/* One call for n_slots slots from first_slot on at n positions from pos on; x and blocks of `layer` as the layout has them. */
int hx_spinor_encode_call(struct hx_kv_spinor *s, size_t layer, size_t n_slots, size_t pos, size_t n,
                          struct hx_error *err);
int hx_spinor_decode_call(struct hx_kv_spinor *s, size_t layer, size_t n_slots, size_t pos, size_t n,
                          struct hx_error *err);

/* Says that `method` failed with `code`, and why.  Returns a negative errno. */
int hx_spinor_failed(const struct hx_kv_spinor *s, const char *method, size_t layer, size_t first,
                     size_t last, int code, struct hx_error *err);

/* Entries index[i] of n, each `bytes` long, to their places i; ascending. */
void hx_spinor_gather(void *entries, const size_t *index, size_t n, size_t bytes);

/* --- trees, kv_spinor_tree.c */

enum { HX_SPINOR_ENTRIES = 64 }; /* of a tree, where blocks are in a file */

/* Where in its text the token is whose entry is at `pos`. */
size_t hx_spinor_text_pos(const struct hx_kv_spinor *s, size_t pos);

/* Blocks of a tree's entries, which keep() may want: of a cache with a spill.  They lie at hx_spinor_blocks().  -EINVAL: too many. */
int hx_spinor_note_entries(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err);

/* struct hx_kv_ops */
void hx_spinor_tree(struct hx_kv *kv, const struct hx_kv_tree *t);
int hx_spinor_keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err);

/* --- batches by token, kv_spinor_guess.c; nothing happens where `guess` is NULL */

/* A run begins: what x was to have of the batch before is there again, for a packet that waits. */
void hx_spinor_guess_begin(struct hx_kv_spinor *s);

/* K and V of a layer have been put to x; behind the last layer x has those of all layers, to be encoded. */
void hx_spinor_guess_put(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n);

/* Then x gets what the batch's own tokens see of each other in this layer, K not rotated.  0 or -EIO. */
int hx_spinor_guess_decode(struct hx_kv_spinor *s, size_t layer, struct hx_error *err);

/* Of positions 0..n-1 those that the DSP has to decode, and how many behind them hx_spinor_guess_decode() brings. */
size_t hx_spinor_guess_past(const struct hx_kv_spinor *s, size_t n);
size_t hx_spinor_guess_rows(const struct hx_kv_spinor *s);

/* Of the last batch, these n entries become its first: hx_kv_ops.keep(). */
void hx_spinor_guess_keep(struct hx_kv_spinor *s, const size_t *index, size_t n);

/* Accepts NULL. */
void hx_spinor_guess_close(struct hx_spinor_guess *g);

/* Zeroed rpcmem; NULL: no memory. */
void *hx_spinor_shared_alloc(size_t bytes);

#endif
