/* Makes a header of tables from two listings of one source. */
#include <stdlib.h>
#include <string.h>

#include "listing.h"

enum { MAX_LOOPS = 63 };

/* Both builds of one function. */
struct both {
    struct hx_function f[HX_CODE_BUILDS];
    struct hx_levels l[HX_CODE_BUILDS];
};

static int read_both(struct both *b, const struct hx_tables *t, const char *name)
{
    int order[HX_CODE_BUILDS][MAX_LOOPS], rc = 0;

    for (int k = 0; k < HX_CODE_BUILDS && !rc; k++)
        rc = hx_function_read(&b->f[k], t->listing[k], name);
    for (int k = 0; k < HX_CODE_BUILDS && !rc; k++)
        if (b->f[k].loops > MAX_LOOPS) {
            fprintf(stderr, "%s: %zu loops, at most %d\n", name, b->f[k].loops, MAX_LOOPS);
            rc = -1;
        }
    if (!rc)
        rc = hx_loops_match(&b->f[HX_BUILD_RELEASE], &b->f[HX_BUILD_DEBUG], order[HX_BUILD_RELEASE],
                            order[HX_BUILD_DEBUG]);
    for (int k = 0; k < HX_CODE_BUILDS && !rc; k++)
        rc = hx_levels_make(&b->l[k], &b->f[k], order[k], k == HX_BUILD_RELEASE);
    return rc;
}

static void free_both(struct both *b)
{
    for (int k = 0; k < HX_CODE_BUILDS; k++) {
        hx_levels_free(&b->l[k]);
        hx_function_free(&b->f[k]);
    }
    free(b);
}

static int one_function(FILE *out, const struct hx_tables *t, size_t i, bool *head)
{
    struct both *b = calloc(1, sizeof(*b));
    int rc = b ? read_both(b, t, t->function[i]) : -1;

    if (!rc) {
        if (!*head)
            hx_emit_head(out, t, b->f[HX_BUILD_RELEASE].compiler);
        *head = true;
        hx_emit_function(out, b->f, b->l, t->function);
        if (t->loops)
            t->loops[i] = (unsigned)b->f[HX_BUILD_RELEASE].loops;
    }
    if (b)
        free_both(b);
    return rc;
}

/* All functions, so that each that gives no table says why. */
int hx_tables_print(FILE *out, const struct hx_tables *t)
{
    bool head = false;
    int rc = 0;

    for (size_t i = 0; t->function[i]; i++)
        rc |= one_function(out, t, i, &head);
    if (!rc)
        hx_emit_tail(out);
    return rc ? -1 : 0;
}
