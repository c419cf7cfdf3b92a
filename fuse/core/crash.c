/* Taking the word of a PD that crashes, and having somebody look at it. */
#include "crash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "crash/brief.h"
#include "driver.h"

enum { LINE_BYTES = 400, LINES_MAX = 80 };

/* One look at a PD.  It may outlive the session. */
struct hx_crash_look {
    struct hx_driver *driver;
    struct hx_session *session; /* NULL: it has ended meanwhile */
    uint64_t number;            /* of the report */
    struct hx_watch out;        /* what hexrig-crash prints */
    char line[LINE_BYTES];
    size_t n, used; /* bytes of the line, of the report's text */
    unsigned lines;
};

/* --- the PD's word -------------------------------------------------------------------------------------------------- */

/* The process that sent HX_CTL_CRASH, by the kernel's word; 0: it is no such message. */
static pid_t sender(int control)
{
    union {
        char room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } cbuf;
    struct hx_ctl ctl;
    struct iovec iov = {&ctl, sizeof(ctl)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf.room, .msg_controllen = sizeof(cbuf.room)};
    ssize_t n = recvmsg(control, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n == (ssize_t)sizeof(ctl) && ctl.op == HX_CTL_CRASH ? CMSG_FIRSTHDR(&m) : NULL;
    struct ucred who = {0};

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(who)))
        memcpy(&who, CMSG_DATA(c), sizeof(who));
    return who.pid > 0 ? who.pid : 0;
}

static void answer(struct hx_session *s, enum hx_crash_answer what)
{
    _Atomic uint32_t *word = s->channel.rings ? &s->channel.rings->crash.answer : NULL;

    if (!word)
        return;
    atomic_store(word, (uint32_t)what);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* A call of the session that is under way, or NULL. */
static const struct hx_context *some_call(const struct hx_session *s)
{
    for (unsigned i = 0; i < FASTRPC_CTX_MAX; i++) {
        const struct hx_context *ctx = s->driver->context[i];

        if (ctx && ctx->session == s && ctx->call && ctx->handle > FASTRPC_HANDLE_MAX_STATIC)
            return ctx;
    }
    return NULL;
}

/* The method that the thread served; for a thread of the skel's own, one that was called then. */
static void set_title(const struct hx_session *s, uint32_t id, char *title)
{
    const struct hx_context *ctx = id && id < FASTRPC_CTX_MAX ? s->driver->context[id] : some_call(s);
    struct hx_call call = {.session = (struct hx_session *)s};
    char text[HX_METHOD_TITLE];

    title[0] = '\0';
    if (!ctx || ctx->session != s || !ctx->call)
        return;
    call.inv = ctx->call->inv;
    memcpy(&call.inv.interface, s->channel.arena + ctx->offset + offsetof(struct hx_invoke, interface), sizeof(call.inv.interface));
    hx_method_title(&call, text);
    snprintf(title, HX_CRASH_TITLE, "%.100s%s", text, id ? "" : " (another thread's)");
}

/* --- what is found ---------------------------------------------------------------------------------------------------- */

/* Report `number`, or NULL: later ones have taken its place. */
static struct hx_crash_report *report_at(struct hx_crashes *c, uint64_t number)
{
    return number && c->n - number < HX_CRASHES_KEPT ? &c->at[(number - 1) % HX_CRASHES_KEPT] : NULL;
}

static void keep(struct hx_crash_look *look, const char *line, size_t n)
{
    struct hx_crash_report *r = report_at(&look->driver->crashes, look->number);

    if (!r || look->used + n + 2 > HX_CRASH_TEXT)
        return;
    memcpy(r->text + look->used, line, n);
    look->used += n;
    r->text[look->used++] = '\n';
    r->text[look->used] = '\0';
}

static void set_held(struct hx_session *s, bool held)
{
    struct hx_crash_report *r = report_at(&s->driver->crashes, s->crash_number);

    s->crash_held = held;
    if (r)
        r->held = held;
}

static void end_line(struct hx_crash_look *look)
{
    if (look->lines++ < LINES_MAX) {
        if (look->session && look->session->channel.rings)
            hx_pd_log_line(&look->session->channel.log, look->line, look->n);
        keep(look, look->line, look->n);
    }
    look->n = 0;
}

/* The rig's environment, which does not change while it runs. */
static bool holds(void)
{
    const char *what = getenv("HEXRIG_CRASH");

    return what && strcmp(what, "hold") == 0;
}

/* A place for one more look, or NULL. */
static struct hx_crash_look **free_entry(struct hx_crashes *c)
{
    for (unsigned i = 0; i < HX_CRASH_LOOKS; i++)
        if (!c->look[i])
            return &c->look[i];
    return NULL;
}

static void forget_look(struct hx_crash_look *look)
{
    struct hx_crashes *c = &look->driver->crashes;

    hx_loop_del(&look->driver->loop, &look->out);
    close(look->out.fd);
    for (unsigned i = 0; i < HX_CRASH_LOOKS; i++)
        if (c->look[i] == look)
            c->look[i] = NULL;
    free(look);
}

/* The look is over: the PD goes on. */
static void end_look(struct hx_crash_look *look)
{
    struct hx_session *s = look->session;

    if (look->n)
        end_line(look);
    if (s) {
        s->crash_look = NULL;
        set_held(s, holds());
        answer(s, s->crash_held ? HX_CRASH_HOLD : HX_CRASH_END);
    }
    forget_look(look);
}

static void out_ready(void *arg)
{
    struct hx_crash_look *look = arg;
    char bytes[2048];
    ssize_t n = read(look->out.fd, bytes, sizeof(bytes));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] == '\n' || look->n == sizeof(look->line))
            end_line(look);
        else
            look->line[look->n++] = bytes[i] >= ' ' && bytes[i] < 0x7f ? bytes[i] : '?';
    if (n <= 0)
        end_look(look);
}

/* --- who looks -------------------------------------------------------------------------------------------------------- */

static int spawn(int brief, int out, int memory)
{
    char program[4096], own[2048];
    char *const argv[] = {"hexrig-crash", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipes;
    pid_t pid;
    int rc;

    hx_own_folder(own, sizeof(own));
    snprintf(program, sizeof(program), "%s/hexrig-crash", own);
    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &pipes);
    rc = posix_spawn_file_actions_adddup2(&files, brief, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (!rc)
        rc = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!rc && memory >= 0)
        rc = posix_spawn_file_actions_adddup2(&files, memory, HX_CRASH_MEMORY_FD);
    if (!rc)
        rc = posix_spawn(&pid, program, &files, &attr, argv, environ); /* reaped as all orphans are */
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return -rc;
}

/* Of `copies` of descriptors none is below 4, where the child's own will be. */
static int start(struct hx_crash_look *look, const struct hx_crash_brief *b)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, fd[3] = {-1, -1, -1}, memory, rc = 0;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)b->pid);
    memory = open(path, O_RDONLY | O_CLOEXEC);
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        rc = -errno;
    if (!rc && write(in[1], b, sizeof(*b)) != (ssize_t)sizeof(*b)) /* fits into any pipe */
        rc = -EIO;
    fd[0] = rc ? -1 : fcntl(in[0], F_DUPFD_CLOEXEC, HX_CRASH_MEMORY_FD + 1);
    fd[1] = rc ? -1 : fcntl(out[1], F_DUPFD_CLOEXEC, HX_CRASH_MEMORY_FD + 1);
    fd[2] = memory < 0 ? -1 : fcntl(memory, F_DUPFD_CLOEXEC, HX_CRASH_MEMORY_FD + 1);
    if (!rc && (fd[0] < 0 || fd[1] < 0))
        rc = -errno;
    if (!rc)
        rc = spawn(fd[0], fd[1], fd[2]);
    if (!rc)
        rc = fcntl(out[0], F_SETFL, O_NONBLOCK) ? -errno : 0;
    look->out = (struct hx_watch){.fd = out[0], .ready = out_ready, .arg = look};
    if (!rc)
        rc = hx_loop_add(&look->driver->loop, &look->out);
    for (size_t i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    for (size_t i = 0; i < 2; i++)
        if (in[i] >= 0)
            close(in[i]);
    if (out[1] >= 0)
        close(out[1]);
    if (memory >= 0)
        close(memory);
    if (rc && out[0] >= 0)
        close(out[0]);
    return rc;
}

static int look_at(struct hx_session *s, pid_t pid)
{
    struct hx_driver *d = s->driver;
    struct hx_crashes *c = &d->crashes;
    struct hx_crash_look **entry = free_entry(c), *look = entry ? calloc(1, sizeof(*look)) : NULL;
    struct hx_crash_brief b = {.pid = pid};
    int rc;

    if (!look)
        return entry ? -ENOMEM : -EAGAIN;
    memcpy(&b.crash, &s->channel.rings->crash, sizeof(b.crash));
    set_title(s, b.crash.ctx_id, b.title);
    *look = (struct hx_crash_look){.driver = d, .session = s, .number = c->n + 1};
    rc = start(look, &b);
    if (rc) {
        free(look);
        return rc;
    }
    s->crash_number = ++c->n;
    *report_at(c, c->n) = (struct hx_crash_report){.session = s->client_id, .client = s->pid, .pd = pid};
    *entry = look;
    s->crash_look = look;
    return 0;
}

bool hx_crash_taken(struct hx_session *s)
{
    pid_t pid;
    int rc;

    if (s->crash_pd) /* it has had its say */
        return false;
    pid = sender(s->channel.ctl);
    if (!pid)
        return false;
    s->crash_pd = pid;
    rc = look_at(s, pid);
    if (rc) {
        hx_log_client("client %d: its PD crashes, and nobody can look where: %s", s->client_id, strerror(-rc));
        answer(s, HX_CRASH_END);
    }
    return true;
}

void hx_crash_forget(struct hx_session *s)
{
    if (s->crash_look)
        s->crash_look->session = NULL;
    s->crash_look = NULL;
    set_held(s, false);
}

void hx_crash_stop(struct hx_driver *d)
{
    for (unsigned i = 0; i < HX_CRASH_LOOKS; i++)
        if (d->crashes.look[i]) {
            if (d->crashes.look[i]->session)
                hx_crash_forget(d->crashes.look[i]->session);
            forget_look(d->crashes.look[i]);
        }
}

/* --- debuggers -------------------------------------------------------------------------------------------------------- */

static bool is_thread_traced(pid_t pid, const char *thread)
{
    static const char key[] = "\nTracerPid:";
    char path[64], text[2048];
    ssize_t n;
    int fd;
    const char *at;

    snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, key);
    return at && atoi(at + sizeof(key) - 1) != 0;
}

/* All threads of it: a debugger takes them one by one, and the one that crashed would end the process if it went on before its turn. */
static bool is_traced(pid_t pid)
{
    const struct dirent *e;
    bool any = false, all = true;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return false;
    while (all && (e = readdir(dir))) {
        if (*e->d_name == '.')
            continue;
        any = true;
        all = is_thread_traced(pid, e->d_name);
    }
    closedir(dir);
    return any && all;
}

void hx_crash_tick(struct hx_driver *d)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++) {
        struct hx_session *s = d->session[i];

        if (!s || !s->crash_held || !is_traced(s->crash_pd))
            continue;
        set_held(s, false);
        answer(s, HX_CRASH_END);
    }
}

void hx_crash_print(const struct hx_driver *d, FILE *f)
{
    const struct hx_crashes *c = &d->crashes;
    const uint64_t first = c->n > HX_CRASHES_KEPT ? c->n - HX_CRASHES_KEPT : 0;

    fprintf(f, "log=%s\n", d->log ? d->log : "");
    for (uint64_t i = first; i < c->n; i++) {
        const struct hx_crash_report *r = &c->at[i % HX_CRASHES_KEPT];
        const char *line = r->text;

        fprintf(f, "crash=%llu session=%d pid=%d pd_pid=%d held=%d\n", (unsigned long long)i + 1, r->session, (int)r->client,
                (int)r->pd, r->held);
        for (size_t n; *line; line += n) {
            n = strcspn(line, "\n") + 1;
            fprintf(f, "  %.*s", (int)n, line);
        }
    }
}
