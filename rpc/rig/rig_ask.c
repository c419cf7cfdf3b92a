/* Asking a rig for a text node.  A rig that was stopped (SIGSTOP, a debugger) does not answer, and a file system that does
 * not answer blocks even stat(): so a thread asks, and the caller waits for it with a limit. */
#include "hx_rig_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "hx_text_attribute.h"
#include "hx_transport.h"

enum { AGAIN_MS = 20 };

struct question {
    pthread_mutex_t lock; /* protects all below but the strings */
    pthread_cond_t answered;
    int done;
    int left; /* nobody waits any more: the thread frees it */
    const char *kind;
    char *text;
    int rc;
    char node[HX_PATH_BYTES], name[64];
};

/* NULL and errno when it is not there. */
static const char *node_kind(const char *node)
{
    struct stat st;

    if (stat(node, &st))
        return NULL;
    if (S_ISSOCK(st.st_mode))
        return "socket";
    if (S_ISCHR(st.st_mode))
        return "cuse";
    errno = EINVAL;
    return S_ISREG(st.st_mode) ? "fuse" : NULL;
}

static int read_all(int fd, char **text)
{
    size_t n = 0, room = 65536;
    char *t = malloc(room + 1);
    ssize_t got = 1;
    int rc = t ? 0 : -ENOMEM;

    while (rc == 0 && got > 0 && n < HX_FRAME_MAX_TEXT) {
        if (n == room) {
            char *bigger = realloc(t, 2 * room + 1);

            if (!bigger) {
                rc = -ENOMEM;
                break;
            }
            t = bigger;
            room *= 2;
        }
        got = read(fd, t + n, room - n);
        if (got < 0)
            rc = -errno;
        else
            n += (size_t)got;
    }
    if (rc) {
        free(t);
        return rc;
    }
    t[n] = '\0';
    *text = t;
    return 0;
}

/* Any file may be called `status`: a rig's lies on a FUSE mount, and names a process id. */
static int read_file(const char *path, const char *name, char **text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    struct statfs fs;
    char pid[32];

    if (fd < 0)
        return -errno;
    if (fstatfs(fd, &fs) || fs.f_type != FUSE_SUPER_MAGIC)
        rc = -ENOENT;
    else
        rc = read_all(fd, text);
    close(fd);
    if (rc == 0 && strcmp(name, "status") == 0 &&
        atoi(hx_rig_value(*text, "pid", pid, sizeof(pid))) <= 0) {
        free(*text);
        *text = NULL;
        rc = -ENOENT;
    }
    return rc;
}

/* The text of a node that has no text nodes beside it: bind-mounted alone.  -ENOENT when it is no rig's. */
static int read_attribute(const char *node, const char *name, char **text)
{
    char attribute[128], *t = malloc(HX_TEXT_ATTRIBUTE_MAX + 1);
    struct statfs fs;
    ssize_t n = -1;

    if (!t)
        return -ENOMEM;
    snprintf(attribute, sizeof(attribute), HX_TEXT_ATTRIBUTE "%.64s", name);
    if (statfs(node, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC)
        n = getxattr(node, attribute, t, HX_TEXT_ATTRIBUTE_MAX);
    if (n < 0) {
        free(t);
        return -ENOENT;
    }
    t[n] = '\0';
    *text = t;
    return 0;
}

static int ask(const char *node, const char *name, const char **kind, char **text)
{
    char path[HX_PATH_BYTES + 64];
    const char *slash = strrchr(node, '/');
    int rc;

    *kind = node_kind(node);
    /* while the DSP restarts, the text is there and the devices are not */
    if (!*kind && errno != ENOENT)
        return -errno;
    if (*kind && strcmp(*kind, "socket") == 0)
        return hx_transport_socket_read(node, name, text);
    if ((size_t)snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - node + 1) : 0, node,
                         name) >= sizeof(path))
        return -ENAMETOOLONG;
    rc = read_file(path, name, text);
    return rc == -ENOENT && *kind ? read_attribute(node, name, text) : rc;
}

static void question_free(struct question *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->answered);
    free(q->text);
    free(q);
}

static void *asker(void *arg)
{
    struct question *q = arg;
    const char *kind = NULL;
    char *text = NULL;
    int rc = ask(q->node, q->name, &kind, &text), left;

    pthread_mutex_lock(&q->lock);
    q->kind = kind;
    q->text = text;
    q->rc = rc;
    q->done = 1;
    left = q->left;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
    if (left)
        question_free(q);
    return NULL;
}

/* The program's signal handlers expect the program's own threads. */
static int start_asker(struct question *q)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&thread, &attr, asker, q);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return -rc;
}

static struct question *question_new(const char *node, const char *name)
{
    struct question *q = calloc(1, sizeof(*q));
    pthread_condattr_t attr;

    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->answered, &attr);
    pthread_condattr_destroy(&attr);
    snprintf(q->node, sizeof(q->node), "%s", node);
    snprintf(q->name, sizeof(q->name), "%s", name);
    return q;
}

int hx_rig_ask(const char *node, const char *name, const char **kind, char **text)
{
    struct question *q;
    struct timespec end;
    int rc, late = 0;

    if (kind)
        *kind = NULL;
    if (strlen(node) >= sizeof(q->node) || strlen(name) >= sizeof(q->name))
        return -ENAMETOOLONG;
    q = question_new(node, name);
    rc = q ? start_asker(q) : -ENOMEM;
    if (rc) {
        if (q)
            question_free(q);
        return rc;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += HX_NODE_LIMIT_S;
    pthread_mutex_lock(&q->lock);
    while (!q->done && !late)
        late = pthread_cond_timedwait(&q->answered, &q->lock, &end) == ETIMEDOUT;
    if (!q->done) {
        q->left = 1;
        pthread_mutex_unlock(&q->lock);
        return -ETIMEDOUT;
    }
    pthread_mutex_unlock(&q->lock);
    rc = q->rc;
    if (kind)
        *kind = q->kind;
    if (rc == 0) {
        *text = q->text;
        q->text = NULL;
    }
    question_free(q);
    return rc;
}

/* 1: it is a program of this name, and of nobody but us or root.  Asks only for what every process answers at once. */
static int is_program(const char *pid, const char *program)
{
    char path[64], comm[32] = "";
    struct stat st;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = fstat(fd, &st) ? -1 : read(fd, comm, sizeof(comm) - 1);
    close(fd);
    return n > 0 && (st.st_uid == geteuid() || st.st_uid == 0) && comm[n - 1] == '\n' &&
           strncmp(comm, program, (size_t)n - 1) == 0 && !program[n - 1];
}

/* Reading cmdline waits for as long as a thread of that process is in mmap(), which can be for ever; anybody can arrange that. */
ssize_t hx_rig_program_args(const char *pid, const char *program, char *args, size_t bytes)
{
    char path[64];
    ssize_t n;
    int fd;

    if (!is_program(pid, program))
        return -1;
    snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, args, bytes - 1);
    if (fd >= 0)
        close(fd);
    if (n > 0)
        args[n] = '\0';
    return n > 0 ? n : -1;
}

static int is_rig_of(const char *pid, const char *dir)
{
    char args[8192];
    ssize_t n = hx_rig_program_args(pid, "hexrig-fuse", args, sizeof(args));

    for (char *p = args; n > 0 && p < args + n; p += strlen(p) + 1)
        if (strcmp(p, "--mount") == 0 && p + sizeof("--mount") < args + n)
            return strcmp(p + sizeof("--mount"), dir) == 0;
    return 0;
}

/* The process that serves dir, found without asking it; 0 = none. */
static int find_rig_pid(const char *dir)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int pid = 0;

    while (d && !pid && (e = readdir(d)))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_rig_of(e->d_name, dir))
            pid = atoi(e->d_name);
    if (d)
        closedir(d);
    return pid;
}

int hx_rig_has_gone(int rc)
{
    return rc == -ENOTCONN || rc == -ECONNREFUSED || rc == -ECONNABORTED || rc == -ECONNRESET;
}

int hx_rig_ask_settled(const char *node, const char *name, const char **kind, char **text)
{
    char dir[HX_PATH_BYTES];
    const char *slash = strrchr(node, '/');
    int rc = hx_rig_ask(node, name, kind, text);

    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - node) : 1, slash ? node : ".");
    for (int ms = 0; hx_rig_has_gone(rc) && ms <= HX_RIG_AWAY_MS; ms += AGAIN_MS) {
        int pid = find_rig_pid(dir);

        if (pid)
            usleep(AGAIN_MS * 1000);
        rc = hx_rig_ask(node, name, kind, text); /* what is so when nobody is there to change it stays so */
        if (!pid)
            break;
    }
    return hx_rig_has_gone(rc) ? -ENOTCONN : rc;
}

int hx_rig_wait_node(const char *node, const char **kind)
{
    for (int ms = 0; ms <= HX_RIG_AWAY_MS; ms += AGAIN_MS) {
        char *text = NULL;
        int rc = hx_rig_ask_settled(node, "status", kind, &text);

        free(text);
        if (rc || *kind)
            return rc;
        usleep(AGAIN_MS * 1000);
    }
    return -ENOENT;
}

int hx_rig_at(const char *dir, char **status)
{
    char node[HX_PATH_BYTES];
    int rc = hx_rig_join(node, sizeof(node), dir, HX_NODE);

    if (rc == 0)
        rc = hx_rig_ask_settled(node, "status", NULL, status);
    if (rc == -ENOTDIR)
        rc = -ENOENT;
    /* its mount or its folder was taken away, and it is about to notice */
    for (int ms = 0; rc == -ENOENT && ms <= HX_RIG_AWAY_MS && find_rig_pid(dir); ms += AGAIN_MS) {
        usleep(AGAIN_MS * 1000);
        rc = hx_rig_ask_settled(node, "status", NULL, status);
    }
    if (rc == -ETIMEDOUT && hx_rig_is_own_mount(dir) && !find_rig_pid(dir))
        return -ENOTCONN;
    return rc;
}

int hx_rig_read_failed(int rc, const char *dir, char *why, size_t why_bytes)
{
    int pid;

    if (rc == -ENOENT || rc == -ENOTDIR)
        return hx_rig_why(rc, why, why_bytes, "%s: no rig runs there", dir);
    if (rc == -ENOTCONN)
        return hx_rig_why(rc, why, why_bytes, "%s: the rig has died; hexrig down cleans up", dir);
    if (rc != -ETIMEDOUT)
        return hx_rig_why(rc, why, why_bytes, "%s: status: %s", dir, strerror(-rc));
    pid = find_rig_pid(dir);
    if (pid)
        return hx_rig_why(rc, why, why_bytes, "%s: the rig does not answer; kill -9 %d ends it, "
                          "then hexrig down cleans up", dir, pid);
    return hx_rig_why(rc, why, why_bytes, "%s: does not answer", dir);
}
