/* FastRPC client interface, host and DSP side: handles, arguments and calls (published names and layouts).
 *
 * Results: AEE codes, 0 = success.  A result made on the DSP travels untouched (0x800004xx for the framework's own).
 * All functions may be called from any thread; calls on one handle from several threads run in parallel.
 *
 * A domain argument is an effective domain id: domain + 8 * session, with 4 sessions per domain.  -1 is the CDSP's session
 * 0, or every session where the text says so.  The rig has a CDSP only: other domains are AEE_EBADDOMAIN, numbers that are
 * no effective domain id AEE_EBADPARM. */
#ifndef REMOTE_H
#define REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include "AEEStdErr.h"
#include "remote_scalars.h"

/* Macros of headers that IDL compilers make: nothing here. */
#ifndef __QAIC_REMOTE
#define __QAIC_REMOTE(name) name
#endif
#ifndef __QAIC_IN_LEN
#define __QAIC_IN_LEN(length)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- domains ---------------------------------------------------------------------------------------------------- */

#define ADSP_DOMAIN_ID 0
#define MDSP_DOMAIN_ID 1
#define SDSP_DOMAIN_ID 2
#define CDSP_DOMAIN_ID 3
#define CDSP1_DOMAIN_ID 4

#define ADSP_DOMAIN_NAME "adsp"
#define MDSP_DOMAIN_NAME "mdsp"
#define SDSP_DOMAIN_NAME "sdsp"
#define CDSP_DOMAIN_NAME "cdsp"
#define CDSP1_DOMAIN_NAME "cdsp1"
#define GDSP0_DOMAIN_NAME "gdsp0"
#define GDSP1_DOMAIN_NAME "gdsp1"

/* To be appended to a module's URI. */
#define ADSP_DOMAIN "&_dom=adsp"
#define MDSP_DOMAIN "&_dom=mdsp"
#define SDSP_DOMAIN "&_dom=sdsp"
#define CDSP_DOMAIN "&_dom=cdsp"
#define CDSP1_DOMAIN "&_dom=cdsp1"
#define GDSP0_DOMAIN "&_dom=gdsp0"
#define GDSP1_DOMAIN "&_dom=gdsp1"

#define ITRANSPORT_PREFIX "'\":;./\\"
#define MAX_DOMAIN_URI_SIZE 12

typedef struct domain {
    int id;
    char uri[MAX_DOMAIN_URI_SIZE];
} domain_t;

/* --- arguments -------------------------------------------------------------------------------------------------- */

typedef uint32_t remote_handle;
typedef uint64_t remote_handle64;

typedef struct {
    void *pv;    /* buffer */
    size_t nLen; /* bytes */
} remote_buf;

typedef struct {
    uint64_t pv;
    int64_t nLen; /* bytes */
} remote_buf64;

typedef struct {
    int32_t fd;      /* descriptor of a shared buffer */
    uint32_t offset; /* bytes into it */
} remote_dma_handle;

typedef struct {
    int32_t fd;
    uint32_t offset; /* bytes */
    uint32_t len;    /* bytes */
} remote_dma_handle64;

typedef union {
    remote_buf buf;
    remote_handle h;
    remote_handle64 h64;
    remote_dma_handle dma;
} remote_arg;

typedef union {
    remote_buf64 buf;
    remote_handle h;
    remote_handle64 h64;
    remote_dma_handle64 dma;
} remote_arg64;

/* --- handles and calls ------------------------------------------------------------------------------------------ */

/* Opens the skel that `uri` names: file:///libNAME_skel.so?NAME_skel_handle_invoke&_modver=1.0[&_dom=cdsp][&_session=N],
 * N 0..3.  For an interface without handles: file:///libNAME_skel.so?NAME_skel_invoke[&...], or the bare NAME.  The first open
 * of a session creates its user PD.  *h is set on success only. */
int remote_handle64_open(const char *uri, remote_handle64 *h);

/* Calls a method.  pra: REMOTE_SCALARS_LENGTH(sc) arguments in the order in buffers, out buffers, in handles, out
 * handles; borrowed for the call.  A buffer that lies wholly inside memory from rpcmem_alloc() or remote_register_buf() is
 * shared with the DSP, any other is copied. */
int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra);

/* Closes a handle; the last one of a session ends its user PD. */
int remote_handle64_close(remote_handle64 h);

/* The same with 32-bit handles. */
int remote_handle_open(const char *uri, remote_handle *h);
int remote_handle_invoke(remote_handle h, uint32_t sc, remote_arg *pra);
int remote_handle_close(remote_handle h);

/* --- calls that do not wait ------------------------------------------------------------------------------------- */

enum fastrpc_async_notify_type {
    FASTRPC_ASYNC_NO_SYNC,  /* nobody asks for the result; the job releases itself */
    FASTRPC_ASYNC_CALLBACK, /* cb.fn is called from a thread of the library */
    FASTRPC_ASYNC_POLL,     /* fastrpc_async_get_status() */
};

typedef uint64_t fastrpc_async_jobid; /* never 0 */

typedef struct fastrpc_async_callback {
    void (*fn)(fastrpc_async_jobid jobid, void *context, int result);
    void *context;
} fastrpc_async_callback_t;

typedef struct fastrpc_async_descriptor {
    enum fastrpc_async_notify_type type;
    fastrpc_async_jobid jobid; /* out */
    fastrpc_async_callback_t cb;
} fastrpc_async_descriptor_t;

/* Starts a call and returns.  The argument list is copied; buffers stay the job's until it is done.  Jobs run in
 * parallel, in no promised order.  AEE_EBADPARM: unknown type, or CALLBACK without function. */
int remote_handle_invoke_async(remote_handle h, fastrpc_async_descriptor_t *desc, uint32_t sc,
                               remote_arg *pra);
int remote_handle64_invoke_async(remote_handle64 h, fastrpc_async_descriptor_t *desc, uint32_t sc,
                                 remote_arg *pra);

/* 0 and *result when the job is done; AEE_EBUSY when it is not within timeout_us (0: look only, below 0: no limit);
 * AEE_EBADPARM: no such job. */
int fastrpc_async_get_status(fastrpc_async_jobid jobid, int timeout_us, int *result);

/* Forgets a job that is done (CALLBACK: from inside the callback, too).  AEE_EBUSY: it is not. */
int fastrpc_release_async_job(fastrpc_async_jobid jobid);

/* --- control of a handle ---------------------------------------------------------------------------------------- */

enum handle_control_req_id {
    DSPRPC_RESERVED,
    DSPRPC_CONTROL_LATENCY,  /* struct remote_rpc_control_latency */
    DSPRPC_GET_DSP_INFO,     /* struct remote_dsp_capability */
    DSPRPC_CONTROL_WAKELOCK, /* struct remote_rpc_control_wakelock */
    DSPRPC_GET_DOMAIN,       /* struct remote_rpc_get_domain */
    /* the rest: AEE_EUNSUPPORTED, as in the open library */
    DSPRPC_SET_PATH,
    DSPRPC_GET_PATH,
    DSPRPC_SMMU_SUPPORT,
    DSPRPC_KALLOC_SUPPORT,
    DSPRPC_PM,
    DSPRPC_RPC_POLL,
    DSPRPC_ASYNC_WAKE,
    DSPRPC_NOTIF_WAKE,
    DSPRPC_REMOTE_PROCESS_KILL,
    DSPRPC_SET_MODE,
};

enum remote_rpc_latency_flags {
    RPC_DISABLE_QOS,
    RPC_PM_QOS,
    RPC_ADAPTIVE_QOS,
    RPC_POLL_QOS, /* latency = expected run time in us, at most 10000 */
};

struct remote_rpc_control_latency {
    uint32_t enable;  /* enum remote_rpc_latency_flags */
    uint32_t latency; /* us */
};

typedef struct remote_dsp_capability {
    uint32_t domain;
    uint32_t attribute_ID; /* enum remote_dsp_attributes, or 128.. (docs/rpc.md) */
    uint32_t capability;   /* out */
} fastrpc_capability;

enum remote_dsp_attributes {
    DOMAIN_SUPPORT,
    UNSIGNED_PD_SUPPORT,
    HVX_SUPPORT_64B,  /* contexts */
    HVX_SUPPORT_128B, /* contexts */
    VTCM_PAGE,        /* bytes */
    VTCM_COUNT,       /* pages */
    ARCH_VER,         /* low byte 0x69 on a V69, 0x73 on a V73 */
    HMX_SUPPORT_DEPTH,
    HMX_SUPPORT_SPATIAL,
    ASYNC_FASTRPC_SUPPORT,
    STATUS_NOTIFICATION_SUPPORT,
    MCID_MULTICAST,
};

#define FASTRPC_WAKELOCK_CONTROL_SUPPORTED 1

struct remote_rpc_control_wakelock {
    uint32_t enable;
};

typedef struct remote_rpc_get_domain {
    int domain; /* out: effective domain id */
} remote_rpc_get_domain_t;

struct remote_control_custom_path {
    int32_t value_size; /* bytes with NUL */
    const char *path;
    char *value;
};

/* datalen must be exactly the struct's size (except for DSPRPC_GET_DSP_INFO, where the open library does not look), else
 * AEE_EBADPARM; unknown requests: AEE_EUNSUPPORTED. */
int remote_handle_control(uint32_t req, void *data, uint32_t datalen);
int remote_handle64_control(remote_handle64 h, uint32_t req, void *data, uint32_t datalen);

/* --- control of a session --------------------------------------------------------------------------------------- */

enum session_control_req_id {
    FASTRPC_RESERVED_1,
    FASTRPC_THREAD_PARAMS,                 /* struct remote_rpc_thread_params; -1: every session */
    DSPRPC_CONTROL_UNSIGNED_MODULE,        /* struct remote_rpc_control_unsigned_module; -1: every session */
    FASTRPC_RESERVED_2,
    FASTRPC_RELATIVE_THREAD_PRIORITY,      /* struct remote_rpc_relative_thread_priority; -1: every session */
    FASTRPC_RESERVED_3,
    FASTRPC_REMOTE_PROCESS_KILL,           /* struct remote_rpc_process_clean_params */
    FASTRPC_SESSION_CLOSE,                 /* struct remote_rpc_session_close; -1: every session */
    FASTRPC_CONTROL_PD_DUMP,               /* struct remote_rpc_control_pd_dump; -1: every session */
    FASTRPC_REMOTE_PROCESS_EXCEPTION,      /* remote_rpc_process_exception */
    FASTRPC_REMOTE_PROCESS_TYPE,           /* struct remote_process_type */
    FASTRPC_REGISTER_STATUS_NOTIFICATIONS, /* struct remote_rpc_notif_register; -1: every session */
    FASTRPC_PD_INITMEM_SIZE,               /* struct remote_rpc_pd_initmem_size; -1: every session */
    FASTRPC_RESERVE_NEW_SESSION,           /* struct remote_rpc_reserve_new_session */
    FASTRPC_GET_EFFECTIVE_DOMAIN_ID,       /* struct remote_rpc_effective_domain_id */
    FASTRPC_GET_URI,                       /* struct remote_rpc_get_uri */
    FASTRPC_MAX_THREAD_PARAM,              /* AEE_EUNSUPPORTED, as in the open library */
    FASTRPC_CONTEXT_CREATE,                /* struct fastrpc_context_create */
    FASTRPC_CONTEXT_DESTROY,               /* struct fastrpc_context_destroy */
};

struct remote_rpc_thread_params {
    int domain;
    int prio;       /* 1 (highest) .. 255, -1: default */
    int stack_size; /* bytes, -1: default */
};

struct remote_rpc_control_unsigned_module {
    int domain;
    int enable; /* 1: user PDs are unsigned.  Before the first open, else AEE_EALREADY */
};

struct remote_rpc_relative_thread_priority {
    int domain;
    int relative_thread_priority; /* added to the default (192) and cut to 1..255 */
};

struct remote_rpc_process_clean_params {
    int domain;
};
typedef struct remote_rpc_process_clean_params remote_rpc_process_exception;

struct remote_rpc_session_close {
    int domain;
};

struct remote_rpc_control_pd_dump {
    int domain;
    int enable;
};

enum fastrpc_process_type {
    PROCESS_TYPE_SIGNED,
    PROCESS_TYPE_UNSIGNED,
};

struct remote_process_type {
    int domain;
    int process_type; /* out: enum fastrpc_process_type */
};

typedef enum remote_rpc_status_flags {
    FASTRPC_USER_PD_UP,
    FASTRPC_USER_PD_EXIT,
    FASTRPC_USER_PD_FORCE_KILL,
    FASTRPC_USER_PD_EXCEPTION,
    FASTRPC_DSP_SSR,
} remote_rpc_status_flags_t;

/* Called from a thread of the library, one event at a time.  domain: without session, 0..7. */
typedef int (*fastrpc_notif_fn_t)(void *context, int domain, int session,
                                  remote_rpc_status_flags_t status);

typedef struct remote_rpc_notif_register {
    void *context;
    int domain;
    fastrpc_notif_fn_t notifier_fn;
} remote_rpc_notif_register_t;

struct remote_rpc_pd_initmem_size {
    int domain;
    uint32_t pd_initmem_size; /* bytes, 3..200 MiB; signed PDs only */
};

/* The names need no terminating NUL. */
typedef struct remote_rpc_reserve_new_session {
    char *domain_name;
    uint32_t domain_name_len; /* bytes without NUL */
    char *session_name;
    uint32_t session_name_len;
    uint32_t effective_domain_id; /* out */
    uint32_t session_id;          /* out: 1..3; none is free: AEE_ENOSESSION */
} remote_rpc_reserve_new_session_t;

typedef struct remote_rpc_effective_domain_id {
    char *domain_name;
    uint32_t domain_name_len;
    uint32_t session_id;          /* 0..3 */
    uint32_t effective_domain_id; /* out */
} remote_rpc_effective_domain_id_t;

typedef struct remote_rpc_get_uri {
    char *domain_name;
    uint32_t domain_name_len;
    uint32_t session_id;
    char *module_uri;
    uint32_t module_uri_len;
    char *uri;        /* out: module_uri&_dom=NAME&_session=N */
    uint32_t uri_len; /* bytes; too few: AEE_EBADSIZE */
} remote_rpc_get_uri_t;

typedef struct fastrpc_context_create {
    uint32_t *effec_domain_ids; /* [num_domain_ids], all different */
    uint32_t num_domain_ids;
    uint64_t flags; /* 0 */
    uint64_t ctx;   /* out: keeps the sessions up until it is destroyed */
} fastrpc_context_create;

typedef struct fastrpc_context_destroy {
    uint64_t ctx;
    uint64_t flags; /* 0 */
} fastrpc_context_destroy;

/* `req` says what `data` points to; datalen must be exactly the struct's size, else AEE_EBADPARM.  Unknown requests:
 * AEE_EUNSUPPORTED. */
int remote_session_control(uint32_t req, void *data, uint32_t datalen);

#define REMOTE_MODE_PARALLEL 0
#define REMOTE_MODE_SERIAL 1

/* SERIAL: calls of this process run one at a time.  Other modes: AEE_EBADPARM. */
int remote_set_mode(uint32_t mode);

/* --- memory ----------------------------------------------------------------------------------------------------- */

enum remote_mem_map_flags {
    REMOTE_MAP_MEM_STATIC,
    REMOTE_MAP_MAX_FLAG,
};

enum fastrpc_map_flags {
    FASTRPC_MAP_STATIC = 0,
    FASTRPC_MAP_RESERVED = 1,
    FASTRPC_MAP_FD = 2,
    FASTRPC_MAP_FD_DELAYED = 3,
    FASTRPC_MAP_RESERVED_4,
    FASTRPC_MAP_RESERVED_5,
    FASTRPC_MAP_RESERVED_6,
    FASTRPC_MAP_RESERVED_7,
    FASTRPC_MAP_RESERVED_8,
    FASTRPC_MAP_RESERVED_9,
    FASTRPC_MAP_RESERVED_10,
    FASTRPC_MAP_RESERVED_11,
    FASTRPC_MAP_RESERVED_12,
    FASTRPC_MAP_RESERVED_13,
    FASTRPC_MAP_RESERVED_14,
    FASTRPC_MAP_RESERVED_15,
    FASTRPC_MAP_FD_NOMAP = 16,
    /* addresses beyond 4 GiB, which later parts have: AEE_EUNSUPPORTED */
    FASTRPC_MAP_FD_EXTENDED,
    FASTRPC_MAP_FD_DELAYED_EXTENDED,
    FASTRPC_MAP_MAX,
};

/* Maps a shared buffer into the session's PD until fastrpc_munmap().  offset must be 0.  AEE_EALREADY when fd is mapped
 * already, AEE_ENOSESSION when there is no PD. */
int fastrpc_mmap(int domain, int fd, void *addr, int offset, size_t length,
                 enum fastrpc_map_flags flags);

/* Ends the map of fd, all of it: addr and length are ignored, as in Qualcomm's open library.  AEE_ENOSUCHMAP: fd is not
 * mapped; AEE_EBADPARM: a dspqueue holds references to it. */
int fastrpc_munmap(int domain, int fd, void *addr, size_t length);

/* The older ways: *vaddrout is the DSP's address, below 4 GiB.  flags must be 0. */
int remote_mmap(int fd, uint32_t flags, uint32_t vaddrin, int size, uint32_t *vaddrout);
int remote_munmap(uint32_t vaddrout, int size);
int remote_mmap64(int fd, uint32_t flags, uint64_t vaddrin, int64_t size, uint64_t *vaddrout);
int remote_munmap64(uint64_t vaddrout, int64_t size);
int remote_mem_map(int domain, int fd, int flags, uint64_t virtAddr, size_t size,
                   uint64_t *remoteVirtAddr);
int remote_mem_unmap(int domain, uint64_t remoteVirtAddr, size_t size);

#define FASTRPC_ATTR_NONE 0
#define FASTRPC_ATTR_NON_COHERENT 2
#define FASTRPC_ATTR_COHERENT 4
#define FASTRPC_ATTR_KEEP_MAP 8
#define FASTRPC_ATTR_NOMAP 16
#define FASTRPC_ATTR_FORCE_NOFLUSH 32
#define FASTRPC_ATTR_FORCE_NOINVALIDATE 64
#define FASTRPC_ATTR_TRY_MAP_STATIC 128

/* Says that [buf, buf + size) is a mapping of fd from its start on, so that calls share it.  fd -1 takes that back; a
 * different size then is SIGABRT, as in the open library.  Registering the same again counts.  Attributes concern caches
 * and mapping times and change nothing here.  errno is set to EINVAL or ENOMEM when it did not work. */
void remote_register_buf(void *buf, int size, int fd);
void remote_register_buf_attr(void *buf, int size, int fd, int attr);
void remote_register_buf_attr2(void *buf, size_t size, int fd, int attr);

/* Length of the buffer behind fd for the next call that passes it as a DMA handle.  attr: 0 or FASTRPC_ATTR_NOMAP. */
int remote_register_dma_handle(int fd, uint32_t len);
int remote_register_dma_handle_attr(int fd, uint32_t len, uint32_t attr);

/* An address that stands for fd in calls and cannot be touched (PROT_NONE); (void *)-1 and errno when it cannot be had.
 * Given back by remote_register_buf(address, size, -1). */
void *remote_register_fd(int fd, int size);
void *remote_register_fd2(int fd, size_t size);

/* --- the system ------------------------------------------------------------------------------------------------- */

#define MAX_DOMAIN_NAMELEN 30
#define DOMAINS_LIST_FLAGS_TYPE_POS 5
#define DOMAINS_LIST_FLAGS_SET_TYPE(flags, type)                                                   \
    ((flags) | ((type) & ((1 << DOMAINS_LIST_FLAGS_TYPE_POS) - 1)))

typedef enum {
    ALL_DOMAINS,
    NSP, /* cdsp */
    LPASS,
    SDSP,
    MODEM,
    HPASS,
    /* newer names */
    FASTRPC_ALL_DOMAINS = ALL_DOMAINS,
    FASTRPC_NSP = NSP,
    FASTRPC_LPASS = LPASS,
    FASTRPC_SDSP = SDSP,
    FASTRPC_MDSP = MODEM,
    FASTRPC_HPASS = HPASS,
} fastrpc_domain_type;

/* The newer of two published layouts.  The older one has neither instance_id nor reserved, and nothing in a request tells which one a
 * client was compiled with; remote_system_request() says how the library knows. */
typedef struct {
    int id;
    int instance_id; /* of several DSPs of a type, from 0 */
    char name[MAX_DOMAIN_NAMELEN];
    fastrpc_domain_type type;
    int status; /* not 0: up */
    uint32_t card;
    uint32_t soc_id;
    uint32_t reserved[10];
} fastrpc_domain;

typedef struct {
    fastrpc_domain *domains; /* out: [max_domains], or NULL to ask for the number only */
    int max_domains;
    int num_domains; /* out */
    uint64_t flags;  /* bits 0..4: fastrpc_domain_type */
} fastrpc_domains_info;

typedef enum {
    FASTRPC_GET_DOMAINS = 0,
} system_req_id;

typedef struct system_req_payload {
    system_req_id id;
    union {
        fastrpc_domains_info sys;
    };
} system_req_payload;

/* AEE_EUNSUPPORTED: unknown request.
 *
 * Programs that are linked with this library, and those that look the function up by dlsym(), get the newer fastrpc_domain.  Programs that
 * were linked with a library without symbol versions (Qualcomm's open library, whose header has the older layout, and hexrig's before)
 * get the older one.  HEXRIG_DOMAIN_BYTES, 52 or 96, in the environment decides for a program for which that is not right.  Of an
 * element no more than the first 52 bytes are written, so that a wrong guess shows wrong values and harms nothing else. */
int remote_system_request(system_req_payload *req);

#ifdef __cplusplus
}
#endif

#endif
