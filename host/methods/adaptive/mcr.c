/* Phases and ranks, see mcr.h. */
#include "mcr.h"

#include <errno.h>
#include <stdlib.h>

struct hx_mcr hx_mcr_published(void)
{
    return (struct hx_mcr){.within = 1.5, .flat = 1.15,
                           .scale = {[HX_PHASE_NONE] = 1, [HX_PHASE_MIX] = 1.5, [HX_PHASE_COMPRESS] = .35, [HX_PHASE_REFINE] = 1.2}};
}

/* Those at the ends are their own neighbours. */
static void average(const double *variance, size_t n, double *smooth)
{
    for (size_t i = 0; i < n; i++)
        smooth[i] = (variance[i ? i - 1 : 0] + variance[i] + variance[i + 1 < n ? i + 1 : i]) / 3;
}

int hx_mcr_phases(const struct hx_mcr *m, const double *variance, size_t n, double *smooth, enum hx_phase *phase)
{
    size_t least = 0, most = 0, from, to;
    int flat;

    average(variance, n, smooth);
    for (size_t i = 1; i < n; i++) {
        least = smooth[i] < smooth[least] ? i : least;
        most = smooth[i] > smooth[most] ? i : most;
    }
    flat = smooth[most] < m->flat * smooth[least] || !(smooth[most] > 0);
    for (from = least; from > 0 && smooth[from - 1] <= m->within * smooth[least];)
        from--;
    for (to = least; to + 1 < n && smooth[to + 1] <= m->within * smooth[least];)
        to++;
    for (size_t i = 0; i < n; i++)
        phase[i] = flat ? HX_PHASE_NONE : i < from ? HX_PHASE_MIX : i > to ? HX_PHASE_REFINE : HX_PHASE_COMPRESS;
    return !flat;
}

int hx_mcr_ranks(const struct hx_mcr *m, const enum hx_phase *phase, size_t n, const struct hx_allot *a, size_t *rank,
                 struct hx_error *err)
{
    double *weight = malloc(n * sizeof(*weight));
    int rc = weight ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < n && !rc; i++)
        weight[i] = m->scale[phase[i]];
    if (!rc)
        rc = hx_allot(weight, n, a, rank, err);
    free(weight);
    return rc;
}
