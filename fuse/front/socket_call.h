/* What a client of the socket front end has under way: shared by socket_call.c, which serves calls, and socket_client.c, which has
 * the clients. */
#ifndef HX_SOCKET_CALL_H
#define HX_SOCKET_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/opener.h"
#include "socket_conn.h"

struct hx_driver;
struct hx_session;
struct socket_call;

struct hx_socket_client {
    struct hx_conn conn;
    struct hx_driver *driver;
    struct hx_opener opener;    /* waits: the client is not greeted so far */
    struct hx_session *session; /* NULL: open failed or waits, or only text nodes are used */
    pid_t pid;
    uid_t uid;
    bool closing;
    uint64_t round; /* of the loop, in which it was served last */
    struct socket_call *calls; /* under way */
    struct hx_socket_client *next, **prev;
};

/* Sends the reply to frame `id`: `data`, which may be NULL, is handed over, everything else is copied.  0 or negative errno: the
 * connection is over. */
int hx_socket_reply(struct hx_socket_client *cl, uint64_t id, int result, const void *arg, size_t arg_bytes,
                    const struct hx_frame_seg *segs, uint32_t n_segs, struct hx_conn_blocks *data);

/* Serves an IOCTL frame, or interrupts the call that an INTERRUPT frame names.  Both take f.  0 or negative errno: the connection is
 * over. */
int hx_socket_call_begin(struct hx_socket_client *cl, struct hx_socket_frame *f);
int hx_socket_call_interrupt(struct hx_socket_client *cl, struct hx_socket_frame *f);

/* The client goes: its calls end, and nobody is told. */
void hx_socket_calls_drop(struct hx_socket_client *cl);

#endif
