/* The price of HVX operations that no listing covers: as many packets as the busiest unit needs. */
#include "pending.h"

#include <string.h>

#include "base/machine.h"
#include "hexrig_hvx_count.h"

static __thread struct hx_hvx_counts paid; /* operations that are paid for */
static __thread int listed;                /* inside a function with a listing */

/* Packets that `n` operations need at least, by the units that V69 has: four vector units, two of which multiply, one
 * shifts and one permutes, and one vector load and store per packet. */
static double packets_by_pressure(const struct hx_hvx_counts *n)
{
    const uint64_t *op = n->op;
    double mpy = (double)(op[HX_SLOT_VX] + 2 * op[HX_SLOT_VX_DV] + op[HX_SLOT_VX_LATE]);
    double shift = (double)(op[HX_SLOT_VS] + op[HX_SLOT_VP_VS]);
    double permute = (double)(op[HX_SLOT_VP] + op[HX_SLOT_VP_VS]);
    double all = mpy + shift + permute + (double)(op[HX_SLOT_VA] + 2 * op[HX_SLOT_VA_DV]);
    double memory = (double)(op[HX_SLOT_LD] + op[HX_SLOT_ST] + op[HX_SLOT_GATHER] +
                             op[HX_SLOT_SCATTER] +
                             2 * (op[HX_SLOT_GATHER_DV] + op[HX_SLOT_SCATTER_DV]));
    const double need[] = {mpy / 2, shift, permute, all / 4, memory};
    double most = 0;

    for (unsigned i = 0; i < sizeof(need) / sizeof(need[0]); i++)
        if (need[i] > most)
            most = need[i];
    return most;
}

double hx_cost_pending(void)
{
    struct hx_hvx_counts n;

    if (listed || memcmp(&paid, &hx_hvx_counts, sizeof(n)) == 0)
        return 0;
    for (int i = 0; i < HX_SLOT_CLASSES; i++)
        n.op[i] = hx_hvx_counts.op[i] - paid.op[i];
    paid = hx_hvx_counts;
    return packets_by_pressure(&n) * (hx_machine ? hx_machine->cost.hvx_pcycles : 1);
}

void hx_cost_paid(int is_listed)
{
    paid = hx_hvx_counts;
    listed = is_listed;
}
