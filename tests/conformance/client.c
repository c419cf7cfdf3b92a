/* Helpers of the points, see client.h. */
#include "client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10, SOON_S = 60, QUICK_STEPS = 50 };
#define STEP_MOST_S 0.05

/* --- checks ----------------------------------------------------------------------------------------------------- */

static int report = 2;

void point_report_to(int fd)
{
    report = fd;
}

static _Noreturn void fail(const char *fmt, va_list ap)
{
    char err[512];
    int n = vsnprintf(err, sizeof(err), fmt, ap);

    if (write(report, err, (size_t)n < sizeof(err) ? (size_t)n : sizeof(err) - 1) < 0)
        _exit(2);
    _exit(1);
}

void need(bool ok, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!ok)
        fail(fmt, ap);
    va_end(ap);
}

void need_is(long long got, long long want, const char *what)
{
    need(got == want, "%s is %lld (0x%llx), not %lld (0x%llx)", what, got, got, want, want);
}

void need_errno(int rc, int error, const char *what)
{
    int got = errno;

    need(rc == -1, "%s: result %d, not -1 with %s", what, rc, strerror(error));
    need(got == error, "%s: %s, not %s", what, strerror(got), strerror(error));
}

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double sleep_ns(long ns)
{
    const struct timespec pause = {.tv_nsec = ns};
    double start = now_s(), took;

    nanosleep(&pause, NULL);
    took = now_s() - start;
    return took < STEP_MOST_S ? took : STEP_MOST_S;
}

double step_s(void)
{
    return sleep_ns(10000000);
}

void need_soon(bool (*ready)(void *arg), void *arg, const char *what)
{
    double waited = 0;

    for (int i = 0; !ready(arg); i++) {
        need(waited < SOON_S, "%s: not within %d s", what, SOON_S);
        waited += i < QUICK_STEPS ? sleep_ns(200000) : step_s();
    }
}

static bool runs(pid_t pid, const char *thread)
{
    char path[80], text[512] = "", *name_end;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", pid, thread);
    f = fopen(path, "re");
    if (!f)
        return false;
    name_end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
    fclose(f);
    return name_end && !strchr("TtZ", name_end[2]);
}

static bool is_stopped(void *pid)
{
    char path[64];
    struct dirent *e;
    bool some = false;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", *(pid_t *)pid);
    d = opendir(path);
    while (d && !some && (e = readdir(d)))
        some = e->d_name[0] != '.' && runs(*(pid_t *)pid, e->d_name);
    if (d)
        closedir(d);
    return !some;
}

void stop_process(pid_t pid)
{
    need(kill(pid, SIGSTOP) == 0, "kill: %s", strerror(errno));
    need_soon(is_stopped, &pid, "a process is stopped");
}

static _Atomic double seconds_awake;

static void *count_seconds(void *unused)
{
    for (;;)
        seconds_awake = seconds_awake + step_s();
    return unused;
}

double awake_s(void)
{
    static pthread_t counter;
    sigset_t all, old;

    if (!counter) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        need(pthread_create(&counter, NULL, count_seconds, NULL) == 0, "pthread_create");
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    return seconds_awake;
}

/* --- files and PDs ---------------------------------------------------------------------------------------------- */

int open_node(const char *node)
{
    int h = dev->open(node);

    need(h >= 0, "open %s: %s", node, strerror(errno));
    return h;
}

int init_create(int h, uint32_t attrs, uint32_t filelen)
{
    struct fastrpc_init_create c = {.filelen = filelen, .filefd = -1, .attrs = attrs};

    return dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c);
}

/* open1 of remotectl1 (static handle 8). */
uint32_t load_skel(int h)
{
    static const char uri[] = HXT_SKEL_URI;
    uint32_t in[2] = {sizeof(uri), 256};
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, -1};
    char dlerr[256] = "";
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in)), arg(uri, sizeof(uri)),
                                       arg(&out, sizeof(out)), arg(dlerr, sizeof(dlerr))};
    int rc = invoke(h, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(2, 2, 2), a);

    need(rc == 0, "open1 returned 0x%x (%s)", (unsigned)rc, strerror(errno));
    need(out.error == 0, "the test skel cannot be opened: 0x%x %s", (unsigned)out.error, dlerr);
    return out.handle;
}

struct file open_skel(void)
{
    struct file f = {.h = open_node("fastrpc-cdsp")};
    int rc = init_create(f.h, FASTRPC_MODE_UNSIGNED_MODULE, 0);

    need(rc == 0, "INIT_CREATE: 0x%x (%s)", (unsigned)rc, strerror(errno));
    f.skel = load_skel(f.h);
    return f;
}

void close_file(struct file f)
{
    need_is(dev->close(f.h), 0, "close()");
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

struct fastrpc_invoke_args arg(const void *p, size_t n)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, -1, 0};
}

struct fastrpc_invoke_args arg_fd(const struct shared *s, size_t offset, size_t n)
{
    return (struct fastrpc_invoke_args){(uintptr_t)s->p + offset, n, s->fd, 0};
}

int invoke(int h, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args)
{
    struct fastrpc_invoke inv = {handle, sc, (uintptr_t)args};

    return dev->ioctl(h, FASTRPC_IOCTL_INVOKE, &inv);
}

int call0(struct file f, enum hxt_method m, int code, uint32_t value)
{
    struct hxt_in in = {code, value};
    struct fastrpc_invoke_args a[1] = {arg(&in, sizeof(in))};

    return invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(m, 1, 0), a);
}

int call1(struct file f, enum hxt_method m, int code, uint32_t value, void *out, size_t n)
{
    struct hxt_in in = {code, value};
    struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg(out, n)};

    return invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(m, 1, 1), a);
}

int echo(struct file f, int code, struct fastrpc_invoke_args in, struct fastrpc_invoke_args out)
{
    struct hxt_in head = {code, 0};
    struct fastrpc_invoke_args a[3] = {arg(&head, sizeof(head)), in, out};

    return invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a);
}

struct hx_session_stats stats(struct file f)
{
    struct hx_session_stats s = {0};

    need_is(dev->ioctl(f.h, HX_IOCTL_SESSION_STATS, &s), 0, "HX_IOCTL_SESSION_STATS");
    return s;
}

/* --- shared memory ---------------------------------------------------------------------------------------------- */

static struct shared shared[SHARED_MAX]; /* p = NULL: free */

struct shared *shared_get_at(size_t bytes, int fd)
{
    struct shared *s = shared;
    int mem = memfd_create("conformance", MFD_CLOEXEC);

    while (s < shared + SHARED_MAX && s->p)
        s++;
    need(s < shared + SHARED_MAX && mem >= 0 && ftruncate(mem, (off_t)bytes) == 0, "no shared memory");
    if (fd >= 0) {
        need(dup3(mem, fd, O_CLOEXEC) == fd, "dup3: %s", strerror(errno));
        close(mem);
        mem = fd;
    }
    s->fd = mem;
    s->bytes = bytes;
    s->p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    need(s->p != MAP_FAILED, "mmap: %s", strerror(errno));
    return s;
}

struct shared *shared_get(size_t bytes)
{
    return shared_get_at(bytes, -1);
}

void shared_put(struct shared *s)
{
    munmap(s->p, s->bytes);
    close(s->fd);
    *s = (struct shared){0};
}

/* --- threads inside a call -------------------------------------------------------------------------------------- */

struct shared *gate_get(void)
{
    return shared_get(4096);
}

struct hxt_gate *gate_of(const struct shared *s)
{
    return (struct hxt_gate *)s->p;
}

void gate_open(struct shared *s)
{
    __atomic_store_n(&gate_of(s)->open, 1, __ATOMIC_SEQ_CST);
}

bool gate_was_left(const struct shared *gate)
{
    return __atomic_load_n(&gate_of(gate)->done, __ATOMIC_SEQ_CST) > 0;
}

struct wanted {
    struct shared *gate;
    unsigned n;
};

static bool have_left(void *p)
{
    struct wanted *w = p;

    return __atomic_load_n(&gate_of(w->gate)->done, __ATOMIC_SEQ_CST) >= w->n;
}

void need_left(struct shared *gate, unsigned n)
{
    struct wanted w = {gate, n};
    char what[64];

    snprintf(what, sizeof(what), "%u calls have left the DSP", n);
    need_soon(have_left, &w, what);
}

static bool are_inside(void *p)
{
    struct wanted *w = p;

    return __atomic_load_n(&gate_of(w->gate)->inside, __ATOMIC_SEQ_CST) >= w->n;
}

void need_inside(struct shared *gate, unsigned n)
{
    struct wanted w = {gate, n};
    char what[64];

    snprintf(what, sizeof(what), "%u calls inside the DSP", n);
    need_soon(are_inside, &w, what);
}

int wait_at(struct file f, struct shared *gate, int code)
{
    struct hxt_in in = {code, 60000};
    struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg_fd(gate, 0, sizeof(struct hxt_gate))};

    return invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_WAIT, 2, 0), a);
}

static void *run_waiter(void *p)
{
    struct waiter *w = p;

    w->result = wait_at(w->f, w->gate, w->code);
    w->error = errno;
    return NULL;
}

void waiter_start(struct waiter *w, struct file f, struct shared *gate, int code)
{
    pthread_attr_t attr;
    int rc;

    *w = (struct waiter){.f = f, .gate = gate, .code = code};
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    rc = pthread_create(&w->thread, &attr, run_waiter, w);
    need(rc == 0, "pthread_create: %s", strerror(rc));
    pthread_attr_destroy(&attr);
}

void waiter_join(struct waiter *w)
{
    pthread_join(w->thread, NULL);
}

static void on_signal(int sig)
{
    (void)sig;
}

void waiter_interrupt(struct waiter *w)
{
    const struct sigaction sa = {.sa_handler = on_signal}; /* no SA_RESTART */
    double waited = 0;
    int rc = EBUSY;

    sigaction(SIGUSR1, &sa, NULL);
    while (rc) {
        need(waited < SOON_S, "the signal does not end the wait");
        pthread_kill(w->thread, SIGUSR1);
        for (int i = 0; i < 100 && (rc = pthread_tryjoin_np(w->thread, NULL)) != 0; i++)
            waited += sleep_ns(1000000);
    }
    errno = w->error;
    need_errno(w->result, EINTR, "an interrupted call");
}

/* --- processes -------------------------------------------------------------------------------------------------- */

pid_t fork_child(void)
{
    pid_t parent = getpid(), pid = fork();

    need(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

int end_of(pid_t pid)
{
    int status = -1;

    need(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
    return status;
}

/* --- the rig's own figures -------------------------------------------------------------------------------------- */

long status_number(const char *key)
{
    char *text = dev->text("status"), find[64], *at;
    long v = -1;

    snprintf(find, sizeof(find), "\n%s=", key);
    at = text ? strstr(text, find) : NULL;
    if (at)
        v = strtol(at + strlen(find), NULL, 10);
    free(text);
    return v;
}

bool no_session_is_open(void *unused)
{
    (void)unused;
    return status_number("sessions") == 0;
}
