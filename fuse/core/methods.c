/* Counting calls by interface and method.  What the PD wrote is read as something that anybody may have written there. */
#include "methods.h"

#include <string.h>

#include "driver.h"

/* Keys: numbers of interfaces are small, handles without one are marked. */
#define KEY_HANDLE  (UINT64_C(1) << 32)
#define KEY_PACKETS (UINT64_C(2) << 32)
#define KEY_OTHERS  (UINT64_C(3) << 32)

/* --- names ------------------------------------------------------------------------------------------------------ */

/* Of at most `bytes` that may have no end.  A name that is nothing but its end stays "". */
static void copy_name(char *to, size_t room, const char *from, size_t bytes)
{
    size_t n = 0;

    for (; n < bytes && n < room - 1 && from[n]; n++)
        to[n] = from[n] > ' ' && from[n] < 0x7f && from[n] != '"' && from[n] != '\\' ? from[n] : '?';
    to[n] = '\0';
}

/* The services that every PD has, by their static handles; names and numbers are the open library's. */
static const char *const service_names[] = {
    [FASTRPC_HANDLE_REMOTECTL] = "remotectl",
    [FASTRPC_HANDLE_LISTENER] = "adsp_listener",
    [FASTRPC_HANDLE_CURRENT_PROCESS] = "adsp_current_process1",
    [FASTRPC_HANDLE_ADSPMSGD1] = "adspmsgd_adsp1",
    [FASTRPC_HANDLE_LISTENER1] = "adsp_listener1",
    [FASTRPC_HANDLE_REMOTECTL1] = "remotectl1",
};
static const struct {
    uint32_t handle, method;
    const char *name;
} service_methods[] = {
    {FASTRPC_HANDLE_REMOTECTL, 0, "open"},        {FASTRPC_HANDLE_REMOTECTL, 1, "close"},
    {FASTRPC_HANDLE_REMOTECTL1, 2, "open1"},      {FASTRPC_HANDLE_REMOTECTL1, 3, "close1"},
    {FASTRPC_HANDLE_REMOTECTL1, 5, "set_param"},  {FASTRPC_HANDLE_LISTENER, 3, "init2"},
    {FASTRPC_HANDLE_LISTENER, 4, "next2"},        {FASTRPC_HANDLE_LISTENER, 5, "get_in_bufs2"},
    {FASTRPC_HANDLE_LISTENER1, 5, "init2"},       {FASTRPC_HANDLE_LISTENER1, 6, "next2"},
    {FASTRPC_HANDLE_LISTENER1, 7, "get_in_bufs2"}, {FASTRPC_HANDLE_CURRENT_PROCESS, 2, "exit"},
    {FASTRPC_HANDLE_CURRENT_PROCESS, 3, "thread_exit"}, {FASTRPC_HANDLE_CURRENT_PROCESS, 4, "set_logging_params"},
    {FASTRPC_HANDLE_CURRENT_PROCESS, 5, "getASID"},     {FASTRPC_HANDLE_CURRENT_PROCESS, 8, "set_logging_params2"},
    {FASTRPC_HANDLE_CURRENT_PROCESS, 6, "setQoS"},
    {FASTRPC_HANDLE_CURRENT_PROCESS, 7, "exception"},   {FASTRPC_HANDLE_CURRENT_PROCESS, 9, "poll_mode"},
    {FASTRPC_HANDLE_CURRENT_PROCESS, 10, "enable_notifications"}, {FASTRPC_HANDLE_ADSPMSGD1, 2, "init2"},
    {FASTRPC_HANDLE_ADSPMSGD1, 3, "deinit"},      {FASTRPC_HANDLE_ADSPMSGD1, 4, "init3"},
    {FASTRPC_HANDLE_ADSPMSGD1, 5, "wait"},
};

/* False: the handle is no service's. */
static bool set_service_names(struct hx_method_line *line, uint32_t handle)
{
    if (handle >= sizeof(service_names) / sizeof(service_names[0]) || !service_names[handle])
        return false;
    snprintf(line->interface, sizeof(line->interface), "%s", service_names[handle]);
    for (size_t i = 0; i < sizeof(service_methods) / sizeof(service_methods[0]); i++)
        if (service_methods[i].handle == handle && service_methods[i].method == line->method)
            snprintf(line->name, sizeof(line->name), "%s", service_methods[i].name);
    return true;
}

/* Method `method` of the names, or "". */
static void find_method_name(const struct hx_interface_table *t, uint32_t at, uint32_t bytes, uint32_t method, char *name)
{
    name[0] = '\0';
    if (at > HX_METHOD_NAMES || bytes > HX_METHOD_NAMES - at)
        return;
    for (uint32_t n; bytes && method; method--, at += n, bytes -= n) {
        n = (uint32_t)strnlen(t->names + at, bytes);
        n += n < bytes;
    }
    copy_name(name, HX_METHOD_NAME, t->names + at, bytes);
}

/* Fills in interface, library and name of what line->key and line->method are about. */
static void set_names(struct hx_method_line *line, const struct hx_session *s)
{
    const struct hx_interface_table *t = s->channel.rings ? &s->channel.rings->interfaces : NULL;
    const uint32_t handle = (uint32_t)line->key;

    if (line->key & KEY_HANDLE && set_service_names(line, handle))
        return;
    if (line->key & KEY_HANDLE || !t) {
        snprintf(line->interface, sizeof(line->interface), "handle:0x%x", handle);
    } else {
        const struct hx_interface *e = &t->entry[line->key - 1];

        copy_name(line->interface, sizeof(line->interface), e->name, sizeof(e->name));
        copy_name(line->library, sizeof(line->library), e->library, sizeof(e->library));
        find_method_name(t, e->names_at, e->names_bytes, line->method, line->name);
    }
}

static uint64_t key_of(const struct hx_call *call)
{
    const struct hx_channel *c = &call->session->channel;
    const unsigned i = call->inv.interface;

    if (i && i <= HX_INTERFACES_MAX && c->rings && i <= atomic_load(&c->rings->interfaces.n))
        return i;
    return call->inv.handle | KEY_HANDLE;
}

void hx_method_title(const struct hx_call *call, char title[HX_METHOD_TITLE])
{
    struct hx_method_line line = {.key = key_of(call), .method = call->inv.method};

    set_names(&line, call->session);
    if (line.name[0])
        snprintf(title, HX_METHOD_TITLE, "%s.%s", line.interface, line.name);
    else if (strncmp(line.interface, "handle:", 7) == 0)
        snprintf(title, HX_METHOD_TITLE, "handle %.12s method %u", line.interface + 7, line.method);
    else
        snprintf(title, HX_METHOD_TITLE, "%s method %u", line.interface, line.method);
}

/* --- counting --------------------------------------------------------------------------------------------------- */

static bool is(const struct hx_method_line *l, uint64_t key, uint32_t method)
{
    return l->key == key && l->method == method;
}

/* A new line at the end, or the one of all others once there is no room. */
static struct hx_method_line *add_line(struct hx_methods *m, const struct hx_session *s, uint64_t key, uint32_t method)
{
    struct hx_method_line *l;

    if (m->n == HX_METHODS_MAX)
        return &m->line[m->n - 1];
    m->last = m->n;
    l = &m->line[m->n++];
    *l = (struct hx_method_line){.key = key, .method = method};
    if (m->n == HX_METHODS_MAX)
        *l = (struct hx_method_line){.key = KEY_OTHERS, .interface = "others"};
    else if (key == KEY_PACKETS)
        *l = (struct hx_method_line){.key = key, .interface = "dspqueue", .name = "packets"};
    else
        set_names(l, s);
    return l;
}

static struct hx_method_line *line_of(struct hx_session *s, uint64_t key, uint32_t method)
{
    struct hx_methods *m = &s->methods;

    if (m->last < m->n && is(&m->line[m->last], key, method))
        return &m->line[m->last];
    for (unsigned i = 0; i < m->n; i++)
        if (is(&m->line[i], key, method)) {
            m->last = i;
            return &m->line[i];
        }
    return add_line(m, s, key, method);
}

void hx_methods_count(struct hx_call *call, int result)
{
    const struct hx_invoke_view *v = &call->inv;
    struct hx_method_line *l = line_of(call->session, key_of(call), v->method);

    l->calls++;
    l->errors += result != 0;
    l->bytes_copied += v->bytes_in + v->bytes_out;
    l->bytes_shared += v->bytes_shared;
    l->hvx_ops += v->hvx_ops;
    l->dispatch_ns += v->dispatch_ns + v->return_ns;
    l->marshal_ns += v->marshal_ns;
    l->queue_ns += v->lock_ns + v->queue_ns;
    l->exec_ns += v->exec_ns;
}

void hx_methods_count_packets(struct hx_session *s, const struct hx_session_stats *before)
{
    const struct hx_session_stats *now = &s->stats;
    struct hx_method_line *l = line_of(s, KEY_PACKETS, 0);

    l->calls += now->packets - before->packets;
    l->bytes_copied += now->bytes_copied - before->bytes_copied;
    l->bytes_shared += now->bytes_shared - before->bytes_shared;
    l->hvx_ops += now->hvx_ops - before->hvx_ops;
    l->dispatch_ns += now->dispatch_ns - before->dispatch_ns;
    l->marshal_ns += now->marshal_ns - before->marshal_ns;
    l->queue_ns += now->queue_ns - before->queue_ns;
    l->exec_ns += now->exec_ns - before->exec_ns;
}

/* --- sessions that are closed ----------------------------------------------------------------------------------- */

static void add_figures(struct hx_method_line *to, const struct hx_method_line *l)
{
    to->calls += l->calls;
    to->errors += l->errors;
    to->bytes_copied += l->bytes_copied;
    to->bytes_shared += l->bytes_shared;
    to->hvx_ops += l->hvx_ops;
    to->dispatch_ns += l->dispatch_ns;
    to->marshal_ns += l->marshal_ns;
    to->queue_ns += l->queue_ns;
    to->exec_ns += l->exec_ns;
}

static unsigned n_closed(const struct hx_methods_closed *c)
{
    return c->added < HX_METHODS_CLOSED ? (unsigned)c->added : HX_METHODS_CLOSED;
}

/* The line of the same process and method, or NULL. */
static struct hx_method_line *same_line(struct hx_methods_closed *c, const struct hx_method_line *l)
{
    for (unsigned i = 0; i < n_closed(c); i++) {
        struct hx_method_line *have = &c->line[i];

        if (have->pid == l->pid && have->method == l->method && strcmp(have->interface, l->interface) == 0 &&
            strcmp(have->name, l->name) == 0 && strcmp(have->library, l->library) == 0)
            return have;
    }
    return NULL;
}

void hx_methods_close(struct hx_methods_closed *c, const struct hx_session *s)
{
    for (unsigned i = 0; i < s->methods.n; i++) {
        struct hx_method_line news = s->methods.line[i], *have;

        news.pid = s->pid;
        have = same_line(c, &news);
        if (have) {
            add_figures(have, &news);
            continue;
        }
        have = &c->line[c->added % HX_METHODS_CLOSED];
        if (c->added++ >= HX_METHODS_CLOSED)
            add_figures(&c->others, have);
        *have = news;
    }
}

/* --- the node ---------------------------------------------------------------------------------------------------- */

static void print_line(int session, pid_t pid, const struct hx_method_line *l, FILE *f)
{
    fprintf(f,
            "session=%d pid=%d interface=%s library=%s method=%u name=%s calls=%llu errors=%llu bytes_copied=%llu bytes_shared=%llu"
            " hvx_ops=%llu model_dispatch_ns=%llu model_marshal_ns=%llu model_queue_ns=%llu model_exec_ns=%llu\n",
            session, (int)pid, l->interface, l->library, l->method, l->name, (unsigned long long)l->calls,
            (unsigned long long)l->errors, (unsigned long long)l->bytes_copied, (unsigned long long)l->bytes_shared,
            (unsigned long long)l->hvx_ops, (unsigned long long)l->dispatch_ns, (unsigned long long)l->marshal_ns,
            (unsigned long long)l->queue_ns, (unsigned long long)l->exec_ns);
}

void hx_methods_print(const struct hx_session *s, FILE *f)
{
    for (unsigned i = 0; i < s->methods.n; i++)
        print_line(s->client_id, s->pid, &s->methods.line[i], f);
}

void hx_methods_print_closed(const struct hx_methods_closed *c, FILE *f)
{
    struct hx_method_line others = c->others;

    snprintf(others.interface, sizeof(others.interface), "others");
    if (others.calls)
        print_line(0, 0, &others, f);
    for (uint64_t i = c->added - n_closed(c); i < c->added; i++)
        print_line(0, c->line[i % HX_METHODS_CLOSED].pid, &c->line[i % HX_METHODS_CLOSED], f);
}
