/* What driver and DSP exchange: fixed-size messages in a shared ring, arguments in a shared arena, and
 * buffers (file descriptors) over a control socket.
 *
 * A channel joins the driver to one protection domain (PD).  It is made by the driver and consists of
 *   - one memfd with two rings (hx_ring.h): requests driver -> DSP, replies DSP -> driver;
 *   - two eventfd doorbells, for a side that sleeps in poll(): the root PD (request bell) and the driver (reply bell, rung
 *     only while the ring says that the driver sleeps).  The threads of a user PD sleep on the ring itself;
 *   - one memfd arena, where the arguments of every call in flight live;
 *   - one SOCK_SEQPACKET socket for struct hx_ctl, whose only purpose is to carry file descriptors and to
 *     break when a side dies.
 * The root PD has a channel (kernel calls: create, release, capabilities), and each user PD has one.
 *
 * Nothing here is trusted by the driver: it keeps its own copy of every context and checks what it reads. */
#ifndef HX_MSG_H
#define HX_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "fastrpc_uapi.h"
#include "hx_traffic.h"

/* Request.  The first 40 bytes are the kernel driver's rpmsg. */
struct hx_msg {
    int32_t client_id; /* session index + 1; 0 = the kernel itself */
    int32_t tid;       /* calling thread */
    uint64_t ctx;      /* context id << 4 | pd (0 root, 1 user, 2 sensors) */
    uint32_t handle;
    uint32_t sc;
    uint64_t addr;  /* arena offset of struct hx_invoke, multiple of 128 */
    uint64_t size;  /* bytes at addr, rounded up to a page */
    uint32_t flags; /* 0 */
    uint32_t reserved;
};

/* Voltage corners, from slow to fast: what a PD votes for. */
enum hx_corner {
    HX_CORNER_NONE, /* no vote */
    HX_CORNER_SVS2,
    HX_CORNER_SVS,
    HX_CORNER_SVS_PLUS,
    HX_CORNER_NOM,
    HX_CORNER_NOM_PLUS,
    HX_CORNER_TURBO, /* the highest */
};

/* What a PD wants, all its HAP_power contexts together (dsp/machine/hap_power.c); 0 everywhere: nothing. */
struct hx_power_vote {
    uint16_t clock_mhz;  /* at least */
    uint16_t latency_us; /* longest wake-up that it tolerates */
    uint8_t corner;      /* enum hx_corner */
    uint8_t awake;       /* 1: no low-power modes at all */
    uint16_t reserved;   /* 0 */
};

/* Reply.  The first 12 bytes are the kernel driver's response. */
struct hx_reply {
    uint64_t ctx;
    int32_t retval; /* DSP result, travels to the client untouched */
    uint32_t active : 24; /* share of exec_pcycles that was no sleep and no waiting for DMA, in 1/65536 */
    uint32_t hvx_contexts : 7; /* HVX contexts that the PD's threads have held during the call, each counted once */
    uint32_t slow_path : 1;    /* the skel had to take a slow path, see hexrig_slow_path.h */
    uint64_t exec_pcycles;  /* modelled: the code that ran */
    uint64_t queue_pcycles; /* modelled: waiting for an HVX context or VTCM */
    uint64_t hvx_ops;       /* HVX operations that really ran; 0 = no vector code was reached */
    struct hx_power_vote vote; /* of a user PD, from now on */
};

#define HX_CTX_ID_SHIFT 4
#define HX_PD_ROOT 0u
#define HX_PD_USER 1u
#define HX_PD_SENSORS 2u

enum hx_arg_kind {
    HX_ARG_INLINE, /* addr = arena offset of the bytes */
    HX_ARG_MAP,    /* addr = byte offset inside buffer `map` */
    HX_ARG_HANDLE, /* DMA handle: map = the client's descriptor, addr = offset, len */
};

struct hx_arg {
    uint64_t addr;
    uint64_t len; /* bytes; 0 = no buffer */
    int32_t map;  /* buffer id announced by HX_CTL_MAP, -1 for inline */
    uint32_t kind;
};

/* In the arena at hx_msg.addr, followed by struct hx_arg[REMOTE_SCALARS_LENGTH(sc)], then the inline buffers, each
 * 128-byte aligned.  Written by the driver, but the DSP writes fdlist, by which it gives buffers back, traffic and interface. */
struct hx_invoke {
    uint16_t n_args;
    uint16_t interface; /* out, before the method is called: the number of its interface (hx_interfaces.h), 0 = it has none */
    uint32_t ctl_seq; /* the PD has to have read control messages up to this one */
    uint64_t now_ns;  /* virtual time of the client when the call reaches the DSP */
    uint32_t clock_khz; /* the core's clock at that time */
    uint32_t trace;     /* arena offset of a struct hx_trace (hx_trace.h) inside [addr, addr + size), 0 = none */
    uint64_t fdlist[FASTRPC_MAX_FDLIST]; /* out: client descriptors of DMA handles given back; 0 ends it */
    struct hx_traffic traffic; /* out: what the call moved */
};

enum hx_ctl_op {
    HX_CTL_MAP = 1, /* driver -> PD, 1 fd: buffer `id` of `size` bytes */
    HX_CTL_UNMAP,   /* driver -> PD: forget buffer `id` */
    HX_CTL_PD,      /* driver -> root, HX_PD_FDS fds (enum hx_pd_fd): channel of the user PD for client `id`, session number `size` */
    HX_CTL_EXIT,    /* root -> driver: PD of client `id` ended, `size` = wait status, `seq` = its session number */
    HX_CTL_UNBIND,  /* driver -> PD: buffer `id` has no MEM_MAP map any more */
    HX_CTL_PING,    /* driver -> root: send HX_CTL_PONG with the same `size` once all earlier requests are answered */
    HX_CTL_PONG,    /* root -> driver */
    HX_CTL_CRASH,   /* user PD -> driver, once: hx_crash.h says what and where; it waits for an answer */
};

/* HX_FD_LOG: a pipe that is to be the PD's standard output and error. */
enum hx_pd_fd { HX_FD_RINGS, HX_FD_ARENA, HX_FD_REQ_BELL, HX_FD_REP_BELL, HX_FD_CTL, HX_FD_LOG, HX_PD_FDS };

struct hx_ctl {
    uint32_t op;
    uint32_t seq; /* counts up from 1 per channel, driver -> DSP */
    int32_t id;
    int32_t client_fd; /* HX_CTL_MAP: the client's number for the buffer, -1 when it has none */
    uint64_t size;
};

/* Result of RMID_RELEASE: the PD has been killed, HX_CTL_EXIT follows when it is gone.  It may take its time: a debugger that is
 * attached to it sees its end first. */
#define HX_RELEASE_ENDS 1

/* In-buffer 0 of the kernel calls on handle 1 (hexrig's layout; the RMIDs are the driver's). */
struct hx_kcreate {
    int32_t client_id;
    uint32_t attrs; /* FASTRPC_MODE_* */
    char program[64]; /* the client's, without folder; "" = unknown.  Names its .farf file */
};
struct hx_kmem_map {
    int32_t map;
    uint32_t flags;
    uint64_t offset;
    uint64_t length;
};
/* Out-buffer 0 of RMID_MEM_MAP. */
struct hx_kmem_mapped {
    uint64_t vaddr; /* DSP virtual address, below 4 GiB */
};

#define HX_RING_SLOTS 512u          /* more than FASTRPC_CTX_MAX, so a request ring cannot fill */
#define HX_ARENA_BYTES (256u << 20) /* address space per channel; pages appear when touched */

_Static_assert(sizeof(struct hx_msg) == 48, "message");
_Static_assert(offsetof(struct hx_msg, flags) == 40, "the driver's 40 bytes come first");
_Static_assert(sizeof(struct hx_power_vote) == 8, "power vote");
_Static_assert(sizeof(struct hx_reply) == 48, "reply");
_Static_assert(sizeof(struct hx_arg) == 24, "argument");
_Static_assert(sizeof(struct hx_invoke) == 152 + sizeof(struct hx_traffic), "invoke header");
_Static_assert(sizeof(struct hx_ctl) == 24, "control");

#endif
