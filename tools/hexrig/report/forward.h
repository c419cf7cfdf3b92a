/* Whole forward passes out of the cost model: two layers are run on a rig with their real shapes, each operation timed, and the
 * second one stands for all behind it; no operation is estimated.
 *
 * Layers of a model have the same shapes and find the caches as the layer before left them, so what one takes is what the next
 * takes; tests/tools/test_forward.c holds that against passes of more layers. */
#ifndef HX_FORWARD_H
#define HX_FORWARD_H

#include <jansson.h>
#include <stdint.h>

#include "silicon.h"
#include "timing.h"

enum { HX_FORWARD_TOKENS_MAX = 256 };

/* A model whose pass was published. */
struct hx_forward_model {
    const char *name;
    silicon_geometry geometry; /* tokens: 0 */
    int layers;
    double host_ms_per_token; /* embedding and LM head on the host, as published: no model stands behind it */
};

/* How the published skels ran it. */
struct hx_forward_variant {
    const char *name;
    int threads, placement; /* of silicon.idl's forward */
    const char *what;
};

extern const char *const hx_forward_model_names[];   /* NULL-terminated, as are: */
extern const char *const hx_forward_variant_names[];
extern const struct hx_forward_model hx_forward_models[];
extern const struct hx_forward_variant hx_forward_variants[];

struct hx_forward_ask {
    const struct hx_forward_model *model;
    int tokens; /* 1..HX_FORWARD_TOKENS_MAX */
    silicon_how how; /* threads and placement of a variant; cold 1: row sums are made in the call */
    int first; /* as of struct hx_timing_ask */
    double host_ms; /* negative: as published */
};

/* One kind of operation, over the whole pass. */
struct hx_forward_line {
    const char *name, *where;
    uint64_t count;
    double pcycles, ms;
};

struct hx_forward {
    struct hx_forward_line line[SILICON_PASS_PCYCLES + 1];
    int lines;
    double dsp_ms, call_ms, host_ms, ttft_ms; /* call_ms: with dsp_ms in it */
    struct hx_timing call; /* the one call of the pass */
};

/* asker: hx_timing_ask().  0, or the code of the call that failed. */
int hx_forward(const struct hx_forward_ask *ask, hx_timing_asker *asker, struct hx_forward *out);

/* The time to the first token from a tenth of the work: one layer, whose FFN sees a few tokens, each of which streams all of its
 * weights.  It comes out near that of hx_forward(), and changes as that does when the model's parameters change; but for those of
 * calls and of a PD's first milliseconds, which are left out. */
int hx_forward_brief(const struct hx_forward_ask *ask, hx_timing_asker *asker, double *ttft_us);

/* hx_timing_kernel.run and .setup of `layers`, .answer of `forward`. */
int hx_forward_run_layers(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c);
int hx_forward_make_tables(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c);
int hx_forward_answer(const struct hx_timing_ask *ask, hx_timing_asker *asker, struct hx_timing *out);

/* A pass as `hexrig report timing --forward` prints it; NULL without memory. */
json_t *hx_forward_json(const struct hx_forward_ask *ask, const struct hx_forward *f, const char *variant,
                        const char *profile);

/* The same as a table; releases it.  Returns an enum hx_exit. */
int hx_forward_print(const char *cmd, json_t *pass);

#endif
