/* The list of all methods: a new one is a line here, and its folder.  Of each seam the default comes first. */
#include <stdio.h>
#include <string.h>

#include "method.h"

#define METHODS(X)                                                                                 \
    X(hx_method_linear_cpu)                                                                        \
    X(hx_method_linear_ref)                                                                        \
    X(hx_method_linear_ok)                                                                         \
    X(hx_method_linear_dsp)                                                                        \
    X(hx_method_attn_flash)                                                                        \
    X(hx_method_attn_ref)                                                                          \
    X(hx_method_attn_poly)                                                                         \
    X(hx_method_attn_dsp)                                                                          \
    X(hx_method_kv_spinor)                                                                         \
    X(hx_method_kv_spinor_attn)                                                                    \
    X(hx_method_kv_f32)                                                                            \
    X(hx_method_kv_ntt)                                                                            \
    X(hx_method_draft_none)                                                                        \
    X(hx_method_tap_capture)

#define DECLARE(name) extern const struct hx_method name;
METHODS(DECLARE)
#define ADDRESS(name) &name,
const struct hx_method *const hx_methods[] = {METHODS(ADDRESS) NULL};

const char *const hx_seam_names[] = {"linear", "kv", "attn", "draft", "tap", NULL};

const char *const hx_trait_names[] = {"rig",    "dsp",  "threads",     "calibration", "rows",   "scores", "keys",
                                      "attend", "tree", "softmax int", "argmax",      "residues", NULL};

const struct hx_method *hx_method_find(enum hx_seam seam, const char *name, size_t n)
{
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->seam == seam && strlen(hx_methods[i]->name) == n &&
            memcmp(hx_methods[i]->name, name, n) == 0)
            return hx_methods[i];
    return NULL;
}

void hx_method_list(enum hx_seam seam, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; hx_methods[i] && used < n; i++)
        if (hx_methods[i]->seam == seam)
            used += (size_t)snprintf(out + used, n - used, "%s%s", used ? ", " : "", hx_methods[i]->name);
}

struct hx_shape hx_shape_of(const struct hx_model *m)
{
    return (struct hx_shape){m->n_layer, m->n_head, m->n_kv, m->dh, m->width, m->ffn, m->vocab};
}
