/* What a skel must not do to other processes of the rig. */
#include "attempts.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { FDS_LOOKED_AT = 64 };

static char scratch[4096];

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
static int its_robust_list(pid_t pid)
{
    void *head;
    size_t n;

    return error_of(syscall(SYS_get_robust_list, pid, &head, &n));
}
static int wait_for_it(pid_t pid)
{
    return error_of(waitpid(pid, NULL, WNOHANG));
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
    {"get_robust_list", its_robust_list, EPERM},
    {"wait for it", wait_for_it, ECHILD},
};

/* Files below /proc/PID, none of which opens. */
static const struct {
    const char *name;
    int flags;
} in_proc[] = {
    {"auxv", O_RDONLY}, {"cgroup", O_RDONLY}, {"cmdline", O_RDONLY}, {"comm", O_RDWR}, {"coredump_filter", O_RDWR},
    {"cwd", O_RDONLY | O_DIRECTORY}, {"exe", O_RDONLY}, {"fdinfo", O_RDONLY | O_DIRECTORY},
    {"loginuid", O_RDWR}, {"map_files", O_RDONLY | O_DIRECTORY}, {"mountinfo", O_RDONLY}, {"ns/mnt", O_RDONLY},
    {"ns/pid", O_RDONLY}, {"oom_score_adj", O_RDWR}, {"pagemap", O_RDONLY}, {"smaps", O_RDONLY}, {"stat", O_RDONLY},
    {"status", O_RDONLY}, {"task", O_RDONLY | O_DIRECTORY}, {"uid_map", O_RDWR},
};

static const char *const process_names[HXE_PROCESSES] = {"sibling", "root PD", "driver"};

size_t hxe_on_processes(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const size_t each = HXE_LEN(on_processes) + HXE_LEN(in_proc), who = i / each;

    if (who >= HXE_PROCESSES)
        return HXE_PROCESSES * each;
    i %= each;
    if (i < HXE_LEN(on_processes)) {
        name_it(out, on_processes[i].name, process_names[who]);
        out->expected = on_processes[i].expected;
        out->error = on_processes[i].run(in->pid[who]);
    } else {
        i -= HXE_LEN(on_processes);
        name_it(out, in_proc[i].name, process_names[who]);
        out->expected = EACCES;
        out->error = open_in_proc(in->pid[who], in_proc[i].name, in_proc[i].flags);
    }
    return HXE_PROCESSES * each;
}
