/* The table of sessions: which are open, their handles and references.  session_open.c makes them. */
#include "hx_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_map_table.h"
#include "hx_crash_note.h"
#include "hx_notify.h"
#include "hx_stage.h"
#include "remote.h"

/* remote_handle64 = generation << 48 | effective domain id + 1 << 32 | the DSP's handle.  The generation makes handles of an
 * ended session invalid instead of meaning something else. */

struct hx_client_session {
    struct hx_transport *t;
    unsigned index;
    uint32_t generation; /* 16 bits */
    unsigned refs;       /* open handles + calls inside */
    uint32_t *handles;   /* [n_handles] DSP handles */
    size_t n_handles, room;
    _Atomic int dead; /* the PD's end is known, and was notified */
    struct hx_session_helper *helper;
    int making_helper;
};

static pthread_mutex_t serial_lock = PTHREAD_MUTEX_INITIALIZER; /* held over calls in serial mode */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* protects all below and every session's fields */
static struct {
    struct hx_client_session *current;
    int unsigned_pd;
    int reserved; /* by name, or in use */
    int threads_set, prio, stack_bytes;
    enum hx_pd_kind pd;
    const char *pd_name;
} slots[HX_SESSIONS];
static uint32_t last_generation;
static pthread_cond_t helped = PTHREAD_COND_INITIALIZER; /* a helper was made, or not */
static _Atomic int exiting;
static _Atomic int serial;

int hx_domain_session(int domain, unsigned *index)
{
    if (domain == -1)
        domain = CDSP_DOMAIN_ID;
    if (domain < 0 || domain >= (int)(HX_DOMAINS * HX_SESSIONS))
        return AEE_EBADPARM;
    *index = (unsigned)domain / HX_DOMAINS;
    return (unsigned)domain % HX_DOMAINS == CDSP_DOMAIN_ID ? AEE_SUCCESS : AEE_EBADDOMAIN;
}

int hx_session_domain(unsigned index)
{
    return CDSP_DOMAIN_ID + (int)(HX_DOMAINS * index);
}

static uint64_t handle_bits(const struct hx_client_session *s)
{
    return (uint64_t)s->generation << 48 | (uint64_t)(hx_session_domain(s->index) + 1) << 32;
}

static void session_close(struct hx_client_session *s)
{
    hx_map_end_session(s->index, s->generation);
    hx_stage_at("client.close.node");
    s->t->ops->close(s->t);
    free(s->handles);
    free(s);
}

/* At exit a helper's thread goes with the process, and the file with it: a PD that somebody has stopped must not keep it. */
static void session_free(struct hx_client_session *s)
{
    struct hx_session_helper *h = s->helper;

    if (!h)
        session_close(s);
    else if (!atomic_load(&exiting))
        h->stop(h, session_close);
}

int hx_session_may_help(struct hx_client_session *s)
{
    int may;

    pthread_mutex_lock(&lock);
    while (s->making_helper)
        pthread_cond_wait(&helped, &lock);
    may = !s->helper;
    s->making_helper = may;
    pthread_mutex_unlock(&lock);
    return may;
}

void hx_session_set_helper(struct hx_client_session *s, struct hx_session_helper *h)
{
    pthread_mutex_lock(&lock);
    s->helper = h;
    s->making_helper = 0;
    pthread_cond_broadcast(&helped);
    pthread_mutex_unlock(&lock);
}

void hx_session_at_exit(void)
{
    atomic_store(&exiting, 1);
}

struct hx_client_session *hx_session_new(unsigned index, struct hx_transport *t)
{
    struct hx_client_session *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->t = t;
    s->index = index;
    s->refs = 1;
    pthread_mutex_lock(&lock);
    last_generation = (last_generation + 1) & 0xffff;
    s->generation = last_generation;
    pthread_mutex_unlock(&lock);
    return s;
}

void hx_session_publish(struct hx_client_session *s)
{
    pthread_mutex_lock(&lock);
    slots[s->index].current = s;
    slots[s->index].reserved = 1;
    pthread_mutex_unlock(&lock);
}

void hx_session_set_reserved(unsigned index, int reserved)
{
    pthread_mutex_lock(&lock);
    slots[index].reserved = reserved;
    pthread_mutex_unlock(&lock);
}

struct hx_client_session *hx_session_get(unsigned index)
{
    struct hx_client_session *s;

    pthread_mutex_lock(&lock);
    s = slots[index].current;
    if (s)
        s->refs++;
    pthread_mutex_unlock(&lock);
    return s;
}

/* Under lock. */
static size_t find_handle(const struct hx_client_session *s, uint32_t dsp_handle)
{
    size_t i;

    for (i = 0; i < s->n_handles; i++)
        if (s->handles[i] == dsp_handle)
            break;
    return i;
}

struct hx_client_session *hx_session_get_handle(uint64_t h, uint32_t *dsp_handle)
{
    struct hx_client_session *s = NULL;
    unsigned index;

    if (hx_domain_session((int)(h >> 32 & 0xffff) - 1, &index) || (h >> 32 & 0xffff) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    s = slots[index].current;
    if (!s || handle_bits(s) != (h & ~(uint64_t)UINT32_MAX) ||
        find_handle(s, (uint32_t)h) == s->n_handles)
        s = NULL;
    else
        s->refs++;
    pthread_mutex_unlock(&lock);
    *dsp_handle = (uint32_t)h;
    return s;
}

/* Under lock: nobody finds the session any more. */
static void unlink_session(struct hx_client_session *s)
{
    if (slots[s->index].current != s)
        return;
    slots[s->index].current = NULL;
    slots[s->index].reserved = 0;
    slots[s->index].pd = HX_PD_OF_USER;
}

void hx_session_put(struct hx_client_session *s)
{
    unsigned index;
    int last, is_known;

    if (!s)
        return;
    pthread_mutex_lock(&lock);
    last = --s->refs == 0;
    if (last)
        unlink_session(s);
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    index = s->index;
    is_known = atomic_exchange(&s->dead, 1); /* what its own closing meets is no news */
    session_free(s);
    if (!is_known)
        hx_notify(index, FASTRPC_USER_PD_EXIT);
}

int hx_session_add_handle(struct hx_client_session *s, uint32_t dsp_handle, uint64_t *h)
{
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&lock);
    if (slots[s->index].current != s) {
        rc = AEE_ECONNRESET; /* nobody would find the handle, to close it */
        goto out;
    }
    if (s->n_handles == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        uint32_t *p = realloc(s->handles, room * sizeof(*p));

        if (!p) {
            rc = AEE_ENOMEMORY;
            goto out;
        }
        s->handles = p;
        s->room = room;
    }
    s->handles[s->n_handles++] = dsp_handle;
    s->refs++; /* put in hx_session_del_handle() */
    *h = handle_bits(s) | dsp_handle;
out:
    pthread_mutex_unlock(&lock);
    return rc;
}

void hx_session_del_handle(struct hx_client_session *s, uint32_t dsp_handle)
{
    size_t i;
    int found;

    pthread_mutex_lock(&lock);
    i = find_handle(s, dsp_handle);
    found = i < s->n_handles;
    if (found)
        s->handles[i] = s->handles[--s->n_handles];
    pthread_mutex_unlock(&lock);
    if (found)
        hx_session_put(s);
}

uint64_t hx_session_any_handle(unsigned index)
{
    struct hx_client_session *s;
    uint64_t h = 0;

    pthread_mutex_lock(&lock);
    s = slots[index].current;
    if (s && s->n_handles)
        h = handle_bits(s) | s->handles[0];
    pthread_mutex_unlock(&lock);
    return h;
}

int hx_session_died(struct hx_client_session *s, remote_rpc_status_flags_t status)
{
    if (atomic_exchange(&s->dead, 1))
        return 0;
    hx_notify(s->index, status);
    return 1;
}

/* What a call's result says about the PD. */
static void note_death(struct hx_client_session *s, unsigned long cmd, int result)
{
    remote_rpc_status_flags_t status;

    if (result == -EPIPE || result == -ECONNRESET || result == -ENOTCONN)
        status = FASTRPC_DSP_SSR;
    else if (result == AEE_DSP(AEE_ECPUEXCEPTION) && cmd == FASTRPC_IOCTL_INVOKE)
        status = FASTRPC_USER_PD_EXCEPTION;
    else
        return;
    if (hx_session_died(s, status) && status == FASTRPC_USER_PD_EXCEPTION)
        hx_crash_note();
}

int hx_session_ioctl(struct hx_client_session *s, unsigned long cmd, void *arg)
{
    int result = s->t->ops->ioctl(s->t, cmd, arg);

    if (result < 0)
        note_death(s, cmd, result);
    return result;
}

uint32_t hx_session_generation(const struct hx_client_session *s)
{
    return s->generation;
}

uint32_t hx_session_generation_of(uint64_t handle)
{
    return (uint32_t)(handle >> 48);
}

unsigned hx_session_index(const struct hx_client_session *s)
{
    return s->index;
}

void hx_session_set_unsigned(unsigned index, int enable)
{
    pthread_mutex_lock(&lock);
    slots[index].unsigned_pd = enable;
    pthread_mutex_unlock(&lock);
}

int hx_session_is_unsigned(unsigned index)
{
    int is;

    pthread_mutex_lock(&lock);
    is = slots[index].unsigned_pd;
    pthread_mutex_unlock(&lock);
    return is;
}

void hx_session_set_pd(unsigned index, enum hx_pd_kind kind, const char *name)
{
    pthread_mutex_lock(&lock);
    slots[index].pd = kind;
    slots[index].pd_name = name;
    pthread_mutex_unlock(&lock);
}

enum hx_pd_kind hx_session_pd(unsigned index, const char **name)
{
    enum hx_pd_kind kind;

    pthread_mutex_lock(&lock);
    kind = slots[index].pd;
    *name = slots[index].pd_name;
    pthread_mutex_unlock(&lock);
    return kind;
}

void hx_session_set_threads(unsigned index, int prio, int stack_bytes)
{
    pthread_mutex_lock(&lock);
    slots[index].threads_set = 1;
    slots[index].prio = prio;
    slots[index].stack_bytes = stack_bytes;
    pthread_mutex_unlock(&lock);
}

int hx_session_threads(unsigned index, int32_t params[2])
{
    int set;

    pthread_mutex_lock(&lock);
    set = slots[index].threads_set;
    params[0] = slots[index].prio;
    params[1] = slots[index].stack_bytes;
    pthread_mutex_unlock(&lock);
    return set;
}

unsigned hx_session_reserve(void)
{
    unsigned got = 0;

    pthread_mutex_lock(&lock);
    for (unsigned i = 1; i < HX_SESSIONS && !got; i++)
        if (!slots[i].reserved) {
            slots[i].reserved = 1;
            got = i;
        }
    pthread_mutex_unlock(&lock);
    return got;
}

void hx_session_drop(unsigned index)
{
    struct hx_client_session *s = hx_session_get(index);
    size_t n;

    if (!s) {
        hx_session_set_reserved(index, 0);
        return;
    }
    pthread_mutex_lock(&lock);
    n = s->n_handles;
    s->n_handles = 0;
    s->refs -= (unsigned)n;
    unlink_session(s);
    pthread_mutex_unlock(&lock);
    hx_session_put(s);
}

void hx_session_set_serial(int on)
{
    atomic_store(&serial, on);
}

int hx_session_serial_begin(void)
{
    int on = atomic_load(&serial);

    if (on)
        pthread_mutex_lock(&serial_lock);
    return on;
}

void hx_session_serial_end(int on)
{
    if (on)
        pthread_mutex_unlock(&serial_lock);
}
