/* Reading a filter's configuration text, "key=value,...".  Pure functions: any thread. */
#ifndef HX_FILTER_TEXT_H
#define HX_FILTER_TEXT_H

#include <stddef.h>

/* Next "key=value" of a config; returns 0 at its end.  *config moves on; value is "" when there is no '='. */
int hx_filter_next_key(const char **config, char *key, size_t key_bytes, char *value,
                       size_t value_bytes);

/* Whole number in [min, max]; 0, or -EINVAL. */
int hx_filter_number(const char *text, unsigned long min, unsigned long max, unsigned long *out);

#endif
