/* What lies where: matrices in VTCM, in part or not, by the DSP's own word. */
#include <stdlib.h>

#include "linear_dsp_impl.h"

const char *const hx_placements[] = {"ddr", "vtcm", "dma", "resident", "auto", NULL};

/* "wq@3", "wq.image@3", "out" */
static json_t *name_of(const struct hx_linear_place *p)
{
    static const char *const forms[] = {[HX_FORM_WHOLE] = "", [HX_FORM_IMAGE] = ".image", [HX_FORM_BASIS] = ".basis"};

    return p->which == HX_OUT ? json_string(hx_matrix_names[p->which])
                              : json_sprintf("%s%s@%zu", hx_matrix_names[p->which], forms[p->form], p->layer);
}

struct sums {
    uint64_t bytes, stays;
};

static struct sums sum_up(const hex_linear_residence *r, size_t n)
{
    struct sums s = {0, 0};

    for (size_t i = 0; i < n; i++) {
        s.bytes += r[i].bytes;
        s.stays += r[i].stays;
    }
    return s;
}

static json_t *why(const struct sums *s, uint64_t slots)
{
    if (s->stays == s->bytes)
        return json_string("everything fits");
    if (!s->stays && !slots)
        return json_string("no VTCM was free: weights are read where they lie");
    return json_sprintf("of %llu bytes VTCM had room for %llu beside two slots of %llu: matrices that a token uses first stay, the rest "
                        "streams", (unsigned long long)s->bytes, (unsigned long long)s->stays, (unsigned long long)slots / 2);
}

/* Bytes that a token's matrices have in VTCM, and that it streams, of each layer. */
static void add_layers(json_t *j, const struct hx_linear_dsp *d, const hex_linear_residence *r)
{
    json_t *stay = json_array(), *stream = json_array();
    size_t layers = 0;

    for (size_t i = 0; i < d->n; i++)
        if (d->place[i].which != HX_OUT && d->place[i].layer >= layers)
            layers = d->place[i].layer + 1;
    for (size_t layer = 0; layer < layers; layer++) {
        struct sums s = {0, 0};

        for (size_t i = 0; i < d->n; i++)
            if (d->place[i].which != HX_OUT && d->place[i].layer == layer) {
                s.bytes += r[i].bytes;
                s.stays += r[i].stays;
            }
        json_array_append_new(stay, json_integer((json_int_t)s.stays));
        json_array_append_new(stream, json_integer((json_int_t)(s.bytes - s.stays)));
    }
    json_object_set_new(j, "resident_by_layer", stay);
    json_object_set_new(j, "streamed_by_layer", stream);
}

static json_t *residence_json(const struct hx_linear_dsp *d, const hex_linear_residence *r, uint64_t slots)
{
    const struct sums s = sum_up(r, d->n);
    json_t *stay = json_array(), *part = json_array(), *stream = json_array();

    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(r[i].stays == r[i].bytes ? stay : r[i].stays ? part : stream, name_of(&d->place[i]));
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "placement", hx_placements[d->how.placement], "resident_bytes",
                          (json_int_t)s.stays, "streamed_bytes", (json_int_t)(s.bytes - s.stays), "slot_bytes", (json_int_t)slots,
                          "why", why(&s, slots), "resident", stay, "in_part", part, "streamed", stream);

    if (j)
        add_layers(j, d, r);
    return j;
}

json_t *hx_linear_dsp_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_linear_dsp *d = self;
    hex_linear_residence *r = calloc(d->n, sizeof(*r));
    uint64_t slots = 0;
    json_t *j;

    (void)kv;
    (void)p;
    if (!r)
        return NULL;
    j = hex_linear_where(d->skel.handle, r, (int)d->n, &slots) ? json_pack("{s:s}", "placement", hx_placements[d->how.placement])
                                                              : residence_json(d, r, slots);
    free(r);
    return j;
}
