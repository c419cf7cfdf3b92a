/* FastRPC client interface, host and DSP side: handles, arguments and calls (published names).
 *
 * Results: AEE codes, 0 = success.  A result made on the DSP travels untouched (0x800004xx for the framework's own).
 * All functions may be called from any thread; calls on one handle from several threads run in parallel. */
#ifndef REMOTE_H
#define REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include "AEEStdErr.h"
#include "remote_scalars.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t remote_handle;
typedef uint64_t remote_handle64;

typedef struct {
    void *pv;    /* buffer */
    size_t nLen; /* bytes */
} remote_buf;

typedef struct {
    int32_t fd;      /* descriptor of a shared buffer */
    uint32_t offset; /* bytes into it */
} remote_dma_handle;

typedef union {
    remote_buf buf;
    remote_handle h;
    remote_handle64 h64;
    remote_dma_handle dma;
} remote_arg;

/* Opens the skel that `uri` names: file:///libNAME_skel.so?NAME_skel_handle_invoke&_modver=1.0[&_dom=cdsp].
 * The first open on a domain creates the user PD.  *h is set on success only. */
int remote_handle64_open(const char *uri, remote_handle64 *h);

/* Calls a method.  pra: REMOTE_SCALARS_LENGTH(sc) arguments in the order in buffers, out buffers, in handles, out
 * handles; borrowed for the call.  A buffer that lies wholly inside memory from rpcmem_alloc() is shared with the DSP,
 * any other is copied. */
int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra);

/* Closes a handle; the last one on a domain ends its user PD. */
int remote_handle64_close(remote_handle64 h);

/* remote_session_control(): `req` says what `data` points to; datalen must be exactly the struct's size, else
 * AEE_EBADPARM.  Requests that are not listed: AEE_EUNSUPPORTED. */
enum session_control_req_id {
    DSPRPC_CONTROL_UNSIGNED_MODULE = 2, /* struct remote_rpc_control_unsigned_module; before the first open */
};

struct remote_rpc_control_unsigned_module {
    int domain; /* CDSP_DOMAIN_ID, or -1 for every domain */
    int enable; /* 1: user PDs are unsigned */
};

int remote_session_control(uint32_t req, void *data, uint32_t datalen);

#define ADSP_DOMAIN_ID 0
#define MDSP_DOMAIN_ID 1
#define SDSP_DOMAIN_ID 2
#define CDSP_DOMAIN_ID 3

enum fastrpc_map_flags {
    FASTRPC_MAP_STATIC = 0,
    FASTRPC_MAP_RESERVED = 1,
    FASTRPC_MAP_FD = 2,
    FASTRPC_MAP_FD_DELAYED = 3,
    FASTRPC_MAP_FD_NOMAP = 16,
    FASTRPC_MAP_MAX,
};

/* Maps a shared buffer into the DSP until fastrpc_munmap().  AEE_EALREADY when fd is mapped already. */
int fastrpc_mmap(int domain, int fd, void *addr, int offset, size_t length,
                 enum fastrpc_map_flags flags);
int fastrpc_munmap(int domain, int fd, void *addr, size_t length);

#ifdef __cplusplus
}
#endif

#endif
