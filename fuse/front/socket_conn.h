/* One connection of the socket front end: frames in, replies out, nothing about FastRPC.
 *
 * Descriptors come with the whole head of a frame that announces exactly as many, or the connection ends.  Only memory is kept:
 * a socket could be the client's own end of the connection, whose end would then never be noticed. */
#ifndef HX_SOCKET_CONN_H
#define HX_SOCKET_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hx_frame.h"
#include "base/loop.h"

/* A whole frame, checked: the parts point into body. */
struct hx_socket_frame {
    struct hx_frame head;
    uint8_t *body; /* owned */
    const uint8_t *arg;
    struct hx_frame_seg *segs;
    struct hx_frame_fd *fds;
    const uint8_t *data;   /* bytes of the IN segments, in order */
};

/* Bytes to send. */
struct hx_conn_block {
    struct hx_conn_block *next;
    size_t len;
    uint8_t bytes[]; /* [len] */
};

struct hx_conn_blocks {
    struct hx_conn_block *first, **end; /* end: where the next one is hung in; NULL = there is none so far */
    size_t bytes;
};

struct hx_conn {
    struct hx_watch watch;
    struct hx_loop *loop;
    uid_t uid;                     /* the client's */
    struct hx_socket_frame *frame; /* being read; NULL between frames */
    uint64_t got;                  /* bytes of it so far, head included */
    uint64_t body_max;             /* bytes that a frame may have; 0 = HX_FRAME_MAX_BODY */
    unsigned fds_max;              /* descriptors that are kept of a frame, at most HX_FRAME_MAX_FDS */
    int fd[HX_FRAME_MAX_FDS];      /* [n_fds] of the frame that is read or served; -1 = refused: it is not memory, or too much */
    unsigned n_fds;
    uint64_t turn_bytes;           /* read or sent at a time; 0 = 256 KiB, and all that there is room for */
    struct hx_conn_blocks out;     /* what waits for room, */
    size_t out_at;                 /* without so many bytes of the first block */
    bool waits; /* the loop watches for room */
    bool full;  /* so much waits that the loop does not watch for frames */
    bool held;  /* nor does it because too many of the user's descriptors wait to be closed (closer.h) */
};

void hx_frame_free(struct hx_socket_frame *f);

/* Checks the layout of a frame whose body is complete and sets its parts.  0, or -EPROTO with a reason in *why. */
int hx_frame_parse(struct hx_socket_frame *f, const char **why);

/* Closes the descriptors that came with the frame: once it is served nothing needs them.  So a connection holds those of one
 * frame at most, however many calls it has under way. */
void hx_conn_close_fds(struct hx_conn *c);

/* How many it holds. */
unsigned hx_conn_fds(const struct hx_conn *c);

/* Reads what there is, turn_bytes at most, but nothing while the client leaves more than 1 MiB of replies unread, or the
 * connection is held.  1: *frame is a whole frame, now the caller's; 0: more is needed; negative errno: the connection is over (-EPROTO:
 * the client broke the protocol, *why says how). */
int hx_conn_read(struct hx_conn *c, struct hx_socket_frame **frame, const char **why);

/* Goes on reading a connection that was held, when that is over.  To be called every now and then.  0 or negative errno. */
int hx_conn_resume(struct hx_conn *c);

/* Adds room for n bytes and returns it, or NULL: no memory.  n is not 0. */
uint8_t *hx_conn_blocks_add(struct hx_conn_blocks *b, size_t n);
void hx_conn_blocks_free(struct hx_conn_blocks *b);

/* Keeps the blocks for hx_conn_flush(), which frees them; *b is empty then.  0, or -ENOBUFS: 64 MiB wait already, and *b stays as it is. */
int hx_conn_write(struct hx_conn *c, struct hx_conn_blocks *b);

/* Sends what waits, turn_bytes at most.  0 or negative errno. */
int hx_conn_flush(struct hx_conn *c);

/* Closes the socket and descriptors, and drops a frame that is half read. */
void hx_conn_close(struct hx_conn *c);

#endif
