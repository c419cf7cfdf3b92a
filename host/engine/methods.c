/* The list of all methods: a new one is a line here, and its folder.  Of each seam the default comes first.
 *
 * Methods are known to nobody else, and no method refers to this list: what they ask a plan for (plan_read.c) lies below
 * it, what makes a plan (plan.c) above. */
#include "method.h"

#define METHODS(X)                                                                                 \
    X(hx_method_linear_cpu)                                                                        \
    X(hx_method_linear_ref)                                                                        \
    X(hx_method_linear_ok)                                                                         \
    X(hx_method_linear_dsp)                                                                        \
    X(hx_method_linear_lowrank)                                                                    \
    X(hx_method_linear_native)                                                                     \
    X(hx_method_linear_gsi)                                                                        \
    X(hx_method_attn_flash)                                                                        \
    X(hx_method_attn_ref)                                                                          \
    X(hx_method_attn_poly)                                                                         \
    X(hx_method_attn_dsp)                                                                          \
    X(hx_method_attn_layer)                                                                        \
    X(hx_method_kv_spinor)                                                                         \
    X(hx_method_kv_spinor_attn)                                                                    \
    X(hx_method_kv_spinor_cpu)                                                                     \
    X(hx_method_kv_f32)                                                                            \
    X(hx_method_kv_ntt)                                                                            \
    X(hx_method_kv_banded)                                                                         \
    X(hx_method_kv_proj)                                                                           \
    X(hx_method_kv_proj_attn)                                                                      \
    X(hx_method_kv_layer)                                                                          \
    X(hx_method_draft_none)                                                                        \
    X(hx_method_draft_lookup)                                                                      \
    X(hx_method_draft_bigram)                                                                      \
    X(hx_method_draft_model)                                                                       \
    X(hx_method_draft_gp)                                                                          \
    X(hx_method_draft_perfect)                                                                     \
    X(hx_method_draft_onedecode)                                                                   \
    X(hx_method_draft_swarm)                                                                       \
    X(hx_method_draft_gtc)                                                                         \
    X(hx_method_tap_capture)                                                                       \
    X(hx_method_tap_attnres)                                                                       \
    X(hx_method_tap_guard)

#define DECLARE(name) extern const struct hx_method name;
METHODS(DECLARE)
#define ADDRESS(name) &name,
const struct hx_method *const hx_methods[] = {METHODS(ADDRESS) NULL};
