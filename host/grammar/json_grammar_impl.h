/* A schema while its grammar is built: json_grammar.c reads keywords and chooses, json_parts.c builds objects, arrays and strings. */
#ifndef HX_JSON_GRAMMAR_IMPL_H
#define HX_JSON_GRAMMAR_IMPL_H

#include "json_grammar.h"
#include "json_rules.h"

enum hx_schema_kind {
    HX_SCHEMA_OBJECT,
    HX_SCHEMA_ARRAY,
    HX_SCHEMA_STRING,
    HX_SCHEMA_INTEGER,
    HX_SCHEMA_NUMBER,
    HX_SCHEMA_BOOLEAN,
    HX_SCHEMA_NULL,
    HX_SCHEMA_KINDS
};

/* A schema that is referred to, and the rule that it becomes. */
struct hx_schema_ref {
    const json_t *schema;
    const char *name;
    uint32_t rule;
};

struct hx_schema {
    struct hx_grammar *g;
    struct hx_json_rules rules;
    uint32_t (*build)(struct hx_schema *s, const json_t *j, uint32_t next); /* any schema */
    const json_t *root;
    struct hx_schema_ref refs[HX_SCHEMA_REFS]; /* [n_refs] */
    size_t n_refs, depth;
    char path[256]; /* of what is being read */
    struct hx_error *err;
    int rc; /* the first error */
};

/* Building functions take the state `next` that follows a value, and return the one in front of it; after an error,
 * HX_GRAMMAR_NONE. */

/* Keeps the first error, with its place.  Returns HX_GRAMMAR_NONE. */
uint32_t hx_schema_refuse(struct hx_schema *s, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A schema that stands at WHAT/NAME, or at WHAT when name is "". */
uint32_t hx_schema_below(struct hx_schema *s, const char *what, const char *name, const json_t *j, uint32_t next);

/* The value itself. */
uint32_t hx_schema_literal(struct hx_schema *s, const json_t *v, uint32_t next);

/* What the schema j says of values of this kind. */
uint32_t hx_schema_kind(struct hx_schema *s, const json_t *j, enum hx_schema_kind kind, uint32_t next);

#endif
