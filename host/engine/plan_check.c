/* Whether options fit the methods that a plan has chosen, and each other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan_impl.h"

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
        const int of_draft = o->of && hx_plan_seam_of(o->of) == HX_SEAM_DRAFT;

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
static int check_layers(struct hx_plan *p, struct hx_error *err)
{
    for (size_t i = 0; hx_plan_whole_layers(p) && i < p->map.n; i++)
        if (p->map.at[i].set & HX_LAYER_MATRICES)
            return hx_error_set(err, -EINVAL, "%slinear: %.64s: with %skv %s layers are done as a whole; a method can apply out alone",
                                p->values.prefix, p->map.at[i].text, p->values.prefix, p->method[HX_SEAM_KV]->name);
    return 0;
}

/* --offload names matrices, and none of their methods can put them there. */
static int check_offload(struct hx_plan *p, struct hx_error *err)
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
static int check_packets(struct hx_plan *p, struct hx_error *err)
{
    if (p->rig || !hx_plan_given(p, "packets"))
        return 0;
    return hx_error_set(err, -EINVAL, "%spackets: none of the chosen methods makes DSP calls", p->values.prefix);
}

/* Before check_offload(): argmax brings the output matrix with it. */
static int check_argmax(struct hx_plan *p, struct hx_error *err)
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

static int check_pages(struct hx_plan *p, struct hx_error *err)
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
static int check_release(struct hx_plan *p, struct hx_error *err)
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

int hx_plan_check(struct hx_plan *p, struct hx_error *err)
{
    static int (*const steps[])(struct hx_plan *p, struct hx_error *err) = {
        check_idle,   check_of,     check_choices, check_covered, each_used,    check_packets,
        check_layers, check_argmax, check_offload, check_pages,   check_release};
    int rc = 0;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](p, err);
    return rc;
}
