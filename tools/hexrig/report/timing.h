/* Predictions of the cost model: one question, one answer.  A question is run as a real call on a rig, through the driver
 * and the kernels of kernels/silicon, and its modelled figures are read back; no formula stands here. */
#ifndef HX_TIMING_H
#define HX_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "silicon.h"

enum { HX_TIMING_SHAPE = 4 };

struct hx_timing_ask {
    const char *kernel;          /* a name of hx_timing_kernels */
    long shape[HX_TIMING_SHAPE]; /* as the kernel's `shape` says */
    silicon_how how;
    int shared;    /* 1: buffers are rpcmem, passed by descriptor; 0: copied */
    int first;     /* 1: the DSP naps when the call comes; 0: after a call like it */
    uint64_t in_bytes, out_bytes; /* of kernel `null` */
};

struct hx_timing {
    double handler, worker, once, total, copies; /* pcycles, as the kernel measured itself (struct silicon_cycles) */
    double dispatch_us, marshal_us, queue_us, exec_us, wall_us; /* of the whole call */
};

struct hx_timing_kernel {
    const char *name;
    const char *shape;               /* "BATCHxINNERxOUTER" */
    long sample[HX_TIMING_SHAPE];    /* 0 ends it */
    const char *what;
    int (*setup)(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *cycles); /* or NULL */
    int (*run)(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *cycles);
};

extern const struct hx_timing_kernel hx_timing_kernels[];
extern const size_t hx_timing_n_kernels;

/* NULL: no such kernel. */
const struct hx_timing_kernel *hx_timing_kernel(const char *name);

/* Asks this process's rig (hx_rig_configure() says which); the kernels are opened anew, so that nothing is left of earlier
 * questions.  0, or the code of the call that failed. */
int hx_timing_ask(const struct hx_timing_ask *ask, struct hx_timing *out);

/* --- the published rows ----------------------------------------------------------------------------------------- */

enum hx_timing_figure { HX_TIMING_HANDLER, HX_TIMING_WORKER, HX_TIMING_TOTAL, HX_TIMING_WALL };

struct hx_timing_row {
    const char *id, *what;
    struct hx_timing_ask ask;
    enum hx_timing_figure figure;
    double measured; /* pcycles, or us for HX_TIMING_WALL */
};

/* The row's figure out of an answer. */
double hx_timing_figure(const struct hx_timing_row *row, const struct hx_timing *t);

/* Writes the options that ask a row's question, as `--kernel matmul --shape 16x1152x6912 --threads 2 --shared`. */
void hx_timing_print_ask(const struct hx_timing_ask *ask, char *text, size_t bytes);

extern const struct hx_timing_row hx_timing_rows[];
extern const size_t hx_timing_n_rows;

/* Profile keys that were fitted to rows. */
extern const char *const hx_timing_fitted[];
extern const size_t hx_timing_n_fitted;

#endif
