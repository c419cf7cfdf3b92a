/* The driver's view of the DSP's VTCM, and the node that prints it. */
#include "vtcm_view.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hx_memfd.h"

void hx_vtcm_view_close(struct hx_vtcm_view *v)
{
    if (v->table)
        munmap((void *)(uintptr_t)v->table, sizeof(*v->table));
    v->table = NULL;
}

int hx_vtcm_view_make(struct hx_vtcm_view *v, int *fd)
{
    void *p;
    int rc;

    hx_vtcm_view_close(v);
    *fd = hx_memfd_make("hexrig-vtcm-table", sizeof(*v->table), MFD_CLOEXEC);
    if (*fd < 0)
        return *fd;
    p = mmap(NULL, sizeof(*v->table), PROT_READ, MAP_SHARED, *fd, 0);
    if (p == MAP_FAILED) {
        rc = -errno;
        close(*fd);
        *fd = -1;
        return rc;
    }
    v->table = p;
    return 0;
}

/* Number of grains of the grant that starts at `i`; 0: none starts there. */
static unsigned grant_at(const struct hx_vtcm_grain *g, unsigned i)
{
    unsigned n = 0;

    if (!g[i].client || g[i].first != (int32_t)i)
        return 0;
    while (i + n < HX_VTCM_GRAINS && g[i + n].client == g[i].client && g[i + n].first == (int32_t)i)
        n++;
    return n;
}

void hx_vtcm_view_print(const struct hx_vtcm_view *v, unsigned kib, FILE *f)
{
    const unsigned grains = kib ? kib / (HX_VTCM_GRAIN >> 10) : HX_VTCM_GRAINS;
    struct hx_vtcm_grain g[HX_VTCM_GRAINS] = {{0}};
    unsigned free_grains = 0;

    if (v->table)
        memcpy(g, v->table->grain, sizeof(g));
    for (unsigned i = 0; i < grains; i++)
        free_grains += g[i].client == 0;
    fprintf(f, "total_bytes=%u\nfree_bytes=%u\n", grains * HX_VTCM_GRAIN, free_grains * HX_VTCM_GRAIN);
    for (unsigned i = 0, n; i < HX_VTCM_GRAINS; i += n ? n : 1) {
        n = grant_at(g, i);
        if (n)
            fprintf(f, "session=%d offset=0x%x held_bytes=%u asked_bytes=%u context=%u\n",
                    g[i].client,
                    i * HX_VTCM_GRAIN, n * HX_VTCM_GRAIN, g[i].bytes, g[i].context);
    }
}
