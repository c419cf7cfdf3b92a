/* Making a plan: from options to methods to capabilities. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_impl.h"

/* --- values */

/* All options in their order: commands walk through them several times at every start, and finding the i-th one by counting takes as
 * long as all names compared with each other. */
enum { MOST_OPTIONS = 512 };
static struct {
    const struct hx_option *o;
    const struct hx_method *owner;
} listed[MOST_OPTIONS];
static size_t n_listed;
static pthread_once_t listed_once = PTHREAD_ONCE_INIT;

static void list_one(const struct hx_option *o, const struct hx_method *owner)
{
    assert(n_listed < MOST_OPTIONS);
    listed[n_listed].o = o;
    listed[n_listed++].owner = owner;
}

static void list_options(void)
{
    hx_option_each(hx_methods, list_one);
}

const struct hx_option *hx_plan_option(size_t i, const struct hx_method **owner)
{
    pthread_once(&listed_once, list_options);
    *owner = i < n_listed ? listed[i].owner : NULL;
    return i < n_listed ? listed[i].o : NULL;
}

int hx_plan_open(struct hx_plan **out, const char *prefix, unsigned flags, struct hx_error *err)
{
    struct hx_plan *p = calloc(1, sizeof(*p));

    *out = NULL;
    if (!p)
        return hx_error_set(err, -ENOMEM, "out of memory");
    p->values.prefix = prefix;
    p->values.methods = hx_methods;
    p->flags = flags;
    *out = p;
    return 0;
}

void hx_plan_close(struct hx_plan *p)
{
    if (!p)
        return;
    hx_plan_values_free(&p->values);
    hx_linear_map_free(&p->map);
    free(p);
}

int hx_plan_copy(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err)
{
    struct hx_plan *to;
    int rc = hx_plan_open(&to, p->values.prefix, p->flags, err);

    for (size_t i = 0; !rc && i < p->values.n; i++)
        rc = hx_plan_values_set(&to->values, p->values.at[i].option, p->values.at[i].text, 1, err);
    *out = NULL;
    if (rc) {
        hx_plan_close(to);
        return rc;
    }
    to->offload = p->offload;
    to->kv_auto = p->kv_auto;
    *out = to;
    return 0;
}

/* How many characters of a value are the method's name: drafters may have an argument behind it. */
static size_t name_length(enum hx_seam seam, const char *value)
{
    return seam == HX_SEAM_DRAFT ? strcspn(value, ":") : strlen(value);
}

/* 1: an option that may be given several times, all of which count. */
static int adds_up(const char *option)
{
    return hx_plan_seam_of(option) == HX_SEAM_TAP || strcmp(option, "offload") == 0;
}

/* The value of a seam's option: one of its methods, and what that takes behind its name. */
static int check_method(const struct hx_plan *p, enum hx_seam seam, const char *value, struct hx_error *err)
{
    const size_t n = name_length(seam, value);
    const struct hx_method *m = hx_method_find(hx_methods, seam, value, n);
    char what[160];

    if (!m) {
        hx_method_list(hx_methods, seam, what, sizeof(what));
        return hx_error_set(err, -EINVAL, "%s%s: unknown value '%.64s'; legal: %s", p->values.prefix, hx_seam_names[seam], value,
                            what);
    }
    if (hx_method_check_arg(m, value[n] ? value + n + 1 : NULL, what, sizeof(what)))
        return hx_error_set(err, -EINVAL, "%s%s: %.64s: %s", p->values.prefix, hx_seam_names[seam], value, what);
    return 0;
}

/* As soon as it is given: commands ask what is on the DSP before they choose their own defaults. */
static int add_offload(struct hx_plan *p, const char *list, struct hx_error *err)
{
    struct hx_error detail = {""};
    uint32_t set = p->offload;

    if (hx_offload_parse(list, &set, &detail))
        return hx_error_set(err, -EINVAL, "%soffload: %s", p->values.prefix, detail.text);
    p->offload = set;
    return 0;
}

int hx_plan_set(struct hx_plan *p, const char *name, const char *value, struct hx_error *err)
{
    const struct hx_option *o = hx_option_find(hx_methods, name);
    const enum hx_seam seam = hx_plan_seam_of(name);

    if (!o)
        return hx_error_set(err, -EINVAL, "%s%.64s: there is no such option", p->values.prefix, name);
    if (o->flags & HX_OPTION_FORKS && !(p->flags & HX_PLAN_MAY_FORK))
        return hx_error_set(err, -EINVAL, "%s%s makes two processes, which only hexrig run, ppl and perplexity-sp can be",
                            p->values.prefix, name);
    if (seam == HX_SEAM_KV) {
        p->kv_auto = value && p->flags & HX_PLAN_KV_AUTO && strcmp(value, HX_PLAN_AUTO) == 0;
        if (p->kv_auto) {
            hx_plan_values_drop(&p->values, name);
            return 0;
        }
    }
    if (value && seam != HX_SEAM_LINEAR && seam != HX_SEAMS && check_method(p, seam, value, err))
        return -EINVAL;
    if (value && strcmp(name, "offload") == 0 && add_offload(p, value, err))
        return -EINVAL;
    return hx_plan_values_set(&p->values, o, value, adds_up(name), err);
}

int hx_plan_set_list(struct hx_plan *p, const char *const *list, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; list && list[i] && !rc; i++) {
        const char *equals = strchr(list[i], '=');
        char name[64];

        snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - list[i]) : (int)strlen(list[i]), list[i]);
        rc = hx_plan_set(p, name, equals ? equals + 1 : NULL, err);
    }
    return rc;
}

/* --- choosing methods */

/* The option that was given and chooses a method of this seam by itself, and that method. */
static const struct hx_option *chooser(const struct hx_plan *p, enum hx_seam seam, const struct hx_method **method)
{
    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_option *o = p->values.at[i].option;

        for (size_t m = 0; o->flags & HX_OPTION_CHOOSES && hx_methods[m]; m++)
            if (hx_methods[m]->seam == seam && hx_method_has(hx_methods[m], o->name)) {
                *method = hx_methods[m];
                return o;
            }
    }
    return NULL;
}

static const struct hx_method *first_of(enum hx_seam seam)
{
    size_t i = 0;

    while (hx_methods[i]->seam != seam)
        i++;
    return hx_methods[i];
}

/* What was said about a seam, by its own option or by one that chooses.  *method NULL: nothing. */
static int said(const struct hx_plan *p, enum hx_seam seam, const struct hx_method **method, struct hx_error *err)
{
    const struct hx_plan_value *v = hx_plan_values_find(&p->values, hx_seam_names[seam]);
    const struct hx_method *by_option = NULL;
    const struct hx_option *o = chooser(p, seam, &by_option);

    *method = v ? hx_method_find(hx_methods, seam, v->text, name_length(seam, v->text)) : by_option;
    if (v && o && *method != by_option)
        return hx_error_set(err, -EINVAL, "%s%s and %s%s %s exclude each other", p->values.prefix, o->name,
                            p->values.prefix, hx_seam_names[seam], v->text);
    return 0;
}

/* "--kv a, b": caches that can have this on the DSP. */
static void offloadable_caches(const struct hx_plan *p, int attn, char *out, size_t n)
{
    size_t used = (size_t)snprintf(out, n, "%skv ", p->values.prefix);
    const char *between = "";

    for (size_t i = 0; hx_methods[i] && used < n; i++) {
        const struct hx_method *m = hx_methods[i];
        const struct hx_method *then = attn && m->offloaded ? m->offloaded : m;

        if (m->seam != HX_SEAM_KV || !(then->gives & (attn ? HX_TRAIT_ATTEND : HX_TRAIT_DSP)))
            continue;
        used += (size_t)snprintf(out + used, n - used, "%s%s", between, m->name);
        between = ", ";
    }
}

/* --offload kv, --offload attn: the cache, or the one that takes its place.  It may be a command's default, which nobody has
 * typed, so the message says what would do. */
static int offload_kv(struct hx_plan *p, const struct hx_method **m, struct hx_error *err)
{
    const int attn = (p->offload & HX_OFFLOAD_ATTN) != 0;
    char caches[160];

    if (attn && (*m)->offloaded)
        *m = (*m)->offloaded;
    if ((*m)->gives & (attn ? HX_TRAIT_ATTEND : HX_TRAIT_DSP))
        return 0;
    offloadable_caches(p, attn, caches, sizeof(caches));
    return hx_error_set(err, -EINVAL, "%soffload %s: the cache %s cannot %s; legal with %s", p->values.prefix,
                        attn ? "attn" : "kv", (*m)->name, attn ? "do attention on the DSP" : "be on the DSP", caches);
}

/* --offload layer: the cache that does layers, unless one is named for which there is none. */
static int offload_layers(struct hx_plan *p, const struct hx_method **m, int named, struct hx_error *err)
{
    for (size_t i = 0; !named && hx_methods[i]; i++)
        if (hx_methods[i]->gives & HX_TRAIT_LAYER)
            *m = hx_methods[i];
    if ((*m)->whole)
        *m = (*m)->whole;
    if ((*m)->gives & HX_TRAIT_LAYER)
        return 0;
    return hx_error_set(err, -EINVAL, "%soffload layer: layers on the DSP do not keep K and V as %s does; legal with %skv f32",
                        p->values.prefix, (*m)->name, p->values.prefix);
}

static int choose_kv(struct hx_plan *p, struct hx_error *err)
{
    const struct hx_method *m;
    int rc = said(p, HX_SEAM_KV, &m, err);

    if (rc)
        return rc;
    const int named = m != NULL;

    m = m ? m : first_of(HX_SEAM_KV);
    if (p->offload & HX_OFFLOAD_LAYER)
        rc = offload_layers(p, &m, named, err);
    else if (p->offload & (HX_OFFLOAD_KV | HX_OFFLOAD_ATTN))
        rc = offload_kv(p, &m, err);
    p->method[HX_SEAM_KV] = m;
    return rc;
}

static int bits(uint32_t set)
{
    return __builtin_popcount(set);
}

/* The attention that makes most of what the cache gives; the first one of equals. */
static const struct hx_method *best_attn(uint32_t kv_gives, uint32_t wanted)
{
    const struct hx_method *best = NULL;
    int most = -1;

    for (size_t i = 0; hx_methods[i]; i++) {
        const struct hx_method *m = hx_methods[i];
        const int good = bits((m->needs | m->uses) & kv_gives);

        if (m->seam != HX_SEAM_ATTN || m->needs & ~kv_gives & HX_TRAITS_OF_CACHES || wanted & ~m->gives || good <= most)
            continue;
        best = m;
        most = good;
    }
    return best;
}

/* "rows, scores": the names of bits. */
static void trait_list(uint32_t set, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    for (int i = 0; hx_trait_names[i] && used < n; i++)
        if (set & 1u << i)
            used += (size_t)snprintf(out + used, n - used, "%s%s", used ? ", " : "", hx_trait_names[i]);
}

static int check_attn(const struct hx_plan *p, const struct hx_method *m, struct hx_error *err)
{
    const struct hx_method *kv = p->method[HX_SEAM_KV];
    const uint32_t missing = m->needs & ~kv->gives & HX_TRAITS_OF_CACHES;
    char names[64];

    trait_list(missing, names, sizeof(names));
    return missing ? hx_error_set(err, -EINVAL, "%sattn %s needs %s of the cache; %skv %s has no such thing",
                                  p->values.prefix, m->name, names, p->values.prefix, kv->name)
                   : 0;
}

static int choose_attn(struct hx_plan *p, struct hx_error *err)
{
    const uint32_t kv_gives = p->method[HX_SEAM_KV]->gives;
    const uint32_t wanted = p->softmax_int ? HX_TRAIT_SOFTMAX_INT : 0;
    const char *dash = p->values.prefix;
    const struct hx_method *m;
    int rc = said(p, HX_SEAM_ATTN, &m, err);

    if (rc)
        return rc;
    if (p->offload & HX_OFFLOAD_LAYER) {
        p->method[HX_SEAM_ATTN] = m ? m : best_attn(kv_gives, wanted);
        return check_attn(p, p->method[HX_SEAM_ATTN], err);
    }
    if (m && p->offload & HX_OFFLOAD_ATTN && !(m->needs & HX_TRAIT_ATTEND))
        return hx_error_set(err, -EINVAL, "%soffload attn and %sattn %s exclude each other", dash, dash, m->name);
    if (p->offload & HX_OFFLOAD_ATTN && wanted)
        return hx_error_set(err, -EINVAL, "%soffload attn and %ssoftmax int exclude each other", dash, dash);
    if (m && wanted & ~m->gives)
        return hx_error_set(err, -EINVAL, "%ssoftmax int and %sattn %s exclude each other", dash, dash, m->name);
    p->method[HX_SEAM_ATTN] = m ? m : best_attn(kv_gives, wanted);
    if (!p->method[HX_SEAM_ATTN])
        return hx_error_set(err, -EINVAL, "no attention method can use %skv %s%s", dash, p->method[HX_SEAM_KV]->name,
                            wanted ? " with softmax by integers" : "");
    return check_attn(p, p->method[HX_SEAM_ATTN], err);
}

static int choose_linear(struct hx_plan *p, struct hx_error *err)
{
    const struct hx_plan_value *v = hx_plan_values_find(&p->values, "linear");
    const struct hx_method *by_option = NULL;
    const struct hx_option *o = chooser(p, HX_SEAM_LINEAR, &by_option);
    struct hx_error detail = {""};
    int rc = hx_linear_map_begin(&p->map, by_option ? by_option : first_of(HX_SEAM_LINEAR), &detail);

    if (!rc && v)
        rc = hx_linear_map_parse(&p->map, hx_methods, v->text, &detail);
    if (rc)
        return hx_error_set(err, rc, "%slinear: %s", p->values.prefix, detail.text);
    if (o && !hx_plan_uses(p, by_option)) /* a map that has it gets its options, too */
        rc = hx_error_set(err, -EINVAL, "%s%s and %slinear %s exclude each other", p->values.prefix, o->name,
                          p->values.prefix, v->text);
    return rc;
}

static int choose_draft(struct hx_plan *p, struct hx_error *err)
{
    const struct hx_method *m;
    int rc = said(p, HX_SEAM_DRAFT, &m, err);

    p->method[HX_SEAM_DRAFT] = m ? m : first_of(HX_SEAM_DRAFT);
    p->drafts = p->method[HX_SEAM_DRAFT] != first_of(HX_SEAM_DRAFT);
    return rc;
}

/* The tap that an option names, by --tap or because it chooses one; NULL: none. */
static const struct hx_method *tap_of(const struct hx_plan_value *v)
{
    if (strcmp(v->option->name, hx_seam_names[HX_SEAM_TAP]) == 0)
        return hx_method_find(hx_methods, HX_SEAM_TAP, v->text, strlen(v->text));
    for (size_t i = 0; v->option->flags & HX_OPTION_CHOOSES && hx_methods[i]; i++)
        if (hx_methods[i]->seam == HX_SEAM_TAP && hx_method_has(hx_methods[i], v->option->name))
            return hx_methods[i];
    return NULL;
}

/* Each once, in the order in which they were named. */
static int choose_taps(struct hx_plan *p, struct hx_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_method *m = tap_of(&p->values.at[i]);

        if (!m || hx_plan_uses(p, m))
            continue;
        if (n == HX_PLAN_TAPS)
            return hx_error_set(err, -EINVAL, "%stap: more than %d", p->values.prefix, HX_PLAN_TAPS);
        p->tap[n++] = m;
    }
    return 0;
}

/* --- matrices */

int hx_plan_check_layers(const struct hx_plan *p, size_t n_layer, struct hx_error *err)
{
    for (size_t i = 0; i < p->map.n; i++) {
        const size_t last = p->map.at[i].to == SIZE_MAX ? p->map.at[i].from : p->map.at[i].to;

        if (p->map.at[i].set && last >= n_layer)
            return hx_error_set(err, -EINVAL, "%slinear: %.64s: layer %zu; the model has %zu, from 0", p->values.prefix,
                                p->map.at[i].text, last, n_layer);
    }
    return 0;
}

int hx_plan_resolve(struct hx_plan *p, struct hx_error *err)
{
    static int (*const steps[])(struct hx_plan *p, struct hx_error *err) = {choose_kv,    choose_attn,  choose_linear,
                                                                            choose_draft, choose_taps, hx_plan_check};
    int rc = 0;

    p->softmax_int = hx_plan_index(p, "softmax") == 1;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](p, err);
    return rc;
}
