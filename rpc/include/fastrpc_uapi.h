/* The FastRPC driver's user interface: ioctl numbers, structs and limits.
 *
 * Facts: Linux 6.18 include/uapi/misc/fastrpc.h (FASTRPC ioctls, magic 'R'); the layouts are what a client compiled
 * against the kernel header sends.  Every struct is the same on 32- and 64-bit clients. */
#ifndef HX_FASTRPC_UAPI_H
#define HX_FASTRPC_UAPI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

struct fastrpc_alloc_dma_buf {
    int32_t fd;     /* out: dma-buf */
    uint32_t flags; /* ignored by the driver */
    uint64_t size;  /* bytes */
};

struct fastrpc_invoke_args {
    uint64_t ptr;    /* client VA of the buffer; offset in the buffer for a DMA handle */
    uint64_t length; /* bytes */
    int32_t fd;      /* dma-buf behind ptr; 0 and -1 both mean none */
    uint32_t attr;   /* FASTRPC_ATTR_* */
};

struct fastrpc_invoke {
    uint32_t handle; /* 0..20 are static handles, 1 is the kernel's own */
    uint32_t sc;     /* scalars, see remote_scalars.h */
    uint64_t args;   /* client VA of struct fastrpc_invoke_args[REMOTE_SCALARS_LENGTH(sc)] */
};

struct fastrpc_init_create {
    uint32_t filelen; /* bytes of the ELF shell, at most FASTRPC_INIT_FILELEN_MAX */
    int32_t filefd;
    uint32_t attrs;  /* FASTRPC_MODE_* bits */
    uint32_t siglen; /* bytes */
    uint64_t file;   /* client VA of the shell */
};

struct fastrpc_init_create_static {
    uint32_t namelen; /* bytes, at most FASTRPC_NAMELEN_MAX */
    uint32_t memlen;  /* bytes */
    uint64_t name;    /* client VA */
};

struct fastrpc_req_mmap {
    int32_t fd;
    uint32_t flags;
    uint64_t vaddrin; /* must be 0 */
    uint64_t size;
    uint64_t vaddrout;
};

struct fastrpc_req_munmap {
    uint64_t vaddrout;
    uint64_t size;
};

struct fastrpc_mem_map {
    int32_t version;
    int32_t fd;
    int32_t offset;
    uint32_t flags; /* enum fastrpc_map_flags of remote.h */
    uint64_t vaddrin;
    uint64_t length;
    uint64_t vaddrout; /* out: DSP virtual address */
    int32_t attrs;
    int32_t reserved[4];
};

struct fastrpc_mem_unmap {
    int32_t vesion; /* sic: the kernel's spelling */
    int32_t fd;
    uint64_t vaddr;
    uint64_t length;
    int32_t reserved[5];
};

struct fastrpc_ioctl_set_option {
    uint32_t request_id; /* FASTRPC_POLL_MODE */
    uint32_t value;
    int32_t reserved[6]; /* 0 */
};

struct fastrpc_ioctl_capability {
    uint32_t domain;
    uint32_t attribute_id;
    uint32_t capability; /* out */
    uint32_t reserved[4];
};

#define FASTRPC_IOCTL_ALLOC_DMA_BUFF _IOWR('R', 1, struct fastrpc_alloc_dma_buf)
#define FASTRPC_IOCTL_FREE_DMA_BUFF _IOWR('R', 2, uint32_t)
#define FASTRPC_IOCTL_INVOKE _IOWR('R', 3, struct fastrpc_invoke)
#define FASTRPC_IOCTL_INIT_ATTACH _IO('R', 4)
#define FASTRPC_IOCTL_INIT_CREATE _IOWR('R', 5, struct fastrpc_init_create)
#define FASTRPC_IOCTL_MMAP _IOWR('R', 6, struct fastrpc_req_mmap)
#define FASTRPC_IOCTL_MUNMAP _IOWR('R', 7, struct fastrpc_req_munmap)
#define FASTRPC_IOCTL_INIT_ATTACH_SNS _IO('R', 8)
#define FASTRPC_IOCTL_INIT_CREATE_STATIC _IOWR('R', 9, struct fastrpc_init_create_static)
#define FASTRPC_IOCTL_MEM_MAP _IOWR('R', 10, struct fastrpc_mem_map)
#define FASTRPC_IOCTL_MEM_UNMAP _IOWR('R', 11, struct fastrpc_mem_unmap)
/* Kernels after 2026-07; before that nr 12 is a gap. */
#define FASTRPC_IOCTL_SET_OPTION _IOWR('R', 12, struct fastrpc_ioctl_set_option)
#define FASTRPC_IOCTL_GET_DSP_INFO _IOWR('R', 13, struct fastrpc_ioctl_capability)

/* Process attributes of INIT_CREATE. */
enum {
    FASTRPC_MODE_DEBUG = 1 << 0,
    FASTRPC_MODE_PTRACE = 1 << 1,
    FASTRPC_MODE_CRC = 1 << 2,
    FASTRPC_MODE_UNSIGNED_MODULE = 1 << 3,
    FASTRPC_MODE_ADAPTIVE_QOS = 1 << 4,
    FASTRPC_MODE_SYSTEM_PROCESS = 1 << 5,
    FASTRPC_MODE_PRIVILEGED = 1 << 6,
};

#define FASTRPC_ATTR_SECUREMAP 1u
#define FASTRPC_POLL_MODE 1u

/* Flags of MMAP; all others are refused. */
#define ADSP_MMAP_ADD_PAGES 0x1000u
#define ADSP_MMAP_REMOTE_HEAP_ADDR 8u

/* Limits of the driver. */
enum {
    FASTRPC_DEV_MAX = 5,         /* adsp 0, mdsp 1, sdsp 2, cdsp 3, cdsp1 4 */
    FASTRPC_CDSP_DOMAIN = 3,
    FASTRPC_MDSP_DOMAIN = 1,
    FASTRPC_MAX_SESSIONS = 14,   /* open files per channel */
    FASTRPC_ALIGN = 128,         /* bytes: start of every inline buffer */
    FASTRPC_MAX_FDLIST = 16,
    FASTRPC_CTX_MAX = 256,       /* context ids 1..255 per channel */
    FASTRPC_MAX_ARGS = 540,      /* 255 + 255 + 15 + 15 */
    FASTRPC_INIT_FILELEN_MAX = 2 * 1024 * 1024,
    FASTRPC_NAMELEN_MAX = 128,
    FASTRPC_MAX_DSP_ATTRIBUTES = 256,
};

/* Static handles and the kernel's own methods (RMID) on handle 1. */
enum {
    FASTRPC_HANDLE_REMOTECTL = 0,
    FASTRPC_HANDLE_KERNEL = 1,
    FASTRPC_HANDLE_DSP_UTILITIES = 2,
    FASTRPC_HANDLE_LISTENER = 3,
    FASTRPC_HANDLE_CURRENT_PROCESS = 4,
    FASTRPC_HANDLE_ADSPMSGD1 = 5,
    FASTRPC_HANDLE_LISTENER1 = 7,
    FASTRPC_HANDLE_REMOTECTL1 = 8,
    FASTRPC_HANDLE_MAX_STATIC = 20,
};

enum {
    FASTRPC_RMID_ATTACH = 0,
    FASTRPC_RMID_RELEASE = 1,
    FASTRPC_RMID_MMAP = 4,
    FASTRPC_RMID_MUNMAP = 5,
    FASTRPC_RMID_CREATE = 6,
    FASTRPC_RMID_CREATE_ATTR = 7,
    FASTRPC_RMID_CREATE_STATIC = 8,
    FASTRPC_RMID_MEM_MAP = 10,
    FASTRPC_RMID_MEM_UNMAP = 11,
};

/* Capability attributes of GET_DSP_INFO. */
enum {
    FASTRPC_ATTR_DOMAIN_SUPPORT = 0,
    FASTRPC_ATTR_UNSIGNED_PD_SUPPORT = 1,
    FASTRPC_ATTR_HVX_SUPPORT_64B = 2,
    FASTRPC_ATTR_HVX_SUPPORT_128B = 3,
    FASTRPC_ATTR_VTCM_PAGE = 4,
    FASTRPC_ATTR_VTCM_COUNT = 5,
    FASTRPC_ATTR_ARCH_VER = 6,
};

_Static_assert(sizeof(struct fastrpc_alloc_dma_buf) == 16, "ALLOC_DMA_BUFF");
_Static_assert(sizeof(struct fastrpc_invoke_args) == 24, "invoke args");
_Static_assert(sizeof(struct fastrpc_invoke) == 16, "INVOKE");
_Static_assert(sizeof(struct fastrpc_init_create) == 24, "INIT_CREATE");
_Static_assert(sizeof(struct fastrpc_init_create_static) == 16, "INIT_CREATE_STATIC");
_Static_assert(sizeof(struct fastrpc_req_mmap) == 32, "MMAP");
_Static_assert(sizeof(struct fastrpc_req_munmap) == 16, "MUNMAP");
_Static_assert(sizeof(struct fastrpc_mem_map) == 64, "MEM_MAP");
_Static_assert(offsetof(struct fastrpc_mem_map, vaddrin) == 16, "MEM_MAP vaddrin");
_Static_assert(sizeof(struct fastrpc_mem_unmap) == 48, "MEM_UNMAP");
_Static_assert(sizeof(struct fastrpc_ioctl_set_option) == 32, "SET_OPTION");
_Static_assert(sizeof(struct fastrpc_ioctl_capability) == 28, "GET_DSP_INFO");

#endif
