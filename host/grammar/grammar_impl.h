/* What a grammar consists of: for grammar.c, which builds it, and matcher.c, which follows it. */
#ifndef HX_GRAMMAR_IMPL_H
#define HX_GRAMMAR_IMPL_H

#include "grammar.h"

enum hx_state_kind {
    HX_STATE_END,    /* of its rule */
    HX_STATE_RANGE,  /* a byte first..last, then next */
    HX_STATE_EITHER, /* next or other */
    HX_STATE_CALL,   /* rule `other`, then next */
    HX_STATE_LATER,  /* next; HX_GRAMMAR_NONE while undefined */
};

struct hx_state {
    uint8_t kind; /* enum hx_state_kind */
    uint8_t first, last;
    uint32_t next, other;
    uint32_t left; /* fewest bytes from here to the rule's end; HX_GRAMMAR_NONE: there is no way */
};

struct hx_grammar {
    struct hx_state *states; /* [n] */
    size_t n, room;
    uint32_t start;
    int failed; /* 0 or negative errno: a state could not be added */
};

/* a + b, where HX_GRAMMAR_NONE is endless. */
static inline uint32_t hx_grammar_sum(uint32_t a, uint32_t b)
{
    return a > HX_GRAMMAR_NONE - b ? HX_GRAMMAR_NONE : a + b;
}

#endif
