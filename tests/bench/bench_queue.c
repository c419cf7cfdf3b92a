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

/* What the batch that took least had of waits(), per packet. */
static double add_packets(struct bench_times *t, struct queue *b)
{
    enum { N = 200, ROUNDS = 1000 };
    double least = 1e30, waits_each = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double before = waits(b), us = bench_batch_us(packet, b, N);

        t->us[t->n++] = us;
        if (us < least) {
            least = us;
            waits_each = (waits(b) - before) / N;
        }
    }
    return waits_each;
}

static const struct placement {
    const char *where;
    int rig_core;
    const struct bench_pong *peer;
    const char *peer_name, *aim;
} placements[] = {
    {"one core", 0, &bench_futex, "a futex ping-pong", "<= 1.3x"},
    {"two cores", 1, &bench_poll, "a polling ping-pong", "<= 2.5x"},
};

static void packets(const struct placement *p)
{
    static struct bench_times t, peer;
    struct queue b;
    double waits_each;

    t.n = peer.n = 0;
    bench_pin(0, 0);
    bench_rig_move(p->rig_core);
    bench_more_pongs(&peer, p->peer, p->rig_core, 20000);
    open_queue(&b);
    waits_each = add_packets(&t, &b);
    bench_more_pongs(&peer, p->peer, p->rig_core, 20000); /* another chance to be undisturbed */
    bench_row("null packet", p->where, &t, bench_quantile(&peer, 0), p->peer_name, p->aim);
    printf("%-18s %-9s %8.4f sleeps and doorbells of the host per packet\n", "", p->where, waits_each);
    close_queue(&b);
}

int main(void)
{
    bench_rig_start();
    setenv("HEXRIG_DEVICE", bench_rig.device, 1);
    for (size_t i = 0; i < sizeof(placements) / sizeof(placements[0]); i++)
        packets(&placements[i]);
    bench_rig_stop();
    return 0;
}
