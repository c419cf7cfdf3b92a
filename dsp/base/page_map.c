/* Numbers pages in the order of their first touch, in a hash table that forgets everything at once. */
#include "page_map.h"

#include <stddef.h>
#include <sys/mman.h>

enum { FIRST_SLOTS = 1024 };

void hx_page_map_clear(struct hx_page_map *f)
{
    f->generation++;
    f->used = 0;
    f->last_page = UINT64_MAX;
}

/* The page's slot, or the free one where it belongs. */
static struct hx_page_entry *find(const struct hx_page_map *f, uint64_t page)
{
    uint32_t i = (uint32_t)(page * 0x9e3779b97f4a7c15u >> 32);

    while (f->slot[i &= f->slots - 1].generation == f->generation && f->slot[i].page != page)
        i++;
    return &f->slot[i];
}

static int grow(struct hx_page_map *f)
{
    struct hx_page_map bigger = *f;

    bigger.slots = f->slots ? f->slots * 2 : FIRST_SLOTS;
    /* Not from the heap: the addresses that a skel gets there must not depend on which thread served which calls.
     * MAP_NORESERVE distinguishes it from malloc's maps, which the sandbox refuses. */
    bigger.slot = mmap(NULL, bigger.slots * sizeof(*bigger.slot), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bigger.slot == MAP_FAILED)
        return 0;
    for (uint32_t i = 0; i < f->slots; i++)
        if (f->slot[i].generation == f->generation)
            *find(&bigger, f->slot[i].page) = f->slot[i];
    if (f->slot)
        munmap(f->slot, f->slots * sizeof(*f->slot));
    *f = bigger;
    return 1;
}

uint64_t hx_page_map_at(struct hx_page_map *f, uint64_t addr)
{
    const uint64_t page = addr >> HX_PAGE_SHIFT, offset = addr & ((1u << HX_PAGE_SHIFT) - 1);

    if (f->generation == 0) /* no call has begun on this thread */
        hx_page_map_clear(f);
    if (page != f->last_page) {
        if (f->used >= f->slots / 2 && !grow(f))
            return addr;
        struct hx_page_entry *s = find(f, page);
        if (s->generation != f->generation)
            *s = (struct hx_page_entry){page, f->used++, f->generation};
        f->last_page = page;
        f->last_frame = s->frame;
    }
    return f->last_frame << HX_PAGE_SHIFT | offset;
}

void hx_page_map_free(struct hx_page_map *f)
{
    if (f->slot)
        munmap(f->slot, f->slots * sizeof(*f->slot));
    f->slot = NULL;
    f->slots = f->used = 0;
    f->last_page = UINT64_MAX;
}
