/* Factors in a file, so that the next start has them at once: ott_wproj_cache_<hash8>.bin in a folder, by the published name and
 * magic.  hash8: eight hexadecimal digits of the key, which is of all that the factors depend on.
 *
 *   offset 0   "WPROJV01", u64 key, u64 digest of the weights, u64 digest of all behind this header, u64 bytes of the file,
 *              u32 parts, u32 format (enum hx_quant), 16 bytes of 0
 *   64         a record of 56 bytes for each part: u32 layer, matrix (enum hx_matrix), rows, columns, rank, basis; u64 offset of down and
 *              of up; f64 rel_F2, f64 Eckart-Young bound (-1: not known)
 *   then, from a multiple of 64 on, the block of factors.h
 *
 * Little-endian.  The same model and options give the same bytes.  A file appears under its name when it is complete, and is mapped, so
 * that processes share its memory; it must not be truncated while it is in use. */
#ifndef HX_WPROJ_CACHE_H
#define HX_WPROJ_CACHE_H

#include "base/watch.h"
#include "factors.h"

enum hx_wproj_state {
    HX_WPROJ_NONE,    /* no folder: the block is memory */
    HX_WPROJ_HIT,     /* the file was there */
    HX_WPROJ_BUILT,   /* there was none */
    HX_WPROJ_REBUILT, /* what was there is of something else, or damaged */
};

struct hx_wproj_cache {
    enum hx_wproj_state state;
    uint64_t key, model;
    char *folder, *path;  /* NULL: none */
    int fd;               /* of a file that is not complete; -1: none */
    char *part;           /* its name, where the file system has no files without; NULL: it has none */
    uint8_t *map;
    size_t bytes, head;   /* of the map, and before the block */
};

/* Finds the file, else makes room for one, in the folder (NULL: in memory), and lets f point into it.  What stands in the way of a file is
 * noted, and then there is none.  key: of the options; model: of the weights.  0: c->state says whether there is something to be
 * made; -ENOMEM.  In any case to be closed. */
int hx_wproj_cache_open(struct hx_wproj_cache *c, struct hx_lowrank_factors *f, const char *folder, uint64_t key, uint64_t model,
                        const struct hx_watch *watch, struct hx_error *err);

/* The factors have been made: gives the file its name. */
void hx_wproj_cache_keep(struct hx_wproj_cache *c, const struct hx_lowrank_factors *f, const struct hx_watch *watch);

void hx_wproj_cache_close(struct hx_wproj_cache *c);

/* $XDG_CACHE_HOME/hexrig, else ~/.cache/hexrig; malloc'ed.  NULL: neither is known. */
char *hx_wproj_cache_folder(void);

#endif
