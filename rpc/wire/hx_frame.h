/* The socket front end's protocol: an ioctl with everything it points to, in one frame, for machines without /dev/fuse
 * or where the rig may not read the client's memory.
 *
 * A node is a Unix SOCK_STREAM socket.  One connection = one open file.  On accept the server sends one
 * struct hx_frame_reply with id 0: result 0, or the error that open() would give; then READ and WRITE work, ioctls do not.
 * While every session is taken, but some are being closed, the reply waits for one.  A client that only wants text nodes sends its
 * request at once, which ends that.
 *
 * Request:  struct hx_frame, arg bytes, struct hx_frame_seg[n_segs], struct hx_frame_fd[n_fds], then the bytes of
 *           every segment with HX_SEG_IN, in order.  The n_fds descriptors ride on the frame's first byte (SCM_RIGHTS), of an
 *           IOCTL alone, and the whole struct hx_frame comes with them; one more or less ends the connection.  The server
 *           keeps memory (memfd, dma-buf) and takes any other kind for a descriptor that is not open.  Of frames that are
 *           not whole yet it holds 256 descriptors, of all connections together: beyond that the connection that holds most
 *           ends.
 * Reply:    struct hx_frame_reply, arg bytes, struct hx_frame_seg[n_segs], their bytes.  It may come out of order.
 *
 * Segments say which client memory an address in the payload stands for: the server reads and writes client memory only
 * through them, and the client accepts a reply's segment only inside one that it sent with HX_SEG_OUT.  One with HX_SEG_FILE
 * says where the client sees a buffer of a descriptor's at the moment; for an address without one the server does as the
 * kernel does when the descriptor's file is not mapped there.
 * Host byte order: both ends are on one machine. */
#ifndef HX_FRAME_H
#define HX_FRAME_H

#include <stdint.h>

#define HX_FRAME_MAGIC 0x32465848u /* "HXF2" */

enum hx_frame_op {
    HX_FRAME_IOCTL = 1, /* cmd = ioctl number, arg = the ioctl's struct */
    HX_FRAME_READ,      /* arg = name of a text node; the reply's arg = its text */
    HX_FRAME_INTERRUPT, /* no reply: the call with this id got a signal; its reply will have result -512 */
    HX_FRAME_WRITE,     /* arg = name of a node, 0, what to write; the reply's arg = why it failed, one line, may be empty */
};

enum { HX_SEG_IN = 1, HX_SEG_OUT = 2, HX_SEG_FILE = 4 };

struct hx_frame {
    uint32_t magic;
    uint32_t op;
    uint64_t id; /* chosen by the client, not 0, echoed in the reply; of an IOCTL the upper half is the number of the calling thread, by
                  * which modelled time is kept */
    uint32_t cmd;
    uint32_t arg_bytes; /* at most HX_FRAME_MAX_ARG */
    uint32_t n_segs;    /* at most HX_FRAME_MAX_SEGS */
    uint32_t n_fds;     /* at most HX_FRAME_MAX_FDS */
    uint64_t body_bytes; /* everything after this struct */
};

struct hx_frame_seg {
    uint64_t addr; /* client VA */
    union {
        uint64_t len;    /* bytes, of IN and OUT */
        uint64_t offset; /* of addr in the file of `fd`, of FILE, which is the only flag then */
    };
    uint32_t flags;
    int32_t fd; /* number in the client, of FILE; else 0 */
};

struct hx_frame_fd {
    int32_t fd; /* number in the client, as the payload names it */
    uint32_t reserved;
};

struct hx_frame_reply {
    uint32_t magic;
    uint32_t reserved;
    uint64_t id;
    int32_t result;
    uint32_t arg_bytes;
    uint32_t n_segs;
    uint32_t reserved2;
    uint64_t body_bytes;
};

#define HX_FRAME_MAX_ARG 16383u
#define HX_FRAME_MAX_TEXT (1u << 20) /* arg_bytes of a READ reply */
#define HX_FRAME_MAX_SEGS 600u
#define HX_FRAME_MAX_FDS 253u /* SCM_MAX_FD */
#define HX_FRAME_MAX_BODY (256u << 20)

_Static_assert(sizeof(struct hx_frame) == 40, "frame");
_Static_assert(sizeof(struct hx_frame_seg) == 24, "segment");
_Static_assert(sizeof(struct hx_frame_fd) == 8, "descriptor");
_Static_assert(sizeof(struct hx_frame_reply) == 40, "reply");

#endif
