/* Setting the keys of a filter's configuration, with the error that a user sees. */
#include "filter_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter_match.h"
#include "filter_text.h"

int hx_filter_set_keys(const struct hx_filter *f, const char *config,
                       int (*set)(void *state, const char *key, const char *value), void *state,
                       char *why, size_t why_bytes)
{
    char key[32], value[64];

    while (hx_filter_next_key(&config, key, sizeof(key), value, sizeof(value)))
        if (set(state, key, value)) {
            snprintf(why, why_bytes, "filter %s: '%s=%s' is not one of: %s", f->name, key, value,
                     f->help);
            return -EINVAL;
        }
    return 0;
}

int hx_filter_load_keys(void **state, size_t bytes, const struct hx_filter *f, const char *config,
                        int (*set)(void *state, const char *key, const char *value),
                        const char *(*missing)(const void *state), char *why, size_t why_bytes)
{
    void *s = calloc(1, bytes);
    const char *lack;
    int rc;

    if (!s)
        return -ENOMEM;
    hx_filter_match_init(s);
    rc = hx_filter_set_keys(f, config, set, s, why, why_bytes);
    lack = rc ? NULL : missing(s);
    if (lack) {
        snprintf(why, why_bytes, "filter %s: %s", f->name, lack);
        rc = -EINVAL;
    }
    if (rc)
        free(s);
    else
        *state = s;
    return rc;
}
