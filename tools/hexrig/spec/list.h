/* Lists with commas, as options of `hexrig spec` have them. */
#ifndef HX_SPEC_LIST_H
#define HX_SPEC_LIST_H

#include <stddef.h>

enum { HX_SPEC_LIST = 32 };

struct hx_spec_words {
    char *text; /* what the others point into */
    const char *at[HX_SPEC_LIST];
    size_t n;
};

struct hx_spec_numbers {
    size_t at[HX_SPEC_LIST];
    size_t n;
};

/* Cuts a copy of `list` at its commas.  Returns an enum hx_exit after a message; the caller frees w->text in any case. */
int hx_spec_read_words(const char *cmd, const char *option, const char *list, struct hx_spec_words *w);

/* The same of integers from min to max. */
int hx_spec_read_numbers(const char *cmd, const char *option, const char *list, size_t min, size_t max, struct hx_spec_numbers *n);

#endif
