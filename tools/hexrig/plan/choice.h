/* The ways in which a geometry's token can go through the DSP, in the order in which a plan tries them.
 *
 * What a person has said stays as it is; of the rest every combination is a choice that the methods allow:
 *   density    as given, else all of the cache's, from the calls of naive code to one packet, then whole layers where matrices are
 *              on the DSP anyway
 *   attention  here, then where the blocks are
 *   packets    calls, then packets in their place
 *   placement  of matrices on the DSP: by how much of VTCM they hold, ddr, dma, vtcm, resident
 * The first of these changes slowest.  So a choice in front asks for less than those behind it, of code or of VTCM, and the first one
 * that is fast enough is the cheapest. */
#ifndef HX_PLAN_CHOICE_H
#define HX_PLAN_CHOICE_H

#include "density/sweep.h"

struct hx_choice {
    const char *density;   /* as a row calls it: of a cache without densities, its name */
    const char *placement; /* NULL: as the plan has it, or none matters */
    int attn, packets;     /* 1: --offload attn, --packets beside what was said */
    struct hx_plan *plan;  /* resolved */
    char options[96];      /* what `hexrig density` needs beside what was said, as "--density batched --packets" */
};

struct hx_choices {
    struct hx_choice *at; /* [n] */
    size_t n, room;
};

/* s: checked, with one case, which is a geometry, and one position; base: its options, not resolved.  0; -ENOMEM with a
 * reason.  At least one choice is there. */
int hx_choices_find(struct hx_choices *all, const struct hx_sweep *s, const struct hx_plan *base, struct hx_error *err);
void hx_choices_free(struct hx_choices *all);

/* As methods see a case's geometry. */
struct hx_shape hx_choice_shape(const struct hx_geometry *g);
struct hx_calls hx_choice_calls(const struct hx_choice *c, const struct hx_geometry *g, size_t pos);

/* Bytes of int8 matrices that a token reads on the DSP, each once: over DDR's bus, but for what VTCM and L2 still have of the token
 * before. */
double hx_choice_matrix_bytes(const struct hx_choice *c, const struct hx_geometry *g);

#endif
