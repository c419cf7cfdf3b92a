/* Making a session: a rig is found, a node opened, a user PD created in it. */
#include "hx_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_notify.h"
#include "hx_reverse.h"
#include "hx_rig_internal.h"
#include "hx_stage.h"
#include "listener.h"

#define CTL_SET_PARAM 5 /* method of remotectl1 */

static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER; /* one thread at a time creates a session */

/* The secure node first, like the real library.  -EAGAIN: it was away, and back when the other one was opened: a restart of
 * the DSP ended in between, and the other node does not serve signed PDs. */
static int open_either(const char *node, struct hx_transport **t)
{
    char secure[HX_PATH_BYTES + 8];
    int rc, away;

    snprintf(secure, sizeof(secure), "%s-secure", node);
    rc = hx_transport_open(secure, t);
    away = rc == -ENOENT;
    if (!away && rc != -EACCES)
        return rc;
    rc = hx_transport_open(node, t);
    if (rc || !away || access(secure, F_OK))
        return rc;
    (*t)->ops->close(*t);
    return -EAGAIN;
}

static int open_node(const char *node, struct hx_transport **t)
{
    for (int ms = 0;; ms += 20) {
        char *status = NULL;
        int rc = open_either(node, t);

        if (rc == -EAGAIN && ms < HX_RIG_AWAY_MS)
            continue;
        /* while the DSP restarts its nodes are away, the rig's text is not */
        if (rc != -ENOENT || ms >= HX_RIG_AWAY_MS || hx_rig_ask(node, "status", NULL, &status))
            return rc;
        free(status);
        usleep(20000);
    }
}

/* Tells a new PD its thread parameters.  A DSP that does not know the call goes on with its own. */
static void send_threads(struct hx_client_session *s)
{
    struct {
        uint32_t request, n_params;
    } in = {FASTRPC_THREAD_PARAMS, 2};
    int32_t params[2];
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {params, sizeof(params)}}};

    if (hx_session_threads(hx_session_index(s), params))
        hx_invoke(s, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(CTL_SET_PARAM, 2, 0), pra);
}

/* The caller only gets an AEE code, and many causes share one: this is the place where they can be told apart.  A repeated
 * result is reported once.  Under create_lock. */
static void report_refused(const char *node, const char *what, int result)
{
    static int last; /* 0: none since a session was made */

    if (result && result != last && !hx_rig_program_reports())
        fprintf(stderr, "libcdsprpc: %s: %s%s\n", node, what,
                result < 0 && result > -4096 ? strerror(-result) : "it was refused");
    last = result;
}

/* The client gets its PD: one of its own, or a place in another. */
static int init(struct hx_transport *t, unsigned index)
{
    struct fastrpc_init_create create = {.filefd = -1};
    struct fastrpc_init_create_static fixed = {0};
    const char *name = "";

    switch (hx_session_pd(index, &name)) {
    case HX_PD_OF_ROOT:
        return t->ops->ioctl(t, FASTRPC_IOCTL_INIT_ATTACH, NULL);
    case HX_PD_OF_SENSORS:
        return t->ops->ioctl(t, FASTRPC_IOCTL_INIT_ATTACH_SNS, NULL);
    case HX_PD_STATIC:
        fixed.namelen = (uint32_t)strlen(name) + 1;
        fixed.name = (uintptr_t)name;
        return t->ops->ioctl(t, FASTRPC_IOCTL_INIT_CREATE_STATIC, &fixed);
    default:
        create.attrs = HX_MODE_LISTENS | (hx_session_is_unsigned(index) ? FASTRPC_MODE_UNSIGNED_MODULE : 0);
        return t->ops->ioctl(t, FASTRPC_IOCTL_INIT_CREATE, &create);
    }
}

/* Opens a node and makes the user PD.  Result as the kernel sees it. */
static int make_pd(unsigned index, struct hx_transport **out)
{
    struct hx_transport *t;
    char node[HX_PATH_BYTES];
    int rc = hx_rig_node(node, sizeof(node));

    if (rc)
        return rc; /* reported already */
    rc = open_node(node, &t);
    if (rc) {
        report_refused(node, "", rc);
        return rc;
    }
    hx_stage_at("client.open.node");
    rc = init(t, index);
    report_refused(node, rc == -ENOTTY ? "no FastRPC device: " : "no user PD: ", rc);
    hx_stage_at("client.open.created");
    if (rc)
        t->ops->close(t);
    else
        *out = t;
    return rc;
}

static int create(unsigned index, struct hx_client_session **out)
{
    struct hx_transport *t;
    int rc = hx_aee_from_result(make_pd(index, &t));

    if (rc)
        return rc;
    *out = hx_session_new(index, t);
    if (!*out) {
        t->ops->close(t);
        return AEE_ENOMEMORY;
    }
    send_threads(*out);
    return AEE_SUCCESS;
}

/* Who is not in a PD of its own is there to serve it: its listener listens from the first moment on. */
static int listen_for_others(struct hx_client_session *s, unsigned index)
{
    const char *name;

    return hx_session_pd(index, &name) == HX_PD_OF_USER ? AEE_SUCCESS : hx_listener_start(s);
}

int hx_session_get_new(unsigned index, struct hx_client_session **out)
{
    struct hx_client_session *s;
    int rc = AEE_SUCCESS, made = 0;

    pthread_mutex_lock(&create_lock);
    s = hx_session_get(index);
    if (!s) {
        /* reserved, and free again when it fails, as in the open library */
        hx_session_set_reserved(index, 1);
        rc = create(index, &s);
        if (rc == AEE_SUCCESS)
            rc = listen_for_others(s, index);
        made = rc == AEE_SUCCESS;
        if (made)
            hx_session_publish(s);
        else
            hx_session_set_reserved(index, 0);
    }
    pthread_mutex_unlock(&create_lock);
    if (made)
        hx_notify(index, FASTRPC_USER_PD_UP);
    if (rc == AEE_SUCCESS)
        *out = s;
    return rc;
}
