/* What counts of classes come to, see figures.h. */
#include "figures.h"

#include "quant/quant.h"

/* Of the matrices in the file. */
static double bytes_of(const struct hx_gsi_classes *c, const struct hx_gsi_class *of)
{
    double bytes = 0;

    for (size_t p = of->first; p < of->first + of->n; p++) {
        const struct hx_linear *w = c->parts[p].w;

        bytes += (double)(w->rows * hx_quant_row_bytes(w->type, w->cols));
    }
    return bytes;
}

/* Of the matrices where they are applied. */
static double whole_bytes_of(const struct hx_gsi_classes *c, const struct hx_gsi_class *of)
{
    double bytes = 0;

    for (size_t p = of->first; p < of->first + of->n; p++)
        bytes += (double)c->parts[p].there.whole;
    return of->on_dsp ? bytes : bytes_of(c, of);
}

static double all(const struct hx_gsi_read *r)
{
    return (double)(r->weights + r->image + r->basis + r->growth);
}

void hx_gsi_add(struct hx_gsi_sums *to, const struct hx_gsi_classes *c, const struct hx_gsi_class *of)
{
    const struct hx_gsi_counts *n = &of->counts;

    to->classes++;
    to->off += (size_t)of->off;
    to->vectors += (double)n->vectors;
    to->gated += (double)n->gated;
    to->fast += (double)n->fast;
    to->full += (double)n->vectors * (double)of->rows * (double)of->cols;
    to->read_seed += (double)(n->read.weights + n->read.image);
    to->read_real += all(&n->read);
    to->parameters += (double)of->rows * (double)of->cols;
    to->full_bytes += bytes_of(c, of);
    to->whole_bytes += whole_bytes_of(c, of);
    to->bytes += n->vectors ? all(&n->bytes) / (double)n->vectors : whole_bytes_of(c, of);
    to->added += (double)n->added;
    to->added_bytes += (double)n->bytes.growth;
    to->checked += (double)n->checked;
    to->violations += (double)n->violations;
    to->worst = n->worst > to->worst ? n->worst : to->worst;
}

struct hx_gsi_sums hx_gsi_sum(const struct hx_gsi_classes *c, enum hx_tap_point input)
{
    struct hx_gsi_sums s = {0};

    for (size_t i = 0; i < c->n; i++)
        if (input == HX_TAP_POINTS || c->at[i].input == input)
            hx_gsi_add(&s, c, &c->at[i]);
    return s;
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 1;
}

double hx_gsi_phi(const struct hx_gsi_sums *s)
{
    return quotient(s->fast, s->vectors);
}

double hx_gsi_s_seed(const struct hx_gsi_sums *s)
{
    return quotient(s->full, s->read_seed);
}

double hx_gsi_s_real(const struct hx_gsi_sums *s)
{
    return quotient(s->full, s->read_real);
}

double hx_gsi_s_bytes(const struct hx_gsi_sums *s)
{
    return quotient(s->whole_bytes, s->bytes);
}

double hx_gsi_effective(const struct hx_gsi_sums *s)
{
    return s->parameters / hx_gsi_s_seed(s);
}
