/* Looking up keys in the texts of nodes. */
#include "node_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hx_node_next(const char *line)
{
    const char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

void hx_node_value(const char *text, const char *key, char *value, size_t bytes)
{
    const size_t n = strlen(key);

    *value = '\0';
    for (const char *p = text; p; p = hx_node_next(p))
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            snprintf(value, bytes, "%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
}

int hx_node_word(const char *line, const char *key, char *value, size_t bytes)
{
    const size_t n = strlen(key);

    *value = '\0';
    for (const char *p = line; *p && *p != '\n'; p += strcspn(p, " \n"), p += *p == ' ')
        if (strncmp(p, key, n) == 0 && p[n] == '=') {
            snprintf(value, bytes, "%.*s", (int)strcspn(p + n + 1, " \n"), p + n + 1);
            return 1;
        }
    return 0;
}

uint64_t hx_node_number(const char *line, const char *key)
{
    char value[32];

    return hx_node_word(line, key, value, sizeof(value)) ? strtoull(value, NULL, 10) : 0;
}
