/* An HVX function of XNNPACK and its scalar twin, run on the same random inputs.  A runner (elementwise.c, reduce.c, tiles.c, move.c)
 * knows a prototype; all of them write to twins_got and twins_wanted, which hold the same garbage before, and have them compared whole:
 * what lies between and behind the results must stay. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { TWINS_CELLS = 1 << 15, TWINS_ROUNDS = 48 };

struct twins {
    const char *name;
    void (*hvx)(void);
    void (*scalar)(void); /* NULL: the runner has a reference of its own */
    void (*run)(const struct twins *t);
    int first, second; /* numbers of the tile in its name: 4x32 is 4 and 32 */
    float limit;       /* of a difference, by |wanted| + twins_scale; 0: none */
    float low, high;   /* of the inputs */
};

/* Buffers of TWINS_CELLS, aligned to 128 bytes.  Halves are written to the first TWINS_CELLS halves only. */
extern float twins_got[], twins_wanted[];
extern float twins_scale[]; /* for each float or half: what was added up for it, in magnitude; 0 before a round */
extern float twins_a[], twins_b[], twins_weights[], twins_other[], twins_zero[];

uint32_t twins_random(uint32_t below); /* 0 to below - 1 */
size_t twins_size(size_t from, size_t to);
float twins_float(const struct twins *t); /* from low to high */

/* Garbage, the same, in twins_got and twins_wanted, and a scale of 0. */
void twins_begin(void);
/* The buffers hold results of both, at the same places. */
void twins_compare_floats(const struct twins *t);
void twins_compare_bytes(const struct twins *t);
void twins_compare_halves(const struct twins *t);
/* Signs of results that are not 0, too. */
void twins_compare_signs(const struct twins *t);

void run_unary(const struct twins *t);
void run_unary_by_input(const struct twins *t); /* scale: |x| */
void run_unary_by_one(const struct twins *t);   /* 1 */
void run_unary_signed(const struct twins *t); /* scale: |x|; signs, too */
void run_unary_f16(const struct twins *t);    /* scale: the least normal half */
void run_unary_f16_by_input(const struct twins *t);
void run_binary(const struct twins *t);        /* scale: |a| + |b| */
void run_binary_far(const struct twins *t);    /* no scale */
void run_binary_square(const struct twins *t); /* (|a| + |b|)^2 */
void run_cvt_qs8(const struct twins *t);
void run_add_qs8(const struct twins *t);
void run_softmax(const struct twins *t);
void run_reduce(const struct twins *t);
/* Whole vectors only: the float kernels of rmin and rmax take the count of a tail's floats for bytes. */
void run_reduce_whole(const struct twins *t);
void run_reduce_8(const struct twins *t);
void run_rd_f32(const struct twins *t);
void run_rd_8(const struct twins *t);
void run_rdsum(const struct twins *t);
void run_avgpool(const struct twins *t);
void run_maxpool(const struct twins *t);
void run_dwconv(const struct twins *t);
void run_spmm(const struct twins *t);
void run_gemm(const struct twins *t);
void run_igemm(const struct twins *t);
void run_gemm_qs8(const struct twins *t);
void run_igemm_qs8(const struct twins *t);
void run_packw_x32(const struct twins *t);
void run_packw_x8(const struct twins *t);
void run_packw_qs8_gio(const struct twins *t);
void run_packw_qs8_goi(const struct twins *t);
void run_transpose(const struct twins *t);
