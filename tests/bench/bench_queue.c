/* How fast a packet gets through dspqueue: a packet without content to the DSP, whose callback sends it back, against two
 * processes that do nothing but pass a word to and fro.
 *
 * On two cores the peer polls, which is what a hot queue does, too; on one core it is a futex ping-pong, because there nothing
 * passes without a sleep.  Sleeps and doorbells are counted by both ends: a hot packet has none, and so no system call. */
#include <stdint.h>

#include "bench_rig.h"
#include "dspqueue.h"
#include "remote.h"
#include "skel/hxt_queue.h"

struct queue {
    remote_handle64 skel;
    dspqueue_t q;
    uint64_t id;
};

static void check(const char *what, int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_queue: %s: 0x%x\n", what, (unsigned)rc);
    bench_rig_stop();
    exit(1);
}

static int tell(const struct queue *b, uint32_t method, uint32_t flags)
{
    struct hxq_start in = {b->id, flags, 0};
    remote_arg pra[1] = {{.buf = {&in, sizeof(in)}}};

    return remote_handle64_invoke(b->skel, REMOTE_SCALARS_MAKE(method, 1, 0), pra);
}

static void open_queue(struct queue *b)
{
    check("open", remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &b->skel));
    check("create", dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &b->q));
    check("export", dspqueue_export(b->q, &b->id));
    check("start", tell(b, HXQ_START, HXQ_ECHO));
}

static void close_queue(struct queue *b)
{
    check("stop", tell(b, HXQ_STOP, 0));
    check("close", dspqueue_close(b->q));
    check("close", remote_handle64_close(b->skel));
}

static void packet(void *arg)
{
    struct queue *b = arg;

    check("write", dspqueue_write(b->q, 0, 0, NULL, 0, NULL, DSPQUEUE_TIMEOUT_NONE));
    check("read", dspqueue_read(b->q, NULL, 0, NULL, NULL, 0, NULL, NULL, DSPQUEUE_TIMEOUT_NONE));
}

/* Sleeps of this end, and doorbells that it rang because the other one slept. */
static double waits(const struct queue *b)
{
    uint64_t sleeps = 0, rings = 0;

    check("stat", dspqueue_get_stat(b->q, DSPQUEUE_STAT_HEXRIG_SLEEPS, &sleeps));
    check("stat", dspqueue_get_stat(b->q, DSPQUEUE_STAT_HEXRIG_RINGS, &rings));
    return (double)(sleeps + rings);
}

/* The best of ROUNDS, and what that round had of waits(). */
static double best_round(struct queue *b, double *waits_each)
{
    enum { N = 20000, ROUNDS = 10 };
    double best = 1e30;

    for (int round = 0; round < ROUNDS; round++) {
        double before = waits(b), start = bench_now_us(), us;

        for (int i = 0; i < N; i++)
            packet(b);
        us = (bench_now_us() - start) / N;
        if (us < best) {
            best = us;
            *waits_each = (waits(b) - before) / N;
        }
    }
    return best;
}

static void packets(const char *placement, int rig_core)
{
    struct queue b;
    double us, peer, again, waits_each = 0;

    bench_pin(0, 0);
    bench_rig_move(rig_core);
    peer = rig_core ? bench_poll_us(rig_core) : bench_futex_us(rig_core);
    open_queue(&b);
    us = best_round(&b, &waits_each);
    again = rig_core ? bench_poll_us(rig_core) : bench_futex_us(rig_core); /* another chance to be undisturbed */
    peer = again < peer ? again : peer;
    bench_row("null packet", placement, us, peer, rig_core ? "a polling ping-pong" : "a futex ping-pong", "<= 1.5x");
    printf("%-20s %-9s %9.4f sleeps and doorbells of the host per packet\n", "", placement, waits_each);
    close_queue(&b);
}

int main(void)
{
    bench_rig_start();
    setenv("HEXRIG_DEVICE", bench_rig.device, 1);
    packets("one core", 0);
    packets("two cores", 1);
    bench_rig_stop();
    return 0;
}
