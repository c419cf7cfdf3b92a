/* Which matrices share a basis, see classes.h. */
#include "classes.h"

#include <errno.h>
#include <stdlib.h>

#include "quant/quant.h"

static const enum hx_tap_point input_of[HX_PER_LAYER] = {
    HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_O, HX_TAP_IN_FFN, HX_TAP_IN_FFN, HX_TAP_IN_DOWN,
};

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int check(const struct hx_linear *w, enum hx_matrix which, size_t layer, const struct hx_gsi_shape *shape, struct hx_error *err)
{
    const struct hx_quant_info *q = hx_quant_info(shape->format);

    if (shape->rank > w->cols)
        return hx_error_set(err, -EINVAL, "gsi: rank %zu: what %s of layer %zu takes in is %zu wide", shape->rank, hx_matrix_names[which],
                            layer, w->cols);
    if (w->rows % q->weights)
        return hx_error_set(err, -EINVAL, "gsi: %s of layer %zu has %zu rows; %s codes %u numbers at a time", hx_matrix_names[which],
                            layer, w->rows, q->name, q->weights);
    return 0;
}

/* The class of an input, the last one or a new one. */
static struct hx_gsi_class *class_for(struct hx_gsi_classes *c, size_t layer, enum hx_matrix which, size_t cols)
{
    struct hx_gsi_class *last = c->n ? &c->at[c->n - 1] : NULL;

    if (last && last->layer == layer && last->input == input_of[which])
        return last;
    c->at[c->n] = (struct hx_gsi_class){.layer = layer, .input = input_of[which], .first = c->n_parts, .cols = cols, .r_eff = -1};
    return &c->at[c->n++];
}

/* Both paths of a class are in one place, and what is on the DSP was packed at open. */
static int check_place(struct hx_gsi_class *to, enum hx_matrix which, int on_dsp, struct hx_error *err)
{
    if (!to->n)
        to->on_dsp = on_dsp;
    if (to->on_dsp != on_dsp)
        return hx_error_set(err, -EINVAL, "gsi: %s of layer %zu shares its basis with matrices that are %son the DSP: name all of them or "
                            "none", hx_matrix_names[which], to->layer, on_dsp ? "not " : "");
    return 0;
}

/* To the class of the last class_for(). */
static int add_part(struct hx_gsi_classes *c, struct hx_linear *w, enum hx_matrix which, size_t room, struct hx_error *err)
{
    struct hx_gsi_class *to = &c->at[c->n - 1];
    struct hx_gsi_part *p = &c->parts[c->n_parts++];

    *p = (struct hx_gsi_part){.w = w, .full = *w, .which = which, .class = c->n - 1};
    p->full.bias = NULL;
    to->n++;
    to->rows += w->rows;
    c->bytes_weights += w->rows * hx_quant_row_bytes(w->type, w->cols);
    c->bytes_images += room * hx_quant_row_bytes(c->format, w->rows);
    return hx_image_open(&p->image, c->format, w->rows, room) ? hx_error_set(err, -ENOMEM, "gsi: no memory for images") : 0;
}

int hx_gsi_classes_open(struct hx_gsi_classes *c, const struct hx_linear_set *set, const struct hx_gsi_shape *shape, struct hx_error *err)
{
    int rc = 0;

    c->format = shape->format;
    c->growth = shape->growth;
    c->shapes_alone = shape->shapes_alone;
    c->parts = calloc(set->n + 1, sizeof(*c->parts));
    c->at = calloc(set->n + 1, sizeof(*c->at));
    if (!c->parts || !c->at)
        return hx_error_set(err, -ENOMEM, "gsi: out of memory");
    for (size_t i = 0; i < set->n && !rc; i++) {
        struct hx_linear *w = set->at[i].w;

        if (set->at[i].which == HX_OUT)
            continue;
        rc = check(w, set->at[i].which, set->at[i].layer, shape, err);
        if (!rc)
            rc = check_place(class_for(c, set->at[i].layer, set->at[i].which, w->cols), set->at[i].which, set->at[i].on_dsp, err);
        if (!rc)
            rc = add_part(c, w, set->at[i].which, min(shape->rank + shape->growth, w->cols), err);
    }
    if (!rc && !c->n)
        rc = hx_error_set(err, -EINVAL, "gsi: none of its matrices is of a layer");
    for (size_t i = 0; i < c->n && !rc; i++) {
        const size_t room = min(shape->rank + shape->growth, c->at[i].cols);

        c->at[i].made = shape->rank;
        c->bytes_basis += room * c->at[i].cols * sizeof(float);
        rc = hx_subspace_open(&c->at[i].basis, c->at[i].cols, room) ? hx_error_set(err, -ENOMEM, "gsi: no memory for bases") : 0;
    }
    return rc;
}

void hx_gsi_classes_free(struct hx_gsi_classes *c)
{
    for (size_t i = 0; i < c->n_parts; i++)
        hx_image_free(&c->parts[i].image);
    for (size_t i = 0; i < c->n; i++)
        hx_subspace_free(&c->at[i].basis);
    free(c->parts);
    free(c->at);
    *c = (struct hx_gsi_classes){0};
}

void hx_gsi_classes_restart(struct hx_gsi_classes *c, size_t k)
{
    for (size_t i = 0; i < c->n; i++) {
        struct hx_gsi_class *of = &c->at[i];

        of->basis.k = min(k, of->made);
        of->most = min(of->basis.k + c->growth, of->basis.room);
        of->off = 0;
        of->recent = of->recent_fast = 0;
        of->counts = (struct hx_gsi_counts){0};
    }
}
