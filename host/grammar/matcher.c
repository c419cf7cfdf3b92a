/* Following a grammar: all readings of a text at once, each a state and the calls that it is in. */
#include "matcher.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grammar_impl.h"
#include "vocab.h"

enum {
    CALLS = 1 << 16,  /* calls that are remembered at a time */
    WORK = 1024,      /* readings that wait to be followed, within one byte */
    SEEN = 2048,      /* slots for those that were followed, a power of two */
    BUDGET = 1 << 24, /* readings that one mask may follow */
};

/* A rule that was called: where it goes on when it ends. */
struct call {
    uint32_t next;  /* state */
    uint32_t under; /* the call around it, or HX_GRAMMAR_NONE; made before this one */
    uint32_t left;  /* fewest bytes from `next` to the text's end */
};

struct reading {
    uint32_t state, call;
};

/* The readings behind so many bytes of a piece. */
struct level {
    uint32_t first, n; /* in pool[] */
    uint32_t n_calls;  /* that they may refer to: calls [0, n_calls) */
    uint32_t left;     /* fewest bytes to the text's end */
    int whole;         /* 1: the text may end here */
};

struct hx_matcher {
    const struct hx_grammar *g;
    const struct hx_vocab *v;
    struct level *levels; /* [longest piece + 1]; 0: the text so far */
    struct reading *pool; /* readings of all levels: all are RANGE states */
    struct call *calls;   /* [CALLS], a stack: a level's behind those of the one before */
    uint32_t *moved;      /* [CALLS] scratch */
    uint32_t n_calls;
    struct reading work[WORK];
    size_t n_work;
    struct { struct reading r; uint32_t turn; } seen[SEEN];
    uint32_t turn;    /* of seen[]: entries of other turns are free */
    size_t followed;  /* readings, since the mask began */
    uint8_t *allowed; /* [vocabulary] by the last mask */
    uint32_t any;
    int at_start;     /* 1: the next piece loses the space in front */
};

static uint32_t left_of(const struct hx_matcher *m, struct reading r)
{
    const uint32_t behind = r.call == HX_GRAMMAR_NONE ? 0 : m->calls[r.call].left;

    return hx_grammar_sum(m->g->states[r.state].left, behind);
}

/* --- one byte */

static void later(struct hx_matcher *m, uint32_t state, uint32_t call)
{
    if (m->n_work < WORK && state != HX_GRAMMAR_NONE)
        m->work[m->n_work++] = (struct reading){state, call};
}

/* 1: this reading was followed already behind this byte, or too many were. */
static int seen_before(struct hx_matcher *m, struct reading r)
{
    size_t at = (r.state * 0x9e3779b1u ^ r.call * 0x85ebca6bu) >> 16;

    for (size_t tries = 0; tries < 16; tries++, at++) {
        const size_t i = at % SEEN;

        if (m->seen[i].turn != m->turn) {
            m->seen[i].r = r;
            m->seen[i].turn = m->turn;
            return 0;
        }
        if (m->seen[i].r.state == r.state && m->seen[i].r.call == r.call)
            return 1;
    }
    return 1;
}

/* The nearer way is followed first. */
static void follow_either(struct hx_matcher *m, const struct hx_state *s, uint32_t call)
{
    const struct hx_state *states = m->g->states;
    const int next_first = s->other == HX_GRAMMAR_NONE ||
                           (s->next != HX_GRAMMAR_NONE && states[s->next].left <= states[s->other].left);

    later(m, next_first ? s->other : s->next, call);
    later(m, next_first ? s->next : s->other, call);
}

/* A call whose rule's end would be the end of the one around it needs no entry. */
static void follow_call(struct hx_matcher *m, const struct hx_state *s, uint32_t call)
{
    if (m->g->states[s->next].kind != HX_STATE_END) {
        const struct call c = {s->next, call, left_of(m, (struct reading){s->next, call})};

        if (m->n_calls == CALLS)
            return;
        m->calls[m->n_calls] = c;
        call = m->n_calls++;
    }
    later(m, s->other, call);
}

static void follow_end(struct hx_matcher *m, struct level *to, uint32_t call)
{
    if (call == HX_GRAMMAR_NONE)
        to->whole = 1;
    else
        later(m, m->calls[call].next, m->calls[call].under);
}

static void arrive(struct hx_matcher *m, struct level *to, struct reading r)
{
    const uint32_t left = left_of(m, r);

    if (to->n == HX_MATCHER_READINGS || left == HX_GRAMMAR_NONE)
        return;
    m->pool[to->first + to->n++] = r;
    to->left = left < to->left ? left : to->left;
}

/* From a reading on, to the states that take a byte. */
static void follow(struct hx_matcher *m, struct level *to, struct reading from)
{
    m->n_work = 0;
    later(m, from.state, from.call);
    while (m->n_work) {
        const struct reading r = m->work[--m->n_work];
        const struct hx_state *s = &m->g->states[r.state];

        m->followed++;
        if (seen_before(m, r))
            continue;
        switch (s->kind) {
        case HX_STATE_RANGE:
            arrive(m, to, r);
            break;
        case HX_STATE_EITHER:
            follow_either(m, s, r.call);
            break;
        case HX_STATE_CALL:
            follow_call(m, s, r.call);
            break;
        case HX_STATE_END:
            follow_end(m, to, r.call);
            break;
        default:
            later(m, s->next, r.call);
        }
    }
}

static void begin_level(struct hx_matcher *m, struct level *to, uint32_t first)
{
    *to = (struct level){.first = first, .left = HX_GRAMMAR_NONE};
    if (++m->turn == 0) { /* it came round */
        memset(m->seen, 0, sizeof(m->seen));
        m->turn = 1;
    }
}

static void end_level(struct hx_matcher *m, struct level *to)
{
    to->n_calls = m->n_calls;
    if (to->whole)
        to->left = 0;
}

/* The reading that takes the byte and is nearest to its end; n: none does. */
static size_t nearest(struct hx_matcher *m, const struct level *from, uint8_t byte)
{
    uint32_t best_left = HX_GRAMMAR_NONE;
    size_t best = from->n;

    m->followed += from->n;
    for (size_t i = 0; i < from->n; i++) {
        const struct reading r = m->pool[from->first + i];
        const struct hx_state *s = &m->g->states[r.state];

        if (byte < s->first || byte > s->last || left_of(m, r) >= best_left)
            continue;
        best_left = left_of(m, r);
        best = i;
    }
    return best;
}

/* levels[depth + 1]: what the byte makes of levels[depth].  1: there is a way. */
static int step(struct hx_matcher *m, size_t depth, uint8_t byte)
{
    const struct level *from = &m->levels[depth];
    struct level *to = &m->levels[depth + 1];
    const size_t first = nearest(m, from, byte);

    m->n_calls = from->n_calls;
    if (first == from->n)
        return 0;
    begin_level(m, to, from->first + from->n);
    for (size_t i = 0; i <= from->n; i++) { /* the nearest first, so that it finds room */
        const struct reading r = m->pool[from->first + (i ? i - 1 : first)];
        const struct hx_state *s = &m->g->states[r.state];

        if ((!i || i - 1 != first) && byte >= s->first && byte <= s->last)
            follow(m, to, (struct reading){s->next, r.call});
    }
    end_level(m, to);
    return to->n || to->whole;
}

/* The same for the space that is no part of the text. */
static int step_start(struct hx_matcher *m, size_t depth, uint8_t byte)
{
    if (depth || !m->at_start || byte != ' ')
        return step(m, depth, byte);
    m->levels[1] = m->levels[0];
    m->levels[1].first += m->levels[0].n;
    memcpy(m->pool + m->levels[1].first, m->pool, m->levels[0].n * sizeof(*m->pool));
    return 1;
}

/* --- all tokens */

static void allow(struct hx_matcher *m, size_t depth, uint32_t id, uint32_t most)
{
    if (m->levels[depth].left > most)
        return;
    m->allowed[id] = 1;
    if (m->any == HX_NO_TOKEN)
        m->any = id;
}

static void look_at_bytes(struct hx_matcher *m, uint32_t most)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (m->v->byte[byte] != HX_NO_TOKEN && step_start(m, 0, (uint8_t)byte))
            allow(m, 1, m->v->byte[byte], most);
}

static void look_at_pieces(struct hx_matcher *m, uint32_t most)
{
    size_t good = 0;     /* levels [0, good] are of the piece before */
    size_t dead = SIZE_MAX; /* bytes of the piece before that cannot come; SIZE_MAX: all can */

    for (size_t i = 0; i < m->v->n && m->followed < BUDGET; i++) {
        const struct hx_vocab_piece *p = &m->v->pieces[i];

        if (p->same >= dead)
            continue;
        dead = SIZE_MAX;
        for (good = p->same; good < p->text.n && dead == SIZE_MAX; good++)
            if (!step_start(m, good, (uint8_t)p->text.p[good]))
                dead = good + 1;
        if (dead == SIZE_MAX)
            allow(m, p->text.n, p->id, most);
    }
}

static void look_at_ends(struct hx_matcher *m)
{
    for (size_t i = 0; i < m->v->size; i++)
        if (hx_tokenizer_ends(m->v->tok, (uint32_t)i))
            allow(m, 0, (uint32_t)i, 0);
}

void hx_matcher_mask(struct hx_matcher *m, float *logits, size_t left, int ends)
{
    const size_t longest = hx_grammar_shortest(m->g) + HX_MATCHER_SLACK;
    const uint32_t most = (uint32_t)(left - 1 < longest ? left - 1 : longest);

    memset(m->allowed, 0, m->v->size);
    m->any = HX_NO_TOKEN;
    m->followed = 0;
    look_at_bytes(m, most);
    look_at_pieces(m, most);
    if (ends && m->levels[0].whole)
        look_at_ends(m);
    for (size_t i = 0; i < m->v->size; i++)
        if (!m->allowed[i])
            logits[i] = -INFINITY;
}

uint32_t hx_matcher_any(const struct hx_matcher *m)
{
    return m->any;
}

/* --- on */

/* Drops the calls that no reading of levels[0] is in. */
static void compact(struct hx_matcher *m)
{
    struct level *l = &m->levels[0];
    uint32_t n = 0;

    memset(m->moved, 0, m->n_calls * sizeof(*m->moved));
    for (size_t i = 0; i < l->n; i++)
        for (uint32_t c = m->pool[i].call; c != HX_GRAMMAR_NONE && !m->moved[c]; c = m->calls[c].under)
            m->moved[c] = 1;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        struct call *to = &m->calls[n];

        if (!m->moved[c])
            continue;
        *to = m->calls[c];
        to->under = to->under == HX_GRAMMAR_NONE ? HX_GRAMMAR_NONE : m->moved[to->under];
        m->moved[c] = n++;
    }
    for (size_t i = 0; i < l->n; i++)
        if (m->pool[i].call != HX_GRAMMAR_NONE)
            m->pool[i].call = m->moved[m->pool[i].call];
    l->n_calls = m->n_calls = n;
}

int hx_matcher_take(struct hx_matcher *m, uint32_t id)
{
    const struct hx_str text = hx_tokenizer_piece(m->v->tok, id);

    if (!text.n)
        return -EPROTO;
    for (size_t i = 0; i < text.n; i++)
        if (!step_start(m, i, (uint8_t)text.p[i]))
            return -EPROTO;
    memmove(m->pool, m->pool + m->levels[text.n].first, m->levels[text.n].n * sizeof(*m->pool));
    m->levels[0] = m->levels[text.n];
    m->levels[0].first = 0;
    m->at_start = 0;
    m->n_calls = m->levels[0].n_calls;
    compact(m);
    return 0;
}

int hx_matcher_whole(const struct hx_matcher *m)
{
    return m->levels[0].whole;
}

int hx_matcher_over(const struct hx_matcher *m)
{
    return m->levels[0].whole && !m->levels[0].n;
}

/* --- life */

struct hx_matcher *hx_matcher_open(const struct hx_grammar *g, const struct hx_vocab *v, int whole_text)
{
    struct hx_matcher *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->g = g;
    m->v = v;
    m->levels = calloc(v->longest + 2, sizeof(*m->levels));
    m->pool = calloc((v->longest + 2) * HX_MATCHER_READINGS, sizeof(*m->pool));
    m->calls = calloc(CALLS, sizeof(*m->calls));
    m->moved = calloc(CALLS, sizeof(*m->moved));
    m->allowed = calloc(v->size, 1);
    if (!m->levels || !m->pool || !m->calls || !m->moved || !m->allowed) {
        hx_matcher_close(m);
        return NULL;
    }
    m->any = HX_NO_TOKEN;
    m->at_start = whole_text && hx_tokenizer_space_prefix(v->tok);
    begin_level(m, &m->levels[0], 0);
    follow(m, &m->levels[0], (struct reading){g->start, HX_GRAMMAR_NONE});
    end_level(m, &m->levels[0]);
    return m;
}

void hx_matcher_close(struct hx_matcher *m)
{
    if (!m)
        return;
    free(m->levels);
    free(m->pool);
    free(m->calls);
    free(m->moved);
    free(m->allowed);
    free(m);
}
