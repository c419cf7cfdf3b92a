/* Clients of the socket front end that may do anything, and know what may come back: fuzz_front_socket.c.
 *
 * A client queues frames and sends what is queued in pieces, with descriptors.  What it has asked for as one should is checked
 * when the reply comes; a finding ends the program.  One thread; nothing here blocks. */
#ifndef FRAME_CLIENT_H
#define FRAME_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hx_frame.h"

enum { FRAME_CALLS = 8, FRAME_BUFFER = 6000, FRAME_QUEUE = 16384, FRAME_REPLY = 1 << 17, FRAME_SHARED = 16, FRAME_KINDS = 8 };

struct frame_call {
    uint64_t id; /* 0: none */
    bool echo;   /* an INVOKE as it should be */
    uint8_t seed;
    size_t in, out; /* bytes of its buffers, at most FRAME_BUFFER */
};

struct frame_client {
    int fd; /* 0: not connected */
    bool greeted;
    bool wild;   /* it has sent what is no frame: anything may come of that */
    bool had_fds; /* it has sent descriptors: a limit may end it */
    bool refused; /* the greeting said so: it has no session */
    bool text;    /* it has asked for text, which may cost it its session */
    bool deaf;   /* it does not read */
    uint64_t last_id;
    uint8_t out[FRAME_QUEUE], in[FRAME_REPLY];
    size_t n_out, n_in; /* out: queued, not sent */
    unsigned n_fds;     /* that go with the next piece */
    struct frame_call calls[FRAME_CALLS];
};

/* Says what is wrong and ends the program. */
_Noreturn void frame_finding(const char *what);

/* Forgets all that was and connects.  No effect when that is not possible. */
void frame_connect(struct frame_client *c, const char *path);
void frame_close(struct frame_client *c);

/* Reads no more, or again. */
void frame_turn_deaf(struct frame_client *c);

/* Reads what there is and checks it. */
void frame_receive(struct frame_client *c);

/* Opens what frame_send() passes: FRAME_KINDS descriptors of different kinds, of which the first two are memory that can be mapped. */
void frame_make_kinds(void);

/* Sends up to n of the queued bytes, and with them c->n_fds descriptors: of memory alone, or of all kinds and its own end of the
 * connection. */
void frame_send(struct frame_client *c, size_t n, bool memory_alone);

/* Bytes as they are. */
void frame_queue(struct frame_client *c, const void *bytes, size_t n);

/* Whole frames.  They are dropped while FRAME_CALLS calls have no reply. */
/* shared: at most FRAME_SHARED buffers that lie behind descriptors, too; as frame_queue_ioctl() has them. */
void frame_queue_invoke(struct frame_client *c, uint8_t seed, size_t in, size_t out, unsigned shared);
/* ioctl `cmd` with arg [n], n a multiple of 8.  n_fds > 0: that many descriptors, which the client calls
 * 5 and up, and which frame_send() sends with it if nothing else was queued. */
void frame_queue_ioctl(struct frame_client *c, uint32_t cmd, const void *arg, size_t n, unsigned n_fds);
/* READ, WRITE: `text` [n] is the node's name, and what is written behind a 0. */
void frame_queue_text(struct frame_client *c, uint32_t op, const char *text, size_t n);
void frame_queue_interrupt(struct frame_client *c, uint64_t id);

#endif
