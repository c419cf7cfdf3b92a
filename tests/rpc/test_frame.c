/* Protects: the socket front end's client side: what goes along with an ioctl, that a reply can only write where it
 * may, many calls in flight, signals, a server that dies. */
#include "frame_connect.c"
#include "frame_io.c"
#include "frame_pack.c"
#include "transport_socket.c"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "AEEStdErr.h"
#include "fake_driver.h"

/* The registry, as far as these tests need it: one buffer. */
static int known_fd = -1;
static void *known_va;
static size_t known_len;

int hx_rpcmem_locate(int fd, const void *va, uint64_t *offset)
{
    uint64_t at = (uintptr_t)va - (uintptr_t)known_va;

    if (fd != known_fd || at >= known_len)
        return -1;
    *offset = at;
    return 0;
}

enum { H_ECHO = 40, H_FAIL, H_WILD, H_LONG, H_HOLD, H_PAIR, H_DIE, H_FDS };

static struct fastrpc_invoke_args *args_of(struct fake_request *r)
{
    return fake_in(r, ((struct fastrpc_invoke *)r->arg)->args);
}

static void echo(struct fake_request *r, int result, uint64_t shift, uint64_t longer)
{
    struct fastrpc_invoke_args *a = args_of(r);
    char *out = calloc(1, a[1].length + longer);
    const void *bytes[] = {out};
    struct hx_frame_seg seg = {.addr = a[1].ptr + shift, .len = a[1].length + longer, .flags = HX_SEG_OUT};
    char *in = fake_in(r, a[0].ptr);

    for (uint64_t i = 0; i < a[0].length && i < a[1].length; i++)
        out[i] = (char)(in[i] + 1);
    fake_reply(r, result, 1, &seg, bytes);
    free(out);
}

static void hold(struct fake_driver *f, struct fake_request *r)
{
    pthread_mutex_lock(&f->lock);
    f->held[f->n_held++] = r;
    pthread_mutex_unlock(&f->lock);
}

/* Answers two calls when both are there, the second first. */
static void pair(struct fake_driver *f, struct fake_request *r)
{
    hold(f, r);
    if (f->n_held < 2)
        return;
    echo(f->held[1], 0, 0, 0);
    echo(f->held[0], 0, 0, 0);
    fake_free(f->held[0]);
    fake_free(f->held[1]);
    f->n_held = 0;
}

/* result = how many descriptors came, byte 0 of the first is handed back */
static void count_fds(struct fake_request *r)
{
    char c = 0;

    if (r->n_rx && pread(r->rx[0], &c, 1, 0) != 1)
        c = 0;
    fake_reply(r, (int)r->n_rx * 256 + c, 0, NULL, NULL);
}

static void interrupted(struct fake_driver *f, struct fake_request *r)
{
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < f->n_held; i++) {
        if (f->held[i]->head.id != r->head.id)
            continue;
        fake_reply(f->held[i], -512, 0, NULL, NULL);
        fake_free(f->held[i]);
        f->held[i] = f->held[--f->n_held];
        break;
    }
    pthread_mutex_unlock(&f->lock);
}

static int held_calls(struct fake_driver *f)
{
    int n;

    pthread_mutex_lock(&f->lock);
    n = f->n_held;
    pthread_mutex_unlock(&f->lock);
    return n;
}

static void handle(struct fake_driver *f, struct fake_request *r)
{
    int held = 0;

    if (r->head.op == HX_FRAME_READ) {
        fake_reply_text(r, r->arg[0] == 's' ? "state=up\n" : "");
    } else if (r->head.op == HX_FRAME_INTERRUPT) {
        interrupted(f, r);
    } else if (r->head.cmd != FASTRPC_IOCTL_INVOKE) {
        fake_reply(r, (int)r->head.n_segs, 0, NULL, NULL);
    } else {
        switch (((struct fastrpc_invoke *)r->arg)->handle) {
        case H_ECHO:
            echo(r, 0, 0, 0);
            break;
        case H_FAIL:
            echo(r, AEE_DSP(AEE_EUNSUPPORTED), 0, 0);
            break;
        case H_WILD:
            echo(r, 0, 1, 0);
            break;
        case H_LONG:
            echo(r, 0, 0, 1);
            break;
        case H_HOLD:
            hold(f, r);
            held = 1;
            break;
        case H_PAIR:
            pair(f, r);
            held = 1;
            break;
        case H_DIE:
            shutdown(r->sock, SHUT_RDWR);
            break;
        case H_FDS:
            count_fds(r);
            break;
        }
    }
    if (!held)
        fake_free(r);
}

struct rig {
    struct fake_driver f;
    struct hx_transport *t;
};

static int setup(void **state)
{
    struct rig *g = calloc(1, sizeof(*g));

    if (!g)
        return -1;
    fake_start(&g->f, "fastrpc-cdsp");
    g->f.handle = handle;
    assert_int_equal(hx_transport_socket_open(g->f.node, &g->t), 0);
    *state = g;
    return 0;
}

static int teardown(void **state)
{
    struct rig *g = *state;

    g->t->ops->close(g->t);
    fake_stop(&g->f);
    free(g);
    return 0;
}

static int call(struct hx_transport *t, uint32_t handle_id, const char *in, size_t n_in, char *out,
                size_t n_out)
{
    struct fastrpc_invoke_args a[2] = {{(uintptr_t)in, n_in, -1, 0}, {(uintptr_t)out, n_out, -1, 0}};
    struct fastrpc_invoke inv = {handle_id, REMOTE_SCALARS_MAKE(2, 1, 1), (uintptr_t)a};

    return t->ops->ioctl(t, FASTRPC_IOCTL_INVOKE, &inv);
}

static void test_invoke_takes_inputs_along_and_brings_outputs_back(void **state)
{
    struct rig *g = *state;
    char out[8];

    memset(out, HXT_POISON, sizeof(out));
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, out, 3), 0);
    assert_memory_equal(out, "IBM", 3);
    hxt_untouched(out + 3, 5);
}

static void test_dsp_code_travels_untouched_and_outputs_are_copied(void **state)
{
    struct rig *g = *state;
    char out[3];

    assert_int_equal(call(g->t, H_FAIL, "HAL", 3, out, 3), AEE_DSP(AEE_EUNSUPPORTED));
    assert_memory_equal(out, "IBM", 3);
}

static void test_reply_outside_what_was_offered_breaks_the_connection(void **state)
{
    static const uint32_t bad[] = {H_WILD, H_LONG};

    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        struct rig *g = *state;
        struct hx_transport *t;
        char out[4];

        assert_int_equal(hx_transport_socket_open(g->f.node, &t), 0);
        memset(out, HXT_POISON, sizeof(out));
        assert_int_equal(call(t, bad[i], "HAL", 3, out, 3), -EPROTO);
        hxt_untouched(out, sizeof(out));
        assert_int_equal(call(t, H_ECHO, "HAL", 3, out, 3), -EPROTO);
        t->ops->close(t);
    }
}

static void test_greeting_error_is_the_error_of_open(void **state)
{
    struct fake_driver f;
    struct hx_transport *t;

    (void)state;
    fake_start(&f, "busy");
    f.greeting = -EBUSY;
    f.handle = handle;
    assert_int_equal(hx_transport_socket_open(f.node, &t), -EBUSY);
    fake_stop(&f);
    assert_int_equal(hx_transport_socket_open(f.node, &t), -ENOENT);
}

static void test_path_longer_than_a_socket_address_connects(void **state)
{
    struct rig *g = *state;
    char dir[256], node[512];
    struct hx_transport *t;

    snprintf(dir, sizeof(dir), "%s/%0100d", hxt_tmpdir(), 0);
    assert_int_equal(symlink(".", dir), 0);
    snprintf(node, sizeof(node), "%s/fastrpc-cdsp", dir);
    assert_int_equal(hx_transport_socket_open(node, &t), 0);
    t->ops->close(t);
    unlink(dir);
    (void)g;
}

static void test_text_nodes_are_read_on_their_own_connection(void **state)
{
    struct rig *g = *state;
    char *text = NULL;

    assert_int_equal(hx_transport_socket_read(g->f.node, "status", &text), 0);
    assert_string_equal(text, "state=up\n");
    free(text);
    assert_int_equal(hx_transport_socket_read(g->f.node, "x", &text), 0);
    assert_string_equal(text, "");
    free(text);
}

static void test_shared_buffer_sends_its_descriptor_and_no_bytes(void **state)
{
    struct rig *g = *state;
    struct hx_frame_out *f = malloc(sizeof(*f));
    struct fastrpc_invoke_args a[3];
    struct fastrpc_invoke inv = {H_FDS, REMOTE_SCALARS_MAKE(2, 2, 1), (uintptr_t)a};
    int fd = memfd_create("t", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, 4096), 0);
    known_va = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    known_fd = fd;
    known_len = 4096;
    *(char *)known_va = 'q';
    for (int i = 0; i < 3; i++)
        a[i] = (struct fastrpc_invoke_args){(uintptr_t)known_va + 64 * i, 64, fd, 0};
    assert_int_equal(g->t->ops->ioctl(g->t, FASTRPC_IOCTL_INVOKE, &inv), 1 * 256 + 'q');
    for (int round = 0; round < 2; round++) { /* the second asks the kernel */
        assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), 0);
        assert_int_equal(f->head.n_segs, 4); /* the argument list, and where each lies */
        assert_int_equal(f->head.n_fds, 1);
        for (int i = 0; i < 3; i++) {
            const struct hx_frame_seg *s = &f->segs[1 + i];

            assert_int_equal(s->flags, HX_SEG_FILE);
            assert_int_equal(s->fd, fd);
            assert_int_equal(s->addr, a[i].ptr);
            assert_int_equal(s->offset, 64 * i);
        }
        known_fd = -1;
    }
    munmap(known_va, 4096);
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), 0);
    assert_int_equal(f->head.n_segs, 1); /* it is mapped nowhere */
    close(fd);
    free(f);
}

static void test_descriptors_0_and_minus_1_mean_none(void **state)
{
    struct hx_frame_out *f = malloc(sizeof(*f));
    char byte = 0;
    struct fastrpc_invoke_args a[2] = {{(uintptr_t)&byte, 1, 0, 0}, {(uintptr_t)&byte, 1, -1, 0}};
    struct fastrpc_invoke inv = {H_ECHO, REMOTE_SCALARS_MAKE(2, 1, 1), (uintptr_t)a};

    (void)state;
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), 0);
    assert_int_equal(f->head.n_fds, 0);
    assert_int_equal(f->head.n_segs, 3);
    assert_int_equal(f->segs[1].flags, HX_SEG_IN);
    assert_int_equal(f->segs[2].flags, HX_SEG_OUT);
    free(f);
}

static void test_packing_refuses_what_a_frame_cannot_hold(void **state)
{
    struct hx_frame_out *f = malloc(sizeof(*f));
    struct fastrpc_invoke_args *a = calloc(FASTRPC_MAX_ARGS, sizeof(*a));
    uint32_t all = REMOTE_SCALARS_MAKEX(0, 2, 255, 255, 15, 15);
    struct fastrpc_invoke inv = {H_ECHO, all, (uintptr_t)a};

    (void)state;
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), 0); /* 540 empty ones */
    assert_int_equal(f->head.n_segs, 1);
    for (int i = 0; i < FASTRPC_MAX_ARGS; i++)
        a[i] = (struct fastrpc_invoke_args){(uintptr_t)a, 1, i < 300 ? dup(2) : 2, 0};
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -E2BIG);
    for (int i = 0; i < 300; i++)
        close(a[i].fd);
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), 0); /* those are no more */
    assert_int_equal(f->head.n_fds, 1);
    inv.sc = REMOTE_SCALARS_MAKE(2, 1, 0);
    a[0] = (struct fastrpc_invoke_args){4096, UINT64_MAX, -1, 0};
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -ENOMEM);
    a[0].length = (uint64_t)HX_FRAME_MAX_BODY + 1;
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -ENOMEM);
    a[0].length = HX_FRAME_MAX_BODY; /* and its argument list */
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -ENOMEM);
    a[0] = (struct fastrpc_invoke_args){0, 1, -1, 0};
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -EFAULT);
    inv.args = 0;
    assert_int_equal(hx_frame_pack(f, 1, FASTRPC_IOCTL_INVOKE, &inv), -EFAULT);
    free(a);
    free(f);
}

static void test_shell_file_goes_along_unless_it_is_too_long(void **state)
{
    struct rig *g = *state;
    char *shell = calloc(1, 4096);
    struct fastrpc_init_create c = {.filelen = 4096, .filefd = -1, .file = (uintptr_t)shell};

    assert_int_equal(g->t->ops->ioctl(g->t, FASTRPC_IOCTL_INIT_CREATE, &c), 1);
    c.filelen = FASTRPC_INIT_FILELEN_MAX + 1;
    assert_int_equal(g->t->ops->ioctl(g->t, FASTRPC_IOCTL_INIT_CREATE, &c), 0);
    free(shell);
}

struct caller {
    struct rig *g;
    uint32_t handle;
    char in, out;
    size_t bytes;
    int times;
    int rc;
    pthread_t thread;
};

static void *caller_main(void *arg)
{
    struct caller *c = arg;
    char *in = malloc(c->bytes), *out = calloc(1, c->bytes);

    memset(in, c->in, c->bytes);
    for (int i = 0; i < c->times && c->rc == 0; i++) {
        out[c->bytes - 1] = 0;
        c->rc = call(c->g->t, c->handle, in, c->bytes, out, c->bytes);
        c->out = out[c->bytes - 1];
        if (c->rc == 0 && c->out != c->in + 1)
            c->rc = 1;
    }
    free(in);
    free(out);
    return NULL;
}

static void start_callers(struct caller *c, int n, struct rig *g, struct caller like)
{
    for (int i = 0; i < n; i++) {
        c[i] = like;
        c[i].g = g;
        c[i].in = (char)('a' + i);
        assert_int_equal(pthread_create(&c[i].thread, NULL, caller_main, &c[i]), 0);
    }
}

static void test_replies_may_come_out_of_order(void **state)
{
    struct caller c[2];

    start_callers(c, 2, *state, (struct caller){.handle = H_PAIR, .bytes = 16, .times = 50});
    for (int i = 0; i < 2; i++) {
        pthread_join(c[i].thread, NULL);
        assert_int_equal(c[i].rc, 0);
    }
}

static void test_many_threads_with_large_buffers_do_not_deadlock(void **state)
{
    struct caller c[4];

    start_callers(c, 4, *state, (struct caller){.handle = H_ECHO, .bytes = 1 << 20, .times = 15});
    for (int i = 0; i < 4; i++) {
        pthread_join(c[i].thread, NULL);
        assert_int_equal(c[i].rc, 0);
    }
}

static void test_dying_server_ends_every_call(void **state)
{
    struct rig *g = *state;
    struct caller c[3];
    char out[1];

    start_callers(c, 3, g, (struct caller){.handle = H_HOLD, .bytes = 4, .times = 1});
    while (g->f.requests < 3)
        usleep(1000);
    assert_int_equal(call(g->t, H_DIE, "x", 1, out, 1), -ECONNRESET);
    for (int i = 0; i < 3; i++) {
        pthread_join(c[i].thread, NULL);
        assert_int_equal(c[i].rc, -ECONNRESET);
    }
}

static void on_signal(int sig)
{
    (void)sig;
}

static void test_signal_gives_the_call_up_once_in_reader_and_sleeper(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal};
    struct rig *g = *state;
    struct caller c[2];

    sigaction(SIGUSR1, &sa, NULL);
    start_callers(c, 2, g, (struct caller){.handle = H_HOLD, .bytes = 4, .times = 1});
    while (g->f.requests < 2)
        usleep(1000);
    usleep(50000); /* both wait now, one as the reader */
    for (int i = 0; i < 2; i++) {
        /* again and again: a signal between two system calls goes unnoticed */
        do {
            pthread_kill(c[i].thread, SIGUSR1);
            usleep(20000);
        } while (pthread_tryjoin_np(c[i].thread, NULL) == EBUSY);
        assert_int_equal(c[i].rc, -EINTR);
    }
    assert_int_equal(g->f.interrupts, 2);
    assert_int_equal(held_calls(&g->f), 0);
}

static void test_signal_with_sa_restart_does_not_disturb(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct rig *g = *state;
    struct caller c[1];
    char out[4];

    sigaction(SIGUSR1, &sa, NULL);
    start_callers(c, 1, g, (struct caller){.handle = H_PAIR, .bytes = 4, .times = 1});
    while (g->f.requests < 1)
        usleep(1000);
    usleep(50000);
    pthread_kill(c[0].thread, SIGUSR1);
    usleep(50000);
    assert_int_equal(call(g->t, H_PAIR, "HAL!", 4, out, 4), 0);
    pthread_join(c[0].thread, NULL);
    assert_int_equal(c[0].rc, 0);
    assert_int_equal(g->f.interrupts, 0);
}

/* Lengths, memory and descriptors that are wrong are the fault of one call, as on a device file. */
static void test_bad_call_is_refused_and_the_next_works(void **state)
{
    struct rig *g = *state;
    char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), out[4];
    struct fastrpc_invoke_args a = {(uintptr_t)out, 4, 900, 0};
    struct fastrpc_invoke inv = {H_FDS, REMOTE_SCALARS_MAKE(2, 1, 0), (uintptr_t)&a};

    assert_ptr_not_equal(hole, MAP_FAILED);
    assert_int_equal(call(g->t, H_ECHO, "HAL", 1ul << 40, out, 3), -ENOMEM);
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, out, 3), 0);
    assert_int_equal(call(g->t, H_ECHO, hole, 3, out, 3), -EFAULT);
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, out, 3), 0);
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, hole, 3), -EFAULT);
    memset(out, 0, sizeof(out));
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, out, 3), 0);
    assert_memory_equal(out, "IBM", 3);
    assert_int_equal(g->t->ops->ioctl(g->t, FASTRPC_IOCTL_INVOKE, &inv), 0); /* none came along */
    assert_int_equal(call(g->t, H_ECHO, "HAL", 3, out, 3), 0);
    munmap(hole, 4096);
}

static void test_half_a_frame_ends_the_connection(void **state)
{
    struct rig *g = *state;
    size_t n = 8u << 20;
    char *mem = mmap(NULL, n + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), out[4];

    assert_ptr_not_equal(mem, MAP_FAILED);
    assert_int_equal(mprotect(mem + n, 4096, PROT_NONE), 0);
    assert_true(call(g->t, H_ECHO, mem, n + 4096, out, 3) < 0);
    assert_true(call(g->t, H_ECHO, "HAL", 3, out, 3) < 0);
    munmap(mem, n + 4096);
}

static void test_server_that_says_nothing_times_out(void **state)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct hx_transport *t;
    char *text;

    (void)state;
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/mute", hxt_tmpdir());
    assert_int_equal(bind(sock, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(sock, 4), 0);
    assert_int_equal(hx_transport_socket_open(sa.sun_path, &t), -ETIMEDOUT);
    assert_int_equal(hx_transport_socket_read(sa.sun_path, "status", &text), -ETIMEDOUT);
    close(sock);
    unlink(sa.sun_path);
}

static void test_forked_child_may_not_use_the_connection(void **state)
{
    struct rig *g = *state;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        char out[1];

        _exit(call(g->t, H_ECHO, "x", 1, out, 1) == -ECONNREFUSED ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const struct CMUnitTest tests[] = {
    RIG_TEST(test_invoke_takes_inputs_along_and_brings_outputs_back),
    RIG_TEST(test_dsp_code_travels_untouched_and_outputs_are_copied),
    RIG_TEST(test_reply_outside_what_was_offered_breaks_the_connection),
    cmocka_unit_test(test_greeting_error_is_the_error_of_open),
    RIG_TEST(test_path_longer_than_a_socket_address_connects),
    RIG_TEST(test_text_nodes_are_read_on_their_own_connection),
    RIG_TEST(test_shared_buffer_sends_its_descriptor_and_no_bytes),
    cmocka_unit_test(test_descriptors_0_and_minus_1_mean_none),
    cmocka_unit_test(test_packing_refuses_what_a_frame_cannot_hold),
    RIG_TEST(test_shell_file_goes_along_unless_it_is_too_long),
    RIG_TEST(test_replies_may_come_out_of_order),
    RIG_TEST(test_many_threads_with_large_buffers_do_not_deadlock),
    RIG_TEST(test_dying_server_ends_every_call),
    RIG_TEST(test_signal_gives_the_call_up_once_in_reader_and_sleeper),
    RIG_TEST(test_signal_with_sa_restart_does_not_disturb),
    RIG_TEST(test_bad_call_is_refused_and_the_next_works),
    RIG_TEST(test_half_a_frame_ends_the_connection),
    cmocka_unit_test(test_server_that_says_nothing_times_out),
    RIG_TEST(test_forked_child_may_not_use_the_connection),
};

int main(void)
{
    return HXT_RUN(tests);
}
