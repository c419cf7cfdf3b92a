/* Chooses between counting and an analytic answer. */
#include "answer.h"

#include "analytic.h"
#include "count.h"

const char *const hx_density_how_names[] = {
    [HX_DENSITY_AUTO] = "auto", [HX_DENSITY_COUNTED] = "counted", [HX_DENSITY_ANALYTIC] = "analytic", NULL,
};

/* As a geometry's methods see it: without heads, nobody has queries. */
static struct hx_shape shape_of(const struct hx_geometry *g)
{
    return (struct hx_shape){.n_layer = g->n_layer, .n_kv = g->n_kv, .dh = g->dh, .width = g->width, .ffn = g->ffn, .vocab = g->vocab};
}

/* Where that is so, *shape and *near are what it takes. */
static int is_analytic(const struct hx_density_question *q, struct hx_shape *shape, struct hx_density_near *near)
{
    if (!q->geometry || q->how == HX_DENSITY_COUNTED || q->clients > 1)
        return 0;
    *shape = shape_of(q->geometry);
    *near = hx_density_near(q, shape);
    return q->pos > near->pos[1] && (q->how == HX_DENSITY_ANALYTIC || hx_density_is_far(q, shape, near));
}

int hx_density_is_analytic(const struct hx_density_question *q)
{
    struct hx_shape shape;
    struct hx_density_near near;

    return is_analytic(q, &shape, &near);
}

int hx_density_answer(const struct hx_density_question *q, struct hx_density_answer *a, struct hx_error *err)
{
    struct hx_shape shape;
    struct hx_density_near near;

    if (is_analytic(q, &shape, &near))
        return hx_density_analytic(q, &shape, &near, a, err);
    return hx_density_count(q, q->pos, a, err);
}
