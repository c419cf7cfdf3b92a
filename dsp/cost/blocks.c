/* Prices of basic blocks, kept by address. */
#include "blocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "base/machine.h"
#include "hexrig_code.h"
#include "host_code.h"
#include "libc_cost.h"
#include "pending.h"
#include "uncosted.h"

enum { SLOTS = 1 << 15, PROBES = 16 };

/* Packets of what is no single instruction there: clang's listing of a float division is 9 packets in line, of which those around
 * it hide a half; compiler-rt's integer division makes a packet for each bit of the quotient; a call saves and restores
 * registers. */
enum { FLOAT_DIV_LATENCIES = 4, INT_DIV_PACKETS = 20, CALL_PACKETS = 3 };

static struct slot {
    _Atomic uintptr_t pc; /* 0: free */
    float pcycles;
    unsigned function;
} slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who fills a slot; before uncosted.c's */

#ifndef __SANITIZE_ADDRESS__ /* which knows and has them */
#define ACCESS(n) void __asan_load##n##_noabort(const void *p); void __asan_store##n##_noabort(const void *p);
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
#undef ACCESS
void __asan_loadN_noabort(const void *p, size_t bytes);
void __asan_storeN_noabort(const void *p, size_t bytes);
void __asan_handle_no_return(void);
#endif

static unsigned caller; /* whose block is being filled; under lock */

static enum hx_host_call kind_of(const void *function)
{
    static void *const accesses[] = {
#ifndef __SANITIZE_ADDRESS__
        (void *)__asan_load1_noabort, (void *)__asan_load2_noabort, (void *)__asan_load4_noabort, (void *)__asan_load8_noabort,
        (void *)__asan_load16_noabort, (void *)__asan_loadN_noabort, (void *)__asan_store1_noabort, (void *)__asan_store2_noabort,
        (void *)__asan_store4_noabort, (void *)__asan_store8_noabort, (void *)__asan_store16_noabort,
        (void *)__asan_storeN_noabort,
#endif
        NULL,
    };
    static void *const tools[] = {
#ifndef __SANITIZE_ADDRESS__
        (void *)__asan_handle_no_return,
#endif
        (void *)hx_code_enter, (void *)hx_code_leave, (void *)hx_code_trips, (void *)hx_code_set_build,
    };

    if (function == (void *)__sanitizer_cov_trace_pc)
        return HX_HOST_CALL_BLOCK;
    for (size_t i = 0; accesses[i]; i++)
        if (function == accesses[i])
            return HX_HOST_CALL_ACCESS;
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (function == tools[i])
            return HX_HOST_CALL_TOOL;
    if (hx_libc_has_price(function))
        return HX_HOST_CALL_TOOL;
    hx_uncosted_callee(caller, function);
    return HX_HOST_CALL;
}

/* The accesses themselves are not in it, see hx_cost_unlisted_access(). */
static double price(const struct hx_host_block *b)
{
    static const struct hx_cost none = {.packet_pcycles = 1, .mpy_pcycles = 1};
    const struct hx_cost *c = hx_machine ? &hx_machine->cost : &none;
    const double accesses = b->accesses * c->packet_pcycles / 2;
    double work = (b->plain / 2.0 + b->int_div * INT_DIV_PACKETS + b->calls * CALL_PACKETS) * c->packet_pcycles +
           (b->slow * 0.75 + b->float_div * FLOAT_DIV_LATENCIES) * c->mpy_pcycles;

    if (b->accesses && (b->accesses > 1 || b->plain + b->slow) && work + accesses < c->load_pcycles)
        work = c->load_pcycles - accesses;
    return work > 0 ? work : 0;
}

/* Under lock. */
static void fill(struct slot *s, uintptr_t pc)
{
    struct hx_host_block b;

    caller = hx_uncosted_function((const void *)pc);
    if (hx_host_block_at((const void *)pc, kind_of, &b))
        b = (struct hx_host_block){.plain = HX_HOST_CODE_IS_READ ? 0 : 2, .slow = HX_HOST_CODE_IS_READ ? 0 : 1};
    s->pcycles = (float)price(&b);
    s->function = caller;
    atomic_store_explicit(&s->pc, pc, memory_order_release);
}

/* The slot of pc, NULL when its part of the table is full. */
static struct slot *slot_of(uintptr_t pc)
{
    const uint64_t hash = pc * 0x9e3779b97f4a7c15u >> 40;

    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s = &slots[(hash + i) % SLOTS];
        uintptr_t holds = atomic_load_explicit(&s->pc, memory_order_acquire);

        if (holds == pc)
            return s;
        if (holds)
            continue;
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&s->pc, memory_order_relaxed))
            fill(s, pc);
        pthread_mutex_unlock(&lock);
        if (atomic_load_explicit(&s->pc, memory_order_relaxed) == pc)
            return s;
    }
    return NULL;
}

void hx_blocks_forget(void)
{
    for (unsigned i = 0; i < SLOTS; i++)
        atomic_store_explicit(&slots[i].pc, 0, memory_order_relaxed);
}

/* Weak: libFuzzer has one, too. */
HX_EXPORT __attribute__((weak)) void __sanitizer_cov_trace_pc(void)
{
    const struct slot *s;

    if (hx_cost_listed())
        return;
    s = slot_of((uintptr_t)__builtin_return_address(0));
    if (s)
        hx_cost_block((double)s->pcycles, s->function);
}
