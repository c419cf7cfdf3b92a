/* Signals: what an interrupted call leaves behind. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

static void on_signal(int sig)
{
    (void)sig;
}

/* n calls on f that are interrupted, one after the other, and whose DSP has answered each since. */
static void interrupt_calls(struct file f, unsigned n)
{
    struct shared *gate = gate_get();
    struct waiter w;

    for (unsigned i = 1; i <= n; i++) {
        gate_of(gate)->open = 0;
        waiter_start(&w, f, gate, 0);
        need_inside(gate, i);
        waiter_interrupt(&w);
        gate_open(gate);
        need_left(gate, i);
    }
    shared_put(gate);
}

void use_up_ids(struct file f, unsigned n)
{
    interrupt_calls(f, n);
    need_errno(call0(f, HXT_BLOCK, 0, 0), ENOSPC, "a call more than there are ids for");
}

static bool has_one_session(void *unused)
{
    (void)unused;
    return status_number("sessions") == 1;
}

void point_11_a_signal_leaves_the_dsp_running(void)
{
    struct file f = open_skel();
    struct shared *gate = gate_get();
    struct waiter w;

    waiter_start(&w, f, gate, 0);
    need_inside(gate, 1);
    waiter_interrupt(&w);
    need_is(call0(f, HXT_BLOCK, 4, 0), 4, "a call beside the interrupted one");
    need(!gate_was_left(gate), "the DSP has left the interrupted call");
    gate_open(gate);
    need_left(gate, 1);
    close_file(f);
}

void point_34_an_interrupted_call_keeps_its_id(void)
{
    struct file f, g;

    need_soon(no_session_is_open, NULL, "all files closed");
    f = open_skel();
    g = open_skel();
    interrupt_calls(f, 1);
    use_up_ids(g, CONTEXTS - 1);
    need_errno(call0(f, HXT_BLOCK, 0, 0), ENOSPC, "a call on the file whose call was interrupted first");
    close_file(f);
    need_soon(has_one_session, NULL, "the file is released");
    use_up_ids(g, 1);
    close_file(g);
}

void point_35_interrupted_calls_use_up_the_ids(void)
{
    struct file f, g;
    int h;

    need_soon(no_session_is_open, NULL, "all files closed");
    f = open_skel();
    g = open_skel();
    use_up_ids(f, CONTEXTS);
    need_errno(call0(g, HXT_BLOCK, 0, 0), ENOSPC, "a call on another file");
    h = open_node("fastrpc-cdsp");
    need_errno(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), ENOSPC, "INIT_CREATE");
    dev->close(h);
    close_file(f);
    need_soon(has_one_session, NULL, "the files are released");
    need_is(call0(g, HXT_BLOCK, 6, 0), 6, "a call once the file is closed");
    close_file(g);
}

void point_36_sa_restart_sends_the_call_again(void)
{
    const struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct file f = open_skel();
    struct shared *gate = gate_get();
    struct waiter w;

    sigaction(SIGUSR2, &sa, NULL);
    waiter_start(&w, f, gate, 15);
    need_inside(gate, 1);
    pthread_kill(w.thread, SIGUSR2);
    need_inside(gate, 2);
    gate_open(gate);
    waiter_join(&w);
    need_is(w.result, 15, "the restarted call");
    need_left(gate, 2);
    use_up_ids(f, CONTEXTS - 1); /* the first try has one for good */
    close_file(f);
}

void point_37_stop_and_go_send_the_call_again(void)
{
    struct file f = open_skel();
    struct shared *gate = gate_get();
    pid_t pid = fork_child();

    if (pid == 0) {
        need_is(wait_at(f, gate, 9), 9, "the call that was stopped");
        _exit(0);
    }
    need_inside(gate, 1);
    stop_process(pid);
    need(kill(pid, SIGCONT) == 0, "kill: %s", strerror(errno));
    need_inside(gate, 2);
    gate_open(gate);
    need_is(end_of(pid), 0, "the end of the process that was stopped");
    close_file(f);
}

void point_38_munmap_after_an_interrupted_call(void)
{
    struct fastrpc_req_mmap before = {.fd = -1, .flags = ADSP_MMAP_ADD_PAGES, .size = 1 << 20}, after = before;
    struct file f = open_skel();
    struct fastrpc_req_munmap u;

    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MMAP, &before), 0, "MMAP");
    interrupt_calls(f, 1);
    u = (struct fastrpc_req_munmap){before.vaddrout, before.size};
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_MUNMAP, &u), EINVAL, "MUNMAP of what was there before the interrupted call");
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MMAP, &after), 0, "MMAP afterwards");
    u = (struct fastrpc_req_munmap){after.vaddrout, after.size};
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MUNMAP, &u), 0, "MUNMAP of that");
    close_file(f);
}

void point_39_errors_give_their_ids_back(void)
{
    enum { TIMES = 300, CLOSED = 999 };
    struct file f = open_skel();
    struct fastrpc_invoke_args nowhere = arg(NULL, 8), closed = {.length = 8, .fd = CLOSED}, endless = arg(&f, (size_t)1 << 40);

    for (int i = 0; i < TIMES; i++) {
        need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), &nowhere), EFAULT, "no buffer");
        need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), &closed), EINVAL, "no descriptor");
        need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), &endless), ENOMEM, "no memory");
        need_is(call0(f, HXT_BLOCK, -5000, 0), -5000, "a result of the DSP");
    }
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a good call");
    close_file(f);
}
