/* The listener's thread: a call of `next2` after the other, each with the result of what the one before has asked for. */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "host.h"
#include "hx_reverse.h"

/* The PD is not trusted: nobody has to allocate more for it. */
enum { REQUEST_BYTES_MAX = 64 << 20, ANSWER_BYTES_MAX = 64 << 20, ROOM_FIRST = 4096 };
enum { STOP_S = 2 }; /* longer than the driver waits for the DSP to end its polls */
enum { PROCESS_EXIT = 2 }; /* method of the static handle "current process 1" */

struct block {
    uint8_t *at;
    size_t room; /* bytes */
};

struct listener {
    struct hx_session_helper helper; /* first, so that the session's is one of ours */
    struct hx_client_session *s;
    pthread_t thread;
    pid_t pid; /* process that the thread is in */
    struct hx_host *host;
    struct block request, answer;
    pthread_mutex_t lock; /* protects the rest */
    bool has_ended, is_left; /* is_left: who stopped it did not wait any longer */
    void (*done)(struct hx_client_session *);
};

/* Descriptors outlive their listener, as who polls them wants to see its end. */
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static int events[HX_SESSIONS]; /* descriptor + 1; 0 = there never was a listener */

static int make_room(struct block *b, size_t bytes, size_t most)
{
    uint8_t *p;

    if (bytes <= b->room)
        return 0;
    p = bytes <= most ? realloc(b->at, bytes) : NULL;
    if (!p)
        return AEE_ENOMEMORY;
    b->at = p;
    b->room = bytes;
    return 0;
}

/* --- what is asked for ----------------------------------------------------------------------------------------------- */

int apps_std_skel_invoke(uint32_t sc, remote_arg *pra);
int apps_mem_skel_invoke(uint32_t sc, remote_arg *pra);
int adspmsgd_apps_skel_invoke(uint32_t sc, remote_arg *pra);

/* Handles are indices of this table, from 1 on. */
static const struct {
    const char *name;
    int (*invoke)(uint32_t sc, remote_arg *pra);
} interfaces[] = {
    {NULL, NULL}, /* HX_HOST_REMOTECTL */
    {"apps_std", apps_std_skel_invoke},
    {"apps_mem", apps_mem_skel_invoke},
    {"adspmsgd_apps", adspmsgd_apps_skel_invoke},
};
enum { N_INTERFACES = sizeof(interfaces) / sizeof(interfaces[0]) };

/* apps_remotectl, methods 0 open and 1 close: laid out as remotectl's. */
static int open_interface(const remote_arg *pra)
{
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, AEE_ENOSUCHMOD};
    const char *name = pra[1].buf.pv;

    if (!pra[1].buf.nLen || name[pra[1].buf.nLen - 1] || pra[2].buf.nLen < sizeof(out))
        return AEE_EBADPARM;
    for (uint32_t i = 1; i < N_INTERFACES; i++)
        if (strcmp(name, interfaces[i].name) == 0) {
            out.handle = i;
            out.error = AEE_SUCCESS;
        }
    memcpy(pra[2].buf.pv, &out, sizeof(out));
    if (out.error && pra[3].buf.nLen)
        snprintf(pra[3].buf.pv, pra[3].buf.nLen, "%.100s: this host offers apps_std, apps_mem and adspmsgd_apps", name);
    return AEE_SUCCESS;
}

static int close_interface(const remote_arg *pra)
{
    const int32_t error = AEE_SUCCESS;

    if (pra[1].buf.nLen < sizeof(error))
        return AEE_EBADPARM;
    memcpy(pra[1].buf.pv, &error, sizeof(error));
    return AEE_SUCCESS;
}

static int invoke(uint32_t handle, uint32_t sc, remote_arg *pra)
{
    if (handle == HX_HOST_REMOTECTL && sc == REMOTE_SCALARS_MAKE(0, 2, 2))
        return open_interface(pra);
    if (handle == HX_HOST_REMOTECTL && sc == REMOTE_SCALARS_MAKE(1, 1, 2))
        return close_interface(pra);
    return handle && handle < N_INTERFACES ? interfaces[handle].invoke(sc, pra) : AEE_EINVHANDLE;
}

/* --- one request ------------------------------------------------------------------------------------------------------ */

/* The rest of a request that there was no room for. */
static int fetch_rest(struct listener *l, const struct hx_next_out *got)
{
    const size_t have = l->request.room;
    struct hx_in_bufs_in in = {.ctx = got->ctx, .offset = (uint32_t)have};
    uint32_t bytes;
    remote_arg pra[3] = {{.buf = {&in, sizeof(in)}}, {.buf = {&bytes, sizeof(bytes)}}};

    if (got->request_bytes <= have)
        return AEE_SUCCESS;
    if (make_room(&l->request, got->request_bytes, REQUEST_BYTES_MAX))
        return AEE_ENOMEMORY;
    in.room = (uint32_t)(l->request.room - have);
    pra[2].buf = (remote_buf){l->request.at + have, in.room};
    return hx_invoke(l->s, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(HX_LISTENER1_GET_IN_BUFS2, 1, 2), pra);
}

/* The result of what was asked for, and the bytes of the answer. */
static int serve(struct listener *l, const struct hx_next_out *got, size_t *answer)
{
    remote_arg pra[255 + 255];
    int rc = fetch_rest(l, got);

    if (rc)
        return rc;
    if (REMOTE_SCALARS_INHANDLES(got->sc) || REMOTE_SCALARS_OUTHANDLES(got->sc) ||
        hx_reverse_unpack(l->request.at, got->request_bytes, got->sc, pra, answer))
        return AEE_EBADPARM;
    rc = make_room(&l->answer, *answer, ANSWER_BYTES_MAX);
    if (rc)
        return rc;
    if (*answer)
        memset(l->answer.at, 0, *answer); /* what an interface does not write is nothing of ours */
    hx_reverse_place(l->answer.at, got->sc, pra);
    return invoke(got->handle, got->sc, pra);
}

/* Until the DSP, or its end, says that there is nothing more to listen to. */
static void listen_on(struct listener *l)
{
    struct hx_next_in in = {0, -1, 0, 0};
    struct hx_next_out out;
    size_t answer = 0;

    for (;;) {
        remote_arg pra[4] = {{.buf = {&in, sizeof(in)}}, {.buf = {l->answer.at, answer}}, {.buf = {&out, sizeof(out)}},
                             {.buf = {l->request.at, l->request.room}}};

        in.answer_bytes = (uint32_t)answer;
        in.room = (uint32_t)l->request.room;
        if (hx_invoke(l->s, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(HX_LISTENER1_NEXT2, 2, 2), pra))
            return;
        in.ctx = out.ctx;
        answer = 0;
        in.result = serve(l, &out, &answer);
        if (in.result)
            answer = 0;
    }
}

/* --- its life --------------------------------------------------------------------------------------------------------- */

static void free_listener(struct listener *l)
{
    hx_host_free(l->host);
    free(l->request.at);
    free(l->answer.at);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static void tell_end(unsigned index)
{
    pthread_mutex_lock(&events_lock);
    if (events[index])
        eventfd_write(events[index] - 1, 1);
    pthread_mutex_unlock(&events_lock);
}

static void *run(void *arg)
{
    struct listener *l = arg;
    struct hx_client_session *s = l->s;
    void (*done)(struct hx_client_session *);
    bool is_left;

    hx_host_serve(l->host);
    listen_on(l);
    tell_end(hx_session_index(s));
    pthread_mutex_lock(&l->lock);
    l->has_ended = true;
    is_left = l->is_left;
    done = l->done;
    pthread_mutex_unlock(&l->lock);
    if (is_left) {
        free_listener(l);
        done(s);
    }
    return NULL;
}

static bool join(struct listener *l)
{
    struct timespec end;

    if (pthread_equal(l->thread, pthread_self()))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += STOP_S;
    return pthread_clockjoin_np(l->thread, NULL, CLOCK_MONOTONIC, &end) == 0;
}

static bool has_ended_by_itself(struct listener *l)
{
    bool has;

    pthread_mutex_lock(&l->lock);
    has = l->has_ended;
    pthread_mutex_unlock(&l->lock);
    return has;
}

/* A thread that is inside a call of the host's that hangs ends the session when it comes back. */
static void stop(struct hx_session_helper *helper, void (*done)(struct hx_client_session *))
{
    struct listener *l = (struct listener *)helper;
    struct hx_client_session *s = l->s;
    bool has_ended = l->pid != getpid(); /* a forked child has no such thread */

    if (!has_ended) {
        if (!has_ended_by_itself(l))
            hx_invoke(s, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(PROCESS_EXIT, 0, 0), NULL);
        has_ended = join(l);
    }
    if (!has_ended) {
        pthread_mutex_lock(&l->lock);
        has_ended = l->has_ended;
        l->is_left = !has_ended;
        l->done = done;
        pthread_mutex_unlock(&l->lock);
        pthread_detach(l->thread);
    }
    if (has_ended) {
        free_listener(l);
        done(s);
    }
}

static int make_event(unsigned index)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0)
        return AEE_ENOMEMORY;
    pthread_mutex_lock(&events_lock);
    if (events[index])
        close(events[index] - 1);
    events[index] = fd + 1;
    pthread_mutex_unlock(&events_lock);
    return AEE_SUCCESS;
}

int hx_listener_eventfd(unsigned index, int *fd)
{
    pthread_mutex_lock(&events_lock);
    *fd = events[index] ? fcntl(events[index] - 1, F_DUPFD_CLOEXEC, 1) : -1;
    pthread_mutex_unlock(&events_lock);
    return *fd < 0 ? AEE_ERESOURCENOTFOUND : AEE_SUCCESS;
}

/* It must not take the client's signals. */
static int start_thread(struct listener *l)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc ? AEE_ENOMEMORY : AEE_SUCCESS;
}

int hx_listener_start(struct hx_client_session *s)
{
    struct listener *l;
    int rc = AEE_ENOMEMORY;

    if (!hx_session_may_help(s))
        return AEE_SUCCESS; /* there is one */
    l = calloc(1, sizeof(*l));
    if (!l)
        goto fail;
    l->helper.stop = stop;
    l->s = s;
    l->pid = getpid();
    pthread_mutex_init(&l->lock, NULL);
    l->host = hx_host_new(s);
    if (!l->host || make_room(&l->request, ROOM_FIRST, ROOM_FIRST))
        goto fail;
    rc = make_event(hx_session_index(s));
    if (!rc)
        rc = hx_invoke(s, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(HX_LISTENER1_INIT2, 0, 0), NULL);
    if (!rc)
        rc = start_thread(l);
    if (rc)
        goto fail;
    hx_session_set_helper(s, &l->helper);
    return AEE_SUCCESS;
fail:
    if (l)
        free_listener(l);
    hx_session_set_helper(s, NULL);
    return rc;
}
