/* User DMA: the intrinsics of hexrig_dma.h, each of them an operation in the order of virtual time (dsp/cost/turns.h).
 *
 * A thread's engine knows the descriptor that it works on and the pcycle at which it started.  Nothing happens between
 * calls: each intrinsic first lets the engine catch up to the thread's time. */
#include "dma.h"

#pragma GCC visibility push(default)
#include "hexrig_dma.h"
#pragma GCC visibility pop

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "HAP_farf.h"
#include "cost/cost.h"
#include "base/machine.h"
#include "cost/trace.h"
#include "cost/traffic.h"
#include "cost/vtime.h"

_Static_assert(sizeof(struct hx_dma_type0) == 16, "the device's layout");
_Static_assert(sizeof(struct hx_dma_type1) == 32, "the device's layout");

enum { DESCRIPTOR_ALIGN = 16, WIDE_ALIGN = 8, BURST_BYTES = 64, PAGE = 4096, CHAIN_MAX = 1 << 16 };
enum { POLLS = 128 }; /* of one transfer, before the next ones take longer and longer */

static __thread struct {
    uint32_t at;    /* descriptor in work, 0 = none */
    unsigned polls; /* of it, so far */
    uint64_t began; /* pcycle at which it started */
    uint64_t ends;  /* and at which it is done; 0: not asked yet */
    uint32_t bad;   /* descriptor that stopped the engine, 0 = none */
    int started;    /* something was started since the last wait */
    int paused;     /* `at` waits for dmresume */
} engine;

/* --- descriptors ----------------------------------------------------------------------------------------------- */

/* A transfer, whatever its descriptor's type. */
struct transfer {
    uint32_t src, dst;
    uint32_t width, rows;
    uint32_t src_stride, dst_stride;
};

/* A descriptor's words: `next` by itself, then what follows it. */
enum { CONTROL, SRC, DST, KIND, ROW, STRIDES, OFFSETS, WORDS };
enum { TYPE_SHIFT = 24, TYPE_MASK = 3, DLBC_SHIFT = 26, DLBC_MASK = 3, DONE_SHIFT = 31, BITS_24 = (1 << 24) - 1, BITS_16 = (1 << 16) - 1 };
enum { KIND_16_BITS = 0, KIND_24_BITS = 9, KIND_MASK = 0xff };
#define NOT_MAPPED "it lies in memory that is not mapped, or read-only"

struct descriptor {
    uint32_t next;
    uint32_t word[WORDS]; /* from KIND on only of a rectangle */
    unsigned next_bytes;  /* 4, or 8 */
};

static void *memory_at(uint32_t addr)
{
    return (void *)(uintptr_t)addr;
}

static uint32_t word_at(uint32_t addr)
{
    uint32_t word;

    memcpy(&word, memory_at(addr), sizeof(word));
    return word;
}

/* 1 when all of it can be read, or written: the kernel is asked to bring the pages in for that. */
static int mapped(uint32_t addr, uint64_t bytes, int advice)
{
    uint64_t at = addr & ~(uint64_t)(PAGE - 1), end = (uint64_t)addr + bytes;

    return end <= 1ull << 32 && madvise((void *)(uintptr_t)at, end - at, advice) == 0;
}

/* NULL, or what is wrong with one side of a transfer. */
static const char *side_error(uint32_t addr, uint32_t stride, const struct transfer *t, int advice)
{
    uint64_t bytes = t->rows ? (uint64_t)stride * (t->rows - 1) + t->width : 0;
    const void *p = memory_at(addr);

    if (bytes == 0)
        return NULL;
    if (hx_in_vtcm(p) && !hx_vtcm_granted(p, bytes))
        return "VTCM that was not granted";
    if (!mapped(addr, bytes, advice))
        return advice == MADV_POPULATE_READ ? "its source is not mapped"
                                            : "its destination is not mapped, or read-only";
    return NULL;
}

/* Where a compiler for 64 bits has made the device's structure with its `void *next`, that takes eight bytes, of which the upper four
 * are 0.  The device's own second word is 0 only when there is nothing to move. */
static unsigned next_bytes(uint32_t addr)
{
    return word_at(addr + 4) == 0 ? 8 : 4;
}

static int is_rectangle(const struct descriptor *d)
{
    return (d->word[CONTROL] >> TYPE_SHIFT & TYPE_MASK) == 1;
}

/* Reads the descriptor at `addr`.  NULL, or what is wrong with it. */
static const char *read_descriptor(uint32_t addr, struct descriptor *d)
{
    if (addr % WIDE_ALIGN)
        return "its address is not a multiple of 16, nor of 8";
    if (!mapped(addr, sizeof(struct hx_dma_type0), MADV_POPULATE_WRITE))
        return NOT_MAPPED;
    *d = (struct descriptor){.next = word_at(addr), .next_bytes = next_bytes(addr)};
    if (d->next_bytes == 4 && addr % DESCRIPTOR_ALIGN)
        return "its address is not a multiple of 16";
    addr += d->next_bytes;
    if (!mapped(addr, KIND * sizeof(uint32_t), MADV_POPULATE_WRITE))
        return NOT_MAPPED;
    memcpy(d->word, memory_at(addr), KIND * sizeof(uint32_t));
    if (!is_rectangle(d))
        return NULL;
    if (!mapped(addr, sizeof(d->word), MADV_POPULATE_WRITE))
        return NOT_MAPPED;
    memcpy(d->word, memory_at(addr), sizeof(d->word));
    return NULL;
}

static struct transfer linear(const struct descriptor *d)
{
    const uint32_t length = d->word[CONTROL] & BITS_24;

    return (struct transfer){d->word[SRC], d->word[DST], length, 1, length, length};
}

static struct transfer rectangle_of_16_bits(const struct descriptor *d)
{
    return (struct transfer){d->word[SRC], d->word[DST], d->word[ROW] & BITS_16, d->word[ROW] >> 16,
                             d->word[STRIDES] & BITS_16, d->word[STRIDES] >> 16};
}

/* From V75 on: widths and strides of 24 bits, the number of rows in two pieces. */
static struct transfer rectangle_of_24_bits(const struct descriptor *d)
{
    return (struct transfer){d->word[SRC], d->word[DST], d->word[ROW] & BITS_24, d->word[ROW] >> 24 | (d->word[STRIDES] & 0xff) << 8,
                             d->word[STRIDES] >> 8, d->word[CONTROL] & BITS_24};
}

/* What a descriptor asks for.  NULL, or what is wrong with it. */
static const char *transfer_of(const struct descriptor *d, struct transfer *t)
{
    const int is_24_bits = is_rectangle(d) && (d->word[KIND] & KIND_MASK) == KIND_24_BITS;
    const char *error;

    if ((d->word[CONTROL] >> TYPE_SHIFT & TYPE_MASK) > 1)
        return "its type is not 0 or 1";
    if (d->word[CONTROL] >> DLBC_SHIFT & DLBC_MASK)
        return "it asks for bandwidth compression";
    if (is_rectangle(d) && (is_24_bits ? d->word[OFFSETS] & BITS_24 : d->word[OFFSETS]))
        return "it starts inside of a row, which is not emulated";
    *t = !is_rectangle(d) ? linear(d) : is_24_bits ? rectangle_of_24_bits(d) : rectangle_of_16_bits(d);
    error = side_error(t->src, t->src_stride, t, MADV_POPULATE_READ);
    return error ? error : side_error(t->dst, t->dst_stride, t, MADV_POPULATE_WRITE);
}

/* Both; next: the descriptor behind it. */
static const char *decode(uint32_t addr, struct transfer *t, uint32_t *next)
{
    struct descriptor d;
    const char *error = read_descriptor(addr, &d);

    if (!error)
        error = transfer_of(&d, t);
    *next = error ? 0 : d.next;
    return error;
}

static uint64_t end_of(const struct transfer *t)
{
    const struct hx_cost *c = &hx_machine->cost;
    const uint64_t row = ((uint64_t)t->width + BURST_BYTES - 1) / BURST_BYTES * BURST_BYTES;
    const uint64_t first_byte = engine.began + (uint64_t)(c->dma_setup_pcycles + 0.5);

    if (hx_in_vtcm(memory_at(t->src)) && hx_in_vtcm(memory_at(t->dst)))
        return first_byte + (uint64_t)((double)(row * t->rows) / c->dma_bytes_per_pcycle + 0.5);
    return hx_cost_dma(first_byte, row * t->rows);
}

static uint32_t bytes_of(const struct transfer *t)
{
    const uint64_t bytes = (uint64_t)t->width * t->rows;

    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void move(const struct transfer *t)
{
    for (uint32_t r = 0; r < t->rows; r++)
        memmove(memory_at(t->dst + r * t->dst_stride), memory_at(t->src + r * t->src_stride),
                t->width);
    hx_traffic_dma(t->src, t->dst, (uint64_t)t->width * t->rows);
}

static void mark_done(uint32_t addr)
{
    const uint32_t control = addr + next_bytes(addr), word = word_at(control) | 1u << DONE_SHIFT;

    memcpy(memory_at(control), &word, sizeof(word));
}

/* --- the engine ------------------------------------------------------------------------------------------------ */

static void stop(uint32_t addr, const char *why)
{
    FARF(ERROR, "DMA: descriptor 0x%x: %s", addr, why);
    engine.at = 0;
    engine.bad = addr;
}

static void start(uint32_t addr)
{
    engine.at = addr;
    engine.polls = 0;
    engine.began = hx_vt_now();
    engine.ends = 0;
    engine.bad = 0;
    engine.started = 1;
    engine.paused = 0;
}

/* Completes what is done by pcycle `t`; returns when the last of it was. */
static uint64_t catch_up(uint64_t t)
{
    uint64_t last = 0;

    for (int n = 0; engine.at && !engine.paused; n++) {
        struct transfer x;
        uint32_t next = 0, addr = engine.at;
        const char *error = n < CHAIN_MAX ? decode(addr, &x, &next) : "its chain has no end";

        if (error) {
            stop(addr, error);
            break;
        }
        if (!engine.ends)
            engine.ends = end_of(&x);
        const uint64_t end = engine.ends;
        if (end > t)
            break;
        move(&x);
        mark_done(addr);
        hx_trace_dma(engine.began, end, bytes_of(&x));
        engine.polls = 0;
        engine.at = next;
        engine.began = last = end;
        engine.ends = 0;
    }
    return last;
}

static int status(void)
{
    if (engine.bad)
        return (int)((engine.bad & ~(uint32_t)HX_DMA_STATUS_MASK) | HX_DMA_ERROR);
    return engine.at ? (int)(engine.at | HX_DMA_RUNNING) : HX_DMA_IDLE;
}

/* An intrinsic of a thread that has a machine: it takes a packet, and the engine catches up.  leave() has to follow 1. */
static int enter(const char *name)
{
    if (!hx_machine) {
        FARF(ERROR, "%s outside of a DSP", name);
        return 0;
    }
    hx_vt_spend(HX_VT_CODE, hx_machine->cost.packet_pcycles);
    hx_vt_order_begin();
    catch_up(hx_vt_now());
    return 1;
}

static void leave(void)
{
    hx_vt_order_end();
}

void Q6_dmstart_A(void *descriptor)
{
    uint32_t addr = (uint32_t)(uintptr_t)descriptor;

    if (!enter("dmstart"))
        return;
    if (engine.at) {
        FARF(ERROR, "dmstart: 0x%x, but the chain at 0x%x still runs", addr, engine.at);
        engine.bad = addr;
        engine.at = 0;
    } else if ((uintptr_t)descriptor != addr) {
        stop(addr, "its address is above 4 GiB");
    } else {
        start(addr);
    }
    leave();
}

void Q6_dmlink_AA(void *tail, void *descriptor)
{
    uint32_t addr = (uint32_t)(uintptr_t)descriptor;

    if (!enter("dmlink"))
        return;
    if (tail)
        memcpy(tail, &addr, sizeof(addr)); /* of eight bytes the lower half: the upper one is 0 */
    if (!engine.at && !engine.bad)
        start(addr);
    leave();
}

/* Who polls for long waits for the transfer: it is there no later than that is done, and the host need not turn round once a packet. */
static void wait_a_while(void)
{
    const unsigned further = ++engine.polls > POLLS ? engine.polls - POLLS : 0;
    const uint64_t now = hx_vt_now(), wait = further < 32 ? (1ull << further) - 1 : UINT32_MAX;

    if (further && engine.ends > now)
        hx_vt_reach(HX_VT_DMA, engine.ends - now < wait ? engine.ends : now + wait);
}

int Q6_R_dmpoll(void)
{
    int now;

    if (!enter("dmpoll"))
        return HX_DMA_ERROR;
    if (engine.at && !engine.paused) {
        wait_a_while();
        catch_up(hx_vt_now());
    }
    now = status();
    leave();
    return now;
}

int Q6_R_dmwait(void)
{
    uint64_t done;
    int now;

    if (!enter("dmwait"))
        return HX_DMA_ERROR;
    if (!engine.started)
        FARF(ERROR, "dmwait: this thread has started no DMA");
    done = catch_up(UINT64_MAX);
    hx_vt_reach(HX_VT_DMA, done);
    engine.started = engine.paused;
    now = status();
    leave();
    return now;
}

int Q6_R_dmpause(void)
{
    int was;

    if (!enter("dmpause"))
        return HX_DMA_ERROR;
    was = status();
    engine.paused = engine.at != 0;
    engine.bad = 0;
    leave();
    return was;
}

void Q6_dmresume_A(void *descriptor)
{
    uint32_t addr = (uint32_t)(uintptr_t)descriptor & ~(uint32_t)HX_DMA_STATUS_MASK;

    if (!enter("dmresume"))
        return;
    if (addr)
        start(addr);
    leave();
}

void hx_dma_end(void)
{
    if (engine.at && !engine.paused) {
        FARF(ERROR, "DMA: the chain at 0x%x was started and never waited for", engine.at);
        catch_up(UINT64_MAX);
    }
    memset(&engine, 0, sizeof(engine));
}
