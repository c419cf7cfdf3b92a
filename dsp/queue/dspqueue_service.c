/* The queue service: what the host's half of dspqueue calls to create and destroy queues.  A skel like any other, under its
 * published name (libdspqueue_rpc_skel.so), except that it is built in; its methods are the published ones.
 *
 * Signals by RPC are for clients that do not know our doorbells: the client's 8 signal makes our waiters check again, and
 * its thread inside 6 wait_signal is our way to reach it.  Our own library lends that thread as well, and learns from its
 * return that the PD has ended. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "pd/bindings.h"
#include "dspqueue_slots.h"
#include "base/export.h"
#include "base/machine.h"
#include "hx_stage.h"
#include "remote.h"

enum { M_OPEN, M_CLOSE, M_INIT, M_CREATE, M_DESTROY, M_IS_IMPORTED, M_WAIT, M_CANCEL, M_SIGNAL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t signal_came = PTHREAD_COND_INITIALIZER;
static pthread_cond_t thread_came = PTHREAD_COND_INITIALIZER;
static int signalled, cancelled;
static int waiting; /* threads inside wait_signal */
static struct dspqueue_process_queue_state *state; /* client's memory, NULL = none */
static int32_t state_fd;

static int dsp_code(int aee)
{
    return aee ? AEE_DSP(aee) : AEE_SUCCESS;
}

/* In the client's memory, whose published struct has plain integers. */
static void count_up(uint32_t *n)
{
    atomic_fetch_add_explicit((_Atomic uint32_t *)n, 1, memory_order_release);
}

static void signal_host(unsigned slot, unsigned which)
{
    pthread_mutex_lock(&lock);
    if (state && which == DSPQUEUE_SIGNAL_RESP_PACKET)
        count_up(&state->resp_packet_count[slot]);
    if (state && which == DSPQUEUE_SIGNAL_REQ_SPACE)
        count_up(&state->req_space_count[slot]);
    signalled = 1;
    pthread_cond_signal(&signal_came);
    pthread_mutex_unlock(&lock);
}

static void forget_state(void)
{
    if (state)
        hx_bindings_ref(state_fd, -1, NULL, NULL);
    state = NULL;
}

static int open_service(remote_arg *pra)
{
    if (!hx_machine->dspqueue)
        return AEE_DSP(AEE_EUNSUPPORTED);
    pthread_mutex_lock(&lock);
    cancelled = signalled = 0;
    pthread_mutex_unlock(&lock);
    pra[2].h64 = 1;
    return AEE_SUCCESS;
}

static int close_service(remote_arg *pra)
{
    (void)pra;
    pthread_mutex_lock(&lock);
    forget_state();
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

/* in: i32 descriptor of a struct dspqueue_process_queue_state */
static int init_state(remote_arg *pra)
{
    uint64_t size = 0;
    void *va = NULL;
    int32_t fd;
    int rc = AEE_SUCCESS;

    memcpy(&fd, pra[0].buf.pv, sizeof(fd));
    pthread_mutex_lock(&lock);
    forget_state();
    if (hx_bindings_ref(fd, 1, &va, &size)) {
        rc = AEE_ENOSUCHMAP;
    } else if (size < sizeof(*state)) {
        hx_bindings_ref(fd, -1, NULL, NULL);
        rc = AEE_EBADPARM;
    } else {
        state = va;
        state_fd = fd;
    }
    pthread_mutex_unlock(&lock);
    return dsp_code(rc);
}

/* Our library sends its thread into wait_signal before it creates a queue.  That call may arrive late; waiting for it here means
 * that no call of the library is counted once the queue exists, so that figures of packets repeat. */
static void wait_for_thread(void)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    pthread_mutex_lock(&lock);
    while (!waiting && !cancelled && !pthread_cond_clockwait(&thread_came, &lock, CLOCK_MONOTONIC, &end))
        ;
    pthread_mutex_unlock(&lock);
}

/* in: u32 slot, i32 descriptor of the block, u32 queue count; out: u64 id */
static int create(remote_arg *pra)
{
    struct {
        uint32_t slot;
        int32_t fd;
        uint32_t count;
    } in;
    uint64_t id = 0;
    int rc;

    hx_stage_at("pd.queue.create");
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    rc = hx_slots_create(in.slot, in.fd, signal_host, &id);
    if (rc == AEE_SUCCESS && hx_slots_have_doorbells(id))
        wait_for_thread();
    memcpy(pra[1].buf.pv, &id, sizeof(id));
    return dsp_code(rc);
}

static uint64_t id_of(const remote_arg *pra)
{
    uint64_t id;

    memcpy(&id, pra[0].buf.pv, sizeof(id));
    return id;
}

static int destroy(remote_arg *pra)
{
    hx_stage_at("pd.queue.destroy");
    return dsp_code(hx_slots_destroy(id_of(pra)));
}

static int is_imported(remote_arg *pra)
{
    int32_t imported = 0;
    int rc = hx_slots_imported(id_of(pra), &imported);

    memcpy(pra[1].buf.pv, &imported, sizeof(imported));
    return dsp_code(rc);
}

/* out: i32 0 = check the counts, -1 = cancelled */
static int wait_signal(remote_arg *pra)
{
    int32_t what;

    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_broadcast(&thread_came);
    while (!signalled && !cancelled)
        pthread_cond_wait(&signal_came, &lock);
    waiting--;
    what = cancelled ? -1 : 0;
    signalled = 0;
    pthread_mutex_unlock(&lock);
    memcpy(pra[0].buf.pv, &what, sizeof(what));
    return AEE_SUCCESS;
}

static int cancel_wait(remote_arg *pra)
{
    (void)pra;
    pthread_mutex_lock(&lock);
    cancelled = 1;
    pthread_cond_broadcast(&signal_came);
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

static int take_signal(remote_arg *pra)
{
    (void)pra;
    hx_slots_poke_all();
    return AEE_SUCCESS;
}

/* Method -> what it does, and the argument shape it insists on. */
static const struct {
    int (*run)(remote_arg *pra);
    uint32_t sc;
    size_t in, out; /* least bytes */
} methods[] = {
    [M_OPEN] = {open_service, REMOTE_SCALARS_MAKEX(0, M_OPEN, 2, 0, 0, 1), 0, 0},
    [M_CLOSE] = {close_service, REMOTE_SCALARS_MAKEX(0, M_CLOSE, 0, 0, 1, 0), 0, 0},
    [M_INIT] = {init_state, REMOTE_SCALARS_MAKE(M_INIT, 1, 0), 4, 0},
    [M_CREATE] = {create, REMOTE_SCALARS_MAKE(M_CREATE, 1, 1), 12, 8},
    [M_DESTROY] = {destroy, REMOTE_SCALARS_MAKE(M_DESTROY, 1, 0), 8, 0},
    [M_IS_IMPORTED] = {is_imported, REMOTE_SCALARS_MAKE(M_IS_IMPORTED, 1, 1), 8, 4},
    [M_WAIT] = {wait_signal, REMOTE_SCALARS_MAKE(M_WAIT, 0, 1), 0, 4},
    [M_CANCEL] = {cancel_wait, REMOTE_SCALARS_MAKE(M_CANCEL, 0, 0), 0, 0},
    [M_SIGNAL] = {take_signal, REMOTE_SCALARS_MAKE(M_SIGNAL, 0, 0), 0, 0},
};

HX_EXPORT int dspqueue_rpc_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    unsigned m = REMOTE_SCALARS_METHOD(sc), n_in = REMOTE_SCALARS_INBUFS(sc);

    (void)h;
    if (m >= sizeof(methods) / sizeof(methods[0]))
        return AEE_DSP(AEE_EUNSUPPORTED);
    if (sc != methods[m].sc || (methods[m].in && pra[0].buf.nLen < methods[m].in) ||
        (methods[m].out && pra[n_in].buf.nLen < methods[m].out))
        return AEE_DSP(AEE_EBADPARM);
    return methods[m].run(pra);
}
