/* The escape skel, see hxt_escape.h.  An attempt that is not refused does no harm: signals are 0, arguments of what would
 * change the machine are wrong, and files are those that the test made for this. */
#include "hxt_escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote.h"

enum { FDS_LOOKED_AT = 64, X32_BIT = 0x40000000 };

static char scratch[4096];

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

/* --- files; each tries on the path that it is given ------------------------------------------------------------------- */

static int open_with(const char *path, int flags)
{
    int fd = open(path, flags, 0600), error = errno;

    if (fd < 0)
        return error;
    close(fd);
    return 0;
}

static int read_it(const char *path)
{
    return open_with(path, O_RDONLY);
}
static int write_it(const char *path)
{
    return open_with(path, O_WRONLY);
}
static int read_and_write_it(const char *path)
{
    return open_with(path, O_RDWR);
}
static int append_to_it(const char *path)
{
    return open_with(path, O_WRONLY | O_APPEND);
}
static int open_without_access(const char *path)
{
    return open_with(path, O_ACCMODE);
}
static int truncate_without_access(const char *path)
{
    return open_with(path, O_ACCMODE | O_TRUNC);
}
static int truncate_as_reader(const char *path)
{
    return open_with(path, O_RDONLY | O_TRUNC);
}
static int truncate_by_raw_openat(const char *path)
{
    return error_of(syscall(SYS_openat, AT_FDCWD, path, O_ACCMODE | O_TRUNC, 0));
}
static int truncate_by_path(const char *path)
{
    return error_of(truncate(path, 0));
}
static int truncate_by_openat2(const char *path)
{
    uint64_t how[3] = {O_RDONLY | O_TRUNC};

    return error_of(syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how)));
}
static int truncate_what_is_open(const char *path)
{
    int fd = open(path, O_RDONLY), error = fd < 0 ? errno : error_of(ftruncate(fd, 0));

    close(fd);
    return error;
}
static int create_beside(const char *path)
{
    char name[256];

    snprintf(name, sizeof(name), "%.240s.new", path);
    return open_with(name, O_RDONLY | O_CREAT);
}
static int create_unnamed(const char *path)
{
    char folder[256];

    snprintf(folder, sizeof(folder), "%.240s", path);
    *strrchr(folder, '/') = '\0';
    return open_with(folder, O_TMPFILE | O_RDWR);
}
static int open_as_path(const char *path)
{
    return open_with(path, O_PATH);
}
#ifdef __x86_64__
static int truncate_by_raw_open(const char *path)
{
    return error_of(syscall(SYS_open, path, O_ACCMODE | O_TRUNC, 0));
}
static int truncate_by_creat(const char *path)
{
    return error_of(syscall(SYS_creat, path, 0600));
}
#endif
static int unlink_it(const char *path)
{
    return error_of(unlink(path));
}
static int rename_it(const char *path)
{
    return error_of(rename(path, path));
}
static int link_it(const char *path)
{
    return error_of(link(path, path));
}
static int make_symlink(const char *path)
{
    return error_of(symlink(path, path));
}
static int make_folder(const char *path)
{
    return error_of(mkdirat(AT_FDCWD, path, 0700));
}
static int make_node(const char *path)
{
    return error_of(mknodat(AT_FDCWD, path, 0600, 0));
}
static int change_mode(const char *path)
{
    return error_of(fchmodat(AT_FDCWD, path, 0600, 0));
}
static int change_owner(const char *path)
{
    return error_of(fchownat(AT_FDCWD, path, (uid_t)-1, (gid_t)-1, 0));
}
static int change_times(const char *path)
{
    return error_of(utimensat(AT_FDCWD, path, NULL, 0));
}
static int change_attribute(const char *path)
{
    return error_of(syscall(SYS_setxattr, path, "user.x", "x", 1, 0));
}
static int run_it(const char *path)
{
    char *const argv[] = {"x", NULL};

    return error_of(execv(path, argv));
}

static const struct {
    const char *name;
    int (*run)(const char *path);
    int file, skel_file; /* expected of either */
} on_files[] = {
    {"read", read_it, EACCES, 0},
    {"write", write_it, EACCES, EACCES},
    {"read and write", read_and_write_it, EACCES, EACCES},
    {"append", append_to_it, EACCES, EACCES},
    {"open, access mode 3", open_without_access, EACCES, EACCES},
    {"truncate, access mode 3", truncate_without_access, EACCES, EACCES},
    {"truncate as a reader", truncate_as_reader, EACCES, EACCES},
    {"truncate by openat", truncate_by_raw_openat, EACCES, EACCES},
#ifdef __x86_64__
    {"truncate by open", truncate_by_raw_open, EACCES, EACCES},
    {"truncate by creat", truncate_by_creat, EPERM, EPERM},
#endif
    {"truncate by openat2", truncate_by_openat2, EPERM, EPERM},
    {"truncate by path", truncate_by_path, EPERM, EPERM},
    {"truncate what is open", truncate_what_is_open, EACCES, EPERM},
    {"create beside", create_beside, EACCES, EACCES},
    {"create unnamed", create_unnamed, EACCES, EACCES},
    {"open as a path", open_as_path, EACCES, EACCES},
    {"unlink", unlink_it, EPERM, EPERM},
    {"rename", rename_it, EPERM, EPERM},
    {"link", link_it, EPERM, EPERM},
    {"symlink", make_symlink, EPERM, EPERM},
    {"mkdir", make_folder, EPERM, EPERM},
    {"mknod", make_node, EPERM, EPERM},
    {"chmod", change_mode, EPERM, EPERM},
    {"chown", change_owner, EPERM, EPERM},
    {"utimensat", change_times, EPERM, EPERM},
    {"setxattr", change_attribute, EPERM, EPERM},
    {"exec", run_it, EPERM, EPERM},
};

/* --- other processes of the rig ------------------------------------------------------------------------------------------ */

/* Opens a path below /proc/PID: 0 or errno. */
static int open_in_proc(pid_t pid, const char *what, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
    return open_with(path, flags);
}

/* Of all descriptors that there may be: 0 when one can be had, else why the first that is there cannot. */
static int any_fd(pid_t pid, const char *folder, int (*try)(const char *path, int flags), int flags)
{
    int first = ENOENT;

    for (int fd = 0; fd < FDS_LOOKED_AT; fd++) {
        char path[64];
        int error;

        snprintf(path, sizeof(path), "/proc/%d/%s/%d", pid, folder, fd);
        error = try(path, flags);
        if (!error)
            return 0;
        if (first == ENOENT)
            first = error;
    }
    return first;
}
static int where_it_leads(const char *path, int unused)
{
    (void)unused;
    return error_of(readlink(path, scratch, sizeof(scratch)));
}
static int read_fds(pid_t pid)
{
    return any_fd(pid, "fd", open_with, O_RDONLY);
}
static int write_fds(pid_t pid)
{
    return any_fd(pid, "fd", open_with, O_RDWR);
}
static int fds_by_thread(pid_t pid)
{
    char folder[32];

    snprintf(folder, sizeof(folder), "task/%d/fd", pid);
    return any_fd(pid, folder, open_with, O_RDONLY);
}
static int where_fds_lead(pid_t pid)
{
    return any_fd(pid, "fd", where_it_leads, 0);
}
static int list_fds(pid_t pid)
{
    return open_in_proc(pid, "fd", O_RDONLY | O_DIRECTORY);
}
static int read_mem(pid_t pid)
{
    return open_in_proc(pid, "mem", O_RDONLY);
}
static int write_mem(pid_t pid)
{
    return open_in_proc(pid, "mem", O_RDWR);
}
static int read_maps(pid_t pid)
{
    return open_in_proc(pid, "maps", O_RDONLY);
}
static int read_environ(pid_t pid)
{
    return open_in_proc(pid, "environ", O_RDONLY);
}
static int through_its_root(pid_t pid)
{
    return open_in_proc(pid, "root/usr/lib", O_RDONLY);
}
static int vm_read(pid_t pid)
{
    struct iovec v = {scratch, 1};

    return error_of(process_vm_readv(pid, &v, 1, &v, 1, 0));
}
static int vm_write(pid_t pid)
{
    struct iovec v = {scratch, 1};

    return error_of(process_vm_writev(pid, &v, 1, &v, 1, 0));
}
static int attach(pid_t pid)
{
    return error_of(ptrace(PTRACE_ATTACH, pid, NULL, NULL));
}
static int seize(pid_t pid)
{
    return error_of(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
}
static int open_pidfd(pid_t pid)
{
    return error_of(syscall(SYS_pidfd_open, pid, 0));
}
static int send_signal(pid_t pid)
{
    return error_of(kill(pid, 0));
}
static int send_to_thread(pid_t pid)
{
    return error_of(syscall(SYS_tgkill, pid, pid, 0));
}
static int send_with_value(pid_t pid)
{
    return error_of(syscall(SYS_rt_sigqueueinfo, pid, 0, scratch));
}
static int set_its_limit(pid_t pid)
{
    struct rlimit now = {0, 0};

    return getrlimit(RLIMIT_CORE, &now) ? errno : error_of(prlimit(pid, RLIMIT_CORE, &now, NULL));
}
static int read_its_limit(pid_t pid)
{
    struct rlimit now;

    return error_of(prlimit(pid, RLIMIT_CORE, NULL, &now));
}
static int pin_it(pid_t pid)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    return error_of(sched_setaffinity(pid, sizeof(cpus), &cpus));
}
static int slow_it(pid_t pid)
{
    return error_of(setpriority(PRIO_PROCESS, (id_t)pid, 0));
}
static int move_its_pages(pid_t pid)
{
    return error_of(syscall(SYS_move_pages, pid, 0UL, NULL, NULL, NULL, 0));
}
static int compare_with_it(pid_t pid)
{
    return error_of(syscall(SYS_kcmp, getpid(), pid, 1, 0UL, 0UL));
}

static const struct {
    const char *name;
    int (*run)(pid_t pid);
    int expected;
} on_processes[] = {
    {"read its descriptors", read_fds, EACCES},
    {"write its descriptors", write_fds, EACCES},
    {"its thread's descriptors", fds_by_thread, EACCES},
    {"where its descriptors lead", where_fds_lead, EACCES},
    {"list its descriptors", list_fds, EACCES},
    {"read mem", read_mem, EACCES},
    {"write mem", write_mem, EACCES},
    {"read maps", read_maps, EACCES},
    {"read environ", read_environ, EACCES},
    {"through its root", through_its_root, EACCES},
    {"process_vm_readv", vm_read, EPERM},
    {"process_vm_writev", vm_write, EPERM},
    {"PTRACE_ATTACH", attach, EPERM},
    {"PTRACE_SEIZE", seize, EPERM},
    {"pidfd_open", open_pidfd, EPERM},
    {"kill", send_signal, EPERM},
    {"tgkill", send_to_thread, EPERM},
    {"rt_sigqueueinfo", send_with_value, EPERM},
    {"set its limit", set_its_limit, EPERM},
    {"read its limit", read_its_limit, EPERM},
    {"sched_setaffinity", pin_it, EPERM},
    {"setpriority", slow_it, EPERM},
    {"move_pages", move_its_pages, EPERM},
    {"kcmp", compare_with_it, EPERM},
};
static const char *const process_names[HXE_PROCESSES] = {"sibling", "root PD", "driver"};

/* --- what needs neither a file nor a process ------------------------------------------------------------------------------ */

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
    return set_its_limit(0);
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

static const struct {
    const char *name;
    int (*run)(void);
    int expected;
} others[] = {
    {"fork", fork_it, EPERM},
    {"clone as fork", fork_by_clone, EPERM},
    {"clone into a user namespace", share_memory_with_a_child, EPERM},
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

/* System calls that the sandbox does not let through, whatever the arguments. */
#define REFUSED(call) {#call, SYS_##call}
static const struct {
    const char *name;
    long number;
} refused[] = {
    REFUSED(socket), REFUSED(socketpair), REFUSED(bind), REFUSED(connect), REFUSED(listen), REFUSED(accept4),
    REFUSED(setsockopt), REFUSED(execve), REFUSED(ptrace), REFUSED(tkill), REFUSED(rt_tgsigqueueinfo),
    REFUSED(pidfd_send_signal), REFUSED(pidfd_getfd), REFUSED(process_madvise), REFUSED(migrate_pages),
    REFUSED(unshare), REFUSED(setns), REFUSED(mount), REFUSED(umount2), REFUSED(pivot_root), REFUSED(chroot),
    REFUSED(chdir), REFUSED(fchdir), REFUSED(open_tree), REFUSED(move_mount), REFUSED(fsopen), REFUSED(fsmount),
    REFUSED(open_by_handle_at), REFUSED(name_to_handle_at), REFUSED(io_uring_setup), REFUSED(io_uring_enter),
    REFUSED(io_uring_register), REFUSED(io_setup), REFUSED(bpf), REFUSED(perf_event_open), REFUSED(userfaultfd),
    REFUSED(add_key), REFUSED(request_key), REFUSED(keyctl), REFUSED(init_module), REFUSED(finit_module),
    REFUSED(delete_module), REFUSED(kexec_load), REFUSED(reboot), REFUSED(swapon), REFUSED(swapoff),
    REFUSED(sethostname), REFUSED(setdomainname), REFUSED(settimeofday), REFUSED(clock_settime), REFUSED(adjtimex),
    REFUSED(acct), REFUSED(quotactl), REFUSED(syslog), REFUSED(personality), REFUSED(shmget), REFUSED(shmat),
    REFUSED(semget), REFUSED(msgget), REFUSED(mq_open), REFUSED(setuid), REFUSED(setgid), REFUSED(setgroups),
    REFUSED(setresuid), REFUSED(setresgid), REFUSED(capset), REFUSED(setpgid), REFUSED(setsid),
    REFUSED(sched_setscheduler), REFUSED(sched_setattr), REFUSED(ioprio_set), REFUSED(timer_create),
    REFUSED(setitimer), REFUSED(fanotify_init), REFUSED(inotify_init1), REFUSED(epoll_create1),
    REFUSED(fallocate), REFUSED(splice), REFUSED(vmsplice), REFUSED(sendfile), REFUSED(copy_file_range), REFUSED(flock),
    REFUSED(fchmod), REFUSED(fchown), REFUSED(fsetxattr), REFUSED(vhangup), REFUSED(seccomp),
    REFUSED(landlock_create_ruleset), REFUSED(landlock_restrict_self), REFUSED(remap_file_pages), REFUSED(setrlimit),
#ifdef __x86_64__
    REFUSED(fork), REFUSED(vfork), REFUSED(iopl), REFUSED(ioperm), REFUSED(modify_ldt),
    {"getpid of x32", SYS_getpid | X32_BIT},
#endif
    /* libc asks this one first and makes a thread by clone when it is not there */
    REFUSED(clone3),
};

/* Arguments that no call takes: where nobody refuses it, it fails. */
static int call_refused(long number)
{
    return error_of(syscall(number, -1L, -1L, -1L, -1L, -1L, -1L));
}

/* --- the skel ----------------------------------------------------------------------------------------------------------- */

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void name_it(struct hxe_out *out, const char *name, const char *of)
{
    snprintf(out->name, sizeof(out->name), "%s%s%s", name, *of ? ": " : "", of);
}

static void try_one(const struct hxe_in *in, struct hxe_out *out)
{
    size_t i = in->index;

    *out = (struct hxe_out){.name = ""};
    if (i < 2 * LEN(on_files)) {
        const int readable = i >= LEN(on_files);

        i %= LEN(on_files);
        name_it(out, on_files[i].name, readable ? "a skel's file" : "a file");
        out->expected = readable ? on_files[i].skel_file : on_files[i].file;
        out->error = on_files[i].run(readable ? in->skel_file : in->file);
        return;
    }
    i -= 2 * LEN(on_files);
    if (i < HXE_PROCESSES * LEN(on_processes)) {
        const size_t who = i / LEN(on_processes);

        i %= LEN(on_processes);
        name_it(out, on_processes[i].name, process_names[who]);
        out->expected = on_processes[i].expected;
        out->error = on_processes[i].run(in->pid[who]);
        return;
    }
    i -= HXE_PROCESSES * LEN(on_processes);
    if (i < LEN(others)) {
        name_it(out, others[i].name, "");
        out->expected = others[i].expected;
        out->error = others[i].run();
        return;
    }
    i -= LEN(others);
    if (i < LEN(refused)) {
        name_it(out, refused[i].name, "");
        out->expected = refused[i].number == SYS_clone3 ? ENOSYS : EPERM;
        out->error = call_refused(refused[i].number);
    }
}

__attribute__((visibility("default"))) int hxt_escape_skel_handle_invoke(remote_handle64 h, uint32_t sc,
                                                                          remote_arg *pra)
{
    (void)h;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 0: /* open: uri in, handle out */
        pra[2].h64 = 1;
        return 0;
    case 1:
        return 0;
    case HXE_TRY: {
        struct hxe_out out;
        struct hxe_in in;

        if (sc != REMOTE_SCALARS_MAKE(HXE_TRY, 1, 1) || pra[0].buf.nLen != sizeof(in) || pra[1].buf.nLen != sizeof(out))
            return AEE_DSP(AEE_EBADPARM);
        memcpy(&in, pra[0].buf.pv, sizeof(in));
        try_one(&in, &out);
        memcpy(pra[1].buf.pv, &out, sizeof(out));
        return 0;
    }
    case HXE_PID: {
        const int32_t pid = getpid();

        if (sc != REMOTE_SCALARS_MAKE(HXE_PID, 0, 1) || pra[0].buf.nLen != sizeof(pid))
            return AEE_DSP(AEE_EBADPARM);
        memcpy(pra[0].buf.pv, &pid, sizeof(pid));
        return 0;
    }
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}
