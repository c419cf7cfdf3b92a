/* System calls that a skel must not make at all. */
#include "attempts.h"

#include <sys/syscall.h>

enum { X32_BIT = 0x40000000, NUMBERS = 1024 };

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
    REFUSED(process_vm_readv), REFUSED(process_vm_writev), REFUSED(pidfd_open), REFUSED(kcmp), REFUSED(shmdt),
    REFUSED(shmctl), REFUSED(semop), REFUSED(semctl), REFUSED(msgsnd), REFUSED(msgrcv), REFUSED(msgctl), REFUSED(mq_unlink),
    REFUSED(accept), REFUSED(getsockopt), REFUSED(getpeername), REFUSED(sendmmsg), REFUSED(recvmmsg), REFUSED(execveat),
    REFUSED(io_submit), REFUSED(timerfd_create), REFUSED(fanotify_mark), REFUSED(tee), REFUSED(pwrite64), REFUSED(pwritev),
    REFUSED(sync), REFUSED(syncfs), REFUSED(fsync), REFUSED(mlockall), REFUSED(setreuid), REFUSED(setregid),
    REFUSED(setfsuid), REFUSED(setfsgid), REFUSED(capget), REFUSED(umask), REFUSED(nfsservctl), REFUSED(lookup_dcookie),
    REFUSED(fspick), REFUSED(fsconfig), REFUSED(kexec_file_load), REFUSED(clock_adjtime), REFUSED(sched_setparam),
    REFUSED(landlock_create_ruleset), REFUSED(landlock_restrict_self), REFUSED(remap_file_pages), REFUSED(setrlimit),
#ifdef __x86_64__
    REFUSED(fork), REFUSED(vfork), REFUSED(iopl), REFUSED(ioperm), REFUSED(modify_ldt),
    {"getpid of x32", SYS_getpid | X32_BIT}, {"openat of x32", SYS_openat | X32_BIT},
    {"ptrace of x32", 521 | X32_BIT}, {"execve of x32", 520 | X32_BIT}, {"process_vm_writev of x32", 540 | X32_BIT},
#endif
    /* libc asks this one first and makes a thread by clone when it is not there */
    REFUSED(clone3),
};

/* Arguments that no call takes: where nobody refuses it, it fails. */
static int call_refused(long number)
{
    return error_of(syscall(number, -1L, -1L, -1L, -1L, -1L, -1L));
}

/* What a PD may call, if not with any arguments.  Who lengthens the list of dsp/pd/sandbox.c has to lengthen this one. */
static const short may_call[] = {
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mlock, SYS_munlock, SYS_membarrier,
    SYS_memfd_create, SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_close, SYS_close_range, SYS_lseek,
    SYS_openat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64,
    SYS_getcwd, SYS_fcntl, SYS_dup, SYS_dup3, SYS_ioctl, SYS_eventfd2, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_recvfrom,
    SYS_shutdown, SYS_ppoll, SYS_signalfd4, SYS_futex, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_get_robust_list,
    SYS_rseq, SYS_set_tid_address, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill, SYS_tgkill, SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall, SYS_nanosleep,
    SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getpid, SYS_getppid, SYS_gettid,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_prlimit64, SYS_getrusage,
    SYS_getcpu, SYS_prctl, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_mbind, SYS_set_mempolicy,
    SYS_get_mempolicy,
#ifdef __x86_64__
    SYS_arch_prctl, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_time, SYS_dup2, SYS_getrlimit,
    SYS_epoll_wait,
    335, 336, /* uretprobe, uprobe: past seccomp, for the kernel's own trampolines; anybody else gets SIGILL */
#endif
};

static int may(long number)
{
    for (size_t i = 0; i < HXE_LEN(may_call); i++)
        if (may_call[i] == number)
            return 1;
    return 0;
}

/* Every number but those, also such as no kernel has: EPERM, or what the first one gave that was not refused so. */
static int call_all_others(long bit)
{
    for (long number = 0; number < NUMBERS; number++) {
        int error = !bit && may(number) ? EPERM : call_refused(number | bit);

        if (error != EPERM)
            return error;
    }
    return EPERM;
}

static const struct {
    const char *name;
    long bit;
} sweeps[] = {
    {"any other system call", 0},
#ifdef __x86_64__
    {"any system call of x32", X32_BIT},
#endif
};

size_t hxe_system_calls(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const size_t n = HXE_LEN(refused);

    (void)in;
    out->expected = EPERM;
    if (i < n) {
        name_it(out, refused[i].name, "");
        out->expected = refused[i].number == SYS_clone3 ? ENOSYS : EPERM;
        out->error = call_refused(refused[i].number);
    } else if (i - n < HXE_LEN(sweeps)) {
        name_it(out, sweeps[i - n].name, "");
        out->error = call_all_others(sweeps[i - n].bit);
    }
    return n + HXE_LEN(sweeps);
}
