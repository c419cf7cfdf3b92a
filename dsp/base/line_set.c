/* Lines that were touched: a hash table of pages with a bit per line. */
#include "line_set.h"

#include <stddef.h>
#include <sys/mman.h>

enum { FIRST_SLOTS = 1024, LINE_SHIFT = 7, PAGE_SHIFT = 12 };

void hx_line_set_clear(struct hx_line_set *s)
{
    s->generation++;
    s->used = 0;
}

/* The page's slot, or the free one where it belongs. */
static struct hx_line_page *find(const struct hx_line_set *s, uint64_t page)
{
    uint32_t i = (uint32_t)(page * 0x9e3779b97f4a7c15u >> 32);

    while (s->slot[i &= s->slots - 1].generation == s->generation && s->slot[i].page != page)
        i++;
    return &s->slot[i];
}

static int grow(struct hx_line_set *s)
{
    struct hx_line_set bigger = *s;

    bigger.slots = s->slots ? s->slots * 2 : FIRST_SLOTS;
    /* not from the heap, see cache.c */
    bigger.slot = mmap(NULL, bigger.slots * sizeof(*bigger.slot), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bigger.slot == MAP_FAILED)
        return 0;
    for (uint32_t i = 0; i < s->slots; i++)
        if (s->slot[i].generation == s->generation)
            *find(&bigger, s->slot[i].page) = s->slot[i];
    hx_line_set_free(s);
    *s = bigger;
    return 1;
}

int hx_line_set_add(struct hx_line_set *s, uint64_t addr)
{
    const uint64_t page = addr >> PAGE_SHIFT;
    const uint32_t line = 1u << (addr >> LINE_SHIFT & ((1u << (PAGE_SHIFT - LINE_SHIFT)) - 1));
    struct hx_line_page *p;

    if (s->generation == 0)
        hx_line_set_clear(s);
    if (s->used >= s->slots / 2 && !grow(s))
        return 0;
    p = find(s, page);
    if (p->generation != s->generation) {
        *p = (struct hx_line_page){page, s->generation, 0};
        s->used++;
    }
    if (p->lines & line)
        return 0;
    p->lines |= line;
    return 1;
}

void hx_line_set_free(struct hx_line_set *s)
{
    if (s->slot)
        munmap(s->slot, s->slots * sizeof(*s->slot));
    s->slot = NULL;
    s->slots = s->used = 0;
}
