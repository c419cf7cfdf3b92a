/* System calls that a skel must not make at all. */
#include "attempts.h"

#include <sys/syscall.h>

enum { X32_BIT = 0x40000000 };

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

size_t hxe_system_calls(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    (void)in;
    if (i < HXE_LEN(refused)) {
        name_it(out, refused[i].name, "");
        out->expected = refused[i].number == SYS_clone3 ? ENOSYS : EPERM;
        out->error = call_refused(refused[i].number);
    }
    return HXE_LEN(refused);
}
