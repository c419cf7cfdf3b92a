/* The queue between the threads that call the host and the listener that serves them. */
#include "host_calls.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "HAP_farf.h"
#include "base/machine.h"
#include "cost/vtime.h"

int hx_host_call_ms = 10000;

/* Lies in its caller's frame. */
struct host_call {
    struct host_call *next;
    uint32_t ctx, handle, sc;
    const uint8_t *request;
    size_t bytes;
    const remote_arg *pra;
    bool is_done;
    int result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a call or its result came, or one of the flags changed */
static struct host_call *first, **last = &first; /* that nobody has taken */
static struct host_call *taken;                  /* by the listener; NULL also when its caller has given up */
static uint32_t last_ctx;
static unsigned polls; /* next2s so far */
static bool listens, can_listen, has_ended;

static void enter(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* --- those who call ---------------------------------------------------------------------------------------------- */

/* Under lock. */
static void enqueue(struct host_call *c)
{
    last_ctx = last_ctx == INT32_MAX ? 1 : last_ctx + 1;
    c->ctx = last_ctx;
    *last = c;
    last = &c->next;
    pthread_cond_broadcast(&changed);
}

/* Under lock: nobody finds the call any more. */
static void forget(struct host_call *c)
{
    struct host_call **p = &first;

    while (*p && *p != c)
        p = &(*p)->next;
    if (*p) {
        *p = c->next;
        if (!*p)
            last = p;
    }
    if (taken == c)
        taken = NULL;
}

/* When whoever waits from now on has waited enough. */
static struct timespec end_of_wait(void)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += hx_host_call_ms / 1000;
    end.tv_nsec += hx_host_call_ms % 1000 * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    return end;
}

/* Under lock. */
static int wait_for_result(struct host_call *c)
{
    const struct timespec end = end_of_wait();
    int rc = 0;

    while (!c->is_done && !has_ended && !rc)
        rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &end);
    if (c->is_done)
        return c->result;
    forget(c);
    if (has_ended)
        return (int)AEE_DSP(AEE_EBADSTATE);
    FARF(ERROR, "host handle 0x%x method %u: no answer in %d ms", c->handle, REMOTE_SCALARS_METHOD(c->sc), hx_host_call_ms);
    return (int)AEE_DSP(AEE_EEXPIRED);
}

/* *is_made: somebody listens. */
static int call(struct host_call *c, bool *is_made)
{
    int rc = (int)AEE_DSP(AEE_EBADSTATE);

    enter();
    *is_made = listens && !has_ended;
    if (*is_made) {
        enqueue(c);
        rc = wait_for_result(c);
    }
    leave();
    return rc;
}

/* What a call takes its caller. */
static void charge(void)
{
    hx_vt_order_begin();
    hx_vt_reach(HX_VT_SLEEP, hx_vt_now() + hx_vt_pcycles_of_ns((uint64_t)(1e3 * hx_machine->dispatch_us)));
    hx_vt_order_end();
}

int hx_host_call(uint32_t handle, uint32_t sc, const remote_arg *pra)
{
    struct host_call c = {.handle = handle, .sc = sc, .pra = pra};
    uint8_t *request;
    bool is_made;
    int rc;

    if (REMOTE_SCALARS_INHANDLES(sc) || REMOTE_SCALARS_OUTHANDLES(sc))
        return (int)AEE_DSP(AEE_EBADPARM);
    c.bytes = hx_reverse_pack(NULL, sc, pra);
    if (c.bytes > INT32_MAX)
        return (int)AEE_DSP(AEE_ENOMEMORY);
    /* not from the heap, where it would shift what the skel allocates */
    request = mmap(NULL, c.bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (request == MAP_FAILED)
        return (int)AEE_DSP(AEE_ENOMEMORY);
    hx_reverse_pack(request, sc, pra);
    c.request = request;
    rc = call(&c, &is_made);
    munmap(request, c.bytes + 1);
    if (is_made)
        charge();
    return rc;
}

bool hx_host_listens(void)
{
    bool does;

    enter();
    does = listens && !has_ended;
    leave();
    return does;
}

bool hx_host_await_listener(void)
{
    const struct timespec end = end_of_wait();
    bool does;
    int rc = 0;

    enter();
    while (!listens && !has_ended && !rc)
        rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &end);
    does = listens && !has_ended;
    leave();
    return does;
}

void hx_host_listens_when_asked(bool does)
{
    enter();
    can_listen = does;
    leave();
}

bool hx_host_must_be_asked(void)
{
    bool must;

    enter();
    must = can_listen && !listens && !has_ended;
    leave();
    return must;
}

/* --- the listener ------------------------------------------------------------------------------------------------ */

int hx_host_listen(void)
{
    enter();
    listens = true;
    pthread_cond_broadcast(&changed);
    leave();
    return AEE_SUCCESS;
}

/* Under lock; there is one. */
static struct host_call *dequeue(void)
{
    struct host_call *c = first;

    first = c->next;
    if (!first)
        last = &first;
    c->next = NULL;
    return c;
}

/* Under lock. */
static void finish(const struct hx_next_in *in, const uint8_t *answer)
{
    struct host_call *c = taken;

    if (!c || c->ctx != in->ctx)
        return;
    c->result = in->result;
    if (!c->result && hx_reverse_take(answer, in->answer_bytes, c->sc, c->pra))
        c->result = (int)AEE_DSP(AEE_EBADPARM);
    c->is_done = true;
    taken = NULL;
}

/* Under lock: of the call that is taken. */
static void copy_request(uint8_t *to, size_t room, size_t offset)
{
    const size_t left = offset < taken->bytes ? taken->bytes - offset : 0, n = left < room ? left : room;

    if (n)
        memcpy(to, taken->request + offset, n);
}

int hx_host_next(const struct hx_next_in *in, const uint8_t *answer, struct hx_next_out *out, uint8_t *request)
{
    unsigned poll;
    int rc = AEE_SUCCESS;

    enter();
    listens = true;
    finish(in, answer);
    poll = ++polls;
    pthread_cond_broadcast(&changed); /* to who waits for the result, and to an older poll */
    while (!has_ended && poll == polls && !taken && !first)
        pthread_cond_wait(&changed, &lock);
    if (has_ended) {
        rc = (int)AEE_DSP(AEE_EBADSTATE);
    } else if (poll != polls) {
        rc = (int)AEE_DSP(AEE_EINTERRUPTED);
    } else {
        if (!taken)
            taken = dequeue();
        *out = (struct hx_next_out){taken->ctx, taken->handle, taken->sc, (uint32_t)taken->bytes};
        copy_request(request, in->room, 0);
    }
    leave();
    return rc;
}

int hx_host_get_in_bufs(const struct hx_in_bufs_in *in, uint32_t *bytes, uint8_t *request)
{
    int rc = (int)AEE_DSP(AEE_EBADPARM);

    enter();
    if (taken && taken->ctx == in->ctx) {
        *bytes = (uint32_t)taken->bytes;
        copy_request(request, in->room, in->offset);
        rc = AEE_SUCCESS;
    }
    leave();
    return rc;
}

unsigned hx_host_polls(void)
{
    unsigned n;

    enter();
    n = polls;
    leave();
    return n;
}

unsigned hx_host_waiting(void)
{
    unsigned n = 0;

    enter();
    for (const struct host_call *c = first; c; c = c->next)
        n++;
    leave();
    return n;
}

void hx_host_end(void)
{
    enter();
    has_ended = true;
    pthread_cond_broadcast(&changed);
    leave();
}
