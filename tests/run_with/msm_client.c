/* A program for Qualcomm's own kernels: raw ioctls of /dev/adsprpc-smd and /dev/ion by their numbers, nothing of ours but the test skel's
 * interface.  It opens, maps and calls; prints a line and ends with 0.  Usage: msm_client [DEVICE] */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hxt_skel.h"

/* _IOWR(type, number, bytes) */
#define REQUEST(type, number, bytes) (3u << 30 | (uint32_t)(bytes) << 16 | (uint32_t)(type) << 8 | (number))

enum { BYTES = 8192, DSP = 'R', ION = 'I', UNSIGNED = 8 };

struct msm_buf {
    void *p;
    size_t n;
};
struct inv {
    uint32_t handle, sc;
    struct msm_buf *args;
    int *fds;
    uint32_t *attrs;
};

static void need(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "msm_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int dsp;

static int invoke(struct inv inv, uint32_t number, uint32_t bytes)
{
    return ioctl(dsp, REQUEST(DSP, number, bytes), &inv);
}

static uint32_t open_skel(void)
{
    static char uri[] = HXT_SKEL_URI;
    uint32_t in[2] = {sizeof(uri), 255}, out[2] = {0, 1};
    char why[255] = "";
    struct msm_buf args[4] = {{in, sizeof(in)}, {uri, sizeof(uri)}, {out, sizeof(out)}, {why, sizeof(why)}};

    need(invoke((struct inv){0, REMOTE_SCALARS_MAKE(0, 2, 2), args, NULL, NULL}, 1, 16) == 0, "INVOKE: open");
    need(out[1] == 0, why);
    return out[0];
}

/* --- /dev/ion --- */

/* The old way: a handle, shared as a descriptor, given back. */
static int allocate(int ion)
{
    struct {
        size_t len, align;
        uint32_t heaps, flags;
        int32_t handle;
    } a = {BYTES - 100, 0x200, 1 << 25, 1, 0};
    struct {
        int32_t handle, fd;
    } share = {0, -1};

    need(ioctl(ion, REQUEST(ION, 0, sizeof(a)), &a) == 0, "ION: alloc");
    share.handle = a.handle;
    need(ioctl(ion, REQUEST(ION, 4, sizeof(share)), &share) == 0 && share.fd > 0, "ION: share");
    need(ioctl(ion, REQUEST(ION, 1, sizeof(a.handle)), &a.handle) == 0, "ION: free");
    need(lseek(share.fd, 0, SEEK_END) == BYTES, "ION: whole pages");
    return share.fd;
}

static void allocate_anew(int ion)
{
    struct {
        uint64_t len;
        uint32_t heaps, flags, fd, unused;
    } a = {BYTES, 1 << 25, 1, 0, 0};

    need(ioctl(ion, REQUEST(ION, 0, sizeof(a)), &a) == 0 && a.fd > 0, "ION: alloc since 4.12");
    close((int)a.fd);
    need(ioctl(ion, REQUEST(ION, 9, 4), &a) == -1 && errno == ENOTTY, "ION: unknown");
}

/* --- /dev/adsprpc-smd --- */

static void start(int fd, const char *shell)
{
    struct {
        uint32_t flags;
        const void *file;
        uint32_t filelen;
        int32_t filefd;
        const void *mem;
        uint32_t memlen;
        int32_t memfd, attrs;
        uint32_t siglen;
    } init = {1, shell, BYTES, fd, NULL, 0, -1, UNSIGNED, 0};
    uint32_t info = 3, control[4] = {3, 0, 0, 0}, mode = 1;

    need(ioctl(dsp, REQUEST(DSP, 8, 4), &info) == 0 && info == 1, "GETINFO");
    info = 0;
    need(ioctl(dsp, REQUEST(DSP, 8, 4), &info) == -1 && errno == ECONNREFUSED, "GETINFO of another DSP");
    need(ioctl(dsp, REQUEST(DSP, 12, 16), control) == 0 && control[1] == 1, "CONTROL");
    need(ioctl(dsp, REQUEST(DSP, 5, 4), &mode) == 0, "SETMODE");
    need(ioctl(dsp, REQUEST(DSP, 9, 24), control) == -1 && errno == ENOTTY, "an ioctl that is not translated");
    need(ioctl(dsp, REQUEST(DSP, 10, sizeof(init)), &init) == 0, "INIT_ATTRS");
    need(invoke((struct inv){3, REMOTE_SCALARS_MAKE(3, 0, 0), NULL, NULL, NULL}, 1, 16) == 0, "INVOKE: init2");
}

static void check_calls(uint32_t skel, int fd, char *shared)
{
    struct hxt_in in = {0, 0};
    char text[] = "inline", back[sizeof(text)] = "";
    struct msm_buf args[3] = {{&in, sizeof(in)}, {text, sizeof(text)}, {back, sizeof(back)}};
    struct msm_buf of_shared[3] = {{&in, sizeof(in)}, {shared, 100}, {shared + 4096, 100}};
    struct msm_buf with_handle[2] = {{&in, sizeof(in)}, {NULL, 0}};
    int fds[3] = {-1, fd, fd}, handle_fds[2] = {-1, fd};
    uint32_t attrs[3] = {0, 0, 1};

    need(invoke((struct inv){skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), args, NULL, NULL}, 1, 16) == 0, "INVOKE");
    need(strcmp(back, text) == 0, "INVOKE: the bytes");
    memset(shared, 0x5a, 100);
    need(invoke((struct inv){skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), of_shared, fds, NULL}, 4, 24) == 0, "INVOKE_FD");
    need(memcmp(shared, shared + 4096, 100) == 0, "INVOKE_FD: the bytes");
    shared[0] = 42;
    need(invoke((struct inv){skel, REMOTE_SCALARS_MAKEX(0, HXT_KEEP, 1, 0, 1, 0), with_handle, handle_fds, attrs}, 7, 32) == 42,
         "INVOKE_ATTRS: a DMA handle");
    in = (struct hxt_in){fd, 1};
    need(invoke((struct inv){skel, REMOTE_SCALARS_MAKE(HXT_GIVE_BACK, 1, 0), with_handle, NULL, NULL}, 1, 16) == 1, "INVOKE: give back");
}

static void check_maps(int fd, char *shared)
{
    struct {
        int32_t fd;
        uint32_t flags;
        const void *in;
        size_t size;
        uint64_t out;
    } m = {fd, 0, shared, BYTES, 0};
    struct {
        uint64_t out;
        size_t size;
    } u;

    for (int i = 0; i < 2; i++) {
        need(ioctl(dsp, REQUEST(DSP, i ? 14 : 2, sizeof(m)), &m) == 0 && m.out && m.out < 1ull << 32, i ? "MMAP_64" : "MMAP");
        u.out = m.out;
        u.size = BYTES;
        need(ioctl(dsp, REQUEST(DSP, i ? 15 : 3, sizeof(u)), &u) == 0, i ? "MUNMAP_64" : "MUNMAP");
        need(ioctl(dsp, REQUEST(DSP, i ? 15 : 3, sizeof(u)), &u) == -1 && errno == EINVAL, "MUNMAP, once more");
        m.fd = -1; /* the kernel's memory */
        m.flags = 0x1000;
        m.in = NULL;
    }
}

int main(int argc, char **argv)
{
    int ion = open("/dev/ion", O_RDONLY | O_CLOEXEC), fd;
    uint32_t skel;
    char *shared;

    need(ion >= 0, "/dev/ion");
    fd = allocate(ion);
    allocate_anew(ion);
    shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(shared != MAP_FAILED, "mmap");
    dsp = open(argc > 1 ? argv[1] : "/dev/adsprpc-smd", O_RDONLY | O_NONBLOCK);
    need(dsp >= 0, argc > 1 ? argv[1] : "/dev/adsprpc-smd");
    start(fd, shared);
    skel = open_skel();
    check_calls(skel, fd, shared);
    check_maps(fd, shared);
    dsp = dup(dsp);
    check_calls(skel, fd, shared);
    need(invoke((struct inv){4, REMOTE_SCALARS_MAKE(2, 0, 0), NULL, NULL, NULL}, 1, 16) == 0, "INVOKE: exit");
    printf("msm_client: opened, mapped and called\n");
    return 0;
}
