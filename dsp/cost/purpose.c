/* Keeps what skels say about their memory, in the order of addresses. */
#include "purpose.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "base/export.h"
#include "hexrig_purpose.h"

enum { PIECES = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the pieces */
static struct hx_stretch_of_purpose piece[PIECES];       /* [n], ascending, none of them HX_PURPOSE_OTHER */
static unsigned n;
static _Atomic unsigned changes;

unsigned hx_purpose_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_acquire);
}

/* The first piece that ends behind `at`. */
static unsigned find(uint64_t at)
{
    unsigned i = 0;

    while (i < n && piece[i].to <= at)
        i++;
    return i;
}

struct hx_stretch_of_purpose hx_purpose_of(uint64_t at)
{
    struct hx_stretch_of_purpose s = {0, UINT64_MAX, HX_PURPOSE_OTHER};
    unsigned i;

    pthread_mutex_lock(&lock);
    i = find(at);
    if (i < n && piece[i].from <= at) {
        s = piece[i];
    } else {
        s.from = i > 0 ? piece[i - 1].to : 0;
        s.to = i < n ? piece[i].from : UINT64_MAX;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static void remove_at(unsigned i)
{
    memmove(piece + i, piece + i + 1, (--n - i) * sizeof(*piece));
}

static int insert_at(unsigned i, struct hx_stretch_of_purpose s)
{
    if (n == PIECES)
        return AEE_ENOMEMORY;
    memmove(piece + i + 1, piece + i, (n++ - i) * sizeof(*piece));
    piece[i] = s;
    return AEE_SUCCESS;
}

/* Nothing is known of from..to-1 any more. */
static int forget(uint64_t from, uint64_t to)
{
    int rc = AEE_SUCCESS;

    for (unsigned i = find(from); i < n && piece[i].from < to;) {
        const struct hx_stretch_of_purpose whole = piece[i];

        if (whole.from < from)
            piece[i++].to = from;
        else
            remove_at(i);
        if (whole.to > to)
            rc = insert_at(i++, (struct hx_stretch_of_purpose){to, whole.to, whole.purpose});
    }
    return rc;
}

HX_EXPORT int hx_purpose_set(const void *p, size_t bytes, enum hx_purpose purpose)
{
    const uint64_t from = (uintptr_t)p, to = from + bytes;
    int rc;

    if ((unsigned)purpose >= HX_PURPOSES || to < from)
        return AEE_EBADPARM;
    if (!bytes)
        return AEE_SUCCESS;
    pthread_mutex_lock(&lock);
    rc = forget(from, to);
    if (!rc && purpose != HX_PURPOSE_OTHER)
        rc = insert_at(find(from), (struct hx_stretch_of_purpose){from, to, purpose});
    atomic_fetch_add_explicit(&changes, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    if (rc)
        FARF(ERROR, "purpose: more than %d pieces of memory have one", PIECES);
    return rc;
}
