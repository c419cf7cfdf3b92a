/* How much of a path is taken in each stretch of virtual time. */
#include "path.h"

#include <string.h>
#include <sys/mman.h>

enum {
    FRACTIONS = 256,            /* of a pcycle, in which all is counted here */
    STRETCH = 4096 * FRACTIONS,
    FIRST_STRETCHES = 1 << 14,
    MOST_STRETCHES = 1 << 26,
};

void hx_path_clear(struct hx_path *p)
{
    if (p->used)
        memset(p->taken, 0, p->used * sizeof(*p->taken));
    p->used = 0;
}

void hx_path_free(struct hx_path *p)
{
    if (p->taken)
        munmap(p->taken, p->stretches * sizeof(*p->taken));
    *p = (struct hx_path){0};
}

static int reach(struct hx_path *p, size_t stretch)
{
    size_t n = p->stretches ? p->stretches : FIRST_STRETCHES;
    uint32_t *more;

    if (stretch < p->stretches)
        return 1;
    while (n <= stretch && n < MOST_STRETCHES)
        n *= 2;
    if (n <= stretch)
        return 0;
    /* not from the heap, as in cache.c */
    more = mmap(NULL, n * sizeof(*more), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (more == MAP_FAILED)
        return 0;
    if (p->taken) {
        memcpy(more, p->taken, p->used * sizeof(*more));
        munmap(p->taken, p->stretches * sizeof(*more));
    }
    p->taken = more;
    p->stretches = n;
    return 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

double hx_path_take(struct hx_path *p, double at, double pcycles)
{
    uint64_t t = at > 0 ? (uint64_t)(at * FRACTIONS + 0.5) : 0, left = (uint64_t)(pcycles * FRACTIONS + 0.5);

    while (left > 0 && reach(p, t / STRETCH)) {
        const uint64_t i = t / STRETCH, end = (i + 1) * STRETCH, now = least(left, least(STRETCH - p->taken[i], end - t));

        p->taken[i] += (uint32_t)now;
        p->used = p->used > i ? p->used : i + 1;
        left -= now;
        t = left > 0 ? end : t + now;
    }
    return (double)(t + left) / FRACTIONS;
}
