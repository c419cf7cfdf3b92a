/* Reads the golden files of tests/data/golden. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <jansson.h>
#include <stdlib.h>

#include "hxt.h"

#define GOLDEN HXT_SRC "/tests/data/golden/"
#define MODEL_F16 HXT_SRC "/tests/data/hexrig-tiny-f16.gguf"
#define MODEL_Q8_0 HXT_SRC "/host/data/hexrig-tiny-q8_0.gguf"
#define HOLDOUT HXT_SRC "/host/data/books-holdout.txt"
#define SHIPPED_CAL HXT_SRC "/host/data/hexrig-tiny.cal"

/* Fails the test when the file cannot be parsed. */
static inline json_t *golden_json(const char *path)
{
    json_error_t err;
    json_t *j = json_load_file(path, 0, &err);

    if (!j)
        fail_msg("%s: %s", path, err.text);
    return j;
}

/* Fails the test unless the file holds exactly n floats; malloc'ed. */
static inline float *golden_f32(const char *path, size_t n)
{
    size_t bytes = 0;
    float *p = hxt_read_file(path, &bytes);

    if (!p || bytes != n * sizeof(*p))
        fail_msg("%s: %zu bytes, want %zu", path, bytes, n * sizeof(*p));
    return p;
}

/* The integers of a JSON array; malloc'ed. */
static inline uint32_t *golden_ids(const json_t *array, size_t *n)
{
    uint32_t *ids;

    *n = json_array_size(array);
    ids = calloc(*n + 1, sizeof(*ids));
    for (size_t i = 0; i < *n; i++)
        ids[i] = (uint32_t)json_integer_value(json_array_get(array, i));
    return ids;
}

#endif
