#include "skel_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, DEPTH_MAX = 8 };

/* The value behind "key=" or "key:" in the file, a copy, or NULL. */
static char *value_of(FILE *file, const char *key, size_t key_bytes)
{
    char line[LINE_BYTES];

    rewind(file);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, key, key_bytes) != 0 || !line[key_bytes] || !strchr("=:", line[key_bytes]))
            continue;
        line[strcspn(line, "\n")] = '\0';
        return strdup(line + key_bytes + 1);
    }
    return NULL;
}

/* Writes `text` with its ${variables} replaced; `pcfiledir` is the file's folder. */
static void expand(FILE *out, FILE *file, const char *folder, const char *text, int depth)
{
    const char *end;
    char *value;

    for (; *text; text++) {
        end = text[0] == '$' && text[1] == '{' ? strchr(text, '}') : NULL;
        if (!end || depth == DEPTH_MAX) {
            putc(*text, out);
            continue;
        }
        value = strncmp(text, "${pcfiledir}", 12) == 0 ? strdup(folder) : value_of(file, text + 2, (size_t)(end - text - 2));
        if (value)
            expand(out, file, folder, value, depth + 1);
        free(value);
        text = end;
    }
}

char *hx_skel_flags(const char *prefix, const char *key)
{
    char *path = NULL, *folder = NULL, *line = NULL, *flags = NULL;
    size_t bytes;
    FILE *file = NULL, *out;

    if (asprintf(&folder, "%s/lib/pkgconfig", prefix) > 0 && asprintf(&path, "%s/hexrig-skel.pc", folder) > 0)
        file = fopen(path, "r");
    if (file)
        line = value_of(file, key, strlen(key));
    if (line && (out = open_memstream(&flags, &bytes))) {
        expand(out, file, folder, line, 0);
        fclose(out);
    }
    if (file)
        fclose(file);
    free(line);
    free(path);
    free(folder);
    return flags;
}
