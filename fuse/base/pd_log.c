/* Reading the pipes of PDs and writing their lines, within limits. */
#include "pd_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "log.h"

enum { BURST_BYTES = 1 << 20, BYTES_PER_S = 4096, HEAD_BYTES = 40 }; /* head: what stands before a line */
enum { SOON_MS = 1000, LATE_MS = 10000 };
enum { CHUNK = 16 << 10, CHUNKS = 8 }; /* read in one round of the loop, so that others get their turn */
enum { MOST_CHUNKS = 128 };            /* at the end: more than a pipe can be made to hold */

/* What a session number may still write.  It outlives the session: a client that opens another one gets no more by that. */
static struct {
    uint64_t spent, since_ms; /* bytes of the log, escaped; 0 = nothing was written yet */
} budget[FASTRPC_MAX_SESSIONS + 1];
static struct hx_pd_log *logs; /* list of the open ones */

static int may_write(unsigned pd, size_t bytes)
{
    const uint64_t now = hx_now_ms(), back = (now - budget[pd].since_ms) * BYTES_PER_S / 1000;

    if (back) {
        budget[pd].spent -= back < budget[pd].spent ? back : budget[pd].spent;
        budget[pd].since_ms = now;
    }
    if (budget[pd].spent + bytes > BURST_BYTES)
        return 0;
    budget[pd].spent += bytes;
    return 1;
}

static void write_line(const struct hx_pd_log *l, const char *bytes, size_t n)
{
    char text[HX_PD_LINE + 32];
    int at = snprintf(text, sizeof(text), "pd %u: ", l->pd);

    memcpy(text + at, bytes, n);
    hx_log_bytes("hexrig-dsp", text, (size_t)at + n); /* says by itself what is lost there */
}

static void say_dropped(struct hx_pd_log *l, uint64_t after_ms)
{
    char text[64];

    if (!l->dropped || hx_now_ms() - l->dropped_ms < after_ms)
        return;
    write_line(l, text, (size_t)snprintf(text, sizeof(text), "... %lu lines dropped", l->dropped));
    l->dropped = 0;
}

static void end_line(struct hx_pd_log *l)
{
    if (may_write(l->pd, hx_log_length(l->line, l->n) + HEAD_BYTES)) {
        say_dropped(l, SOON_MS);
        write_line(l, l->line, l->n);
    } else if (l->dropped++ == 0) {
        l->dropped_ms = hx_now_ms();
    }
    l->n = 0;
}

static void take(struct hx_pd_log *l, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            end_line(l);
            continue;
        }
        if (l->n == sizeof(l->line))
            end_line(l);
        l->line[l->n++] = bytes[i];
    }
}

static void end_half(struct hx_pd_log *l)
{
    if (l->n)
        end_line(l);
}

void hx_pd_log_line(struct hx_pd_log *l, const char *text, size_t n)
{
    end_half(l);
    take(l, text, n);
    end_line(l);
}

/* Up to `chunks` pieces. */
static void read_some(struct hx_pd_log *l, int chunks)
{
    char bytes[CHUNK];
    ssize_t n = 1;

    while (n > 0 && chunks--) {
        do
            n = read(l->watch.fd, bytes, sizeof(bytes));
        while (n < 0 && errno == EINTR);
        if (n > 0)
            take(l, bytes, (size_t)n);
    }
    if (n == 0) { /* nobody can write any more */
        end_half(l);
        hx_loop_del(l->loop, &l->watch);
    }
}

void hx_pd_log_read(struct hx_pd_log *l)
{
    if (l->loop)
        read_some(l, CHUNKS);
}

static void ready(void *log)
{
    read_some(log, CHUNKS);
}

int hx_pd_log_open(struct hx_pd_log *l, struct hx_loop *loop, unsigned pd, int *write_end)
{
    int fd[2], rc;

    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    *l = (struct hx_pd_log){.watch = {fd[0], ready, l}, .loop = loop, .pd = pd, .next = logs};
    rc = hx_loop_add(loop, &l->watch);
    if (rc) {
        close(fd[0]);
        close(fd[1]);
        l->loop = NULL;
        return rc;
    }
    logs = l;
    *write_end = fd[1];
    return 0;
}

void hx_pd_log_close(struct hx_pd_log *l)
{
    struct hx_pd_log **p = &logs;

    if (!l->loop)
        return;
    read_some(l, MOST_CHUNKS);
    end_half(l);
    say_dropped(l, 0);
    hx_loop_del(l->loop, &l->watch);
    close(l->watch.fd);
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    l->loop = NULL;
}

void hx_pd_log_tick(void)
{
    for (struct hx_pd_log *l = logs; l; l = l->next)
        say_dropped(l, LATE_MS);
}
