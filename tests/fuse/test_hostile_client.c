/* Protects a rig and the client that uses it from another client, of the rig's own user or of somebody else, who has no skel of his own:
 * what tests/fuse/hostile/ tries is refused as its tables say, and meanwhile a call, a buffer, a grant of VTCM and a queue of the
 * target's are as they were.  Part of the isolation suite (tests/lib/isolation.h). */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "dspqueue.h"
#include "fuse/hostile/hostile.h"
#include "isolation.h"
#include "other_users.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_queue.h"

enum { TOLD_MAX = 600, LEAST = 150, LEAST_OF_A_STRANGER = 300, TARGET_FD = 333, BUFFER = 64 << 10, VTCM = 1 << 20 };

char mount_dir[64] = "rig"; /* the tests work in the folder that it lies in */
const struct access *dev;

/* What the processes of a test share. */
static struct board {
    struct target target;
    _Atomic int ready, over; /* the target has all that it wants; it may go */
    unsigned n;
    struct told {
        char text[80];
        int expected, got;
    } told[TOLD_MAX];
} *board;

void hostile_tell(const char *name, const char *of, int expected, int got)
{
    struct told *t = &board->told[board->n];

    need(board->n < TOLD_MAX, "too many attempts");
    snprintf(t->text, sizeof(t->text), "%s%s%.50s", name, *of ? " " : "", of);
    t->expected = expected;
    t->got = got;
    board->n++;
}

/* --- the target --------------------------------------------------------------------------------------------------------- */

static dspqueue_t start_queue(remote_handle64 *skel, uint64_t *id)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    struct hxq_start in = {0, HXQ_ECHO, 0};
    remote_arg pra[1] = {{.buf = {&in, sizeof(in)}}};
    dspqueue_t q = NULL;

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    need_is(remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, skel), 0, "the queue skel");
    need_is(dspqueue_create(CDSP_DOMAIN_ID, 0, 4096, 4096, NULL, NULL, NULL, &q), 0, "dspqueue_create");
    need_is(dspqueue_export(q, id), 0, "dspqueue_export");
    in.id = *id;
    need_is(remote_handle64_invoke(*skel, REMOTE_SCALARS_MAKE(HXQ_START, 1, 0), pra), 0, "HXQ_START");
    return q;
}

static void stop_queue(dspqueue_t q, remote_handle64 skel, uint64_t id)
{
    const uint8_t sent[8] = "packet!";
    uint8_t got[8] = "";
    struct hxq_start stop = {id, 0, 0};
    remote_arg pra[1] = {{.buf = {&stop, sizeof(stop)}}};
    uint32_t flags, n_buffers, len;

    need_is(dspqueue_write(q, 0, 0, NULL, sizeof(sent), sent, 1000000), 0, "dspqueue_write");
    need_is(dspqueue_read(q, &flags, 0, &n_buffers, NULL, sizeof(got), &len, got, 1000000), 0, "dspqueue_read");
    need(len == sizeof(sent) && memcmp(got, sent, len) == 0, "the queue echoes something else");
    need_is(remote_handle64_invoke(skel, REMOTE_SCALARS_MAKE(HXQ_STOP, 1, 0), pra), 0, "HXQ_STOP");
    need_is(dspqueue_close(q), 0, "dspqueue_close");
    remote_handle64_close(skel);
}

/* Has one of everything until the attacker is through, and finds all of it as it left it. */
static void be_the_target(void)
{
    struct target *t = &board->target;
    struct file f = open_skel();
    struct shared *buffer = shared_get_at(BUFFER, TARGET_FD), *gate = gate_get();
    struct fastrpc_mem_map m = {.fd = TARGET_FD, .length = BUFFER, .flags = FASTRPC_MAP_FD};
    struct fastrpc_mem_unmap u = {.fd = TARGET_FD, .length = BUFFER};
    struct hxt_in us = {0, VTCM};
    struct hxt_grant grant = {0};
    struct waiter waiter;
    remote_handle64 queue_skel;
    dspqueue_t queue;
    uint8_t out[64];

    memset(buffer->p, 0x3c, BUFFER);
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, &m), 0, "MEM_MAP");
    need_is(call1(f, HXT_ACQUIRE, 0, us.value, &grant, sizeof(grant)), 0, "HXT_ACQUIRE");
    need(grant.address != 0, "no VTCM for the target");
    queue = start_queue(&queue_skel, &t->queue);
    waiter_start(&waiter, f, gate, 0x1234);
    need_inside(gate, 1);
    t->pid[CLIENT] = getpid();
    t->skel = f.skel;
    t->fd = TARGET_FD;
    t->vaddr = u.vaddr = m.vaddrout;
    t->bytes = BUFFER;
    t->context = grant.context;
    board->ready = 1;
    while (!board->over)
        usleep(1000);
    gate_open(gate);
    waiter_join(&waiter);
    need_is(waiter.result, 0x1234, "the call that was under way");
    need_is(echo(f, 0, arg_fd(buffer, 0, sizeof(out)), arg(out, sizeof(out))), 0, "HXT_ECHO");
    for (size_t i = 0; i < BUFFER; i++)
        need(buffer->p[i] == 0x3c && out[i % sizeof(out)] == 0x3c, "byte %zu of the buffer is another one", i);
    need_is(call0(f, HXT_RELEASE, 0, grant.context), 0, "HXT_RELEASE");
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_UNMAP, &u), 0, "MEM_UNMAP");
    stop_queue(queue, queue_skel, t->queue);
    close_file(f);
}

/* --- processes of a test ------------------------------------------------------------------------------------------------ */

static pid_t start_as(unsigned uid, void (*work)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(600);
        need(iso_become(uid) == 0, "user %u: %s", uid, strerror(errno));
        work();
        _exit(0);
    }
    return pid;
}

static void expect_end(pid_t pid, const char *who)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status)
        fail_msg("%s ended with status 0x%x", who, (unsigned)status);
}

/* The one child of the root PD that is older than the attacker's. */
static pid_t a_pd(pid_t root)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%d/children", root, root), NULL);
    pid_t pid = text ? atoi(text) : 0;

    free(text);
    assert_true(pid > 1);
    return pid;
}

static int target_is_ready(void *target)
{
    return board->ready || waitpid(*(pid_t *)target, NULL, WNOHANG) != 0;
}

static void attack(void)
{
    hostile_calls(&board->target);
    hostile_modules(&board->target);
    hostile_frames(&board->target);
}

/* nobody's rig cannot look into other users: what they call by comes over the sockets beside the mount. */
static void attack_as_stranger(void)
{
    const struct access *of_the_mount = dev;

    if (dev->kernel && strcmp(iso_rig_of(), "nobody") == 0) {
        dev = &access_socket;
        strcpy(mount_dir, "rig.socket");
    }
    attack();
    dev = of_the_mount;
    strcpy(mount_dir, "rig");
    hostile_as_stranger(&board->target);
}

static void let_attack(unsigned uid, void (*work)(void), const char *attacker, unsigned least)
{
    const pid_t root = own_rig_dsp();
    pid_t target, attacking;

    memset(board, 0, sizeof(*board));
    target = start_as(geteuid(), be_the_target);
    assert_true(hxt_until(target_is_ready, &target, 30) && board->ready);
    board->target.pid[DRIVER] = own_rig_child.pid;
    board->target.pid[ROOT_PD] = root;
    board->target.pid[PD] = a_pd(root);
    snprintf(board->target.sockets, sizeof(board->target.sockets), "%s%s", mount_dir, dev->kernel ? ".socket" : "");
    attacking = start_as(uid, work);
    expect_end(attacking, "the attacker");
    board->over = 1;
    expect_end(target, "the target");
    for (unsigned i = 0; i < board->n; i++)
        iso_attempt(board->told[i].text, board->told[i].expected, board->told[i].got);
    iso_end(attacker, least);
    assert_int_equal(own_rig_dsp(), root); /* it has not been restarted */
    assert_int_equal(kill(own_rig_child.pid, 0), 0);
}

static void test_a_client_of_the_same_user_gets_nothing_of_another_session(void **state)
{
    (void)state;
    let_attack(geteuid(), attack, "client of the rig's user", LEAST);
}

static void test_a_client_of_another_user_gets_nothing_of_the_rig(void **state)
{
    (void)state;
    if (strcmp(iso_rig_of(), "user") == 0)
        hxt_skip_test("only root can be another user");
    let_attack(HXT_STRANGER, attack_as_stranger, "client of another user", LEAST_OF_A_STRANGER);
}

static int start(void **state)
{
    static char log[400];

    snprintf(log, sizeof(log), "%s/log", hxt_tmpdir());
    own_rig_log = log;
    own_rig_mode = "0666";
    umask(0022);
    if (own_rig_start(state) || chdir(hxt_tmpdir()))
        return -1;
    return chmod(log, 0600);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_of_the_same_user_gets_nothing_of_another_session),
        cmocka_unit_test(test_a_client_of_another_user_gets_nothing_of_the_rig),
    };

    own_rig_front_end = front_end;
    dev = strcmp(front_end, "socket") == 0 ? &access_socket : &access_fuse;
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 1;
    return hxt_run_group(front_end, tests, HXT_LEN(tests), start, own_rig_stop);
}

int main(void)
{
    iso_changes_user = 1;
    return iso_run(run);
}
