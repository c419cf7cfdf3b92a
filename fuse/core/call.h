/* One ioctl being served: where it came from, what it asks, and who gets the answer.
 *
 * A front end fills a struct hx_call and hands it to hx_call_begin().  The call is answered exactly once, by
 * hx_call_finish(), perhaps much later; after that the front end frees it. */
#ifndef HX_CALL_H
#define HX_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastrpc_uapi.h"
#include "hx_traffic.h"
#include "base/loop.h"

struct hx_call;
struct hx_context;
struct hx_driver;
struct hx_session;

#define HX_ERESTARTSYS 512 /* the kernel's: an interrupted ioctl is restarted or returns EINTR */

/* A piece of the client's memory and where it goes to or comes from here. */
struct hx_piece {
    void *here;
    uint64_t there, len;
};

/* How a front end reaches the caller.  Functions return 0 (fd(): a descriptor) or negative errno. */
struct hx_front_ops {
    const char *name; /* "fuse", "socket" */
    int (*read)(struct hx_call *call, void *dst, uint64_t addr, uint64_t len);
    int (*write)(struct hx_call *call, uint64_t addr, const void *src, uint64_t len);
    /* A duplicate of the client's descriptor, owned by the caller. */
    int (*fd)(struct hx_call *call, int fd);
    /* Offset, in the file with this inode, of client address `addr`.  -ENOENT: addr is in no mapping of it; -EFAULT: as with read. */
    int (*locate)(struct hx_call *call, int fd, uint64_t inode, uint64_t addr, uint64_t *offset);
    /* Answers; arg_bytes of call->arg go back to the client when result is not a plain errno. */
    void (*finish)(struct hx_call *call, int result);
    /* The rest is for speed and may be NULL or false.  Several pieces, 1..HX_PIECES_MAX, at about the cost of one: */
    int (*read_pieces)(struct hx_call *call, const struct hx_piece *p, unsigned n);
    int (*write_pieces)(struct hx_call *call, const struct hx_piece *p, unsigned n);
    /* Whether the client's descriptor `fd` and our `own` are the same open file; false: not known. */
    bool (*same_file)(struct hx_call *call, int fd, int own);
    bool reads_pages; /* whoever may read() a byte may read the whole page around it */
};

enum { HX_PIECES_MAX = 32 };

/* What an INVOKE moves and costs; filled as the call goes along, read by filters. */
struct hx_invoke_view {
    uint32_t handle, sc;
    uint32_t method; /* as the interface counts: an extended one is the first word of in buffer 0, if that is inline */
    uint16_t interface; /* its number, as the PD says (hx_interfaces.h), any number; 0 = none */
    uint64_t bytes_in, bytes_out; /* inline bytes copied */
    uint64_t bytes_shared;        /* lengths of fd-backed arguments */
    uint32_t n_shared;            /* fd-backed arguments */
    uint64_t arrive_ns;           /* virtual time of arrival on the DSP; set by `cost` */
    unsigned caller;              /* the thread's number among the session's callers, if has_caller; set by `cost` */
    bool has_caller;
    uint64_t sent_us;             /* real time at which it was sent; set by `cost` */
    uint32_t clock_level, clock_khz; /* of the core while it executes; set by `cost` */
    uint64_t exec_pcycles, queue_pcycles, hvx_ops; /* from the reply */
    unsigned hvx_contexts; /* that the call held at once, at most; from the reply */
    struct hx_traffic traffic; /* from the reply */
    bool slow_path;        /* the skel had to take one; from the reply */
    double active; /* 0..1, share of exec in which the core works */
    uint64_t dispatch_ns, marshal_ns, queue_ns, exec_ns; /* modelled; set by `cost` */
    uint64_t lock_ns;   /* part of queue in sums: waiting before dispatch; set by `cost` */
    uint64_t return_ns; /* the way back to the caller, which is part of dispatch in sums; set by `cost` */
};

struct hx_call {
    struct hx_driver *driver;
    struct hx_session *session;
    const struct hx_front_ops *front;
    void *request; /* the front end's own */
    pid_t tid;     /* calling thread, as the rig sees it; 0 = unknown */
    uint32_t thread; /* number of the calling thread, as the rig or its client sees it: whose virtual clock */
    uint32_t cmd;  /* ioctl number */
    union {
        struct fastrpc_invoke invoke;
        struct fastrpc_alloc_dma_buf alloc;
        struct fastrpc_init_create create;
        struct fastrpc_init_create_static create_static;
        struct fastrpc_req_mmap mmap;
        struct fastrpc_req_munmap munmap;
        struct fastrpc_ioctl_set_option option;
        struct fastrpc_mem_map map;
        struct fastrpc_mem_unmap unmap;
        struct fastrpc_ioctl_capability capability;
        uint8_t bytes[512];
    } arg; /* in, and out */
    size_t arg_bytes;
    struct hx_invoke_view inv;
    uint32_t trace_events;  /* room that `begin` filters want for the DSP's events during an INVOKE */
    struct hx_context *ctx; /* set while its buffers are copied or the DSP works for it */
    bool is_invoke;         /* accepted as an INVOKE: `send` filters have run */
    bool interrupted;
    uint64_t delay_us;     /* real time by which filters want the answer delayed */
    struct hx_timer timer; /* for that */
    int late_result;       /* what it ends with, once its outputs are copied and that time is over */
};

/* Whether an ioctl of this number is served at all. */
bool hx_call_is_known(uint32_t cmd);

/* Starts serving, in dispatch.c; may finish the call before it returns. */
void hx_call_begin(struct hx_call *call);

/* Runs the filters and answers: result = ioctl result (negative errno, or a DSP value untouched). */
void hx_call_finish(struct hx_call *call, int result);

/* The same after call->delay_us; the context may be freed in the meantime. */
void hx_call_finish_later(struct hx_call *call, int result);

/* The client got a signal.  Answers an INVOKE that still runs, waits or is copied with -ERESTARTSYS; the DSP goes on and the context id
 * stays taken until the file is closed.  Other calls are short and go on. */
void hx_call_interrupt(struct hx_call *call);

/* Around what touches the client's memory, see client_watchdog.h: if it hangs, the call ends with -EFAULT.  enter: 0, or
 * -EFAULT when an earlier call of the session still hangs, or too many of this user's did. */
int hx_call_enter_client(struct hx_call *call);
void hx_call_leave_client(void);

/* Moves n pieces, any number, in as few steps as the front end can. */
int hx_call_read(struct hx_call *call, const struct hx_piece *p, unsigned n);
int hx_call_write(struct hx_call *call, const struct hx_piece *p, unsigned n);

/* Handlers of the ioctls, in op_*.c.  Each leads to exactly one hx_call_finish(). */
void hx_op_invoke(struct hx_call *call);
void hx_op_init_create(struct hx_call *call);
void hx_op_init_attach(struct hx_call *call);
void hx_op_init_attach_sns(struct hx_call *call);
void hx_op_init_create_static(struct hx_call *call);
void hx_op_mmap(struct hx_call *call);
void hx_op_munmap(struct hx_call *call);
void hx_op_alloc_dma_buff(struct hx_call *call);
void hx_op_set_option(struct hx_call *call);
void hx_op_mem_map(struct hx_call *call);
void hx_op_mem_unmap(struct hx_call *call);
void hx_op_get_dsp_info(struct hx_call *call);
void hx_op_session_stats(struct hx_call *call);
void hx_op_own_clock(struct hx_call *call);

#endif
