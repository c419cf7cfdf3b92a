/* What a skel must not do to its own process, to what it has open, or by itself. */
#include "attempts.h"

#include <dirent.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static int child_of(pid_t pid)
{
    if (pid == 0)
        _exit(0);
    return error_of(pid);
}
static int fork_it(void)
{
    return child_of(fork());
}
static int fork_by_clone(void)
{
    return child_of((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0));
}
static int share_memory_with_a_child(void)
{
    return error_of(syscall(SYS_clone, CLONE_VM | CLONE_NEWUSER, NULL, NULL, NULL, 0));
}
static int outlive(void)
{
    return error_of(prctl(PR_SET_PDEATHSIG, 0));
}
static int hide(void)
{
    return error_of(prctl(PR_SET_DUMPABLE, 0));
}
static int be_traced(void)
{
    return error_of(prctl(PR_SET_PTRACER, -1));
}
static int move_own_memory_map(void)
{
    return error_of(prctl(PR_SET_MM, 0, 0, 0, 0));
}
static int add_a_filter(void)
{
    return error_of(prctl(PR_SET_SECCOMP, 2, NULL));
}
static int signal_all(void)
{
    return error_of(kill(-1, 0));
}
static int signal_the_group(void)
{
    return error_of(kill(0, 0));
}
static int signals_by_fd(void)
{
    return error_of(fcntl(0, F_SETOWN, 0));
}
static int another_signal_by_fd(void)
{
    return error_of(fcntl(0, F_SETSIG, 0));
}
static int take_append_from_the_log(void)
{
    return error_of(fcntl(2, F_SETFL, 0));
}
static int empty_the_log(void)
{
    return error_of(ftruncate(2, 1 << 30));
}
static int lock_the_log(void)
{
    struct flock l = {.l_type = F_RDLCK};

    return error_of(fcntl(2, F_SETLK, &l));
}
static int lease_the_log(void)
{
    return error_of(fcntl(2, F_SETLEASE, F_UNLCK));
}
static int type_into_the_terminal(void)
{
    return error_of(ioctl(0, TIOCSTI, ""));
}
static int stop_blocking(void)
{
    int no = 0;

    return error_of(ioctl(0, FIONBIO, &no));
}
static int high_memory(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}
static int run_from_memory(void)
{
    char *const none[] = {NULL};
    int fd = memfd_create("x", 0), error = error_of(syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH));

    close(fd);
    return error;
}
static int own_memfd_by_name(void)
{
    char path[64];
    int fd = memfd_create("x", 0), error;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    error = open_with(path, O_RDWR);
    close(fd);
    return error;
}
static void *return_at_once(void *unused)
{
    return unused;
}
static int make_thread(void)
{
    pthread_t t;
    int error = pthread_create(&t, NULL, return_at_once, NULL);

    return error ? error : pthread_join(t, NULL);
}
static int signal_itself(void)
{
    return pthread_kill(pthread_self(), 0);
}
static int read_own_limits(void)
{
    struct rlimit limit;

    return error_of(getrlimit(RLIMIT_NOFILE, &limit));
}
static int set_own_limit(void)
{
    struct rlimit now = {0, 0};

    return getrlimit(RLIMIT_CORE, &now) ? errno : error_of(prlimit(0, RLIMIT_CORE, &now, NULL));
}
static int make_file(void)
{
    char path[] = "/tmp/hexrig-escaped-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        return errno;
    close(fd);
    unlink(path);
    return 0;
}
static int list_libraries(void)
{
    DIR *d = opendir("/usr/lib");

    if (!d)
        return errno;
    closedir(d);
    return 0;
}

/* Of whatever is memory among its descriptors: 0 when one takes it, else the first refusal. */
static int seal_memory(void)
{
    int first = ENOENT;

    for (int fd = 3; fd < 64; fd++) {
        int error;

        if (fcntl(fd, F_GET_SEALS) < 0)
            continue;
        error = error_of(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
        if (!error)
            return 0;
        if (first == ENOENT)
            first = error;
    }
    return first;
}

static const struct {
    const char *name;
    unsigned long request;
} ioctls[] = {
    {"FS_IOC_SETFLAGS", FS_IOC_SETFLAGS}, {"FIFREEZE", FIFREEZE}, {"FICLONE", FICLONE}, {"FIOASYNC", FIOASYNC},
    {"TIOCSCTTY", TIOCSCTTY}, {"TIOCNOTTY", TIOCNOTTY}, {"TIOCLINUX", TIOCLINUX},
    {"TIOCSETD", TIOCSETD}, {"TIOCSWINSZ", TIOCSWINSZ}, {"TCSETS", TCSETS}, {"TIOCGPTPEER", TIOCGPTPEER},
    {"SIOCGIFCONF", SIOCGIFCONF},
};
static const struct {
    const char *name;
    int command;
} fcntls[] = {
    {"F_SETOWN_EX", F_SETOWN_EX}, {"F_SETLKW", F_SETLKW}, {"F_OFD_SETLK", F_OFD_SETLK}, {"F_NOTIFY", F_NOTIFY},
    {"F_SETPIPE_SZ", F_SETPIPE_SZ}, {"F_SET_RW_HINT", F_SET_RW_HINT}, {"F_GETOWN", F_GETOWN}, {"F_GETLK", F_GETLK},
};

/* Landlock knows no paths there.  Without setns() a namespace of its own is of no use to it. */
static int open_own_namespace(void)
{
    return open_with("/proc/self/ns/mnt", O_RDONLY);
}

static const struct {
    const char *name;
    int (*run)(void);
    int expected;
} others[] = {
    {"fork", fork_it, EPERM},
    {"clone as fork", fork_by_clone, EPERM},
    {"clone into a user namespace", share_memory_with_a_child, EPERM},
    {"a thread", make_thread, 0},
    {"its own namespace", open_own_namespace, 0},
    {"seal what it shares", seal_memory, EPERM},
    {"PR_SET_PDEATHSIG", outlive, EPERM},
    {"PR_SET_DUMPABLE", hide, EPERM},
    {"PR_SET_PTRACER", be_traced, EPERM},
    {"PR_SET_MM", move_own_memory_map, EPERM},
    {"PR_SET_SECCOMP", add_a_filter, EPERM},
    {"kill everybody", signal_all, EPERM},
    {"kill the group", signal_the_group, EPERM},
    {"F_SETOWN", signals_by_fd, EPERM},
    {"F_SETSIG", another_signal_by_fd, EPERM},
    {"F_SETFL of the log", take_append_from_the_log, EPERM},
    {"ftruncate of the log", empty_the_log, EPERM},
    {"F_SETLK of the log", lock_the_log, EPERM},
    {"F_SETLEASE of the log", lease_the_log, EPERM},
    {"TIOCSTI", type_into_the_terminal, EPERM},
    {"FIONBIO", stop_blocking, EPERM},
    {"memory above 4 GiB", high_memory, ENOMEM},
    {"execveat of a memfd", run_from_memory, EPERM},
    {"write a memfd by its name", own_memfd_by_name, EACCES},
    {"set its own limit", set_own_limit, EPERM},
    {"a file in /tmp", make_file, EACCES},
    {"a signal to itself", signal_itself, 0},
    {"its own limits", read_own_limits, 0},
    {"list libraries", list_libraries, 0},
};

size_t hxe_on_itself(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const size_t n = HXE_LEN(others), n_ioctls = HXE_LEN(ioctls);

    (void)in;
    out->expected = EPERM;
    if (i < n) {
        name_it(out, others[i].name, "");
        out->expected = others[i].expected;
        out->error = others[i].run();
    } else if (i - n < n_ioctls) {
        name_it(out, ioctls[i - n].name, "");
        out->error = error_of(ioctl(2, ioctls[i - n].request, NULL));
    } else if (i - n - n_ioctls < HXE_LEN(fcntls)) {
        name_it(out, fcntls[i - n - n_ioctls].name, "");
        out->error = error_of(fcntl(2, fcntls[i - n - n_ioctls].command, NULL));
    }
    return n + n_ioctls + HXE_LEN(fcntls);
}
