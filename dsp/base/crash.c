/* The handler of fatal signals.  It runs wherever the skel broke, so it calls nothing that takes a lock or memory: it stores words in
 * shared memory, walks the stack by the unwinder (whose look-up of code is free of locks), sends one message and waits. */
#include "crash.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "hx_msg.h"

enum { STACK_BYTES = 64 << 10, WAIT_S = 40 /* more than anybody looks, fuse/crash/brief.h */ };

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

static struct hx_crash *crash; /* NULL: nobody to tell */
static int control;
static atomic_flag taken = ATOMIC_FLAG_INIT; /* by the first thread that crashes */
static __thread void *stack;
static __thread unsigned serves;

void hx_crash_serves(unsigned ctx_id)
{
    serves = ctx_id;
}

/* --- what is told ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
static uint64_t take_registers(struct hx_crash *c, const ucontext_t *uc)
{
    /* r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss, then bases and segments */
    static const int order[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10, REG_R9, REG_R8,
                                REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RAX, REG_RIP, REG_CSGSFS, REG_EFL, REG_RSP};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        c->reg[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
    c->reg[17] &= 0xffff;
    return c->reg[16];
}

/* After a call of address that is no code the way back lies where the call has put it. */
static uint64_t way_back(const struct hx_crash *c)
{
    uint64_t at;

    memcpy(&at, (const void *)(uintptr_t)c->reg[19], sizeof(at));
    return at;
}
#elif defined(__aarch64__)
static uint64_t take_registers(struct hx_crash *c, const ucontext_t *uc)
{
    for (int i = 0; i < 31; i++)
        c->reg[i] = uc->uc_mcontext.regs[i];
    c->reg[31] = uc->uc_mcontext.sp;
    c->reg[32] = uc->uc_mcontext.pc;
    c->reg[33] = uc->uc_mcontext.pstate;
    return uc->uc_mcontext.pc;
}

static uint64_t way_back(const struct hx_crash *c)
{
    return c->reg[30];
}
#else
#error "which registers are there?"
#endif

/* A walk outwards; frames of the handler itself come before the one where it happened. */
struct walk {
    struct hx_crash *crash;
    uint64_t pc;
    bool found;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    const uint64_t at = _Unwind_GetIP(context);

    if (!w->found && at != w->pc)
        return _URC_NO_REASON;
    w->found = true;
    if (w->crash->n_frames == HX_CRASH_FRAMES)
        return _URC_END_OF_STACK;
    w->crash->frame[w->crash->n_frames++] = at;
    return _URC_NO_REASON;
}

static void take_frames(struct hx_crash *c, uint64_t pc)
{
    struct walk w = {c, pc, false};

    c->n_frames = 0;
    _Unwind_Backtrace(step, &w);
    if (c->n_frames > 1)
        return;
    c->frame[0] = pc;
    c->frame[1] = way_back(c);
    c->n_frames = 2;
}

/* --- telling it ---------------------------------------------------------------------------------------------------- */

static long wait_while(uint32_t answer, const struct timespec *limit)
{
    return syscall(SYS_futex, &crash->answer, FUTEX_WAIT, answer, limit, NULL, 0);
}

static void tell_and_wait(void)
{
    const struct hx_ctl ctl = {.op = HX_CTL_CRASH};
    const struct timespec limit = {WAIT_S, 0};

    if (send(control, &ctl, sizeof(ctl), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    while (atomic_load(&crash->answer) == HX_CRASH_WAIT)
        if (wait_while(HX_CRASH_WAIT, &limit) < 0 && errno == ETIMEDOUT)
            return;
    while (atomic_load(&crash->answer) == HX_CRASH_HOLD)
        wait_while(HX_CRASH_HOLD, NULL);
}

/* What the processor found is found again when the handler returns; the rest has to be sent once more. */
static void let_it_happen(int signal_number, const siginfo_t *info)
{
    const bool comes_again = info->si_code > 0 && signal_number != SIGTRAP;

    signal(signal_number, SIG_DFL);
    if (!comes_again)
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal_number);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    if (atomic_flag_test_and_set(&taken)) /* the first one's signal ends us all */
        for (;;)
            poll(NULL, 0, -1);
    crash->signal = signal_number;
    crash->code = info->si_code;
    crash->address = (uintptr_t)info->si_addr;
    crash->tid = (int32_t)syscall(SYS_gettid);
    crash->ctx_id = serves;
    take_frames(crash, take_registers(crash, context));
    tell_and_wait();
    let_it_happen(signal_number, info);
}

/* --- set up -------------------------------------------------------------------------------------------------------- */

void hx_crash_thread_begin(void)
{
    /* not MAP_PRIVATE | MAP_ANONYMOUS alone, which the sandbox takes for malloc's */
    void *p = crash ? mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0) : MAP_FAILED;

    if (p == MAP_FAILED)
        return;
    stack = p;
    sigaltstack(&(stack_t){.ss_sp = p, .ss_size = STACK_BYTES}, NULL);
}

void hx_crash_thread_end(void)
{
    if (!stack)
        return;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(stack, STACK_BYTES);
    stack = NULL;
}

void hx_crash_open(struct hx_crash *told, int control_fd)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)told;
    (void)control_fd;
    (void)handle;
    (void)fatal;
#else
    struct sigaction act = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    crash = told;
    control = control_fd;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        sigaction(fatal[i], &act, NULL);
    hx_crash_thread_begin();
#endif
}
