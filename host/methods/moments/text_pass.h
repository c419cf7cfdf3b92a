/* A model run over a text as its file has it, for taps that look: windows one behind the other, each in a fresh context, K and V in f32,
 * by this CPU's kernels. */
#ifndef HX_TEXT_PASS_H
#define HX_TEXT_PASS_H

#include "engine/method.h"
#include "engine/tap.h"

struct hx_text_pass {
    const struct hx_model *model;
    struct hx_pool *pool;
    const struct hx_watch *watch; /* NULL: nobody */
    const uint32_t *ids;          /* [windows * ctx] */
    size_t ctx, windows;
};

/* taps: NULL-terminated.  0; -ENOMEM; others as hx_forward_run(), or a tap's. */
int hx_text_pass_run(const struct hx_text_pass *p, struct hx_tap *const *taps, struct hx_error *err);

#endif
