/* What methods, options and seams are called, and how one is found in a list. */
#include "method.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hx_seam_names[] = {"linear", "kv", "attn", "draft", "tap", NULL};

const char *const hx_trait_names[] = {"rig",    "dsp",  "threads",     "calibration", "rows",   "scores", "keys",
                                      "attend", "tree", "softmax int", "argmax",      "residues", "pages",  "layer",
                                      "shapes", "stream", NULL};

/* own: NULL is none. */
static int is_name(const char *own, const char *name, size_t n)
{
    return own && strlen(own) == n && memcmp(own, name, n) == 0;
}

const struct hx_method *hx_method_find(const struct hx_method *const *methods, enum hx_seam seam, const char *name,
                                       size_t n)
{
    for (size_t i = 0; methods[i]; i++)
        if (methods[i]->seam == seam && (is_name(methods[i]->name, name, n) || is_name(methods[i]->aka, name, n)))
            return methods[i];
    return NULL;
}

void hx_names_list(const char *const *names, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; names[i] && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s", i ? ", " : "", names[i]);
}

void hx_method_list(const struct hx_method *const *methods, enum hx_seam seam, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; methods[i] && used < n; i++)
        if (methods[i]->seam == seam)
            used += (size_t)snprintf(out + used, n - used, "%s%s", used ? ", " : "", methods[i]->name);
}

/* The value of an option with `names`. */
static int check_arg_of(const struct hx_method *m, const char *arg, char *what, size_t n)
{
    const struct hx_option *o = m->options;
    char legal[120];

    while (strcmp(o->name, m->arg_of) != 0)
        o++;
    for (size_t i = 0; o->names[i]; i++)
        if (strcmp(o->names[i], arg) == 0)
            return 0;
    hx_names_list(o->names, legal, sizeof(legal));
    snprintf(what, n, "unknown %s; legal: %s", o->name, legal);
    return -EINVAL;
}

static int is_number(const char *text, uint64_t min, uint64_t max)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && n >= min && n <= max;
}

int hx_method_check_arg(const struct hx_method *m, const char *arg, char *what, size_t n)
{
    if (!arg && !m->arg_needed)
        return 0;
    if (!m->arg) {
        snprintf(what, n, "this method takes nothing behind its name");
        return -EINVAL;
    }
    if (arg && m->arg_of)
        return check_arg_of(m, arg, what, n);
    if (!arg || !*arg) {
        snprintf(what, n, "%s is missing: %s:%s", m->arg, m->name, m->arg);
        return -EINVAL;
    }
    if (!m->arg_max || is_number(arg, m->arg_min, m->arg_max))
        return 0;
    snprintf(what, n, "%s is an integer from %" PRIu64 " to %" PRIu64, m->arg, m->arg_min, m->arg_max);
    return -EINVAL;
}

int hx_method_has(const struct hx_method *m, const char *option)
{
    for (const struct hx_option *o = m->options; o && o->name; o++)
        if (strcmp(o->name, option) == 0)
            return 1;
    return 0;
}

struct hx_shape hx_shape_of(const struct hx_model *m)
{
    return (struct hx_shape){m->n_layer, m->n_head, m->n_kv, m->dh, m->width, m->ffn, m->vocab};
}
