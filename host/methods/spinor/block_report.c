/* A block's sizes, see block_report.h. */
#include "block_report.h"

#include "methods/spinor/cal_file.h"

json_t *hx_block_sizes(const struct hx_block_shape *s)
{
    const double b = s->payload;

    return json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "dh", s->dh, "padded", s->pad,
                     "payload_bytes", s->payload, "slot_bytes", s->slot, "bits_per_value",
                     8 * b / s->dh, "ratio_padded_f32", s->pad * 4 / b, "ratio_f32", s->dh * 4 / b,
                     "ratio_f16", s->dh * 2 / b);
}

json_t *hx_block_report(const struct hx_codec_format *f, int k_after_rope)
{
    json_t *j = hx_block_sizes(f->shape);

    if (j) {
        if (!hx_block_is_published(f->shape)) {
            json_object_set_new(j, "skeleton", json_integer(f->shape->n_skel));
            json_object_set_new(j, "residual", json_integer(f->shape->n_res));
        }
        json_object_set_new(j, "basis", json_string(hx_block_basis_names[f->basis]));
        json_object_set_new(j, "code", json_string(hx_block_code_names[f->code]));
        json_object_set_new(j, "k", json_string(hx_cal_k_names[k_after_rope]));
    }
    return j;
}
