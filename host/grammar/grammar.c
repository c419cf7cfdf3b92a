/* Building grammars, and how many bytes each of their states is from the end. */
#include "grammar.h"

#include <errno.h>
#include <stdlib.h>

#include "grammar_impl.h"

struct hx_grammar *hx_grammar_new(void)
{
    return calloc(1, sizeof(struct hx_grammar));
}

void hx_grammar_free(struct hx_grammar *g)
{
    if (!g)
        return;
    free(g->states);
    free(g);
}

static int grow(struct hx_grammar *g)
{
    const size_t room = g->room ? 2 * g->room : 256;
    struct hx_state *more = g->n < HX_GRAMMAR_STATES ? reallocarray(g->states, room, sizeof(*more)) : NULL;

    if (!more) {
        g->failed = g->n < HX_GRAMMAR_STATES ? -ENOMEM : -E2BIG;
        return g->failed;
    }
    g->states = more;
    g->room = room;
    return 0;
}

static uint32_t add(struct hx_grammar *g, struct hx_state s)
{
    if (g->failed || (g->n == g->room && grow(g)))
        return HX_GRAMMAR_NONE;
    s.left = HX_GRAMMAR_NONE;
    g->states[g->n] = s;
    return (uint32_t)g->n++;
}

uint32_t hx_grammar_end(struct hx_grammar *g)
{
    return add(g, (struct hx_state){.kind = HX_STATE_END});
}

uint32_t hx_grammar_range(struct hx_grammar *g, uint8_t first, uint8_t last, uint32_t next)
{
    return add(g, (struct hx_state){.kind = HX_STATE_RANGE, .first = first, .last = last, .next = next});
}

uint32_t hx_grammar_text(struct hx_grammar *g, const char *text, size_t n, uint32_t next)
{
    while (n--)
        next = hx_grammar_range(g, (uint8_t)text[n], (uint8_t)text[n], next);
    return next;
}

uint32_t hx_grammar_either(struct hx_grammar *g, uint32_t a, uint32_t b)
{
    return add(g, (struct hx_state){.kind = HX_STATE_EITHER, .next = a, .other = b});
}

uint32_t hx_grammar_call(struct hx_grammar *g, uint32_t rule, uint32_t next)
{
    return add(g, (struct hx_state){.kind = HX_STATE_CALL, .next = next, .other = rule});
}

uint32_t hx_grammar_later(struct hx_grammar *g)
{
    return add(g, (struct hx_state){.kind = HX_STATE_LATER, .next = HX_GRAMMAR_NONE});
}

void hx_grammar_define(struct hx_grammar *g, uint32_t later, uint32_t is)
{
    if (!g->failed)
        g->states[later].next = is;
}

size_t hx_grammar_size(const struct hx_grammar *g)
{
    return g->n;
}

static uint32_t left_at(const struct hx_grammar *g, uint32_t state)
{
    return state == HX_GRAMMAR_NONE ? HX_GRAMMAR_NONE : g->states[state].left;
}

static uint32_t left_from(const struct hx_grammar *g, const struct hx_state *s)
{
    const uint32_t next = left_at(g, s->next);

    switch (s->kind) {
    case HX_STATE_END:
        return 0;
    case HX_STATE_RANGE:
        return hx_grammar_sum(next, 1);
    case HX_STATE_EITHER:
        return left_at(g, s->other) < next ? left_at(g, s->other) : next;
    case HX_STATE_CALL:
        return hx_grammar_sum(next, left_at(g, s->other));
    default:
        return next;
    }
}

/* As grammars are built from their end, one round does nearly all of it; each more follows one later state behind another. */
static void measure(struct hx_grammar *g)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = 0; i < g->n; i++) {
            const uint32_t left = left_from(g, &g->states[i]);

            changed |= left < g->states[i].left;
            g->states[i].left = left < g->states[i].left ? left : g->states[i].left;
        }
    }
}

int hx_grammar_finish(struct hx_grammar *g, uint32_t start, struct hx_error *err)
{
    if (g->failed == -E2BIG)
        return hx_error_set(err, -E2BIG, "the grammar needs more than %d states", HX_GRAMMAR_STATES);
    if (g->failed)
        return hx_error_set(err, g->failed, "out of memory");
    measure(g);
    g->start = start;
    if (left_at(g, start) == HX_GRAMMAR_NONE)
        return hx_error_set(err, -EDOM, "the grammar allows no finite text");
    return 0;
}

size_t hx_grammar_shortest(const struct hx_grammar *g)
{
    return g->states[g->start].left;
}
