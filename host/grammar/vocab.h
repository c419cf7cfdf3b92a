/* The pieces of a vocabulary in the order of their bytes: for matcher.c, which walks through them. */
#ifndef HX_GRAMMAR_VOCAB_H
#define HX_GRAMMAR_VOCAB_H

#include "matcher.h"

struct hx_vocab_piece {
    struct hx_str text; /* not empty */
    uint32_t id;
    uint32_t same; /* bytes that the piece before begins with, too */
};

struct hx_vocab {
    const struct hx_tokenizer *tok;
    struct hx_vocab_piece *pieces; /* [n] */
    size_t n, size, longest;       /* size: tokens of the vocabulary; longest: bytes of a piece */
    uint32_t byte[256];            /* the token of this byte alone, or HX_NO_TOKEN */
};

#endif
