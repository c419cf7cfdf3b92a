/* Predictions of the cost model: one question, one answer.  A question is run as a real call on a rig, through the driver
 * and the kernels of kernels/silicon, and its modelled figures are read back; no formula stands here. */
#ifndef HX_TIMING_H
#define HX_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "hx_session_stats.h"
#include "silicon.h"

enum { HX_TIMING_SHAPE = 4 };

struct hx_timing_ask {
    const char *kernel;          /* a name of hx_timing_kernels */
    long shape[HX_TIMING_SHAPE]; /* as the kernel's `shape` says */
    silicon_how how;
    int shared;    /* 1: buffers are rpcmem, passed by descriptor; 0: copied */
    int first;     /* 1: after a long pause of both sides, as the first call of a session; 0: after a call like it */
    uint64_t in_bytes, out_bytes; /* of kernel `null` */
    uint64_t idle_us; /* the client's own work before each call */
    uint64_t *times; /* of kernel `layers`: where its times go, [layers + 1][SILICON_PASS_TIMES], or NULL */
    int brief;       /* of kernel `forward`: 1: only wall_us, and from less work: it changes as the whole pass does */
};

struct hx_timing {
    double handler, worker, once, total, copies; /* pcycles, as the kernel measured itself (struct silicon_cycles) */
    double dispatch_us, marshal_us, queue_us, exec_us, wall_us; /* of the whole call */
};

typedef int hx_timing_asker(const struct hx_timing_ask *ask, struct hx_timing *out); /* as hx_timing_ask() */

struct hx_timing_kernel {
    const char *name;
    const char *shape;               /* "BATCHxINNERxOUTER" */
    long sample[HX_TIMING_SHAPE];    /* 0 ends it */
    const char *what;
    int (*setup)(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *cycles); /* or NULL */
    int (*run)(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *cycles);
    /* Not NULL: it asks others, by `asker` (the table does not need who asks it), and has no `run`. */
    int (*answer)(const struct hx_timing_ask *ask, hx_timing_asker *asker, struct hx_timing *out);
};

extern const struct hx_timing_kernel hx_timing_kernels[];
extern const size_t hx_timing_n_kernels;

/* NULL: no such kernel. */
const struct hx_timing_kernel *hx_timing_kernel(const char *name);

/* Asks this process's rig (hx_rig_configure() says which); the kernels are opened anew, so that nothing is left of earlier
 * questions.  0, or the code of the call that failed. */
int hx_timing_ask(const struct hx_timing_ask *ask, struct hx_timing *out);

/* Why a question cannot be asked, in one line naming the value and its limit; 0 when it can. */
int hx_timing_refused(const struct hx_timing_ask *ask, char *why, size_t bytes);

/* --- its parts, for other questions */

enum { HX_TIMING_LONG_PAUSE_US = 100000 };

/* Opens the kernels anew and makes what ask's kernel needs; a call. */
int hx_timing_open(const struct hx_timing_ask *ask, remote_handle64 *h);
int hx_timing_run(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *cycles);

/* The client's own work before each call to come, of all the rig's clients. */
int hx_timing_pause(uint64_t us);

/* What was charged between two readings: out's times, but no pcycles. */
void hx_timing_charged(const struct hx_session_stats *before, const struct hx_session_stats *after, struct hx_timing *out);

/* --- the published rows ----------------------------------------------------------------------------------------- */

/* REST: total without the handler's share.  EXEC: of the call, as WALL. */
enum hx_timing_figure {
    HX_TIMING_HANDLER, HX_TIMING_WORKER, HX_TIMING_TOTAL, HX_TIMING_REST, HX_TIMING_EXEC, HX_TIMING_WALL
};

/* What a row tells of, mostly.  ALL is no row's: it stands for every group. */
enum hx_timing_group_index {
    HX_TIMING_CALLS, HX_TIMING_MEMORY, HX_TIMING_ISSUE, HX_TIMING_THREADS, HX_TIMING_DMA, HX_TIMING_FORWARD,
    HX_TIMING_ALL, HX_TIMING_N_GROUPS
};

/* The bars that a group's rows have to clear: errors, relative to what was measured. */
struct hx_timing_group {
    const char *name;
    double median, worst;
};

struct hx_timing_row {
    const char *id;
    enum hx_timing_group_index group;
    const char *what;
    struct hx_timing_ask ask;
    enum hx_timing_figure figure;
    double measured; /* pcycles; us for HX_TIMING_EXEC and HX_TIMING_WALL */
};

extern const struct hx_timing_row hx_timing_rows[];
extern const size_t hx_timing_n_rows;
extern const struct hx_timing_group hx_timing_groups[HX_TIMING_N_GROUPS];

/* The bar for the median of the errors that rows have when a fit leaves them out. */
extern const double hx_timing_without_bar;

/* The row's figure out of an answer; "us" or "pcycles". */
double hx_timing_figure(const struct hx_timing_row *row, const struct hx_timing *t);
const char *hx_timing_unit(const struct hx_timing_row *row);

/* Rows that are figures of one call share its question: the first row with the same question as row i, i itself if
 * there is none. */
size_t hx_timing_same_question(size_t i);

/* Whether the row is one that can be asked briefly. */
int hx_timing_is_pass(const struct hx_timing_row *row);

/* Asks this process's rig for all rows: predicted[hx_timing_n_rows], and in `of_calls`, unless it is NULL, which share of the whole
 * was dispatch, marshal and queue.  skip: NULL, or rows for which it is not 0 keep what stands in `predicted`; rows of one question alike.
 * brief: passes are.  0, or the code of the call that failed and the row that asked for it in *failed. */
int hx_timing_predict(double *predicted, double *of_calls, const int *skip, int brief, const struct hx_timing_row **failed);

/* Writes the options that ask a row's question, as `--kernel matmul --shape 16x1152x6912 --threads 2 --shared`. */
void hx_timing_print_ask(const struct hx_timing_ask *ask, char *text, size_t bytes);

#endif
