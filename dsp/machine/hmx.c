/* HMX: who has it, its instructions, and what they take.
 *
 * On the device an instruction without power, without the lock, or with a tile outside of VTCM is a fault or hangs the core; here the PD
 * ends, and the log says which. */
#include "hmx.h"

#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hap_power.h"
#include "hmx_tile.h"
#include "cost/traffic.h"
#include "cost/vtime.h"
#include "units.h"

#pragma GCC visibility push(default)
#include "hexrig_asm.h"
#pragma GCC visibility pop

enum { TILES_MAX = 32 /* of a pair of loads */ };

static struct hx_units unit; /* of this PD's threads */
static __thread int held = HX_UNITS_NONE;

/* Of whoever has the lock. */
static struct {
    hx_hmx_sums sums;
    uint32_t table[HX_HMX_TABLE_WORDS]; /* 0, that is a scale of 0, before the first load */
} state;

static struct hx_units *units(void)
{
    unit.grant = hx_machine->hmx_unit;
    unit.n = 1;
    return &unit;
}

int hx_hmx_lock(void)
{
    if (held != HX_UNITS_NONE)
        return AEE_EALREADY;
    hx_vt_order_begin();
    held = hx_units_take(units(), 1);
    hx_vt_order_end();
    return AEE_SUCCESS;
}

int hx_hmx_unlock(void)
{
    if (held == HX_UNITS_NONE)
        return AEE_EBADSTATE;
    hx_vt_order_begin();
    hx_units_give(units(), held);
    held = HX_UNITS_NONE;
    hx_vt_order_end();
    return AEE_SUCCESS;
}

/* --- instructions ---------------------------------------------------------------------------------------------- */

static _Noreturn void fault(const char *instruction, const char *why, const void *p)
{
    FARF(FATAL, "HMX: %s: %s, address %p", instruction, why, p);
    abort();
}

static void check(const char *instruction)
{
    if (!hx_machine || !hx_machine->hmx)
        fault(instruction, "a V69 has no HMX for skels, see profile v73-hmx", NULL);
    if (!hx_power_hmx_on())
        fault(instruction, "HMX has no power (HAP_power_set_HMX)", NULL);
    if (held == HX_UNITS_NONE)
        fault(instruction, "the thread does not hold HMX (HAP_compute_res_hmx_lock)", NULL);
}

/* The lower bits of addresses are not looked at. */
static void *in_vtcm(const char *instruction, const void *p, uint64_t bytes, uintptr_t alignment)
{
    void *start = (void *)((uintptr_t)p & ~(alignment - 1));

    if (!hx_vtcm_granted(start, bytes))
        fault(instruction, "no VTCM that this PD was granted", p);
    hx_traffic_count(HX_PLACE_VTCM, (uintptr_t)start, bytes);
    return start;
}

static void spend(double pcycles)
{
    hx_vt_spend(HX_VT_CODE, pcycles);
}

void hexrig_asm_hmx_clear(void)
{
    check("mxclracc.hf");
    memset(state.sums, 0, sizeof(state.sums));
    spend(hx_machine->cost.packet_pcycles);
}

void hexrig_asm_hmx_bias(const void *scales)
{
    static const char name[] = "bias = mxmem2";

    check(name);
    memcpy(state.table, in_vtcm(name, scales, HX_HMX_TABLE_BYTES, HX_HMX_TABLE_BYTES), sizeof(state.table));
    spend(hx_machine->cost.packet_pcycles);
}

void hexrig_asm_hmx_multiply(const void *activation, uint32_t activation_range, int deep, const void *weight, uint32_t weight_range)
{
    static const char a_name[] = "activation.hf = mxmem", w_name[] = "weight.hf = mxmem";
    const uint32_t tiles = activation_range / HX_HMX_TILE_BYTES + 1;
    const uint16_t *a, *w;

    check(a_name);
    if (activation_range != weight_range || (!deep && tiles != 1) || tiles > TILES_MAX)
        fault(a_name, "not one tile, or with :deep up to 32, of both", activation);
    a = in_vtcm(a_name, activation, (uint64_t)tiles * HX_HMX_TILE_BYTES, HX_HMX_TILE_BYTES);
    w = in_vtcm(w_name, weight, (uint64_t)tiles * HX_HMX_TILE_BYTES, HX_HMX_TILE_BYTES);
    for (uint32_t i = 0; i < tiles; i++)
        hx_hmx_multiply(state.sums, a + i * HX_HMX_TILE_BYTES / sizeof(*a), w + i * HX_HMX_TILE_BYTES / sizeof(*w));
    spend(tiles * hx_machine->cost.hmx_tile_pcycles);
}

void hexrig_asm_hmx_store(void *tile, uint32_t offset)
{
    static const char name[] = "mxmem:after.hf = acc";

    check(name);
    if (offset)
        fault(name, "an offset other than 0, which is not emulated", tile);
    hx_hmx_convert(in_vtcm(name, tile, HX_HMX_TILE_BYTES, HX_HMX_TILE_BYTES), (const double(*)[HX_HMX_SIDE])state.sums, state.table);
    memset(state.sums, 0, sizeof(state.sums));
    spend(hx_machine->cost.packet_pcycles);
}
