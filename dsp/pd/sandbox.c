/* The sandbox of the DSP process: landlock limits files, seccomp limits system calls, and root's capabilities are dropped. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "privileges.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* --- files ------------------------------------------------------------------------------------------------------ */

#define READ_RIGHTS                                                                                \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE)
/* Truncating and ioctl are rights of later kernels, see later_rights[]. */
#define WRITE_RIGHTS                                                                               \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE |                                                              \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |    \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
     LANDLOCK_ACCESS_FS_MAKE_SYM)

/* The headers that we are built with may be older than the kernel that we run on. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
enum { NET_BIND_TCP = 1, NET_CONNECT_TCP = 2, SCOPE_ABSTRACT_UNIX_SOCKET = 1, SCOPE_SIGNAL = 2 };

/* struct landlock_ruleset_attr as of version 6.  Older kernels take a longer structure as long as its rest is 0. */
struct ruleset {
    uint64_t fs, net, scoped;
};

/* What is refused on top of READ_RIGHTS and WRITE_RIGHTS, by the version of landlock that knows it. */
static const struct {
    int version;
    struct ruleset rights;
} later_rights[] = {
    {3, {.fs = LANDLOCK_ACCESS_FS_TRUNCATE}},
    {4, {.net = NET_BIND_TCP | NET_CONNECT_TCP}},
    {5, {.fs = LANDLOCK_ACCESS_FS_IOCTL_DEV}},
    {6, {.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL}},
};

static void add_later_rights(struct ruleset *attr)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    for (size_t i = 0; i < sizeof(later_rights) / sizeof(later_rights[0]); i++)
        if (later_rights[i].version <= version) {
            attr->fs |= later_rights[i].rights.fs;
            attr->net |= later_rights[i].rights.net;
            attr->scoped |= later_rights[i].rights.scoped;
        }
}

/* What loading a shared library needs, besides the skel's own folder. */
static const char *const system_paths[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64",
                                           "/usr/local/lib", "/etc/ld.so.cache",
                                           "/etc/ld.so.preload"};

/* 0, also for what is not there or is not to be read by us, which needs no rule; or negative errno. */
static int allow_reading(int rules, const char *path)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = READ_RIGHTS};
    struct stat st;
    int rc = 0;

    beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0)
        return errno == ENFILE || errno == EMFILE || errno == ENOMEM ? -errno : 0;
    if (fstat(beneath.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        beneath.allowed_access &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0))
        rc = -errno;
    close(beneath.parent_fd);
    return rc;
}

static int allow_skels(int rules, const char *skel_path)
{
    char folder[4096];
    int rc = 0;

    while (*skel_path && !rc) {
        size_t n = strcspn(skel_path, ":;");

        snprintf(folder, sizeof(folder), "%.*s", (int)n, skel_path);
        if (n)
            rc = allow_reading(rules, folder);
        skel_path += n + (skel_path[n] != '\0');
    }
    return rc;
}

/* Without landlock in the kernel: says so, and leaves *limited 0.  A rule that could not be made, for want of descriptors, say, is
 * an error: a DSP without it would go on and load no skel, ever. */
static int limit_files(const char *skel_path, int *limited)
{
    struct ruleset attr = {.fs = READ_RIGHTS | WRITE_RIGHTS};
    int rules, rc = 0;

    add_later_rights(&attr);
    rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    for (size_t i = 0; rules >= 0 && i < sizeof(system_paths) / sizeof(system_paths[0]) && !rc; i++)
        rc = allow_reading(rules, system_paths[i]);
    if (rules >= 0 && !rc)
        rc = allow_skels(rules, skel_path);
    *limited = !rc && rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (!rc && !*limited)
        FARF(ALWAYS, "the kernel has no landlock (%s): skels can read what the user can, and other sessions' memory",
             strerror(errno));
    if (rules >= 0)
        close(rules);
    return rc;
}

/* Landlock lets a process trace only those in its own domain or in one nested in it, and /proc/PID/fd, /proc/PID/mem and
 * pidfd_getfd() ask for the right to trace.  In a domain of its own a PD reaches neither its siblings, whose domains lie beside
 * it, nor the root PD around it, whatever user they run as. */
static int separate_from_other_pds(void)
{
    struct ruleset attr = {.fs = WRITE_RIGHTS}; /* a domain has to refuse something: what is refused already */
    int rules, rc;

    add_later_rights(&attr);
    rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return -errno;
    rc = syscall(SYS_landlock_restrict_self, rules, 0) ? -errno : 0;
    close(rules);
    return rc;
}

/* --- system calls ----------------------------------------------------------------------------------------------- */

#ifdef OUR_ARCH
/* Memory, threads, the channel's descriptors, time, loading libraries.  No exec, no sockets of its own, no other
 * processes' memory, no mounts.  What only the root PD needs of this (fork, kill, landlock) is taken from user PDs below. */
static const int allowed[] = {
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mlock, SYS_munlock,
    SYS_membarrier, SYS_memfd_create, SYS_ftruncate,
    SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_close, SYS_close_range, SYS_lseek,
    SYS_openat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getdents64, SYS_getcwd, SYS_fcntl, SYS_dup, SYS_dup3, SYS_ioctl, SYS_eventfd2,
    SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_recvfrom, SYS_shutdown, SYS_ppoll, SYS_signalfd4,
    SYS_futex, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq,
    SYS_set_tid_address, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill, SYS_tgkill,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack,
    SYS_restart_syscall, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres,
    SYS_gettimeofday, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid,
    SYS_getegid, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_prlimit64, SYS_getrusage, SYS_getcpu,
    SYS_prctl, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_mbind,
    SYS_set_mempolicy, SYS_get_mempolicy, SYS_landlock_create_ruleset, SYS_landlock_restrict_self,
#ifdef __x86_64__
    SYS_arch_prctl, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_fork,
    SYS_vfork, SYS_time, SYS_dup2, SYS_getrlimit, SYS_epoll_wait,
#endif
};
#define N_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

/* A refused call gives EPERM: a skel that tries is told, and its PD lives. */
static int limit_calls(void)
{
    struct sock_filter code[4 + 2 * N_ALLOWED + 1];
    struct sock_fprog prog = {.filter = code};
    size_t n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_ALLOWED; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i],
                                                 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    prog.len = (unsigned short)n;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

/* The 32 bits of an argument that the kernel looks at when it is an int; of a wider one, its halves. */
#define LOW(arg)  offsetof(struct seccomp_data, args[arg]) /* both architectures are little-endian */
#define HIGH(arg) (LOW(arg) + 4)

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* How a user PD may make a call that the list above allows: only when (word & mask) is one of the n values.  A call with
 * several rules has to satisfy all; one whose rule has n = 0 is refused. */
struct rule {
    int nr, error; /* errno of a refused call */
    uint32_t word; /* offset in struct seccomp_data */
    uint32_t mask;
    uint32_t n, value[8];
    int except; /* inverted: value[0], the only one, is refused */
};

/* glibc's pthread_create(), bit for bit. */
#define THREAD_FLAGS                                                                                 \
    ((uint32_t)(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |   \
                CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID))

/* The headers that we are built with may be older than the C library that we run with. */
enum { ADVISE_POPULATE_READ = 22, ADVISE_POPULATE_WRITE = 23, ADVISE_GUARD_INSTALL = 102, ADVISE_GUARD_REMOVE = 103 };

/* What open() may be asked for: reading, and what changes nothing.  Not O_CREAT, O_TRUNC and O_TMPFILE, nor the access mode 3,
 * for which a kernel wants no right of landlock's, nor O_PATH, which landlock lets through everywhere. */
#define READ_FLAGS \
    ((uint32_t)(O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK))

enum { RULE_CODE_MAX = 6 + 8 }; /* instructions of one rule */

static size_t add_rule(struct sock_filter *code, const struct rule *r)
{
    size_t n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->nr, 0,
                                             (uint8_t)(r->n + 3));
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, r->word);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask);
    for (uint32_t i = 0; i < r->n; i++) { /* jumps to behind the refusal */
        uint8_t equal = r->except ? 0 : (uint8_t)(r->n - i), other = r->except != 0;

        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->value[i], equal,
                                                 other);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                             SECCOMP_RET_ERRNO | (uint32_t)r->error);
    return n;
}

/* A user PD is one process that acts on itself alone: it starts threads, not processes, and signals nobody else, so that it
 * ends with the DSP and ends nobody else. */
static int limit_pd_calls(void)
{
    const uint32_t own = (uint32_t)getpid(), all = ~0u;
    const struct rule rules[] = {
#ifdef __x86_64__
        {.nr = SYS_fork, .error = EPERM},
        {.nr = SYS_vfork, .error = EPERM},
        {SYS_open, EACCES, LOW(1), ~READ_FLAGS, 1, {0}, 0},
#endif
        {SYS_openat, EACCES, LOW(2), ~READ_FLAGS, 1, {0}, 0},
        /* it would reach what is open already: the log, the client's buffers */
        {.nr = SYS_ftruncate, .error = EPERM},
        {.nr = SYS_landlock_create_ruleset, .error = EPERM},
        {.nr = SYS_landlock_restrict_self, .error = EPERM},
        {.nr = SYS_clone3, .error = ENOSYS}, /* its flags lie in memory; libc then takes clone */
        {SYS_clone, EPERM, LOW(0), all, 1, {THREAD_FLAGS}, 0},
        /* what we use (dsp/machine), and malloc and pthread_create of this and of later glibcs; not what poisons pages
         * (MADV_HWPOISON), shares them (MADV_MERGEABLE), or takes them from a file that others have mapped (MADV_REMOVE) */
        {SYS_madvise, EPERM, LOW(2), all, 6, {MADV_DONTNEED, MADV_HUGEPAGE, ADVISE_POPULATE_READ, ADVISE_POPULATE_WRITE,
                                              ADVISE_GUARD_INSTALL, ADVISE_GUARD_REMOVE}, 0},
        {SYS_kill, EPERM, LOW(0), all, 1, {own}, 0},
        {SYS_tgkill, EPERM, LOW(0), all, 1, {own}, 0},
        {SYS_sched_setaffinity, EPERM, LOW(0), all, 1, {0}, 0},
        {SYS_prlimit64, EPERM, LOW(0), all, 2, {0, own}, 0},
        {SYS_prlimit64, EPERM, LOW(2), all, 1, {0}, 0}, /* reading only */
        {SYS_prlimit64, EPERM, HIGH(2), all, 1, {0}, 0},
        {SYS_prctl, EPERM, LOW(0), all, 3, {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA}, 0},
        /* not F_SETOWN and F_SETSIG, which send signals, nor F_SETFL, which takes O_APPEND from the log and changes the flags
         * of what the client or its shell has open, too */
        {SYS_fcntl, EPERM, LOW(1), all, 7, {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
                                           F_ADD_SEALS, F_GET_SEALS}, 0},
        {SYS_ioctl, EPERM, LOW(1), all, 1, {TCGETS}, 0}, /* stdio's question for a terminal; TIOCSTI would type into it */
        /* what malloc does when brk meets a map: it would go on above 4 GiB, where a skel's memory must not be */
        {SYS_mmap, ENOMEM, LOW(3), all, 1, {MAP_PRIVATE | MAP_ANONYMOUS}, 1},
    };
    struct sock_filter code[sizeof(rules) / sizeof(rules[0]) * RULE_CODE_MAX + 1];
    struct sock_fprog prog = {.filter = code};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        n += add_rule(code + n, &rules[i]);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    prog.len = (unsigned short)n;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}
#else
static int limit_calls(void)
{
    return -ENOSYS; /* the list above is not written for this architecture */
}
static int limit_pd_calls(void)
{
    return -ENOSYS;
}
#endif

/* Written by hx_sandbox(), before any other thread or process. */
static int files_limited, calls_limited;

int hx_sandbox(const char *skel_path)
{
    int rc = hx_drop_privileges();

    if (rc)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)skel_path;
    (void)limit_files;
    (void)separate_from_other_pds;
    (void)files_limited;
    (void)limit_calls;
    (void)limit_pd_calls;
    (void)calls_limited;
    return 0;
#else
    rc = limit_files(skel_path, &files_limited);
    if (rc)
        return rc;
    rc = limit_calls();
    if (rc)
        FARF(ALWAYS, "no seccomp filter (%s): skels can make any system call", strerror(-rc));
    calls_limited = rc == 0;
    return 0;
#endif
}

int hx_sandbox_user_pd(void)
{
    int rc = 0;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    rc = files_limited ? separate_from_other_pds() : 0;
#endif
    return !rc && calls_limited ? limit_pd_calls() : rc;
}
