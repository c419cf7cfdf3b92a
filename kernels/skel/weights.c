/* A client's mapped weights, see weights.h. */
#include "weights.h"

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_mmap.h"
#include "hexrig_purpose.h"

/* The DSP's own: bytes of the buffer behind a client's descriptor. */
extern int adsp_mmap_fd_getinfo(int fd, uint32_t *bytes);

int hx_weights_map(struct hx_weights_map *m, const char *who, int fd, size_t bytes, const uint8_t **at)
{
    uint32_t size = 0;
    void *start = NULL;

    if (adsp_mmap_fd_getinfo(fd, &size) || HAP_mmap_get(fd, &start, NULL)) {
        FARF(ERROR, "%s: the client has no buffer %d mapped", who, fd);
        return AEE_ENOSUCHMAP;
    }
    if (bytes > size || (uintptr_t)start % HX_WEIGHTS_ALIGN) {
        HAP_mmap_put(fd);
        FARF(ERROR, "%s: buffer %d has %u bytes, %zu are to be used", who, fd, size, bytes);
        return AEE_EBADPARM;
    }
    hx_purpose_set(start, bytes, HX_PURPOSE_WEIGHTS);
    m->fd = fd;
    *at = start;
    return AEE_SUCCESS;
}

void hx_weights_unmap(struct hx_weights_map *m)
{
    uint32_t size = 0;
    void *start = NULL;

    if (m->fd >= 0 && !adsp_mmap_fd_getinfo(m->fd, &size) && !HAP_mmap_get(m->fd, &start, NULL)) {
        hx_purpose_set(start, size, HX_PURPOSE_OTHER);
        HAP_mmap_put(m->fd);
    }
    if (m->fd >= 0)
        HAP_mmap_put(m->fd);
    m->fd = -1;
}
