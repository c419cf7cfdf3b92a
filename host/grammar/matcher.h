/* Which tokens may come next in a text that a grammar allows.
 *
 * A matcher follows all readings of the text so far at once; of a grammar that is more ambiguous than that HX_MATCHER_READINGS,
 * among them the one that is nearest to its end.
 *
 * The text always ends in time: a token is allowed only when what follows can be as short as the tokens that are left, one byte
 * each, and at most HX_MATCHER_SLACK bytes longer than the grammar's shortest text, which bounds how deep brackets nest.  That needs
 * a token for each byte that a grammar uses, which hx_vocab_open() looks for.
 *
 * How long a step takes is bounded, too: behind so much work that no common grammar needs it, tokens that were not looked at
 * count as not allowed; those of one byte are looked at first. */
#ifndef HX_MATCHER_H
#define HX_MATCHER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "grammar.h"
#include "text/tokenizer.h"

enum { HX_MATCHER_READINGS = 256, HX_MATCHER_SLACK = 256 };

/* The pieces of a vocabulary in the order of their bytes: made once for a model.  Immutable: from any thread. */
struct hx_vocab;

/* t is borrowed until close.  0; -ENOMEM; -ENOTSUP: a byte of printable ASCII or of UTF-8's longer characters has no token of its
 * own; the reason names it. */
int hx_vocab_open(struct hx_vocab **out, const struct hx_tokenizer *t, struct hx_error *err);

/* Accepts NULL. */
void hx_vocab_close(struct hx_vocab *v);

struct hx_matcher;

/* At the start of a text.  whole_text: as of hx_detok_open(): the space that the tokenizer puts in front is no part of it.  g and v are
 * borrowed until close.  NULL: out of memory.  One thread at a time. */
struct hx_matcher *hx_matcher_open(const struct hx_grammar *g, const struct hx_vocab *v, int whole_text);

/* Accepts NULL. */
void hx_matcher_close(struct hx_matcher *m);

/* Sets the logits [vocab] of tokens that must not come next to -INFINITY.  left: tokens that may be made, this one included, of
 * at least hx_grammar_shortest() at the start.  ends: 1: tokens that end a text may come where it can end. */
void hx_matcher_mask(struct hx_matcher *m, float *logits, size_t left, int ends);

/* A token that the last mask allowed; HX_NO_TOKEN: there was none. */
uint32_t hx_matcher_any(const struct hx_matcher *m);

/* Goes on behind a token that a mask allowed.  0, or -EPROTO: it cannot come here, and the matcher stays as it was. */
int hx_matcher_take(struct hx_matcher *m, uint32_t id);

/* 1: the text so far is one that the grammar allows. */
int hx_matcher_whole(const struct hx_matcher *m);

/* 1: and nothing can follow. */
int hx_matcher_over(const struct hx_matcher *m);

#endif
