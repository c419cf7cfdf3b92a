/* Draft method `lookup`: where the end of the text has stood before, what came next is what comes next.  Of the longest suffix
 * that did, up to LONGEST tokens, the last place counts.
 * Source: prompt lookup decoding (Saxena 2023); the probability of a guess is ours: the share of this text's own tokens that a
 * suffix of that length would have guessed, so that a text without repeats is soon left alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/draft.h"
#include "engine/method.h"

enum { LONGEST = 8 };

/* The last place of each run of so many tokens: open addressing, keys are the text itself. */
struct table {
    uint32_t *end; /* [n_slots] index behind its last token; 0: free */
};

struct lookup {
    struct hx_draft draft; /* first */
    uint32_t *ids;         /* [n] the text, all of whose tokens but the last are in the tables with what follows them */
    size_t n;
    size_t n_slots;        /* of a table: a power of two, at least twice the positions */
    struct table of[LONGEST];                           /* of runs of 1, 2, ... tokens */
    struct { uint64_t tried, right; } record[LONGEST];  /* of guesses by runs of 1, 2, ... tokens */
};

/* --- tables */

static uint64_t hash_of(const uint32_t *run, size_t n)
{
    uint64_t h = 0;

    for (size_t i = 0; i < n; i++)
        h = (h ^ run[i]) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* The slot of the run of n tokens before `end`, or the free one where it belongs. */
static uint32_t *slot_of(const struct lookup *l, const uint32_t *end, size_t n)
{
    size_t at = hash_of(end - n, n) & (l->n_slots - 1);
    uint32_t *slots = l->of[n - 1].end;

    while (slots[at] && memcmp(l->ids + slots[at] - n, end - n, n * sizeof(*end)) != 0)
        at = (at + 1) & (l->n_slots - 1);
    return &slots[at];
}

/* Where the longest suffix of the text stood before: the index behind it; 0: nowhere.  *length: its tokens. */
static size_t find(const struct lookup *l, size_t *length)
{
    for (size_t n = l->n < LONGEST ? l->n : LONGEST; n > 0; n--) {
        const uint32_t end = *slot_of(l, l->ids + l->n, n);

        *length = n;
        if (end)
            return end;
    }
    return 0;
}

/* One more token of the text: the guess that would have been made is held against it. */
static void take(struct lookup *l, uint32_t id)
{
    size_t length, at = find(l, &length);

    if (at) {
        l->record[length - 1].tried++;
        l->record[length - 1].right += l->ids[at] == id;
    }
    for (size_t n = 1; n <= LONGEST && n <= l->n; n++)
        *slot_of(l, l->ids + l->n, n) = (uint32_t)l->n;
    l->ids[l->n++] = id;
}

static void forget(struct lookup *l)
{
    l->n = 0;
    memset(l->record, 0, sizeof(l->record));
    for (size_t i = 0; i < LONGEST; i++)
        memset(l->of[i].end, 0, l->n_slots * sizeof(*l->of[i].end));
}

static void follow(struct lookup *l, const uint32_t *ids, size_t n)
{
    if (n < l->n || (l->n && memcmp(l->ids, ids, l->n * sizeof(*ids)) != 0))
        forget(l);
    while (l->n < n)
        take(l, ids[l->n]);
}

/* --- guesses */

/* Beside its own record a length has two guesses as good as those of the next shorter one, the shortest two of which one in four was
 * right. */
static float share(const struct lookup *l, size_t length)
{
    float p = 0.25f;

    for (size_t i = 0; i < length && i < LONGEST; i++)
        p = ((float)l->record[i].right + 2 * p) / (float)(l->record[i].tried + 2);
    return p;
}

/* What follows a run that is longer by one if it was right; behind the text's end the guesses themselves go on. */
static int propose(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    struct lookup *l = (struct lookup *)d;
    size_t at, length, more;

    (void)err;
    follow(l, ids, n);
    at = find(l, &length);
    more = at != 0;
    for (; more; at++, length++)
        more = (size_t)hx_draft_add(out, room, at < n ? ids[at] : out->id[at - n], share(l, length));
    return 0;
}

/* --- open and close */

static void close_lookup(struct hx_draft *d)
{
    struct lookup *l = (struct lookup *)d;

    for (size_t i = 0; i < LONGEST; i++)
        free(l->of[i].end);
    free(l->ids);
    free(l);
}

static const struct hx_draft_ops ops = {.name = "lookup", .propose = propose, .close = close_lookup};

static int open_lookup(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    struct lookup *l = calloc(1, sizeof(*l));
    int ok = l != NULL;

    if (ok) {
        l->draft.ops = &ops;
        l->ids = calloc(o->n_ctx, sizeof(*l->ids));
        for (l->n_slots = 1; l->n_slots < 2 * o->n_ctx; l->n_slots *= 2)
            ;
        ok = l->ids != NULL;
        for (size_t i = 0; i < LONGEST; i++) {
            l->of[i].end = calloc(l->n_slots, sizeof(*l->of[i].end));
            ok &= l->of[i].end != NULL;
        }
    }
    if (!ok) {
        if (l)
            close_lookup(&l->draft);
        return hx_error_set(err, -ENOMEM, "draft lookup: no memory for a context of %zu", o->n_ctx);
    }
    *out = &l->draft;
    return 0;
}

const struct hx_method hx_method_draft_lookup = {
    .name = "lookup",
    .seam = HX_SEAM_DRAFT,
    .about = "what followed when the text's end stood in it before",
    .open.draft = open_lookup,
};
