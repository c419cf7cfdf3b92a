/* Bytes of a model's weights over the modelled phone's way to DDR. */
#include "model_bound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/share.h"
#include "hx_rig.h"
#include "model/matrix.h"
#include "quant/quant.h"
#include "roofline.h"

static double bytes_of(const struct hx_linear *w)
{
    return w->rows ? (double)w->rows * (double)hx_quant_row_bytes(w->type, w->cols) : 0;
}

double hx_model_weight_bytes(const struct hx_model *m)
{
    double sum = bytes_of(&m->out);

    for (size_t l = 0; l < m->n_layer; l++)
        for (int i = 0; i < HX_PER_LAYER; i++)
            sum += bytes_of(hx_layer_matrix(&m->layers[l], (enum hx_matrix)i));
    return sum;
}

int hx_model_roofline(double *tok_s, const struct hx_model *m, const char *profile, struct hx_error *err)
{
    const char *name = profile ? profile : hx_rig_profile() ? hx_rig_profile() : "s22u-577";
    char *folder = hx_share("profiles"), why[256] = "no memory";
    struct hx_profile p;
    int rc = folder ? hx_profile_load(&p, folder, name, why, sizeof(why)) : -ENOMEM;

    free(folder);
    *tok_s = rc ? 0 : hx_roofline_tok_s(&p, hx_model_weight_bytes(m));
    if (!rc || strchr(name, '/') || rc == -ENOENT)
        return 0;
    return hx_error_set(err, rc, "roofline_tok_s: %s", why);
}
