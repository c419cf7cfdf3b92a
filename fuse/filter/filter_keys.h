/* The configuration of a filter that is made of keys: "key=value,key=value". */
#ifndef HX_FILTER_KEYS_H
#define HX_FILTER_KEYS_H

#include "filter.h"

/* Gives every key of `config` to set(state, key, value), which returns 0 when both are good.
 * Returns 0, or -EINVAL at the first that is not, with one line in `why` that quotes it and f's help. */
int hx_filter_set_keys(const struct hx_filter *f, const char *config,
                       int (*set)(void *state, const char *key, const char *value), void *state,
                       char *why, size_t why_bytes);

/* The same for a filter that means certain calls: allocates `bytes` of state, zeroed, whose first member is a struct
 * hx_filter_match, and sets its keys.  missing(state) says what the keys lack ("needs us=1..9"), or NULL.
 * *state is for free() and only written on success.  Returns 0, -ENOMEM, or -EINVAL with one line in `why`. */
int hx_filter_load_keys(void **state, size_t bytes, const struct hx_filter *f, const char *config,
                        int (*set)(void *state, const char *key, const char *value),
                        const char *(*missing)(const void *state), char *why, size_t why_bytes);

#endif
