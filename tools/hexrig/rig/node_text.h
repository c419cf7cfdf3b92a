/* Values in the text nodes of a rig: lines "key=value", and lines of several such words, one for each session. */
#ifndef HX_NODE_TEXT_H
#define HX_NODE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The value of `key` at the beginning of a line, cut to fit; "" without it. */
void hx_node_value(const char *text, const char *key, char *value, size_t bytes);

/* The value of the word key=value in the line that begins at `line`, likewise.  Returns 1: there is one. */
int hx_node_word(const char *line, const char *key, char *value, size_t bytes);

/* The same as a number; 0 without it. */
uint64_t hx_node_number(const char *line, const char *key);

/* The line behind this one; NULL: there is none. */
const char *hx_node_next(const char *line);

#endif
