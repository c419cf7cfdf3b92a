/* The user interface of Qualcomm's own kernels (msm-4.x to 5.10): /dev/adsprpc-smd and /dev/ion, as a 64-bit program has it.  Numbers and
 * layouts are those of adsprpc_shared.h and ion.h there; magic 'R' is also that of Linux's driver, and two of its numbers are the same. */
#ifndef HX_MSM_UAPI_H
#define HX_MSM_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

union msm_arg {
    struct {
        uint64_t ptr;
        uint64_t length;
    } buf;
    struct {
        int32_t fd;
        uint32_t offset;
    } dma;
};

/* INVOKE has the first three, INVOKE_FD the first four, INVOKE_ATTRS five, INVOKE_CRC all. */
struct msm_invoke {
    uint32_t handle;
    uint32_t sc;
    uint64_t args;  /* union msm_arg[] */
    uint64_t fds;   /* int32_t[], one for each argument, or 0 */
    uint64_t attrs; /* uint32_t[], likewise */
    uint64_t crc;   /* uint32_t[], likewise; not filled in here */
};

enum { MSM_ATTACH, MSM_CREATE, MSM_CREATE_STATIC, MSM_ATTACH_SENSORS };

/* INIT has all but the last two. */
struct msm_init {
    uint32_t flags; /* MSM_ATTACH and the others */
    uint64_t file;  /* the shell, or the static PD's name */
    uint32_t filelen;
    int32_t filefd;
    uint64_t mem;
    uint32_t memlen;
    int32_t memfd;
    int32_t attrs;
    uint32_t siglen;
};

struct msm_mmap {
    int32_t fd;
    uint32_t flags;
    uint64_t vaddrin;
    uint64_t size;
    uint64_t vaddrout;
};

struct msm_munmap {
    uint64_t vaddrout;
    uint64_t size;
};

struct msm_control {
    uint32_t req; /* 1 latency, 2 SMMU, 3 kernel's allocations */
    uint32_t value[3];
};

#define MSM_INVOKE       _IOC(_IOC_READ | _IOC_WRITE, 'R', 1, 16)
#define MSM_MMAP         _IOC(_IOC_READ | _IOC_WRITE, 'R', 2, 32)
#define MSM_MUNMAP       _IOC(_IOC_READ | _IOC_WRITE, 'R', 3, 16)
#define MSM_INVOKE_FD    _IOC(_IOC_READ | _IOC_WRITE, 'R', 4, 24)
#define MSM_SETMODE      _IOC(_IOC_READ | _IOC_WRITE, 'R', 5, 4)
#define MSM_INIT         _IOC(_IOC_READ | _IOC_WRITE, 'R', 6, 40)
#define MSM_INVOKE_ATTRS _IOC(_IOC_READ | _IOC_WRITE, 'R', 7, 32)
#define MSM_GETINFO      _IOC(_IOC_READ | _IOC_WRITE, 'R', 8, 4)
#define MSM_INIT_ATTRS   _IOC(_IOC_READ | _IOC_WRITE, 'R', 10, 48)
#define MSM_INVOKE_CRC   _IOC(_IOC_READ | _IOC_WRITE, 'R', 11, 40)
#define MSM_CONTROL_NR   12 /* its size is another one with each release */
#define MSM_MMAP_64      _IOC(_IOC_READ | _IOC_WRITE, 'R', 14, 32)
#define MSM_MUNMAP_64    _IOC(_IOC_READ | _IOC_WRITE, 'R', 15, 16)

/* ION before Linux 4.12: memory has a handle, which is shared as a descriptor. */
struct ion_allocation {
    uint64_t len;
    uint64_t align;
    uint32_t heap_id_mask;
    uint32_t flags;
    int32_t handle;
};
struct ion_fd {
    int32_t handle;
    int32_t fd;
};
/* and since: ALLOC gives the descriptor. */
struct ion_new_allocation {
    uint64_t len;
    uint32_t heap_id_mask;
    uint32_t flags;
    uint32_t fd;
    uint32_t unused;
};
#define ION_ALLOC     _IOWR('I', 0, struct ion_allocation)
#define ION_NEW_ALLOC _IOWR('I', 0, struct ion_new_allocation)
#define ION_FREE      _IOC(_IOC_READ | _IOC_WRITE, 'I', 1, 4)
#define ION_MAP       _IOWR('I', 2, struct ion_fd)
#define ION_SHARE     _IOWR('I', 4, struct ion_fd)

_Static_assert(sizeof(union msm_arg) == 16 && sizeof(struct msm_invoke) == 40, "INVOKE_CRC");
_Static_assert(sizeof(struct msm_init) == 48, "INIT_ATTRS");
_Static_assert(sizeof(struct msm_mmap) == 32 && sizeof(struct msm_munmap) == 16, "MMAP");
_Static_assert(sizeof(struct ion_allocation) == 32 && sizeof(struct ion_new_allocation) == 24, "ION");

#endif
