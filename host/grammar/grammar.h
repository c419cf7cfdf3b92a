/* Grammars over bytes: which texts are allowed, as a graph of states with calls (a recursive transition network, Woods 1970).
 *
 * A grammar is built from its end to its start: each function takes the state that follows and returns the one that leads there.
 * A rule is a state from which hx_grammar_end() can be reached; hx_grammar_call() goes through one and on to `next`, and
 * hx_grammar_later() is a state that is named before it is built, for rules that call themselves.
 *
 * Building functions return HX_GRAMMAR_NONE when the grammar is too large or memory is out, which hx_grammar_finish() reports; they
 * accept it as a state, too.  One thread at a time while it is built, immutable then. */
#ifndef HX_GRAMMAR_H
#define HX_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HX_GRAMMAR_STATES = 1 << 16 }; /* most of a grammar */
#define HX_GRAMMAR_NONE UINT32_MAX

struct hx_grammar;

/* NULL: out of memory. */
struct hx_grammar *hx_grammar_new(void);

/* Accepts NULL. */
void hx_grammar_free(struct hx_grammar *g);

/* The end of the rule it belongs to, or of the text. */
uint32_t hx_grammar_end(struct hx_grammar *g);

/* One byte of first..last. */
uint32_t hx_grammar_range(struct hx_grammar *g, uint8_t first, uint8_t last, uint32_t next);

/* Exactly these bytes. */
uint32_t hx_grammar_text(struct hx_grammar *g, const char *text, size_t n, uint32_t next);

/* What a or b allows. */
uint32_t hx_grammar_either(struct hx_grammar *g, uint32_t a, uint32_t b);

/* What the rule allows, then next. */
uint32_t hx_grammar_call(struct hx_grammar *g, uint32_t rule, uint32_t next);

/* A state that becomes what hx_grammar_define() says, once. */
uint32_t hx_grammar_later(struct hx_grammar *g);
void hx_grammar_define(struct hx_grammar *g, uint32_t later, uint32_t is);

/* States so far. */
size_t hx_grammar_size(const struct hx_grammar *g);

/* The grammar's texts are those from `start` on; no state can be added any more.
 * 0; -ENOMEM; -E2BIG: more than HX_GRAMMAR_STATES; -EDOM: it allows no finite text. */
int hx_grammar_finish(struct hx_grammar *g, uint32_t start, struct hx_error *err);

/* Bytes of the shortest text. */
size_t hx_grammar_shortest(const struct hx_grammar *g);

#endif
