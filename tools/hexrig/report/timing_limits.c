/* Questions that a kernel cannot answer as asked: they are refused instead of being taken for others. */
#include <stdio.h>
#include <string.h>

#include "timing.h"

static const struct limits {
    const char *kernel;
    int threads;
    long most[HX_TIMING_SHAPE]; /* of each number of the shape; 0: no limit here */
} limits[] = {
    {"null", 1, {0}},
    {"matmul-single", 1, {0}},
    {"matmul-qf32", 1, {0}},
    {"ntt-init", 1, {0}},
    {"ntt-scalar", 1, {512, 2}},
    {"ntt-hvx", 1, {512, 2}},
    {"ntt", 1, {512, 2}},
    {"intt-scalar", 1, {512, 2}},
    {"intt-hvx", 1, {512, 2}},
    {"intt", 1, {512, 2}},
    {"attend", 2, {512}},
    {"stage", 1, {0}},
    {"layers", 2, {512}},
    {"forward", 2, {256}},
};

int hx_timing_refused(const struct hx_timing_ask *ask, char *why, size_t bytes)
{
    const struct limits *l = NULL;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !l; i++)
        if (strcmp(limits[i].kernel, ask->kernel) == 0)
            l = &limits[i];
    if (!l)
        return 0;
    if (ask->how.threads > l->threads) {
        snprintf(why, bytes, "--threads %d: kernel %s runs on %d", ask->how.threads, l->kernel, l->threads);
        return 1;
    }
    for (int d = 0; d < HX_TIMING_SHAPE; d++)
        if (l->most[d] && ask->shape[d] > l->most[d]) {
            snprintf(why, bytes, "--shape: %ld is more than %ld, the most that kernel %s takes there (%s)", ask->shape[d], l->most[d],
                     l->kernel, hx_timing_kernel(l->kernel)->shape);
            return 1;
        }
    return 0;
}
