/* The clock of a DSP thread: where it stands, and what its time went to. */
#include "vtime.h"

#include <string.h>

#include "base/machine.h"
#include "hexrig_hvx_count.h"
#include "pending.h"
#include "trace.h"
#include "traffic.h"
#include "turns.h"

enum {
    SETTLE = 32, /* accesses of code that nobody has charged yet, before it is */
    PIECES = 64,  /* long code is charged in so many, where threads have to share the core, */
    PIECE = 1024, /* and in pieces of this many pcycles at least */
    POLLS = 64,  /* operations without any time between them, before they cost time */
};

static __thread struct {
    struct hx_vt_origin from;
    double pcycles;            /* since from.start_pcycles */
    double spent[HX_VT_KINDS];
    double queue;              /* pcycles of waiting for contexts and VTCM that have led here */
    uint64_t others_hvx_ops;
    uint64_t polled;           /* the time of its last operation, */
    unsigned polls;            /* and how many it had at that time */
    unsigned accesses;         /* since it was last settled */
    int is_off_duty;
    double off_duty;           /* pcycles spent so */
    double shares[HX_VT_STALL + 1]; /* pcycles that are still to be charged in turns with others, by kind */
} thread;

uint32_t hx_vt_clock_khz(void)
{
    if (thread.from.clock_khz)
        return thread.from.clock_khz;
    return hx_machine ? (uint32_t)(hx_machine->clock_mhz * 1000.0 + 0.5) : 1000000;
}

double hx_vt_clock_ratio(void)
{
    return hx_machine ? hx_vt_clock_khz() / (hx_machine->clock_mhz * 1000.0) : 1;
}

void hx_vt_clock_start(const struct hx_vt_origin *o)
{
    memset(&thread, 0, sizeof(thread));
    thread.from = *o;
    thread.queue = o->queue;
}

void hx_vt_trace(uint64_t key)
{
    thread.from.trace_key = key;
    hx_trace_begin(key, thread.from.call_pcycles, thread.from.start_pcycles);
}

struct hx_vt_origin hx_vt_origin(void)
{
    struct hx_vt_origin o = thread.from;

    o.start_pcycles = hx_vt_now();
    o.queue = thread.queue;
    return o;
}

static uint64_t time_at(double pcycles)
{
    return thread.from.start_pcycles + (uint64_t)(pcycles + 0.5);
}

static void move_on(enum hx_vt_kind kind, double pcycles)
{
    double before = thread.pcycles;

    if (__builtin_expect(thread.is_off_duty, 0)) {
        thread.off_duty += pcycles;
        return;
    }
    thread.pcycles += pcycles;
    thread.spent[kind] += pcycles;
    if (kind == HX_VT_HVX || kind == HX_VT_VTCM)
        thread.queue += pcycles;
    if (__builtin_expect(thread.from.trace_key != 0, 0) && pcycles > 0)
        hx_trace_spend(kind, time_at(before), time_at(thread.pcycles), pcycles);
}

static uint64_t here(void)
{
    return time_at(thread.pcycles);
}

/* Threads that can run at full speed, by what holds up the others. */
static unsigned room(enum hx_vt_kind kind)
{
    const unsigned threads = hx_machine ? hx_machine->hw_threads : 0, issue = hx_machine ? hx_machine->issue_threads : 0;

    if (!threads)
        return HX_TURNS_PLACES;
    return kind == HX_VT_CODE && issue && issue < threads ? issue : threads;
}

/* How much longer `kind` takes than for a thread alone. */
static double stretch(enum hx_vt_kind kind)
{
    const unsigned n = hx_turns_runnable(), most = room(kind);

    return n > most ? (double)n / most : 1;
}

/* More threads than fit: how many of them run is known only when it is the thread's turn, and changes. */
static void take_share(enum hx_vt_kind kind, double pcycles)
{
    const double piece = pcycles / PIECES > PIECE ? pcycles / PIECES : PIECE;
    double left = pcycles;

    while (left > 0) {
        hx_turns_begin(here());
        move_on(kind, (left < piece ? left : piece) * stretch(kind));
        hx_turns_end(here());
        left -= piece;
    }
}

static void take_shares(void)
{
    for (enum hx_vt_kind kind = 0; kind <= HX_VT_STALL; kind++) {
        const double pcycles = thread.shares[kind];

        thread.shares[kind] = 0;
        take_share(kind, pcycles);
    }
}

/* A turn for every packet would take the host too long. */
static void charge_crowded(enum hx_vt_kind kind, double pcycles)
{
    thread.shares[kind] += pcycles;
    if (thread.shares[HX_VT_CODE] + thread.shares[HX_VT_STALL] >= PIECE)
        take_shares();
}

/* Code or a stall of a thread that has company. */
static void charge_in_company(enum hx_vt_kind kind, double pcycles)
{
    if (hx_turns_inside()) {
        move_on(kind, pcycles * stretch(kind));
    } else if (hx_turns_size() > room(kind)) {
        charge_crowded(kind, pcycles);
    } else {
        move_on(kind, pcycles);
        hx_turns_passed(here());
    }
}

static void charge(enum hx_vt_kind kind, double pcycles)
{
    if (__builtin_expect(hx_turns_shared(), 0))
        charge_in_company(kind, pcycles);
    else
        move_on(kind, pcycles);
}

/* Code that nobody has charged yet becomes due. */
static void charge_pending(void)
{
    const double pending = hx_cost_pending();

    if (pending > 0)
        charge(HX_VT_CODE, pending);
}

/* The clock stands where the thread is. */
static void settle(void)
{
    charge_pending();
    if (__builtin_expect(thread.shares[HX_VT_CODE] + thread.shares[HX_VT_STALL] > 0, 0))
        take_shares();
}

uint64_t hx_vt_now(void)
{
    settle();
    return here();
}

void hx_vt_off_duty(void)
{
    settle();
    thread.is_off_duty = 1;
}

int hx_vt_is_off_duty(void)
{
    return thread.is_off_duty;
}

uint64_t hx_vt_seen(void)
{
    const uint64_t now = hx_vt_now();

    return now + (uint64_t)thread.off_duty;
}

uint64_t hx_vt_seen_ns(void)
{
    double spent = (double)(hx_vt_seen() - thread.from.call_pcycles);

    return thread.from.call_ns + (uint64_t)(spent * 1e6 / hx_vt_clock_khz());
}

uint64_t hx_vt_packets(void)
{
    settle();
    return (uint64_t)(thread.spent[HX_VT_CODE] / (hx_machine ? hx_machine->cost.packet_pcycles : 1));
}

uint64_t hx_vt_pcycles_of_ns(uint64_t ns)
{
    return (uint64_t)((double)ns * hx_vt_clock_khz() / 1e6);
}

void hx_vt_spend(enum hx_vt_kind kind, double pcycles)
{
    if (kind <= HX_VT_STALL) {
        charge(kind, pcycles);
    } else {
        settle(); /* a wait begins after the code before it */
        move_on(kind, pcycles);
    }
}

void hx_vt_scope(const char *name)
{
    if (__builtin_expect(thread.from.trace_key != 0, 0))
        hx_trace_scope(name, hx_vt_now());
}

void hx_vt_reach(enum hx_vt_kind kind, uint64_t t)
{
    if (t > hx_vt_now())
        hx_vt_spend(kind, (double)(t - hx_vt_now()));
}

void hx_vt_woken(double queue)
{
    thread.queue = queue;
}

/* A thread that tries again and again, without any code between, would never let time pass for the others. */
static void charge_polling(void)
{
    const uint64_t now = hx_vt_now();

    thread.polls = now == thread.polled ? thread.polls + 1 : 0;
    if (thread.polls > POLLS && hx_machine)
        hx_vt_spend(HX_VT_SYNC, hx_machine->cost.l2_pcycles); /* where locks are */
    thread.polled = here();
}

void hx_vt_order_begin(void)
{
    if (!thread.is_off_duty) /* it moves nothing that a call has to know of */
        hx_traffic_settle();
    if (hx_turns_shared())
        charge_polling();
    hx_turns_begin(hx_vt_now());
}

void hx_vt_order_end(void)
{
    hx_turns_end(hx_vt_now());
}

void hx_vt_share(void)
{
    if (__builtin_expect(!hx_turns_shared(), 1))
        return;
    if (++thread.accesses >= SETTLE) {
        thread.accesses = 0;
        /* Its time in the order is not to stand still meanwhile.  Shares stay: how many accesses there are depends on what the
         * host's compiler keeps in registers, and that must not show in when they are taken. */
        charge_pending();
    }
    hx_turns_access(here());
}

struct hx_vtime hx_vtime_spent(void)
{
    settle();
    return (struct hx_vtime){
        .exec_pcycles = (uint64_t)(thread.pcycles - thread.queue + 0.5),
        .idle_pcycles = (uint64_t)(thread.spent[HX_VT_SLEEP] + thread.spent[HX_VT_DMA]),
        .queue_pcycles = (uint64_t)(thread.queue + 0.5),
        .hvx_ops = hx_hvx_ops(&hx_hvx_counts) + thread.others_hvx_ops,
    };
}

void hx_vt_add_hvx_ops(uint64_t n)
{
    thread.others_hvx_ops += n;
}
