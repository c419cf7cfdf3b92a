/* Reading a filter's configuration text: keys, values and numbers. */
#include "filter_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hx_filter_next_key(const char **config, char *key, size_t key_bytes, char *value,
                       size_t value_bytes)
{
    const char *p = *config;
    size_t n = strcspn(p, ","), eq;

    if (!*p)
        return 0;
    eq = strcspn(p, "=,");
    snprintf(key, key_bytes, "%.*s", (int)eq, p);
    snprintf(value, value_bytes, "%.*s", eq < n ? (int)(n - eq - 1) : 0, p + (eq < n ? eq + 1 : n));
    *config = p + n + (p[n] == ',');
    return 1;
}

int hx_filter_number(const char *text, unsigned long min, unsigned long max, unsigned long *out)
{
    char *end;

    errno = 0;
    *out = strtoul(text, &end, 0);
    if (end == text || *end || errno || *text == '-' || *out < min || *out > max)
        return -EINVAL;
    return 0;
}
