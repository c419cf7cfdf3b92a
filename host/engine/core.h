/* What engines can share: a model, threads, and the model's matrices as the plan's linear methods apply them.
 *
 * The model itself never changes.  Two cores of one model may have different methods, a method and its reference for
 * instance, and their engines run side by side.  Engines of one core take turns: one thread at a time. */
#ifndef HX_CORE_H
#define HX_CORE_H

#include "method.h"
#include "pager/pager.h"
#include "plan.h"

enum { HX_CORE_METHODS = 32 };

struct hx_core {
    const struct hx_model *model;
    struct hx_model *own_model;  /* the same when this core has opened it, else NULL */
    char *path;                  /* of the model; NULL: it came from no file */
    char *share;                 /* folder of shipped data; NULL: unknown */
    struct hx_pool *pool;
    struct hx_matrices matrices;
    struct hx_core_linear {
        const struct hx_method *method;
        char *arg; /* NULL: none */
        struct hx_linear_method *open;
    } linear[HX_CORE_METHODS];   /* [n_linear] in the order in which they were opened; the reference is none of them */
    size_t n_linear;
    char *map;                   /* --linear, or its default, of the plan that it was opened with */
    uint32_t offload;            /* likewise, of its matrices */
    struct hx_pager_how paging;  /* of weights and caches */
    const struct hx_watch *watch; /* NULL: nobody */
    struct hx_core_released {
        uint64_t before, after;  /* resident memory of the process, bytes; 0: the file has not been released */
        struct hx_gguf_released file;
    } released;
    struct hx_pager *pager;      /* in front of all methods; NULL: weights are in memory */
    int whole_layers;            /* 1: matrices of layers have no method but the reference, as that plan's cache does layers */
    const struct hx_cpu_kernels *kernels; /* for norms and activations; NULL: plain C */
};

struct hx_core_cfg {
    const char *path;                /* GGUF file; needed unless `model` is set */
    const struct hx_model *model;    /* open already: borrowed until close */
    const char *share;               /* see hx_open; may be NULL */
    size_t threads;                  /* that compute; 0: the CPUs that this process may use */
    struct hx_pager_how paging;      /* with --page-weights, or a cache that is paged */
    const struct hx_watch *watch;    /* see hx_open; may be NULL, else it outlives the core */
};

/* plan: resolved, borrowed for the call.  0 or negative errno with a reason. */
int hx_core_open(struct hx_core **out, const struct hx_core_cfg *cfg, const struct hx_plan *plan,
                 struct hx_error *err);

/* -EINVAL when a plan asks for other linear methods than the core has. */
int hx_core_check(const struct hx_core *c, const struct hx_plan *plan, struct hx_error *err);

/* Lets go of the model's file, for --release-file: weights that methods have in a form of their own leave memory, the rest is
 * copied (hx_gguf_release()).  From then on the model's own matrices that went have no weights, and applying one by the reference
 * is an error.  Once: later calls do nothing.  No engine of this core may be running.
 * 0; -EINVAL: the model is borrowed; -ENOMEM. */
int hx_core_release(struct hx_core *c, const struct hx_plan *plan, struct hx_error *err);

/* What that did, as an object: resident memory before and after, and what of the file went and stayed, in MB (1e6 bytes).  NULL:
 * out of memory. */
json_t *hx_core_release_report(const struct hx_core *c);

/* Accepts NULL.  No engine may use it any more. */
void hx_core_close(struct hx_core *c);

/* What a method gets to open with. */
struct hx_open hx_core_for(const struct hx_core *c, const struct hx_plan *plan, size_t n_ctx);

#endif
