/* Fuzz target: one end of a dspqueue beside a hostile other end, and both ends when they are honest.
 *
 * Byte 0: bit 0 = both are honest, bit 1 = the honest one is the DSP's; bytes 1 and 2: sizes of the queues.  Then operations.  A
 * hostile end is the input itself, which writes anything anywhere in the shared block between operations and from inside them, when
 * buffers are looked up.  Whatever it writes: no access outside (destinations are as long as they are said to be), an error that
 * dspqueue.h names, references as before when a call fails.  Between honest ends every packet arrives as it was sent, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hx_dspq.h"

enum { FILES = 3, FILE_BYTES = 4096, OPS_MAX = 400, PACKETS = 256, MESSAGE = 300 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

struct packet {
    uint32_t flags, n_buffers, len;
    struct dspqueue_buffer buffers[4];
    uint8_t message[MESSAGE];
};

struct end {
    struct hx_dspq q;
    int refs[FILES];
    struct packet sent[PACKETS]; /* a ring: what the other end has not read yet */
    unsigned head, tail;
};

static struct end ends[2];
static uint8_t *block, memory[FILE_BYTES];
static uint64_t block_bytes;
static const uint8_t *input, *input_end;
static int honest, skips;
static uint64_t skipped_ns;

/* Time passes quickly inside of a call, or early wakeups would take milliseconds each. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    if (rc || !skips)
        return rc;
    skipped_ns += 200000;
    t->tv_sec += (time_t)(skipped_ns / 1000000000);
    t->tv_nsec += (long)(skipped_ns % 1000000000);
    if (t->tv_nsec >= 1000000000) {
        t->tv_sec++;
        t->tv_nsec -= 1000000000;
    }
    return rc;
}

static void must(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

static unsigned next_byte(void)
{
    return input < input_end ? *input++ : 0;
}

static unsigned next_word(void)
{
    unsigned low = next_byte();

    return low | next_byte() << 8;
}

/* --- the hostile end ---------------------------------------------------------------------------------------------- */

static void write_anywhere(void)
{
    uint64_t at = next_word() % block_bytes;

    for (unsigned n = next_byte() % 16; n && at < block_bytes; n--)
        block[at++] = (uint8_t)next_byte();
}

/* Fields that mean something: positions, counts, sleepers. */
static void write_state(const struct hx_dspq *q)
{
    struct dspqueue_packet_queue_state *state[] = {q->in.writer, q->out.reader, q->in.reader, q->out.writer};
    unsigned which = next_byte(), value = next_word();
    struct dspqueue_packet_queue_state *s = state[which % 4];

    switch (which / 4 % 3) {
    case 0:
        s->position = which & 0x80 ? value : value * 8 % (which & 1 ? q->out.len : q->in.len);
        break;
    case 1:
        s->packet_count += value;
        break;
    default:
        s->wait_count = value;
    }
}

/* The header of a packet where the honest end reads next, or somewhere. */
static void write_packet(const struct hx_dspq *q)
{
    unsigned where = next_byte(), len = next_word(), flags = next_byte(), n = next_byte();
    uint64_t head = len | (uint64_t)(flags & 0x1f) << 32 | (uint64_t)n << 48;
    uint32_t at = where & 1 ? q->in.pos : where * 8 % q->in.len;

    memcpy(q->in.bytes + at, &head, sizeof(head));
    if (where & 2)
        q->in.writer->position = (at + (len + 7) / 8 * 8) % q->in.len;
}

/* --- buffers ---------------------------------------------------------------------------------------------------- */

static int take_ref(void *ctx, uint32_t fd, int delta, void **va, uint64_t *size)
{
    struct end *e = ctx;

    if (!honest && next_byte() & 1)
        write_anywhere();
    if (fd >= FILES)
        return AEE_ENOSUCHMAP;
    if (e->refs[fd] + delta < 0)
        return AEE_EBADPARM;
    e->refs[fd] += delta;
    if (va)
        *va = memory;
    if (size)
        *size = FILE_BYTES >> fd;
    return AEE_SUCCESS;
}

static void count_refs(int *refs, uint32_t n, const struct dspqueue_buffer *b)
{
    for (uint32_t i = 0; i < n; i++)
        refs[b[i].fd] += b[i].flags & DSPQUEUE_BUFFER_FLAG_REF ? 1 : b[i].flags & DSPQUEUE_BUFFER_FLAG_DEREF ? -1 : 0;
}

static void choose_buffer(struct dspqueue_buffer *b)
{
    static const uint32_t flags[] = {0, 0, DSPQUEUE_BUFFER_FLAG_REF, DSPQUEUE_BUFFER_FLAG_DEREF};
    unsigned kind = next_byte();

    *b = (struct dspqueue_buffer){.fd = kind % (FILES + 1), .flags = kind >= 250 ? 0xffffffff : flags[kind / 4 % 4],
                                  .offset = kind & 0x40 ? next_word() : 0, .size = kind & 0x80 ? next_word() : 0};
}

/* --- the honest ends ---------------------------------------------------------------------------------------------- */

static int is_documented(int rc)
{
    static const int documented[] = {AEE_SUCCESS, AEE_EWOULDBLOCK, AEE_EBADPARM, AEE_EBADITEM, AEE_EEXPIRED, AEE_ENOSUCHMAP};

    for (unsigned i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
        if (rc == documented[i])
            return 1;
    return 0;
}

static uint32_t timeout(void)
{
    return next_byte() >= 250;
}

static void write_one(struct end *e)
{
    struct packet *p = &e->sent[e->tail % PACKETS];
    unsigned shape = next_byte();
    int refs[FILES], rc;

    if (e->tail - e->head == PACKETS)
        return;
    *p = (struct packet){.flags = shape >= 240 ? DSPQUEUE_PACKET_FLAG_WAKEUP : 0, .n_buffers = shape / 8 % 4, .len = next_word() % MESSAGE};
    if (p->flags)
        p->n_buffers = 0, p->len = shape & 1 ? 4 : 0;
    for (unsigned i = 0; i < p->n_buffers; i++)
        choose_buffer(&p->buffers[i]);
    for (unsigned i = 0; i < p->len; i++)
        p->message[i] = p->flags ? 1 : (uint8_t)(e->tail + i * 3);
    memcpy(refs, e->refs, sizeof(refs));
    rc = hx_dspq_write(&e->q, p->flags, shape == 239 ? DSPQUEUE_MAX_BUFFERS + 1 : p->n_buffers, p->buffers, p->len, p->message, timeout());
    must(is_documented(rc) && (rc != AEE_EBADITEM || !honest), "a write gives an error that is documented");
    if (rc == AEE_SUCCESS)
        count_refs(refs, p->n_buffers, p->buffers);
    must(memcmp(refs, e->refs, sizeof(refs)) == 0, "a write takes its references, or none");
    if (honest && e->head == e->tail && (rc == AEE_EWOULDBLOCK || rc == AEE_EEXPIRED))
        must(2 * (p->len + p->n_buffers * sizeof(p->buffers[0])) + 64 > e->q.out.len, "an empty queue has room");
    e->tail += rc == AEE_SUCCESS;
}

/* What comes next for a reader that takes early wakeups on its way, or NULL. */
static struct packet *next_of(struct end *from)
{
    while (from->head != from->tail && from->sent[from->head % PACKETS].flags)
        from->head++;
    return from->head == from->tail ? NULL : &from->sent[from->head % PACKETS];
}

static void same_packet(const struct packet *want, uint32_t n, const struct dspqueue_buffer *b, uint32_t len, const uint8_t *message)
{
    must(want && want->n_buffers == n && want->len == len, "the packet that was sent is read");
    must(!message || memcmp(message, want->message, len) == 0, "its message is what was sent");
    for (uint32_t i = 0; b && i < n; i++)
        must(b[i].fd == want->buffers[i].fd && b[i].flags == want->buffers[i].flags, "its buffers are those that were sent");
}

/* What a reader of an honest packet may get. */
static void expect_read(struct end *from, int rc, const struct packet *want, int fits)
{
    if (rc == AEE_SUCCESS || (want && fits && rc != AEE_EWOULDBLOCK && rc != AEE_EEXPIRED))
        from->head++; /* also when a buffer cannot be used: the packet is gone */
    if (!want)
        must(rc == AEE_EWOULDBLOCK || rc == AEE_EEXPIRED, "an empty queue is empty");
    else if (!fits)
        must(rc == AEE_EBADPARM, "what does not fit is not read");
    else
        must(rc != AEE_EWOULDBLOCK && rc != AEE_EEXPIRED && (rc != AEE_EBADITEM || want->n_buffers), "a packet can be read");
}

static void read_one(struct end *e)
{
    struct end *from = &ends[e == ends];
    unsigned dest = next_byte(), max_buffers = dest / 4 % 8, max_message = dest & 0x80 ? MESSAGE : next_word() % MESSAGE;
    /* as long as promised, so that one byte more is seen */
    struct dspqueue_buffer *buffers = dest & 1 ? malloc(max_buffers * sizeof(*buffers)) : NULL;
    uint8_t *message = dest & 2 ? malloc(max_message) : NULL;
    uint32_t flags = 0, n = 0, len = 0;
    struct packet *want = honest ? next_of(from) : NULL;
    int refs[FILES], rc;

    memcpy(refs, e->refs, sizeof(refs));
    rc = hx_dspq_read(&e->q, &flags, max_buffers, &n, buffers, max_message, &len, message, timeout());
    must(is_documented(rc), "a read gives an error that is documented");
    if (rc == AEE_SUCCESS) {
        must((!buffers || n <= max_buffers) && (!message || len <= max_message), "a packet fits where it was read to");
        for (uint32_t i = 0; buffers && i < n; i++)
            must((uint8_t *)buffers[i].ptr >= memory && buffers[i].size <= FILE_BYTES - (uint64_t)((uint8_t *)buffers[i].ptr - memory),
                 "a buffer lies in its file");
        count_refs(refs, buffers ? n : 0, buffers);
    }
    must(memcmp(refs, e->refs, sizeof(refs)) == 0, "a read takes the references of its packet, or none");
    if (honest) {
        if (rc == AEE_SUCCESS)
            same_packet(want, n, buffers, len, message);
        expect_read(from, rc, want, !want || ((!buffers || want->n_buffers <= max_buffers) && (!message || want->len <= max_message)));
    }
    free(buffers);
    free(message);
}

static void peek_one(struct end *e)
{
    struct end *from = &ends[e == ends];
    const struct packet *want = from->head == from->tail ? NULL : &from->sent[from->head % PACKETS];
    uint32_t flags, n = 0, len = 0;
    int rc = hx_dspq_peek(&e->q, &flags, &n, &len, timeout());

    must(is_documented(rc), "a peek gives an error that is documented");
    if (!honest)
        return;
    must((rc == AEE_SUCCESS) == (want != NULL), "a peek sees what is there");
    must(!want || (want->n_buffers == n && want->len == len), "a peek sees the packet that was sent");
}

static void ask(struct end *e)
{
    unsigned stat = next_byte();
    uint64_t value = 0;
    int rc = hx_dspq_stat(&e->q, stat % 8 == 7 ? (enum dspqueue_stat)next_word() : (enum dspqueue_stat)(stat % 16), &value);

    must(is_documented(rc), "a figure's error is documented");
}

static void operate(struct end *e)
{
    unsigned op = next_byte() % 12;

    if (op < 4)
        write_one(e);
    else if (op < 8)
        read_one(e);
    else if (op == 8)
        peek_one(e);
    else if (op == 9)
        ask(e);
    else if (!honest && op == 10)
        write_state(&e->q);
    else if (!honest && next_byte() & 1)
        write_anywhere();
    else if (!honest)
        write_packet(&e->q);
}

static int join(struct end *e, int is_dsp)
{
    const struct hx_dspq_cfg cfg = {.block = block, .block_bytes = block_bytes, .is_dsp = is_dsp, .ref = take_ref, .ctx = e};

    memset(e->refs, 0, sizeof(e->refs));
    e->head = e->tail = 0;
    return hx_dspq_init(&e->q, &cfg);
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    unsigned how;
    int rc;

    input = data;
    input_end = data + n;
    how = next_byte();
    honest = how & 1;
    uint32_t req = 16 + next_byte() * 8, resp = 16 + next_byte() * 8;
    block_bytes = hx_dspq_block_bytes(req, resp);
    must(posix_memalign((void **)&block, DSPQUEUE_ALIGN, block_bytes) == 0, "there is memory");
    memset(block, 0, block_bytes);
    hx_dspq_format((void *)block, req, resp);
    if (!honest && how & 4)
        for (unsigned i = 0; i < sizeof(struct dspqueue_header); i++)
            block[i] ^= (uint8_t)next_byte();
    skips = 1;
    rc = join(&ends[0], !honest && how & 2);
    must(rc == AEE_SUCCESS || (!honest && (rc == AEE_EUNSUPPORTED || rc == AEE_EBADPARM)), "a block is joined or refused");
    if (honest)
        must(join(&ends[1], 1) == AEE_SUCCESS, "the other end joins, too");
    for (int i = 0; rc == AEE_SUCCESS && i < OPS_MAX && input < input_end; i++)
        operate(&ends[honest ? next_byte() & 1 : 0]);
    skips = 0;
    if (rc == AEE_SUCCESS)
        hx_dspq_fini(&ends[0].q);
    if (honest)
        hx_dspq_fini(&ends[1].q);
    free(block);
    return 0;
}
