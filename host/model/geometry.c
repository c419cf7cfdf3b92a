/* Shapes of published models, and where those of others are found. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_impl.h"

#define QWEN3_4B "qwen3-4b"
#define LLAMA3_8B "llama3-8b"
#define GEMMA3_1B "gemma3-1b"
#define SMOLLM2_135M "smollm2-135m"
#define GPTJ_6B "gptj-6b"

/* Source: config.json of the published models. */
const struct hx_geometry hx_geometries[] = {
    {QWEN3_4B, 36, 8, 128, 1e6f, 2560, 32, 9728, 151936, 1},
    {LLAMA3_8B, 32, 8, 128, 5e5f, 4096, 32, 14336, 128256, 1},
    {GEMMA3_1B, 26, 1, 256, 1e6f, 1152, 4, 6912, 262144, 1},
    {SMOLLM2_135M, 30, 3, 64, 1e5f, 576, 9, 1536, 49152, 1},
    {GPTJ_6B, 28, 16, 256, 1e4f, 4096, 16, 16384, 50400, 0},
    {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

const char *const hx_geometry_names[] = {QWEN3_4B, LLAMA3_8B, GEMMA3_1B, SMOLLM2_135M, GPTJ_6B, NULL};

static int ends_in(const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);

    return n > m && strcmp(name + n - m, suffix) == 0;
}

int hx_geometry_is_file(const char *name)
{
    if (strchr(name, '/'))
        return !isdigit((unsigned char)*name);
    return ends_in(name, ".json") || ends_in(name, ".geometry") || ends_in(name, ".gguf");
}

/* --- files */

/* The whole of a text file of at most 1 MiB, with a 0 behind it.  0, -ENOENT and others as reading says. */
static int read_file(const char *path, char **text)
{
    enum { MOST_BYTES = 1 << 20 };
    FILE *f = fopen(path, "re");
    size_t n;
    int rc = 0;

    *text = NULL;
    if (!f)
        return -errno;
    *text = calloc(1, MOST_BYTES + 1);
    n = *text ? fread(*text, 1, MOST_BYTES, f) : 0;
    if (!*text || ferror(f) || (n == MOST_BYTES && fgetc(f) != EOF))
        rc = !*text ? -ENOMEM : ferror(f) ? -EIO : -EFBIG;
    fclose(f);
    return rc;
}

int hx_geometry_read(struct hx_geometry *g, const char *path, struct hx_error *err)
{
    char *text;
    int rc;

    *g = (struct hx_geometry){.name = path};
    if (ends_in(path, ".gguf"))
        return hx_geometry_read_gguf(g, err);
    rc = read_file(path, &text);
    if (rc == -ENOENT)
        hx_error_set(err, rc, "%s: cannot be opened", path);
    else if (rc)
        hx_error_set(err, rc, "%s: %s", path, strerror(-rc));
    else if (ends_in(path, ".json") || text[strspn(text, " \t\r\n")] == '{')
        rc = hx_geometry_read_config(g, text, err);
    else
        rc = hx_geometry_read_text(g, text, err);
    free(text);
    return rc;
}

int hx_geometry_find(struct hx_geometry *g, const char *name, struct hx_error *err)
{
    char legal[160] = "";

    for (size_t i = 0; hx_geometry_names[i]; i++) {
        if (strcmp(hx_geometry_names[i], name) == 0) {
            *g = hx_geometries[i];
            return 0;
        }
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s, ", hx_geometry_names[i]);
    }
    *g = (struct hx_geometry){.name = name};
    if (hx_geometry_is_file(name))
        return hx_geometry_read(g, name, err);
    if (isdigit((unsigned char)*name))
        return hx_geometry_read_spec(g, err);
    return hx_error_set(err, -EINVAL,
                        "unknown value '%.64s'; legal: %sa file (./NAME, NAME.json, NAME.geometry, NAME.gguf), LAYERSxHEADSxSIZE", name,
                        legal);
}
