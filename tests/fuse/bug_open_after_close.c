/* Who opened a node after a close or the end of a process could meet EBUSY, although not all sessions were open: the driver had not served
 * that end so far, or its PD had not ended.  In the kernel close() waits for that.  Now the opener does; a debugger that holds the PD
 * makes the moment as long as a test needs it. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "driver_client.h"
#include "raw_frames.h"

enum { PATIENCE_S = 60, ALL = FASTRPC_MAX_SESSIONS };

static int is_fuse; /* the front end is FUSE, not the socket */

/* --- files */

static int open_file(void)
{
    int fd = is_fuse ? drv_open("fastrpc-cdsp") : raw_connect_session();

    assert_true(fd >= 0);
    return fd;
}

static void create_pd(int fd)
{
    struct {
        struct hx_frame head;
        struct fastrpc_init_create arg;
    } f = {{.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1, .cmd = (uint32_t)FASTRPC_IOCTL_INIT_CREATE,
            .arg_bytes = sizeof(f.arg), .body_bytes = sizeof(f.arg)},
           {.filefd = -1, .attrs = FASTRPC_MODE_UNSIGNED_MODULE}};
    struct hx_frame_reply r = {.result = -1};

    if (is_fuse) {
        assert_int_equal(drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0);
        return;
    }
    raw_send(fd, &f, sizeof(f), NULL, 0);
    assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.result, 0);
    recv(fd, &f, r.body_bytes, MSG_WAITALL);
}

/* A text node, asked for without waiting for a session.  For the caller to free. */
static char *text_of_sessions(void)
{
    struct {
        struct hx_frame head;
        char name[8];
    } q = {{.magic = HX_FRAME_MAGIC, .op = HX_FRAME_READ, .id = 1, .arg_bytes = 8, .body_bytes = 8}, "sessions"};
    struct hx_frame_reply r[2] = {0};
    char *text;
    int fd;

    if (is_fuse)
        return hxt_read_file(own_rig_path("sessions"), NULL);
    fd = raw_connect();
    raw_send(fd, &q, sizeof(q), NULL, 0);
    assert_int_equal(recv(fd, r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r[1].result, 0);
    text = calloc(1, r[1].body_bytes + 1);
    if (r[1].body_bytes)
        assert_int_equal(recv(fd, text, r[1].body_bytes, MSG_WAITALL), (ssize_t)r[1].body_bytes);
    close(fd);
    return text;
}

static int sessions(void)
{
    char *text = text_of_sessions();
    int n = 0;

    for (const char *at = text; (at = strstr(at, "session=")); at++)
        n++;
    free(text);
    return n;
}

static int has_sessions(void *n)
{
    return sessions() == *(int *)n;
}

static void expect_sessions(int n)
{
    assert_true(hxt_until(has_sessions, &n, PATIENCE_S));
}

/* --- somebody opens */

static struct opener {
    pthread_t thread; /* FUSE */
    _Atomic pid_t tid;
    _Atomic int done;
    int fd, error; /* fd: on the socket the connection, which is not greeted yet */
} first, second;

static void *run_opener(void *arg)
{
    struct opener *o = arg;

    o->tid = (pid_t)syscall(SYS_gettid);
    o->fd = drv_open("fastrpc-cdsp");
    o->error = o->fd < 0 ? errno : 0;
    o->done = 1;
    return NULL;
}

static int is_inside_or_done(void *opener)
{
    const struct opener *o = opener;
    char *text = o->tid ? hxt_read_file(hxt_path("/proc/self/task/%d/syscall", o->tid), NULL) : NULL;
    int is = o->done || (text && strncmp(text, "running", 7) != 0 && strtol(text, NULL, 10) == SYS_openat);

    free(text);
    return is;
}

/* The driver has been asked when this returns. */
static void begin(struct opener *o)
{
    *o = (struct opener){.fd = -1};
    if (is_fuse) {
        assert_int_equal(pthread_create(&o->thread, NULL, run_opener, o), 0);
        assert_true(hxt_until(is_inside_or_done, o, PATIENCE_S));
    } else {
        o->fd = raw_connect();
    }
    free(text_of_sessions()); /* comes behind it */
}

static int has_answer(void *opener)
{
    const struct opener *o = opener;

    return is_fuse ? o->done : poll(&(struct pollfd){.fd = o->fd, .events = POLLIN}, 1, 0) > 0;
}

/* 0, or why it was not opened, once there is an answer. */
static int answer_of(struct opener *o)
{
    struct hx_frame_reply r = {0};

    assert_true(hxt_until(has_answer, o, PATIENCE_S));
    if (is_fuse) {
        pthread_join(o->thread, NULL);
        return o->error;
    }
    assert_int_equal(recv(o->fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    return -r.result;
}

/* --- a session that is being closed, and all others open */

static struct held {
    int fd[ALL]; /* [0]: closed */
    pid_t pd;    /* a debugger holds it */
} held;

/* It ends when its root PD does: right behind its fork that is not so yet. */
static int is_pd(void *pid)
{
    char *name = hxt_read_file(hxt_path("/proc/%d/comm", *(pid_t *)pid), NULL);
    int is = name && strcmp(name, "hexrig-pd\n") == 0;

    free(name);
    return is;
}

static void hold_one(void)
{
    int status;

    for (int i = 0; i < ALL; i++)
        held.fd[i] = open_file();
    create_pd(held.fd[0]);
    assert_int_equal(hxt_children(own_rig_dsp(), &held.pd, 1), 1);
    assert_true(hxt_until(is_pd, &held.pd, PATIENCE_S));
    if (ptrace(PTRACE_SEIZE, held.pd, NULL, NULL) || ptrace(PTRACE_INTERRUPT, held.pd, NULL, NULL)) {
        for (int i = 0; i < ALL; i++)
            close(held.fd[i]);
        hxt_skip_test("ptrace: %s", strerror(errno));
    }
    assert_int_equal(waitpid(held.pd, &status, __WALL), held.pd);
    close(held.fd[0]);
}

/* Its end is the debugger's to see first. */
static void let_it_end(void)
{
    int status;

    do
        assert_int_equal(waitpid(held.pd, &status, __WALL), held.pd);
    while (!WIFEXITED(status) && !WIFSIGNALED(status));
}

static void close_the_others(void)
{
    for (int i = 1; i < ALL; i++)
        close(held.fd[i]);
    expect_sessions(0);
}

/* --- tests */

static void test_an_opener_gets_the_session_that_is_being_closed(void **state)
{
    (void)state;
    hold_one();
    begin(&first);
    begin(&second);
    let_it_end();
    assert_int_equal(answer_of(&first), 0);
    assert_int_equal(answer_of(&second), EBUSY);
    create_pd(first.fd);
    close(first.fd);
    close(second.fd);
    close_the_others();
}

static void on_signal(int signal)
{
    (void)signal;
}

static void test_an_opener_that_gives_up_takes_no_session(void **state)
{
    const struct sigaction sa = {.sa_handler = on_signal};

    (void)state;
    hold_one();
    begin(&first);
    begin(&second);
    if (is_fuse) {
        sigaction(SIGUSR1, &sa, NULL);
        assert_int_equal(pthread_kill(first.thread, SIGUSR1), 0);
        assert_int_equal(answer_of(&first), EINTR);
    } else {
        close(first.fd);
    }
    let_it_end();
    assert_int_equal(answer_of(&second), 0);
    close(second.fd);
    close_the_others();
}

static void test_an_opener_waits_no_longer_than_the_dsp_lives(void **state)
{
    (void)state;
    hold_one();
    begin(&first);
    kill(own_rig_dsp(), SIGKILL);
    assert_int_equal(answer_of(&first), ENOENT);
    close(first.fd);
    let_it_end();
    close_the_others();
}

static void test_an_opener_does_not_wait_for_ever(void **state)
{
    const double start = drv_now();

    (void)state;
    hold_one();
    begin(&first);
    assert_int_equal(answer_of(&first), EBUSY);
    assert_true(drv_now() - start > 9); /* forty checks, one each 250 ms at most */
    close(first.fd);
    let_it_end();
    close_the_others();
}

/* The end of a connection whose turn it is not is served later than a new connection.  There are turns while two processes have
 * sessions, and another connection of the process that closes has to be before it. */
static void test_an_end_that_is_not_served_yet_counts(void **state)
{
    const struct hx_frame ask = raw_ask_status(), nothing = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1};
    struct hx_frame_reply r;
    int fd[ALL - 1], other[2];
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(pipe2(other, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        int own = raw_connect();

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (recv(own, &r, sizeof(r), MSG_WAITALL) == sizeof(r) && r.result == 0 && write(other[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(other[0], &byte, 1), 1);
    for (size_t i = 0; i < HXT_LEN(fd); i++)
        fd[i] = open_file();
    create_pd(fd[1]); /* or reading a text node would close its session */
    raw_send(fd[0], &nothing, sizeof(nothing), NULL, 0); /* has had the last turn */
    assert_int_equal(recv(fd[0], &r, sizeof(r), MSG_WAITALL), sizeof(r));
    hxt_signal(&own_rig_child, SIGSTOP);
    raw_send(fd[1], &ask, sizeof(ask), NULL, 0);
    raw_send(fd[1], "status", 6, NULL, 0);
    close(fd[0]);
    first.fd = raw_connect();
    hxt_signal(&own_rig_child, SIGCONT);
    assert_int_equal(answer_of(&first), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(first.fd);
    for (size_t i = 1; i < HXT_LEN(fd); i++)
        close(fd[i]);
    close(other[0]);
    close(other[1]);
    expect_sessions(0);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_opener_gets_the_session_that_is_being_closed),
        cmocka_unit_test(test_an_opener_that_gives_up_takes_no_session),
        cmocka_unit_test(test_an_opener_waits_no_longer_than_the_dsp_lives),
    };
    const struct CMUnitTest on_sockets[] = {
        cmocka_unit_test(test_an_end_that_is_not_served_yet_counts),
        cmocka_unit_test(test_an_opener_does_not_wait_for_ever),
    };

    own_rig_front_end = front_end;
    is_fuse = strcmp(front_end, "fuse") == 0;
    return hxt_run_group(front_end, tests, HXT_LEN(tests), own_rig_start, own_rig_stop) |
           (is_fuse ? 0 : hxt_run_group("ends", on_sockets, HXT_LEN(on_sockets), own_rig_start, own_rig_stop));
}

int main(void)
{
    return own_rig_run_both(run);
}
