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
        memset(p->of, 0, p->used * sizeof(*p->of));
    p->used = 0;
}

void hx_path_free(struct hx_path *p)
{
    if (p->of)
        munmap(p->of, p->stretches * sizeof(*p->of));
    *p = (struct hx_path){0};
}

static int reach(struct hx_path *p, size_t stretch)
{
    size_t n = p->stretches ? p->stretches : FIRST_STRETCHES;
    struct hx_stretch *more;

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
    if (p->of) {
        memcpy(more, p->of, p->used * sizeof(*more));
        munmap(p->of, p->stretches * sizeof(*more));
    }
    p->of = more;
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
        const uint64_t i = t / STRETCH, end = (i + 1) * STRETCH, now = least(left, least(STRETCH - p->of[i].taken, end - t));

        p->of[i].taken += (uint32_t)now;
        p->used = p->used > i ? p->used : i + 1;
        left -= now;
        t = left > 0 ? end : t + now;
    }
    return (double)(t + left) / FRACTIONS;
}

/* What the user can have of a stretch, 0..1. */
static double share(const struct hx_path *p, const struct hx_path_user *u, uint64_t stretch, unsigned most)
{
    double others = 0, even;
    unsigned users = 1;

    for (unsigned back = 0; back < 2 && back < stretch; back++) {
        static const struct hx_stretch nobody;
        const struct hx_stretch *s = stretch - back <= p->used ? &p->of[stretch - back - 1] : &nobody;
        const uint32_t own = u->before[back];
        const unsigned n = s->users + (own == 0);

        if (n > users)
            users = n;
        if (s->taken > own && (double)(s->taken - own) / STRETCH > others)
            others = (double)(s->taken - own) / STRETCH;
    }
    even = 1.0 / (users < most ? users : most);
    return others < 1 - even ? 1 - others : even;
}

double hx_path_pace(struct hx_path *p, struct hx_path_user *u, double at, double pcycles, unsigned most)
{
    uint64_t stretch = at > 0 ? (uint64_t)at / (STRETCH / FRACTIONS) : 0;
    const uint32_t taken = (uint32_t)least((uint64_t)(pcycles * FRACTIONS + 0.5), STRETCH);

    if (!reach(p, stretch))
        return pcycles;
    if (stretch + 1 < u->stretch) /* the user's clock need not be steady */
        stretch = u->stretch - 1;
    if (stretch + 1 > u->stretch) {
        u->before[1] = u->stretch == stretch ? u->before[0] : u->stretch + 1 == stretch ? u->now : 0;
        u->before[0] = u->stretch == stretch ? u->now : 0;
        u->now = 0;
        u->stretch = stretch + 1;
        p->of[stretch].users++;
    }
    u->now += taken;
    p->of[stretch].taken += taken;
    p->used = p->used > stretch ? p->used : stretch + 1;
    return pcycles / share(p, u, stretch, most);
}
