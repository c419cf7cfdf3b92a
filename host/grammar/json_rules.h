/* The rules that all JSON grammars share. */
#ifndef HX_JSON_RULES_H
#define HX_JSON_RULES_H

#include "grammar.h"

struct hx_json_rules {
    uint32_t space;  /* between parts, or nothing */
    uint32_t chars;  /* of one character of a string */
    uint32_t string, integer, number, object, array, value; /* any of each */
};

/* Adds them. */
void hx_json_rules_add(struct hx_json_rules *r, struct hx_grammar *g);

/* --- parts of objects and arrays; next: what follows */

/* '{' or '[', and space. */
uint32_t hx_json_open(const struct hx_json_rules *r, struct hx_grammar *g, char bracket, uint32_t next);

/* Space, and '}' or ']'. */
uint32_t hx_json_close(const struct hx_json_rules *r, struct hx_grammar *g, char bracket, uint32_t next);

/* ',' and space. */
uint32_t hx_json_comma(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t next);

/* ':' and space. */
uint32_t hx_json_colon(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t next);

/* Any number of `element` (a rule), with commas between them, then space and the bracket: what stands behind the opening one. */
uint32_t hx_json_list(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t element, char bracket, uint32_t next);

/* A rule: any string, ':' and what the rule `value` allows. */
uint32_t hx_json_member(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t value);

#endif
