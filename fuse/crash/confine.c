/* A reader's sandbox, see confine.h: capabilities, landlock, seccomp, limits.  By system calls, as the PDs' (dsp/pd/sandbox.c): between
 * fork() and exec() no library is asked. */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debug information of large libraries fits; a file that claims more ends its reader. */
enum { MEMORY_MIB = 2048, CPU_S = 10, FILES = 32 };

/* Root's reader still gets at a skel in a home that others may not enter; landlock limits it to that file. */
static const uint64_t kept = 1ull << CAP_DAC_READ_SEARCH;

static int drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &head, data))
        return -errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= (uint32_t)(kept >> (32 * i));
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int limit_resources(void)
{
    static const struct {
        int what;
        rlim_t most;
    } limits[] = {{RLIMIT_AS, (rlim_t)MEMORY_MIB << 20}, {RLIMIT_CPU, CPU_S}, {RLIMIT_FSIZE, 0}, {RLIMIT_CORE, 0}, {RLIMIT_NOFILE, FILES}};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (setrlimit(limits[i].what, &(struct rlimit){limits[i].most, limits[i].most}))
            return -errno;
    return 0;
}

/* --- files ------------------------------------------------------------------------------------------------------ */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE)
/* All that the first version of landlock knows.  Truncating by O_RDONLY | O_TRUNC, which later ones know, the filter below refuses. */
#define EVERYTHING ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

static int allow(int rules, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights};
    struct stat st;
    int rc = 0;

    beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0)
        return errno == ENOENT || errno == EACCES ? 0 : -errno;
    if (fstat(beneath.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        beneath.allowed_access &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0))
        rc = -errno;
    close(beneath.parent_fd);
    return rc;
}

static int limit_files(const char *path)
{
    static const char *const system[] = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.preload"};
    const struct landlock_ruleset_attr attr = {.handled_access_fs = EVERYTHING};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0), rc;

    if (rules < 0)
        return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
    rc = allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
    for (size_t i = 0; i < sizeof(system) / sizeof(system[0]) && !rc; i++)
        rc = allow(rules, system[i], READING);
    if (!rc && syscall(SYS_landlock_restrict_self, rules, 0))
        rc = -errno;
    close(rules);
    return rc;
}

/* --- system calls ----------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OUR_ARCH
/* Of a program that reads files and prints: no process but itself, no signals, no sockets. */
static const int allowed[] = {
    SYS_execve, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_read, SYS_readv, SYS_pread64,
    SYS_write, SYS_writev, SYS_close, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getcwd, SYS_fcntl, SYS_dup, SYS_ioctl, SYS_umask, SYS_futex, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq, SYS_exit,
    SYS_exit_group, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_getrusage, SYS_clock_gettime,
#ifdef __x86_64__
    SYS_arch_prctl, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getrlimit,
#endif
};
enum { N_ALLOWED = sizeof(allowed) / sizeof(allowed[0]) };

/* Which argument of these are the flags: they may only be for reading what is there. */
static const struct {
    int call;
    unsigned flags;
} opens[] = {
    {SYS_openat, 2},
#ifdef __x86_64__
    {SYS_open, 1},
#endif
};
enum { N_OPENS = sizeof(opens) / sizeof(opens[0]), OPEN_CODE = 6 };

static void add_open(struct sock_filter *code, int call, unsigned flags)
{
    const uint32_t others = ~(uint32_t)(O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    const struct sock_filter rule[OPEN_CODE] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, OPEN_CODE - 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * flags)), /* its low half */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, others),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };

    memcpy(code, rule, sizeof(rule));
}

static int limit_calls(void)
{
    struct sock_filter code[4 + OPEN_CODE * N_OPENS + 2 * N_ALLOWED + 1];
    struct sock_fprog prog = {.filter = code};
    size_t n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_OPENS; i++, n += OPEN_CODE)
        add_open(code + n, opens[i].call, opens[i].flags);
    for (size_t i = 0; i < N_ALLOWED; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    prog.len = (unsigned short)n;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        return errno == EINVAL ? 0 : -errno; /* the kernel has no filters */
    return 0;
}
#else
static int limit_calls(void)
{
    return 0; /* the list above is not written for this architecture */
}
#endif

int hx_confine_reader(const char *path)
{
    int rc = drop_capabilities();

    if (!rc && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        rc = -errno;
    if (!rc)
        rc = limit_resources();
    if (!rc)
        rc = limit_files(path);
    return rc ? rc : limit_calls();
}
