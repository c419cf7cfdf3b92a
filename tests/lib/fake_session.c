/* A session without a PD, for a listener. */
#include "fake_session.h"

#include <pthread.h>
#include <stdbool.h>

#include "listener.h"

struct hx_client_session {
    struct fake_session does;
    struct hx_session_helper *helper;
};

static struct hx_client_session session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects is_done */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_done;

int hx_invoke(struct hx_client_session *s, uint32_t dsp_handle, uint32_t sc, const remote_arg *pra)
{
    if (dsp_handle == FASTRPC_HANDLE_CURRENT_PROCESS) {
        s->does.exit();
        return AEE_SUCCESS;
    }
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case HX_LISTENER1_NEXT2:
        return s->does.next2(pra[0].buf.pv, pra[1].buf.pv, pra[2].buf.pv, pra[3].buf.pv);
    case HX_LISTENER1_GET_IN_BUFS2:
        return s->does.get_in_bufs2(pra[0].buf.pv, pra[1].buf.pv, pra[2].buf.pv);
    default: /* init2 */
        return AEE_SUCCESS;
    }
}

int hx_session_may_help(struct hx_client_session *s)
{
    return !s->helper;
}

void hx_session_set_helper(struct hx_client_session *s, struct hx_session_helper *h)
{
    s->helper = h;
}

unsigned hx_session_index(const struct hx_client_session *s)
{
    (void)s;
    return 0;
}

int hx_mmap_in(struct hx_client_session *s, const struct fastrpc_mem_map *want, uint64_t *vaddrout)
{
    return s->does.map(want, vaddrout);
}

int hx_munmap_in(struct hx_client_session *s, int fd)
{
    return s->does.unmap(fd);
}

static void done(struct hx_client_session *s)
{
    (void)s;
    pthread_mutex_lock(&lock);
    is_done = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

int fake_session_open(const struct fake_session *f)
{
    session = (struct hx_client_session){.does = *f};
    is_done = false;
    return hx_listener_start(&session);
}

void fake_session_close(void)
{
    session.helper->stop(session.helper, done);
    pthread_mutex_lock(&lock);
    while (!is_done)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}
