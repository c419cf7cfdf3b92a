/* What a skel must not ask of clone, by which it makes threads, and of madvise. */
#include "attempts.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

static int just_end(void *unused)
{
    (void)unused;
    return 0;
}

/* A thread as pthread_create() makes it is what a skel may have; `flipped` makes it another one.  It touches nothing of libc's,
 * so that it can do with its creator's TLS. */
static int thread_with(unsigned flipped)
{
    static _Alignas(16) char stack[16 << 10];
    static _Atomic pid_t ended; /* 0 when the thread is over */
    pid_t tid;
    unsigned flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                     CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

    ended = 1;
    if (clone(just_end, stack + sizeof(stack), (int)(flags ^ flipped), NULL, &tid, __builtin_thread_pointer(), &ended) < 0)
        return errno;
    while (ended)
        sched_yield();
    return 0;
}

static const struct {
    const char *name;
    unsigned flipped;
    int expected;
} threads[] = {
    {"as libc's", 0, 0},
    {"with its own mounts", CLONE_NEWNS, EPERM},
    {"with its own network", CLONE_NEWNET, EPERM},
    {"with its own host name", CLONE_NEWUTS, EPERM},
    {"with its own IPC", CLONE_NEWIPC, EPERM},
    {"with its own cgroup", CLONE_NEWCGROUP, EPERM},
    {"with its own users", CLONE_NEWUSER, EPERM},
    {"with its own process ids", CLONE_NEWPID, EPERM},
    {"with its own clock", 0x80, EPERM}, /* CLONE_NEWTIME, of clone3 only: here a bit of the signal */
    {"CLONE_PTRACE", CLONE_PTRACE, EPERM},
    {"CLONE_UNTRACED", CLONE_UNTRACED, EPERM},
    {"CLONE_IO", CLONE_IO, EPERM},
    {"CLONE_PIDFD", CLONE_PIDFD, EPERM},
    {"CLONE_PARENT", CLONE_PARENT, EPERM},
    {"CLONE_VFORK", CLONE_VFORK, EPERM},
    {"CLONE_CHILD_SETTID", CLONE_CHILD_SETTID, EPERM},
    {"with a signal at its end", SIGUSR1, EPERM},
    {"with its own descriptors", CLONE_FILES, EPERM},
    {"with its own folder", CLONE_FS, EPERM},
    {"without CLONE_SYSVSEM", CLONE_SYSVSEM, EPERM},
};

/* Of one page of its own.  Where nobody refuses it, it is advice that does nothing to others. */
static const struct {
    const char *name;
    int advice, expected;
} advices[] = {
    {"MADV_DONTNEED", MADV_DONTNEED, 0},
    {"MADV_REMOVE", MADV_REMOVE, EPERM},
    {"MADV_FREE", MADV_FREE, EPERM},
    {"MADV_HWPOISON", 100, EPERM},
    {"MADV_SOFT_OFFLINE", 101, EPERM},
    {"MADV_MERGEABLE", MADV_MERGEABLE, EPERM},
    {"MADV_UNMERGEABLE", MADV_UNMERGEABLE, EPERM},
    {"MADV_DONTFORK", MADV_DONTFORK, EPERM},
    {"MADV_WIPEONFORK", MADV_WIPEONFORK, EPERM},
    {"MADV_DONTDUMP", MADV_DONTDUMP, EPERM},
    {"MADV_COLD", 20, EPERM},
    {"MADV_PAGEOUT", 21, EPERM},
    {"MADV_COLLAPSE", 25, EPERM},
    {"an advice that nobody knows", 9999, EPERM},
};

static int advise(int advice)
{
    static _Alignas(4096) char page[4096];
    const size_t bytes = advice == 100 || advice == 101 ? 0 : sizeof(page); /* no page is to be lost */

    return error_of(madvise(page, bytes, advice));
}

size_t hxe_threads_and_advices(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const size_t n = HXE_LEN(threads);

    (void)in;
    if (i < n) {
        name_it(out, threads[i].name, "a thread");
        out->expected = threads[i].expected;
        out->error = thread_with(threads[i].flipped);
    } else if (i - n < HXE_LEN(advices)) {
        name_it(out, advices[i - n].name, "");
        out->expected = advices[i - n].expected;
        out->error = advise(advices[i - n].advice);
    }
    return n + HXE_LEN(advices);
}
