/* Which loop of the optimised code is which loop of the source.  The debug build keeps the order of the source; block
 * placement in the release build may not, but nesting and source lines are kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

static bool has_line(const struct hx_function *f, int loop, uint64_t where)
{
    for (size_t i = 0; i < f->blocks; i++)
        for (size_t k = 0; hx_loop_within(f, f->block[i].loop, loop) && k < f->block[i].packets; k++)
            if (f->packet[f->block[i].first + k].where == where)
                return true;
    return false;
}

/* Per mille of the packets of a release loop whose line belongs to the debug loop. */
static unsigned likeness(const struct hx_function *release, int r, const struct hx_function *debug,
                         int d)
{
    unsigned all = 0, same = 0;

    for (size_t i = 0; i < release->blocks; i++) {
        const struct hx_block *b = &release->block[i];
        for (size_t k = 0; hx_loop_within(release, b->loop, r) && k < b->packets; k++) {
            uint64_t where = release->packet[b->first + k].where;
            all += where != 0;
            same += where && has_line(debug, d, where);
        }
    }
    return all ? 1000 * same / all : 0;
}

struct matching {
    const struct hx_function *release, *debug;
    int *to; /* by debug loop: its release loop, -1: none yet */
};

static bool taken(const struct matching *m, int r)
{
    for (size_t i = 0; i < m->debug->loops; i++)
        if (m->to[i] == r)
            return true;
    return false;
}

/* The loop of the release build, among those directly inside `around`, that is most like d; the first of equals. */
static int best(const struct matching *m, int d, int around)
{
    unsigned most = 0;
    int found = -1;

    for (int r = 0; r < (int)m->release->loops; r++) {
        if (m->release->loop[r].parent != around || taken(m, r))
            continue;
        unsigned like = likeness(m->release, r, m->debug, d);
        if (found < 0 || like > most) {
            found = r;
            most = like;
        }
    }
    return found;
}

static size_t children(const struct hx_function *f, int loop)
{
    size_t n = 0;

    for (size_t i = 0; i < f->loops; i++)
        n += f->loop[i].parent == loop;
    return n;
}

static void say_loops(const struct hx_function *f, const char *build)
{
    fprintf(stderr, "  %s: %zu loops", build, f->loops);
    for (size_t i = 0; i < f->loops; i++) {
        uint64_t where = 0;
        const struct hx_block *b = &f->block[f->loop[i].header];
        for (size_t k = 0; k < b->packets && !where; k++)
            where = f->packet[b->first + k].where;
        fprintf(stderr, "%s line %" PRIu32 " depth %u", i ? "," : ":", (uint32_t)where,
                f->loop[i].depth);
    }
    fputc('\n', stderr);
}

static int differ(const struct matching *m)
{
    fprintf(
        stderr,
        "%s: the release and the debug build do not have the same loops (removed, merged or split "
        "by the optimiser, or inlined in one only: change the source, e.g. a noinline helper)\n",
        m->debug->name);
    say_loops(m->release, "release");
    say_loops(m->debug, "debug");
    return -1;
}

/* Outer loops come first in a listing at -O0, so the loop around is matched already. */
static int match_all(struct matching *m)
{
    if (m->release->loops != m->debug->loops || children(m->release, -1) != children(m->debug, -1))
        return differ(m);
    for (size_t d = 0; d < m->debug->loops; d++) {
        int outer = m->debug->loop[d].parent;
        int r = outer >= (int)d ? -1 : best(m, (int)d, outer < 0 ? -1 : m->to[outer]);
        if (r < 0 || children(m->release, r) != children(m->debug, (int)d))
            return differ(m);
        m->to[d] = r;
    }
    return 0;
}

int hx_loops_match(const struct hx_function *release, const struct hx_function *debug,
                   int *release_order, int *debug_order)
{
    struct matching m = {release, debug, release_order};

    for (size_t i = 0; i < debug->loops; i++) {
        release_order[i] = -1;
        debug_order[i] = (int)i;
    }
    return match_all(&m);
}
