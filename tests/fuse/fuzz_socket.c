/* Fuzz target: a frame of the socket front end, as a hostile client sends it. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front/socket_conn.h"

/* volatile: the reads are the test */
static volatile uint8_t read_byte;

int hxt_fuzz_one(const uint8_t *data, size_t n);

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    struct hx_loop loop;
    struct hx_conn conn = {.loop = &loop};
    struct hx_socket_frame *f;
    const char *err;
    int pair[2], rc;

    if (n > 60000 || hx_loop_init(&loop) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 0;
    conn.watch.fd = pair[0];
    hx_loop_add(&loop, &conn.watch);
    if (send(pair[1], data, n, 0) != (ssize_t)n)
        abort();
    close(pair[1]);
    while ((rc = hx_conn_read(&conn, &f, &err)) == 1) {
        uint64_t sum = 0;
        /* every part that the parser promises has to be there */
        for (unsigned i = 0; i < f->head.n_segs; i++)
            sum += f->segs[i].flags & HX_SEG_IN ? f->segs[i].len : 0;
        for (uint64_t i = 0; i < sum; i++)
            read_byte = f->data[i];
        hx_frame_free(f);
    }
    hx_conn_close(&conn);
    hx_loop_close(&loop);
    return 0;
}
