/* The work whose place below the ceilings `hexrig roofline` shows: kernels, each in a call of its own, and a token by each of some
 * methods.  Really run on this process's rig; what is returned is what was counted for it. */
#ifndef HX_ROOFLINE_WORK_H
#define HX_ROOFLINE_WORK_H

#include "options/engine_opts.h"
#include "roofline.h"

struct hx_roofline_work {
    const char *name;
    struct hx_session_stats sum;
};

/* Entries are borrowed constants but for the figures.  *n of them, malloc'ed; 0, or negative errno with a reason. */
int hx_roofline_kernels(struct hx_roofline_work **out, size_t *n, struct hx_error *err);

/* Who hears of a method that has not run, and why.  refused: the model has no calibration, say, or no layers of that kind; 0: it failed. */
struct hx_roofline_left_out {
    void (*tell)(void *arg, const char *method, const char *why, int refused);
    void *arg;
};

/* One token at position pos of the model of o, whose plan is not asked, with all that comes behind it (logits or choice).  Methods that
 * do not run are left out; *n may be 0. */
int hx_roofline_methods(const struct hx_engine_opts *o, size_t pos, struct hx_roofline_left_out left_out, struct hx_roofline_work **out,
                        size_t *n, struct hx_error *err);

#endif
