/* The price of what no listing covers: HVX operations, loads and stores, scalar blocks. */
#include "pending.h"

#include <string.h>

#include "base/machine.h"
#include "hexrig_hvx_count.h"
#include "uncosted.h"

#define VECTOR_BYTES 128.0
enum { VECTOR_PIECE = 16 /* gcc may split a vector access into pieces of this size or more */ };

__thread int hx_cost_is_listed;

static __thread struct {
    struct hx_hvx_counts paid; /* operations that are paid for */
    double memory, scalar;     /* pcycles that are not */
    double owed;               /* the same of functions before this one */
    unsigned function;
} thread;

static const struct hx_cost *cost(void)
{
    static const struct hx_cost none = {.packet_pcycles = 1, .hvx_pcycles = 1};

    return hx_machine ? &hx_machine->cost : &none;
}

/* A context cycle for each operation, and one more for every fourth, whose operand is needed early; gathers and scatters of pairs
 * twice.  Well pipelined loops take down to half of that, for their packets hold several, chains of dependent ones up to 1.6 times. */
static double hvx_pcycles(uint64_t *n_ops)
{
    const uint64_t *now = hx_hvx_counts.op, *before = thread.paid.op;
    uint64_t second_halves = now[HX_SLOT_GATHER_DV] - before[HX_SLOT_GATHER_DV] + now[HX_SLOT_SCATTER_DV] - before[HX_SLOT_SCATTER_DV];

    for (int i = 0; i < HX_SLOT_CLASSES; i++)
        *n_ops += now[i] - before[i];
    thread.paid = hx_hvx_counts;
    return (double)(*n_ops + second_halves) * cost()->hvx_pcycles * 5 / 4;
}

/* What is pending becomes owed, and the function's. */
static void settle(void)
{
    uint64_t ops = 0;
    double pcycles = thread.memory + thread.scalar;

    if (memcmp(&thread.paid, &hx_hvx_counts, sizeof(thread.paid)) != 0)
        pcycles += hvx_pcycles(&ops);
    if (pcycles <= 0)
        return;
    thread.memory = thread.scalar = 0;
    thread.owed += pcycles;
    hx_uncosted_estimated(thread.function, pcycles, ops);
}

double hx_cost_pending(void)
{
    double owed;

    if (!hx_cost_is_listed)
        settle();
    owed = thread.owed;
    thread.owed = 0;
    return owed;
}

void hx_cost_paid(int listed)
{
    thread.paid = hx_hvx_counts;
    thread.memory = thread.scalar = thread.owed = 0;
    if (hx_cost_is_listed != listed)
        hx_uncosted_listed(listed);
    hx_cost_is_listed = listed;
}

unsigned hx_cost_in_function(unsigned function)
{
    const unsigned before = thread.function;

    if (function != before && !hx_cost_is_listed)
        settle();
    thread.function = function;
    return before;
}

void hx_cost_block(double pcycles, unsigned function)
{
    if (hx_cost_is_listed)
        return;
    if (function != thread.function)
        hx_cost_in_function(function);
    thread.scalar += pcycles;
}

/* Two accesses share a packet, with each other or with arithmetic. */
void hx_cost_unlisted_access(size_t bytes)
{
    const double vectors = (double)bytes / VECTOR_BYTES;
    const double share = bytes >= VECTOR_PIECE && vectors < 1 ? vectors : 1;

    thread.memory += share * cost()->packet_pcycles / 2;
}
