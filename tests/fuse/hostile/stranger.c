/* What another user than the rig's tries beside the rig's nodes: its processes by /proc and by system calls, its files, its mount. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hxt.h"

static char scratch[4096];

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

static int open_and_close(const char *path, int flags)
{
    int fd = open(path, flags, 0600), error = errno;

    if (fd < 0)
        return error;
    close(fd);
    return 0;
}

/* --- processes --------------------------------------------------------------------------------------------------------- */

static const char *const process_names[PROCESSES] = {"the driver", "the root PD", "the target's PD", "the target"};

/* Below /proc/PID; none opens. */
static const struct {
    const char *name;
    int flags;
} in_proc[] = {
    {"mem", O_RDONLY}, {"mem", O_RDWR}, {"maps", O_RDONLY}, {"smaps", O_RDONLY}, {"environ", O_RDONLY}, {"auxv", O_RDONLY},
    {"fd", O_RDONLY | O_DIRECTORY}, {"fd/0", O_RDONLY}, {"fd/3", O_RDWR}, {"fdinfo", O_RDONLY | O_DIRECTORY},
    {"map_files", O_RDONLY | O_DIRECTORY}, {"cwd", O_RDONLY | O_DIRECTORY}, {"root/", O_RDONLY | O_DIRECTORY},
    {"exe", O_RDONLY}, {"ns/mnt", O_RDONLY}, {"oom_score_adj", O_WRONLY}, {"comm", O_WRONLY}, {"coredump_filter", O_WRONLY},
    {"clear_refs", O_WRONLY}, {"uid_map", O_WRONLY},
};

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
static int take_descriptor(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), error = error_of(syscall(SYS_pidfd_getfd, fd, 3, 0));

    close(fd);
    return error;
}
static int signal_by_fd(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), error = error_of(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));

    close(fd);
    return error;
}
static int send_signal(pid_t pid)
{
    return error_of(kill(pid, 0));
}
static int send_to_thread(pid_t pid)
{
    return error_of(syscall(SYS_tgkill, pid, pid, 0));
}
static int set_limit(pid_t pid)
{
    struct rlimit r = {0, 0};

    return error_of(prlimit(pid, RLIMIT_NOFILE, &r, NULL));
}
static int read_limit(pid_t pid)
{
    struct rlimit r;

    return error_of(prlimit(pid, RLIMIT_NOFILE, NULL, &r));
}
static int pin(pid_t pid)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    return error_of(sched_setaffinity(pid, sizeof(cpus), &cpus));
}
static int slow_down(pid_t pid)
{
    return error_of(setpriority(PRIO_PROCESS, (id_t)pid, 19));
}
static int idle_only(pid_t pid)
{
    struct sched_param p = {0};

    return error_of(sched_setscheduler(pid, SCHED_IDLE, &p));
}
static int move_pages_of(pid_t pid)
{
    return error_of(syscall(SYS_move_pages, pid, 0UL, NULL, NULL, NULL, 0));
}
static int compare(pid_t pid)
{
    return error_of(syscall(SYS_kcmp, getpid(), pid, 1, 0UL, 0UL));
}
static int robust_list(pid_t pid)
{
    void *head;
    size_t n;

    return error_of(syscall(SYS_get_robust_list, pid, &head, &n));
}

static const struct {
    const char *name;
    int (*run)(pid_t pid);
} on_processes[] = {
    {"process_vm_readv", vm_read}, {"process_vm_writev", vm_write}, {"PTRACE_ATTACH", attach}, {"PTRACE_SEIZE", seize},
    {"pidfd_getfd", take_descriptor}, {"pidfd_send_signal", signal_by_fd}, {"kill", send_signal}, {"tgkill", send_to_thread},
    {"set its limit", set_limit}, {"read its limit", read_limit}, {"sched_setaffinity", pin}, {"setpriority", slow_down},
    {"sched_setscheduler", idle_only}, {"move_pages", move_pages_of}, {"kcmp", compare}, {"get_robust_list", robust_list},
};

/* --- files and the mount ------------------------------------------------------------------------------------------------ */

static const char *node_path(void)
{
    return hxt_path("%s/fastrpc-cdsp", mount_dir);
}

static int unlink_node(void)
{
    return error_of(unlink(node_path()));
}
static int rename_node(void)
{
    return error_of(rename(node_path(), hxt_path("%s/gone", mount_dir)));
}
static int replace_node(void)
{
    return error_of(rename("/etc/hostname", node_path())) == EXDEV ? EACCES : error_of(symlink("/dev/null", hxt_path("%s/new", mount_dir)));
}
static int make_file(void)
{
    return open_and_close(hxt_path("%s/new", mount_dir), O_RDWR | O_CREAT);
}
static int make_folder(void)
{
    return error_of(mkdir(hxt_path("%s/new", mount_dir), 0700));
}
static int change_mode(void)
{
    return error_of(chmod(node_path(), 0777));
}
static int change_owner(void)
{
    return error_of(chown(node_path(), geteuid(), getegid()));
}
static int change_mode_of_folder(void)
{
    return error_of(chmod(mount_dir, 0777));
}
static int remove_folder(void)
{
    return error_of(rmdir(mount_dir));
}
static int unmount(void)
{
    return error_of(umount2(mount_dir, MNT_DETACH));
}
static int mount_over(void)
{
    return error_of(mount("none", mount_dir, "tmpfs", 0, NULL));
}
static int bind_over(void)
{
    return error_of(mount("/tmp", mount_dir, NULL, MS_BIND, NULL));
}
static int read_log(void)
{
    return open_and_close("log", O_RDONLY);
}
static int write_log(void)
{
    return open_and_close("log", O_WRONLY | O_TRUNC);
}
static int replace_log(void)
{
    return error_of(rename("log", "log.old"));
}
static int fifo_for_log(void)
{
    return error_of(mkfifo("log.fifo", 0666));
}

static const struct {
    const char *name;
    int (*run)(void);
    int expected;
} on_files[] = {
    {"unlink a node", unlink_node, EACCES}, {"rename a node", rename_node, EACCES}, {"replace a node", replace_node, EACCES},
    {"make a file beside it", make_file, EACCES}, {"make a folder beside it", make_folder, EACCES},
    {"chmod a node", change_mode, EPERM}, {"chown a node", change_owner, EPERM}, {"chmod the folder", change_mode_of_folder, EPERM},
    {"remove the folder", remove_folder, EACCES}, {"unmount", unmount, EPERM}, {"mount over it", mount_over, EPERM},
    {"bind over it", bind_over, EPERM}, {"read the log", read_log, EACCES}, {"empty the log", write_log, EACCES},
    {"rename the log", replace_log, EACCES}, {"a FIFO beside the log", fifo_for_log, EACCES},
};

/* The driver may have text nodes as files, or none. */
static void text_nodes(void)
{
    static const char *const names[] = {"control", "status", "sessions", "stats"};

    for (size_t i = 0; i < HXT_LEN(names); i++)
        hostile_tell("write to", names[i], dev->kernel ? EACCES : ENOENT,
                     open_and_close(hxt_path("%s/%s", mount_dir, names[i]), O_WRONLY));
}

void hostile_as_stranger(const struct target *t)
{
    for (int p = 0; p < PROCESSES; p++) {
        for (size_t i = 0; i < HXT_LEN(in_proc); i++)
            hostile_tell(hxt_path("%s of", in_proc[i].name), process_names[p], EACCES,
                         open_and_close(hxt_path("/proc/%d/%s", t->pid[p], in_proc[i].name), in_proc[i].flags));
        for (size_t i = 0; i < HXT_LEN(on_processes); i++)
            hostile_tell(on_processes[i].name, process_names[p], EPERM, on_processes[i].run(t->pid[p]));
    }
    for (size_t i = 0; i < HXT_LEN(on_files); i++)
        hostile_tell(on_files[i].name, "", on_files[i].expected, on_files[i].run());
    text_nodes();
}
