/* Protects: a rig that is taken away while its clients' calls are under way, by `hexrig down`, by an unmount, a lazy one too, or by who
 * removes its folder.  Each call ends with the documented error within seconds, the rig ends, nothing of it is left, and the next one
 * comes up in the same folder. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "e2e.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

enum { CLIENTS = 3, CALL_MS = 600000, ENDS_S = 300 };

static char folder[256];
static unsigned survived;

struct outcome {
    int result; /* of the call that was under way: AEE_ECONNRESET */
    int later;  /* of one after it: that, or as the kernel answers for a mount that is away, AEE_ECONNREFUSED or AEE_ERPC */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- clients, each a process of its own --------------------------------------------------------------------------- */

struct waiter {
    pthread_t thread;
    remote_handle64 h;
    struct hxt_gate *gate;
    int result;
};

static void *wait_at_gate(void *arg)
{
    struct waiter *w = arg;
    struct hxt_in in = {0, CALL_MS};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {w->gate, sizeof(*w->gate)}}};

    w->result = remote_handle64_invoke(w->h, REMOTE_SCALARS_MAKE(HXT_WAIT, 2, 0), pra);
    return NULL;
}

static int is_inside(void *gate)
{
    return *(volatile uint32_t *)&((struct hxt_gate *)gate)->inside;
}

/* Tells `to` when its call has reached the skel, and how it ended. */
static void client(int to)
{
    static char uri[] = HXT_SKEL_URI CDSP_DOMAIN;
    struct hxt_in in = {3, 0};
    remote_arg pra[1] = {{.buf = {&in, sizeof(in)}}};
    struct outcome o = {0};
    struct waiter w = {0};

    if (remote_handle64_open(uri, &w.h))
        _exit(1);
    w.gate = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    if (!w.gate || pthread_create(&w.thread, NULL, wait_at_gate, &w) || !hxt_until(is_inside, w.gate, 20) ||
        write(to, "x", 1) != 1)
        _exit(1);
    pthread_join(w.thread, NULL);
    o.result = w.result;
    o.later = remote_handle64_invoke(w.h, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), pra);
    remote_handle64_close(w.h);
    _exit(write(to, &o, sizeof(o)) == sizeof(o) ? 0 : 1);
}

struct clients {
    pid_t pid[CLIENTS];
    int from[CLIENTS];
};

static void start_clients(struct clients *c)
{
    setenv("HEXRIG_DEVICE", hxt_path("%s/fastrpc-cdsp", folder), 1);
    for (int i = 0; i < CLIENTS; i++) {
        int pair[2];
        char x;

        assert_int_equal(pipe(pair), 0);
        c->pid[i] = fork();
        if (c->pid[i] == 0) {
            close(pair[0]);
            client(pair[1]);
        }
        close(pair[1]);
        c->from[i] = pair[0];
        assert_int_equal(read(pair[0], &x, 1), 1);
    }
    unsetenv("HEXRIG_DEVICE");
}

static int is_no_connection(int result)
{
    return result == AEE_ECONNRESET || result == AEE_ECONNREFUSED || result == AEE_ERPC;
}

static void expect_their_end(struct clients *c, const char *what)
{
    double start = now_s();

    for (int i = 0; i < CLIENTS; i++) {
        struct outcome o = {0, 0};
        int status;

        assert_int_equal(read(c->from[i], &o, sizeof(o)), sizeof(o));
        assert_int_equal(waitpid(c->pid[i], &status, 0), c->pid[i]);
        assert_int_equal(status, 0);
        close(c->from[i]);
        if (o.result != AEE_ECONNRESET || !is_no_connection(o.later))
            fail_msg("%s: the call that was under way: 0x%x, the next: 0x%x", what, (unsigned)o.result, (unsigned)o.later);
        survived++;
    }
    if (now_s() - start > ENDS_S)
        fail_msg("%s: the calls end after %.1f s", what, now_s() - start);
}

/* --- the rig ------------------------------------------------------------------------------------------------------- */

static void hexrig(const char *words, int code, const char *says)
{
    struct hxt_result r;

    e2e_run(&r, words);
    if (r.exit_code != code || (code && (!e2e_one_line(r.err) || !strstr(r.err, says))) || (!code && *r.err))
        fail_msg("hexrig %s: exit %d: '%s'", words, r.exit_code, r.err);
    hxt_result_free(&r);
}

static void up(const char *front_end)
{
    hexrig(hxt_path("up --mount %s --front-end %s", folder, front_end), 0, "");
}

/* The next rig in the same folder is as good as the first. */
static void expect_a_new_start(const char *front_end)
{
    up(front_end);
    hexrig(hxt_path("down --mount %s", folder), 0, "");
    hexrig(hxt_path("down --mount %s", folder), 1, "no rig runs there");
    e2e_clean();
    rmdir(folder); /* of a rig that did not remove it: it was there already */
    assert_int_equal(access(folder, F_OK), -1);
    assert_int_equal(access(hxt_path("%s.socket", folder), F_OK), -1);
}

static void run_command(const char *const *argv, struct hxt_result *r)
{
    assert_int_equal(hxt_run(r, &(struct hxt_cmd){.argv = argv, .timeout_s = 120}), 0);
}

static void go_down(void)
{
    hexrig(hxt_path("down --mount %s", folder), 0, "");
}

static void detach(void)
{
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
}

static void remove_folder(void)
{
    hxt_remove_tree(folder);
}

static void remove_one_node(void)
{
    assert_int_equal(unlink(hxt_path("%s/fastrpc-cdsp", folder)), 0);
}

static void put_another_in_its_place(void)
{
    char moved[300];

    snprintf(moved, sizeof(moved), "%s.moved", folder);
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    hxt_remove_tree(moved);
    assert_int_equal(rmdir(folder), 0);
}

static const struct way {
    const char *name, *front_end;
    void (*take_away)(void);
    int needs_root;
} ways[] = {
    {"hexrig down, sockets", "socket", go_down, 0},
    {"hexrig down, FUSE", "fuse", go_down, 0},
    {"umount -l", "fuse", detach, 1},
    {"rm -rf of the folder", "socket", remove_folder, 0},
    {"rm of a node", "socket", remove_one_node, 0},
    {"another folder in its place", "socket", put_another_in_its_place, 0},
};

static void take_away(const struct way *w)
{
    struct clients c;

    up(w->front_end);
    start_clients(&c);
    w->take_away();
    expect_their_end(&c, w->name);
    hexrig(hxt_path("status --mount %s", folder), 1, "no rig runs there");
    expect_a_new_start(w->front_end);
}

static void test_calls_end_with_the_rig_however_it_is_taken_away(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        const struct way *w = &ways[i];

        if (strcmp(w->front_end, "fuse") == 0 && !e2e_have_fuse())
            print_message("skip: %s: no /dev/fuse\n", w->name);
        else if (w->needs_root && geteuid())
            print_message("skip: %s: needs root\n", w->name);
        else
            take_away(w);
    }
}

/* Who asks politely is refused, and no call notices. */
static void test_a_busy_mount_stays(void **state)
{
    struct clients c;
    struct hxt_result r;

    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    up("fuse");
    start_clients(&c);
    run_command((const char *const[]){"fusermount3", "-u", folder, NULL}, &r);
    assert_int_equal(r.exit_code, 1);
    assert_non_null(strstr(r.err, "busy"));
    hxt_result_free(&r);
    hexrig(hxt_path("status --mount %s", folder), 0, "");
    survived++;
    go_down();
    expect_their_end(&c, "down after a refused unmount");
    expect_a_new_start("fuse");
}

/* rm -rf of a mount's folder cannot; the rig is as it was. */
static void test_a_mounted_folder_cannot_be_removed(void **state)
{
    struct hxt_result r;

    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    up("fuse");
    run_command((const char *const[]){"rm", "-rf", folder, NULL}, &r);
    assert_int_equal(r.exit_code, 1);
    hxt_result_free(&r);
    hexrig(hxt_path("status --mount %s", folder), 0, "");
    survived++;
    go_down();
    expect_a_new_start("fuse");
}

/* Taken away, and another one started before the first has noticed: each has its own, and ends alone. */
static void test_the_next_rig_does_not_meet_the_last(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("the plain build does it; this one starts rigs slowly");
#endif
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        const struct way *w = &ways[i];

        if ((strcmp(w->front_end, "fuse") == 0 && !e2e_have_fuse()) || (w->needs_root && geteuid()))
            continue;
        up(w->front_end);
        w->take_away();
        up(w->front_end);
        hexrig(hxt_path("status --mount %s", folder), 0, "");
        go_down();
        expect_a_new_start(w->front_end);
        survived++;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_end_with_the_rig_however_it_is_taken_away),
        cmocka_unit_test(test_a_busy_mount_stays),
        cmocka_unit_test(test_a_mounted_folder_cannot_be_removed),
        cmocka_unit_test(test_the_next_rig_does_not_meet_the_last),
    };
    int rc;

    snprintf(folder, sizeof(folder), "%s/busy", hxt_tmpdir());
    setenv("DSP_LIBRARY_PATH", HXT_BUILD "/tests", 1);
    rc = HXT_RUN(tests);
    printf("taken away: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
