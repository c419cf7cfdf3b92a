/* Wide and narrow layers, see narrow.h. */
#include "narrow.h"

static const double to_small = -.9, to_large = 9; /* a tenth, ten times */

static size_t wide(const struct hx_planted *p)
{
    return p->g.n_layer / HX_PLANTED_WIDE;
}

int hx_planted_is_narrow(const struct hx_planted *p, size_t layer)
{
    return p->phases && layer >= wide(p) && layer < p->g.n_layer - wide(p);
}

double hx_planted_change(const struct hx_planted *p, size_t layer)
{
    if (!p->phases)
        return 0;
    return layer + 1 == wide(p) ? to_small : layer + 1 == p->g.n_layer - wide(p) ? to_large : 0;
}

/* A wide layer adds about 1 / layers to an embedding's 1; in narrow ones there is little but what all share. */
double hx_planted_change_square(const struct hx_planted *p, size_t layer)
{
    const double small = (1 + to_small) * (1 + to_small);

    if (layer + 1 == wide(p))
        return 1 + ((double)wide(p) - .5) / (double)p->g.n_layer;
    return HX_PLANTED_SHARED + small;
}
