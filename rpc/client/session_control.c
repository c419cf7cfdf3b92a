/* remote_session_control(): requests about whole sessions, and contexts. */
#include "hx_export.h"

#include <stdio.h>
#include <string.h>

#include "fastrpc_uapi.h"
#include "hx_context_table.h"
#include "hx_domain_name.h"
#include "hx_notify.h"
#include "hx_queues.h"
#include "hx_session.h"

enum {
    PRIORITY_DEFAULT = 192,
    PRIORITY_MAX = 255,
    INITMEM_MIN = 3 << 20, /* bytes */
    INITMEM_MAX = 200 << 20,
    PROCESS_EXIT = 2, PROCESS_EXCEPTION = 7, /* methods of the static handle "current process 1" */
};

/* Calls fn for the session of `domain`, or for every one when that is -1.  Stops at the first code that is not 0. */
static int for_sessions(int domain, int (*fn)(unsigned index, const void *arg), const void *arg)
{
    unsigned index;
    int rc;

    if (domain == -1) {
        rc = AEE_SUCCESS;
        for (index = 0; index < HX_SESSIONS && rc == AEE_SUCCESS; index++)
            rc = fn(index, arg);
        return rc;
    }
    rc = hx_domain_session(domain, &index);
    return rc ? rc : fn(index, arg);
}

/* For requests about a single session. */
static int one_session(int domain, int (*fn)(unsigned index, const void *arg), const void *arg)
{
    return domain == -1 ? AEE_EBADPARM : for_sessions(domain, fn, arg);
}

static int set_threads(unsigned index, const void *arg)
{
    const struct remote_rpc_thread_params *p = arg;

    hx_session_set_threads(index, p->prio, p->stack_size);
    return AEE_SUCCESS;
}

static int thread_params(void *data)
{
    const struct remote_rpc_thread_params *p = data;

    if ((p->prio != -1 && (p->prio < 1 || p->prio > PRIORITY_MAX)) ||
        (p->stack_size != -1 && p->stack_size <= 0))
        return AEE_EBADPARM;
    return for_sessions(p->domain, set_threads, p);
}

static int relative_priority(void *data)
{
    const struct remote_rpc_relative_thread_priority *r = data;
    int64_t prio = (int64_t)PRIORITY_DEFAULT + r->relative_thread_priority;
    struct remote_rpc_thread_params p = {r->domain, 0, -1};

    p.prio = prio < 1 ? 1 : prio > PRIORITY_MAX ? PRIORITY_MAX : (int)prio;
    return for_sessions(p.domain, set_threads, &p);
}

static int set_unsigned(unsigned index, const void *arg)
{
    const struct remote_rpc_control_unsigned_module *u = arg;

    hx_session_set_unsigned(index, u->enable != 0);
    return AEE_SUCCESS;
}

static int unsigned_module(void *data)
{
    const struct remote_rpc_control_unsigned_module *u = data;

    return for_sessions(u->domain, set_unsigned, u);
}

/* The PD is made to crash, which also ends calls that hang in it; then its file is closed.  One that is stopped does not even say goodbye,
 * which has ended its calls, and is not asked for more. */
static int kill_session(unsigned index, const void *arg)
{
    struct hx_client_session *s = hx_session_get(index);

    (void)arg;
    if (!s)
        return AEE_ENOSESSION;
    hx_queues_disconnect(index);
    hx_session_died(s, FASTRPC_USER_PD_FORCE_KILL);
    if (!hx_invoke(s, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(PROCESS_EXIT, 0, 0), NULL))
        hx_invoke(s, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(PROCESS_EXCEPTION, 0, 0), NULL);
    hx_session_put(s);
    hx_session_drop(index);
    return AEE_SUCCESS;
}

static int process_kill(void *data)
{
    const struct remote_rpc_process_clean_params *p = data;

    return one_session(p->domain, kill_session, NULL);
}

static int close_session(unsigned index, const void *arg)
{
    (void)arg;
    hx_session_end(index);
    return AEE_SUCCESS;
}

static int session_close(void *data)
{
    return for_sessions(((struct remote_rpc_session_close *)data)->domain, close_session, NULL);
}

static int accept_dump(unsigned index, const void *arg)
{
    (void)index;
    (void)arg; /* whether a PD dumps core is up to the rig's resource limit */
    return AEE_SUCCESS;
}

static int pd_dump(void *data)
{
    return for_sessions(((struct remote_rpc_control_pd_dump *)data)->domain, accept_dump, NULL);
}

static int raise_exception(unsigned index, const void *arg)
{
    struct hx_client_session *s = hx_session_get(index);
    int rc;

    (void)arg;
    if (!s)
        return AEE_ENOSESSION;
    rc = hx_invoke(s, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(PROCESS_EXCEPTION, 0, 0),
                   NULL);
    if (rc == AEE_DSP(AEE_EBADSTATE))
        hx_session_died(s, FASTRPC_USER_PD_EXCEPTION);
    hx_session_put(s);
    /* it worked if the call did not return: the two codes by which DSPs say so */
    if (rc == AEE_DSP(AEE_ECPUEXCEPTION) || rc == AEE_DSP(AEE_EBADSTATE))
        return AEE_SUCCESS;
    return rc ? rc : AEE_ERPC;
}

static int process_exception(void *data)
{
    return one_session(((remote_rpc_process_exception *)data)->domain, raise_exception, NULL);
}

static int process_type(void *data)
{
    struct remote_process_type *t = data;
    unsigned index;
    int rc = t->domain == -1 ? AEE_EBADPARM : hx_domain_session(t->domain, &index);

    if (rc == AEE_SUCCESS)
        t->process_type =
            hx_session_is_unsigned(index) ? PROCESS_TYPE_UNSIGNED : PROCESS_TYPE_SIGNED;
    return rc;
}

static int add_listener(unsigned index, const void *arg)
{
    return hx_notify_register(index, arg);
}

static int register_notifications(void *data)
{
    const struct remote_rpc_notif_register *n = data;

    return n->notifier_fn ? for_sessions(n->domain, add_listener, n) : AEE_EBADPARM;
}

static int needs_signed(unsigned index, const void *arg)
{
    const struct remote_rpc_pd_initmem_size *m = arg;

    return hx_session_is_unsigned(index) && m->domain != -1 ? AEE_EUNSUPPORTED : AEE_SUCCESS;
}

/* Checked only: the kernel's interface has no field for it, and a rig's PD takes memory as it needs it. */
static int initmem_size(void *data)
{
    const struct remote_rpc_pd_initmem_size *m = data;

    if (m->pd_initmem_size < INITMEM_MIN || m->pd_initmem_size > INITMEM_MAX)
        return AEE_EBADPARM;
    return for_sessions(m->domain, needs_signed, m);
}

static int reserve_session(void *data)
{
    struct remote_rpc_reserve_new_session *r = data;
    int rc = hx_domain_name(r->domain_name, r->domain_name_len);

    if (rc)
        return rc;
    if (!r->session_name || r->session_name_len == 0)
        return AEE_EBADPARM;
    r->session_id = hx_session_reserve();
    r->effective_domain_id = (uint32_t)hx_session_domain(r->session_id);
    return r->session_id ? AEE_SUCCESS : AEE_ENOSESSION;
}

static int effective_domain(void *data)
{
    struct remote_rpc_effective_domain_id *e = data;
    int rc = hx_domain_name(e->domain_name, e->domain_name_len);

    if (rc)
        return rc;
    if (e->session_id >= HX_SESSIONS)
        return AEE_EBADPARM;
    e->effective_domain_id = (uint32_t)hx_session_domain(e->session_id);
    return AEE_SUCCESS;
}

static int get_uri(void *data)
{
    struct remote_rpc_get_uri *u = data;
    int rc = hx_domain_name(u->domain_name, u->domain_name_len), n;

    if (rc)
        return rc;
    if (u->session_id >= HX_SESSIONS || !u->module_uri || u->module_uri_len == 0 ||
        u->module_uri_len > INT32_MAX || !u->uri || u->uri_len <= u->module_uri_len)
        return AEE_EBADPARM;
    n = snprintf(u->uri, u->uri_len, "%.*s" CDSP_DOMAIN "&_session=%u", (int)u->module_uri_len,
                 u->module_uri, u->session_id);
    return n < 0 || (uint32_t)n >= u->uri_len ? AEE_EBADSIZE : AEE_SUCCESS;
}

static int context_create(void *data)
{
    return hx_context_create(data);
}

static int context_destroy(void *data)
{
    return hx_context_destroy(data);
}

static const struct {
    int (*run)(void *data);
    uint32_t size; /* exact size of the struct */
} requests[] = {
    [FASTRPC_THREAD_PARAMS] = {thread_params, sizeof(struct remote_rpc_thread_params)},
    [DSPRPC_CONTROL_UNSIGNED_MODULE] = {unsigned_module,
                                        sizeof(struct remote_rpc_control_unsigned_module)},
    [FASTRPC_RELATIVE_THREAD_PRIORITY] = {relative_priority,
                                          sizeof(struct remote_rpc_relative_thread_priority)},
    [FASTRPC_REMOTE_PROCESS_KILL] = {process_kill, sizeof(struct remote_rpc_process_clean_params)},
    [FASTRPC_SESSION_CLOSE] = {session_close, sizeof(struct remote_rpc_session_close)},
    [FASTRPC_CONTROL_PD_DUMP] = {pd_dump, sizeof(struct remote_rpc_control_pd_dump)},
    [FASTRPC_REMOTE_PROCESS_EXCEPTION] = {process_exception, sizeof(remote_rpc_process_exception)},
    [FASTRPC_REMOTE_PROCESS_TYPE] = {process_type, sizeof(struct remote_process_type)},
    [FASTRPC_REGISTER_STATUS_NOTIFICATIONS] = {register_notifications,
                                               sizeof(struct remote_rpc_notif_register)},
    [FASTRPC_PD_INITMEM_SIZE] = {initmem_size, sizeof(struct remote_rpc_pd_initmem_size)},
    [FASTRPC_RESERVE_NEW_SESSION] = {reserve_session,
                                     sizeof(struct remote_rpc_reserve_new_session)},
    [FASTRPC_GET_EFFECTIVE_DOMAIN_ID] = {effective_domain,
                                         sizeof(struct remote_rpc_effective_domain_id)},
    [FASTRPC_GET_URI] = {get_uri, sizeof(struct remote_rpc_get_uri)},
    [FASTRPC_CONTEXT_CREATE] = {context_create, sizeof(struct fastrpc_context_create)},
    [FASTRPC_CONTEXT_DESTROY] = {context_destroy, sizeof(struct fastrpc_context_destroy)},
};

int remote_session_control(uint32_t req, void *data, uint32_t datalen)
{
    if (req >= sizeof(requests) / sizeof(requests[0]) || !requests[req].run)
        return AEE_EUNSUPPORTED;
    if (!data || datalen != requests[req].size)
        return AEE_EBADPARM;
    return requests[req].run(data);
}
