/* The ring of messages, see messages.h. */
#include "messages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "apps_mem.h"
#include "base/farf.h"
#include "base/machine.h"
#include "HAP_farf.h"
#include "host_calls.h"
#include "pd/buffers.h"

/* The reader's index of the next message, behind the ring. */
typedef _Atomic uint32_t next_index;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* held by the one start under way; protects at_host, at_dsp */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* protects ring; a message may be written under any other lock */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t at_host, at_dsp; /* of the memory, with the index */
static struct {
    char *text; /* [bytes]: a mapping of our own, which stays when the client unmaps its buffer; NULL: there was none yet */
    next_index *next;
    uint32_t bytes, filter;
    bool is_on;
    uint64_t written, told, read; /* bytes so far: of messages, of those that a wait told of, of those certainly read */
    unsigned lost;                /* messages since the last that was written */
    unsigned waits;               /* so far */
} ring;

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Under lock.  The first byte comes last: a reader that looks before the index has changed finds the 0 of the message before, or all. */
static void write_text(const char *text, uint32_t n)
{
    const uint32_t at = (uint32_t)(ring.written % ring.bytes);

    for (uint32_t i = n + 1; i-- > 1;)
        ring.text[(at + i) % ring.bytes] = i < n ? text[i] : '\0';
    atomic_thread_fence(memory_order_release);
    ring.text[at] = text[0];
    ring.written += n;
    atomic_store_explicit(ring.next, (uint32_t)(ring.written % ring.bytes), memory_order_release);
}

/* Under lock: whether n bytes and the 0 that is always behind them fit. */
static bool has_room(uint32_t n)
{
    return ring.written - ring.read + n < ring.bytes;
}

/* Text of at most HX_MESSAGE_BYTES with its 0. */
static uint32_t put_line(char *to, const char *file, int line, const char *text)
{
    int n = snprintf(to, HX_MESSAGE_BYTES, "%.64s:%d:0x%x:%d: %s", file, line, (unsigned)gettid(), (int)hx_pd_client, text);

    if (n >= HX_MESSAGE_BYTES)
        n = HX_MESSAGE_BYTES - 1;
    while (to[n - 1] == '\n')
        to[--n] = '\0';
    return (uint32_t)n + 1;
}

static void take_message(unsigned level, const char *file, int line, const char *text)
{
    char out[HX_MESSAGE_BYTES], note[HX_MESSAGE_BYTES], count[64];
    uint32_t n, n_note = 0;

    pthread_mutex_lock(&lock);
    if (ring.is_on && ring.filter >> level & 1) {
        n = put_line(out, file, line, text);
        if (ring.lost) {
            snprintf(count, sizeof(count), "%u messages lost: the ring is full", ring.lost);
            n_note = put_line(note, "messages.c", __LINE__, count);
        }
        if (has_room(n_note + n)) {
            if (n_note)
                write_text(note, n_note);
            write_text(out, n);
            ring.lost = 0;
            pthread_cond_broadcast(&changed);
        } else {
            ring.lost++;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* --- the client's calls --------------------------------------------------------------------------------------------- */

/* The listener's memory, mapped; under `starting`. */
static int ask_for_memory(const struct hx_messages_in *in, char **text)
{
    int rc = apps_mem_request_map64(in->heap, in->flags, 0, 0, (int64_t)in->bytes, &at_host, &at_dsp);

    if (rc)
        return rc;
    *text = hx_buffers_twin(at_dsp, in->bytes);
    if (*text && at_host)
        return AEE_SUCCESS;
    if (*text)
        munmap(*text, in->bytes);
    apps_mem_request_unmap64(at_dsp, (int64_t)in->bytes);
    return (int)AEE_DSP(AEE_EFAILED);
}

/* Under `starting`; nobody writes now. */
static void give_memory_back(void)
{
    const uint64_t bytes = ring.bytes + sizeof(next_index);

    pthread_mutex_lock(&lock);
    munmap(ring.text, bytes);
    ring.text = NULL;
    pthread_mutex_unlock(&lock);
    apps_mem_request_unmap64(at_dsp, (int64_t)bytes);
}

static void begin(char *text, const struct hx_messages_in *in)
{
    const uint32_t bytes = (uint32_t)in->bytes - (uint32_t)sizeof(next_index);

    memset(text, 0, in->bytes);
    pthread_mutex_lock(&lock);
    ring.text = text;
    ring.next = (next_index *)(text + bytes);
    ring.bytes = bytes;
    ring.filter = in->filter;
    ring.written = ring.told = ring.read = 0;
    ring.lost = 0;
    ring.is_on = true;
    pthread_mutex_unlock(&lock);
    hx_farf_also_to(take_message);
}

/* Under `starting`, which alone changes text and bytes. */
static int start(const struct hx_messages_in *in)
{
    const bool is_as_before = ring.text && ring.bytes + sizeof(next_index) == in->bytes;
    char *text = ring.text;
    int rc = AEE_SUCCESS;

    if (!hx_host_await_listener())
        return (int)AEE_DSP(AEE_EBADSTATE);
    if (!is_as_before) {
        if (ring.text)
            give_memory_back();
        rc = ask_for_memory(in, &text);
    }
    if (!rc)
        begin(text, in);
    return rc;
}

static bool is_on(void)
{
    bool is;

    pthread_mutex_lock(&lock);
    is = ring.is_on;
    pthread_mutex_unlock(&lock);
    return is;
}

int hx_messages_start(const struct hx_messages_in *in, uint64_t *host)
{
    int rc = AEE_SUCCESS;

    *host = 0;
    if (in->bytes < HX_MESSAGES_BYTES_MIN || in->bytes > HX_MESSAGES_BYTES_MAX || in->bytes % sizeof(next_index)) {
        FARF(ERROR, "messages: a ring of %llu bytes, not of %d to %d and a multiple of %zu", (unsigned long long)in->bytes,
             HX_MESSAGES_BYTES_MIN, HX_MESSAGES_BYTES_MAX, sizeof(next_index));
        return (int)AEE_DSP(AEE_EBADPARM);
    }
    if (pthread_mutex_trylock(&starting)) /* each may take as long as a call of the host */
        return (int)AEE_DSP(AEE_EBADSTATE);
    if (!is_on()) {
        rc = start(in);
        if (!rc)
            *host = at_host;
    }
    pthread_mutex_unlock(&starting);
    return rc;
}

int hx_messages_stop(void)
{
    pthread_mutex_lock(&lock);
    ring.is_on = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

static struct timespec end_of_wait(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += HX_MESSAGES_WAIT_MS / 1000;
    return t;
}

int hx_messages_wait(uint64_t *bytes)
{
    const struct timespec end = end_of_wait();
    unsigned wait;
    int rc = 0;

    *bytes = 0;
    pthread_mutex_lock(&lock);
    wait = ++ring.waits;
    pthread_cond_broadcast(&changed); /* to an older wait */
    ring.read = ring.told;
    while (ring.is_on && wait == ring.waits && ring.written == ring.told && !rc)
        rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &end);
    if (wait != ring.waits) {
        rc = (int)AEE_DSP(AEE_EINTERRUPTED);
    } else if (!ring.is_on) {
        rc = (int)AEE_DSP(AEE_EBADSTATE);
    } else {
        *bytes = ring.written - ring.told;
        ring.told = ring.written;
        rc = AEE_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
