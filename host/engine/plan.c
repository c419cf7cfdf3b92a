/* Making a plan: from options to methods to capabilities. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_impl.h"

/* --- values */

const struct hx_option *hx_plan_option(size_t i, const struct hx_method **owner)
{
    return hx_option_at(hx_methods, i, owner);
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

static enum hx_seam seam_of(const char *option)
{
    int i = 0;

    while (i < HX_SEAMS && strcmp(hx_seam_names[i], option) != 0)
        i++;
    return (enum hx_seam)i;
}

/* 1: an option that may be given several times, all of which count. */
static int adds_up(const char *option)
{
    return seam_of(option) == HX_SEAM_TAP || strcmp(option, "offload") == 0;
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

    if (!o)
        return hx_error_set(err, -EINVAL, "%s%.64s: there is no such option", p->values.prefix, name);
    if (o->flags & HX_OPTION_FORKS && !(p->flags & HX_PLAN_MAY_FORK))
        return hx_error_set(err, -EINVAL, "%s%s makes two processes, which only hexrig run, ppl and perplexity-sp can be",
                            p->values.prefix, name);
    if (seam_of(name) == HX_SEAM_KV) {
        p->kv_auto = value && p->flags & HX_PLAN_KV_AUTO && strcmp(value, HX_PLAN_AUTO) == 0;
        if (p->kv_auto) {
            hx_plan_values_drop(&p->values, name);
            return 0;
        }
    }
    if (value && seam_of(name) != HX_SEAM_LINEAR && seam_of(name) != HX_SEAMS && check_method(p, seam_of(name), value, err))
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

/* --- legality */

/* The method that an option is chosen by: methods may have it in common. */
static const struct hx_method *first_with(const char *option)
{
    size_t i = 0;

    while (!hx_method_has(hx_methods[i], option))
        i++;
    return hx_methods[i];
}

/* "--a or --b": how methods that have this option are chosen. */
static void who_has(const struct hx_plan *p, const struct hx_option *option, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    if (option->of) {
        snprintf(out, n, "%s%s", p->values.prefix, option->of);
        return;
    }
    if (option->flags & HX_OPTION_ON_DSP)
        used = (size_t)snprintf(out, n, "%soffload linear", p->values.prefix);
    for (size_t i = 0; hx_methods[i] && used < n; i++) {
        const struct hx_method *m = hx_methods[i];
        int by_option = 0;

        if (!hx_method_has(m, option->name) || (option->flags & HX_OPTION_ON_DSP && !(m->needs & HX_TRAIT_RIG)))
            continue;
        for (const struct hx_option *o = m->options; o->name && used < n; o++)
            if (o->flags & HX_OPTION_CHOOSES) {
                by_option = 1;
                if (first_with(o->name) == m)
                    used += (size_t)snprintf(out + used, n - used, "%s%s%s", used ? " or " : "", p->values.prefix, o->name);
            }
        if (!by_option)
            used += (size_t)snprintf(out + used, n - used, "%s%s%s %s", used ? " or " : "", p->values.prefix,
                                     hx_seam_names[m->seam], m->name);
    }
}

int hx_plan_uses_option(const struct hx_plan *p, const char *name)
{
    const struct hx_option *o = hx_option_find(hx_methods, name);

    if (o->of && !hx_plan_given(p, o->of))
        return 0;
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_method_has(hx_methods[i], name) &&
            (o->flags & HX_OPTION_ON_DSP ? hx_plan_uses_on_dsp(p, hx_methods[i]) : hx_plan_uses(p, hx_methods[i])))
            return 1;
    return 0;
}

/* Options of methods that were not chosen. */
static int check_idle(struct hx_plan *p, struct hx_error *err)
{
    char names[256] = "", who[160];
    size_t used = 0;

    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_option *o = p->values.at[i].option;

        if (hx_option_is_plans(o) || hx_plan_uses_option(p, o->name))
            continue;
        who_has(p, o, who, sizeof(who));
        if (!(o->flags & HX_OPTION_IDLE_OK))
            return hx_error_set(err, -EINVAL, "%s%s needs %s", p->values.prefix, o->name, who);
        if (used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s%s", used ? ", " : "", p->values.prefix,
                                     o->name);
    }
    if (used)
        snprintf(p->note, sizeof(p->note), "without %s, %s change%s nothing", who, names, strchr(names, ',') ? "" : "s");
    return 0;
}

/* The plan's own options that are about another one of them. */
static int check_of(struct hx_plan *p, struct hx_error *err)
{
    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_option *o = p->values.at[i].option;
        const int of_draft = o->of && seam_of(o->of) == HX_SEAM_DRAFT;

        if (hx_option_is_plans(o) && o->of && !(of_draft ? p->drafts : hx_plan_given(p, o->of)))
            return hx_error_set(err, -EINVAL, "%s%s needs %s%s%s", p->values.prefix, o->name, p->values.prefix, o->of,
                                of_draft ? " and a method that guesses" : "");
    }
    return 0;
}

/* Who chooses tokens, and who can be kept from choosing some. */
static int check_choices(struct hx_plan *p, struct hx_error *err)
{
    const char *dash = p->values.prefix;

    if (hx_plan_given(p, "eos-guard") && p->offload & HX_OFFLOAD_ARGMAX)
        return hx_error_set(err, -EINVAL, "%seos-guard needs the logits here, and %soffload argmax leaves them on the DSP", dash, dash);
    if (hx_plan_given(p, "eos-guard") && hx_plan_given(p, "no-verifier"))
        return hx_error_set(err, -EINVAL, "%seos-guard and %sno-verifier exclude each other: the model's choices are guarded", dash,
                            dash);
    return 0;
}

/* Options beside a map that has another value for all to which they matter. */
static int check_covered(struct hx_plan *p, struct hx_error *err)
{
    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_plan_value *v = &p->values.at[i];

        if (v->option->flags & HX_OPTION_ON_DSP && !hx_plan_takes(p, v->option, NULL, SIZE_MAX))
            return hx_error_set(err, -EINVAL, "%s%s %s and %slinear %s exclude each other: all that is on the DSP has its "
                                "own there", p->values.prefix, v->option->name, v->text, p->values.prefix,
                                hx_plan_values_find(&p->values, "linear")->text);
    }
    return 0;
}

/* A map that names matrices of layers which are done as a whole. */
static int check_layers(const struct hx_plan *p, struct hx_error *err)
{
    for (size_t i = 0; hx_plan_whole_layers(p) && i < p->map.n; i++)
        if (p->map.at[i].set & HX_LAYER_MATRICES)
            return hx_error_set(err, -EINVAL, "%slinear: %.64s: with %skv %s layers are done as a whole; a method can apply out alone",
                                p->values.prefix, p->map.at[i].text, p->values.prefix, p->method[HX_SEAM_KV]->name);
    return 0;
}

/* --offload names matrices, and none of their methods can put them there. */
static int check_offload(const struct hx_plan *p, struct hx_error *err)
{
    const uint32_t linear = p->offload & HX_OFFLOAD_LINEAR;
    char named[HX_OFFLOAD_TEXT];

    for (int w = 0; w < HX_MATRICES; w++)
        if (linear & 1u << w && hx_plan_linear(p, 0, (enum hx_matrix)w).on_dsp)
            return 0;
    if (!linear)
        return 0;
    hx_offload_text(linear, named);
    return hx_error_set(err, -EINVAL, "%soffload %s: linear method %s has nothing to move to the DSP", p->values.prefix, named,
                        hx_plan_linear(p, 0, (enum hx_matrix)__builtin_ctz(linear)).method->name);
}

/* Where there are no calls, there are no packets in their place. */
static int check_packets(const struct hx_plan *p, struct hx_error *err)
{
    if (p->rig || !hx_plan_given(p, "packets"))
        return 0;
    return hx_error_set(err, -EINVAL, "%spackets: none of the chosen methods makes DSP calls", p->values.prefix);
}

/* Before the above: argmax brings the output matrix with it. */
static int check_argmax(const struct hx_plan *p, struct hx_error *err)
{
    const struct hx_method *out = hx_plan_linear(p, 0, HX_OUT).method;

    if (!(p->offload & HX_OFFLOAD_ARGMAX) || out->gives & HX_TRAIT_ARGMAX)
        return 0;
    return hx_error_set(err, -EINVAL, "%soffload argmax: linear method %s of the output matrix cannot choose without the "
                        "logits", p->values.prefix, out->name);
}

static int each_used(struct hx_plan *p, struct hx_error *err)
{
    int rc = 0;

    p->rig = p->offload != 0;
    for (size_t i = 0; hx_methods[i] && !rc; i++) {
        if (!hx_plan_uses(p, hx_methods[i]))
            continue;
        p->rig |= (hx_methods[i]->needs & HX_TRAIT_RIG) != 0;
        rc = hx_methods[i]->check ? hx_methods[i]->check(p, err) : 0;
    }
    return rc;
}

static int check_pages(const struct hx_plan *p, struct hx_error *err)
{
    if (!hx_plan_given(p, "page-weights"))
        return 0;
    if (p->offload & HX_OFFLOAD_LAYER)
        return hx_error_set(err, -EINVAL, "%spage-weights and %soffload layer exclude each other: the DSP has the weights of whole "
                            "layers", p->values.prefix, p->values.prefix);
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->seam == HX_SEAM_LINEAR && hx_plan_uses(p, hx_methods[i]) &&
            !(hx_methods[i]->gives & HX_TRAIT_PAGES))
            return hx_error_set(err, -EINVAL, "%spage-weights: linear method %s has the weights in a form of its own; see "
                                "hexrig methods for those that give pages", p->values.prefix, hx_methods[i]->name);
    return 0;
}

/* Some weights have to be somewhere else than in the file. */
static int check_release(const struct hx_plan *p, struct hx_error *err)
{
    if (!hx_plan_given(p, "release-file"))
        return 0;
    if (hx_plan_given(p, "page-weights"))
        return hx_error_set(err, -EINVAL, "%srelease-file and %spage-weights exclude each other", p->values.prefix,
                            p->values.prefix);
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->seam == HX_SEAM_LINEAR && hx_plan_uses(p, hx_methods[i]) && !(hx_methods[i]->gives & HX_TRAIT_PAGES))
            return 0;
    return hx_error_set(err, -EINVAL, "%srelease-file: no linear method here has the weights in a form of its own; those that "
                        "give pages read them from the file", p->values.prefix);
}

int hx_plan_resolve(struct hx_plan *p, struct hx_error *err)
{
    static int (*const steps[])(struct hx_plan *p, struct hx_error *err) = {choose_kv,    choose_attn, choose_linear,
                                                                            choose_draft, choose_taps, check_idle,
                                                                            check_of,     check_choices, check_covered};
    int rc = 0;

    p->softmax_int = hx_plan_index(p, "softmax") == 1;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](p, err);
    if (!rc)
        rc = each_used(p, err);
    if (!rc)
        rc = check_packets(p, err);
    if (!rc)
        rc = check_layers(p, err);
    if (!rc)
        rc = check_argmax(p, err);
    if (!rc)
        rc = check_offload(p, err);
    if (!rc)
        rc = check_pages(p, err);
    return rc ? rc : check_release(p, err);
}
