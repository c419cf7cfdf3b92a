/* Protects the others from a user whose memory hangs again and again, in ever new sessions: each time costs everybody a second, so
 * after three times the rig no longer waits for that user, nor for anybody in whose memory eight threads of it hang already.  And who may
 * take subordinate ids answers for what they do, on either front end. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "driver_client.h"
#include "hole.h"
#include "hx_frame.h"
#include "hx_reach.h"

enum { NOBODY = 65534, CULPRIT = 65533, BYSTANDER = 65532, OF_USER = 8, BARRED_AFTER = 3, ASKED_IN_VAIN = 100 };

static int ask(int status, uint8_t *page)
{
    struct hx_reach r = {.addr = (uintptr_t)page};

    return ioctl(status, HX_IOCTL_REACH, &r);
}

static double seconds_of_efault(int status, uint8_t *page)
{
    double start = drv_now();
    int rc = ask(status, page);

    if (rc != -1 || errno != EFAULT)
        return -1;
    return drv_now() - start;
}

/* In a child: what the rig did, as an exit code. */
static int hang_again_and_again(void)
{
    uint8_t here = 0;
    struct hole h;
    int status;

    if (hole_try(&h) || chdir(own_rig_path("")) || setresuid(NOBODY, NOBODY, NOBODY))
        return 1;
    status = open("status", O_RDONLY | O_CLOEXEC);
    if (status < 0)
        return 2;
    for (int i = 0; i < BARRED_AFTER; i++)
        if (seconds_of_efault(status, h.page) < 0.9)
            return 3;
    for (int i = 0; i < ASKED_IN_VAIN; i++)
        if (seconds_of_efault(status, h.page) < 0 || seconds_of_efault(status, &here) < 0)
            return 4;
    return 0;
}

static void expect_work(void)
{
    uint32_t h;
    int fd = drv_connect(&h);

    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(fd);
}

static void test_a_user_whose_memory_hung_three_times_is_waited_for_no_more(void **state)
{
    double start = drv_now();
    struct hole probe = hole_make();
    int rc;
    pid_t pid;

    (void)state;
    hole_fill(&probe);
    if (geteuid())
        hxt_skip_test("only root can be another user");
    pid = fork();
    if (pid == 0)
        _exit(hang_again_and_again());
    assert_true(pid > 1);
    assert_int_equal(waitpid(pid, &rc, 0), pid);
    assert_int_equal(rc, 0);
    assert_true(drv_now() - start < 2 * ASKED_IN_VAIN); /* a second each, if it were waited for them */
    expect_work(); /* the owner's memory is another matter */
}

/* --- subordinate ids */

/* What a user does under another id in a namespace of its own.  It begins in `folder`, and 0 is as it should be. */
struct other {
    uid_t user;
    const char *folder;
    int (*ask)(void);
};

/* `made`: the namespace is there, `mapped`: so are its ids. */
static int ask_under_another_id(const struct other *o, int made, int mapped)
{
    char byte;

    if (chdir(o->folder) || setresgid(o->user, o->user, o->user) || setresuid(o->user, o->user, o->user))
        return 1;
    if (unshare(CLONE_NEWUSER))
        return 77;
    if (write(made, "", 1) != 1 || read(mapped, &byte, 1) != 1 || setresuid(1, 1, 1))
        return 2;
    return o->ask();
}

/* What newuidmap does for a user whom /etc/subuid names. */
static void give_ids(pid_t pid)
{
    static const char map[] = "0 100000 100";

    hxt_write_file(hxt_path("/proc/%d/uid_map", pid), map, sizeof(map) - 1);
}

static void expect_under_another_id(const struct other *o)
{
    int made[2], mapped[2], rc;
    char byte;
    pid_t pid;

    assert_int_equal(pipe(made) | pipe(mapped), 0);
    pid = fork();
    if (pid == 0)
        _exit(ask_under_another_id(o, made[1], mapped[0]));
    close(made[1]);
    if (read(made[0], &byte, 1) == 1) {
        give_ids(pid);
        assert_int_equal(write(mapped[1], "", 1), 1);
    }
    assert_int_equal(waitpid(pid, &rc, 0), pid);
    close(made[0]);
    close(mapped[0]);
    close(mapped[1]);
    if (WIFEXITED(rc) && WEXITSTATUS(rc) == 77)
        hxt_skip_test("no user namespace for an ordinary user");
    assert_int_equal(rc, 0);
}

/* Even memory that is there is not looked at. */
static int is_not_looked_at(void)
{
    uint8_t here = 0;
    int status = open("status", O_RDONLY | O_CLOEXEC);

    return ask(status, &here) == -1 && errno == EFAULT ? 0 : 3;
}

/* Of nobody, barred by the test before. */
static void test_its_subordinate_ids_are_waited_for_no_more_either(void **state)
{
    const struct other nobody = {NOBODY, own_rig_path(""), is_not_looked_at};
    struct hole probe = hole_make(); /* without these nobody was barred */

    (void)state;
    hole_fill(&probe);
    if (geteuid())
        hxt_skip_test("only root can be another user");
    expect_under_another_id(&nobody);
    expect_work();
}

/* What INIT_ATTACH gives over the socket in this folder, or -1. */
static int attach_over_the_socket(void)
{
    const struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1, .cmd = (uint32_t)FASTRPC_IOCTL_INIT_ATTACH};
    const struct sockaddr_un sa = {AF_UNIX, "fastrpc-cdsp"};
    struct hx_frame_reply r[2]; /* the greeting, the answer */
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(sock, (const struct sockaddr *)&sa, sizeof(sa)) || send(sock, &f, sizeof(f), 0) != sizeof(f) ||
        recv(sock, r, sizeof(r), MSG_WAITALL) != sizeof(r) || r[0].result)
        return -1;
    close(sock);
    return r[1].result;
}

static int is_refused(void)
{
    return attach_over_the_socket() == -ECONNREFUSED ? 0 : 3;
}

static int is_attached(void)
{
    return attach_over_the_socket() == 0 ? 0 : 3;
}

static int crash_the_root_pd(void)
{
    int fd;

    if (chdir(own_rig_path("")) || setresgid(CULPRIT, CULPRIT, CULPRIT) || setresuid(CULPRIT, CULPRIT, CULPRIT))
        return 1;
    fd = open("fastrpc-cdsp", O_RDWR | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH))
        return 2;
    return drv_call0(fd, drv_open_skel(fd), HXT_CRASH, (struct hxt_in){0, 0}) ? 0 : 3;
}

static int has_restarted(void *restarts)
{
    return own_rig_status("dsp_restarts") == *(int *)restarts;
}

static void test_over_a_socket_subordinate_ids_answer_for_their_user_too(void **state)
{
    char sockets[512];
    const struct other culprit = {CULPRIT, sockets, is_refused}, bystander = {BYSTANDER, sockets, is_attached};
    int restarts = own_rig_status("dsp_restarts"), rc;

    (void)state;
    if (geteuid())
        hxt_skip_test("only root can be another user");
    snprintf(sockets, sizeof(sockets), "%s/rig.socket", hxt_tmpdir());
    for (int i = 0; i < BARRED_AFTER; i++) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(crash_the_root_pd());
        assert_int_equal(waitpid(pid, &rc, 0), pid);
        assert_int_equal(rc, 0);
        restarts++;
        assert_true(hxt_until(has_restarted, &restarts, 30));
    }
    expect_under_another_id(&bystander);
    expect_under_another_id(&culprit);
    expect_work();
}

/* --- threads that hang at a time */

struct asker {
    pthread_t thread;
    int status;
    struct hole hole;
    double took;
};

static void *run_asker(void *arg)
{
    struct asker *a = arg;

    a->took = seconds_of_efault(a->status, a->hole.page);
    return NULL;
}

static int is_reached(void *asker)
{
    const struct asker *a = asker;

    return ask(a->status, a->hole.page) == 0;
}

static void test_no_more_than_eight_threads_hang_in_one_users_memory(void **state)
{
    struct asker a[OF_USER + 1];
    int threads;

    (void)state;
    for (int i = 0; i <= OF_USER; i++) {
        a[i] = (struct asker){.status = open(own_rig_path("status"), O_RDONLY | O_CLOEXEC), .hole = hole_make()};
        assert_true(a[i].status >= 0);
    }
    for (int i = 0; i < OF_USER; i++)
        assert_int_equal(pthread_create(&a[i].thread, NULL, run_asker, &a[i]), 0);
    for (int i = 0; i < OF_USER; i++) {
        pthread_join(a[i].thread, NULL);
        assert_true(a[i].took > 0.9);
    }
    threads = own_rig_threads();
    run_asker(&a[OF_USER]);
    assert_true(a[OF_USER].took >= 0);
    assert_int_equal(own_rig_threads(), threads); /* none was spent on it */
    for (int i = 0; i <= OF_USER; i++)
        hole_fill(&a[i].hole);
    for (int i = 0; i <= OF_USER; i++) {
        assert_true(hxt_until(is_reached, &a[i], 10));
        close(a[i].status);
    }
    expect_work();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_user_whose_memory_hung_three_times_is_waited_for_no_more),
        cmocka_unit_test(test_its_subordinate_ids_are_waited_for_no_more_either),
        cmocka_unit_test(test_no_more_than_eight_threads_hang_in_one_users_memory),
        cmocka_unit_test(test_over_a_socket_subordinate_ids_answer_for_their_user_too),
    };

    own_rig_mode = "0666";
    return DRV_RUN(tests);
}
