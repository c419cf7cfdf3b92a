/* Plans like another one: what that is held against, with K and V in f32, and what a drafter runs beside it. */
#include <errno.h>
#include <string.h>

#include "plan_impl.h"

/* 1: a method of this seam has the option. */
static int is_of(const struct hx_option *o, enum hx_seam seam)
{
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->seam == seam && hx_method_has(hx_methods[i], o->name))
            return 1;
    return 0;
}

/* 1: attention was asked for by name, or by an option that means a method, and is one that works on rows. */
static int keeps_attn(const struct hx_plan *p)
{
    const struct hx_method *m = p->method[HX_SEAM_ATTN];

    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_option *o = p->values.at[i].option;

        if (strcmp(o->name, hx_seam_names[HX_SEAM_ATTN]) == 0 || (o->flags & HX_OPTION_CHOOSES && is_of(o, HX_SEAM_ATTN)))
            return !(m->needs & HX_TRAIT_ATTEND);
    }
    return 0;
}

/* Options of drafters and taps, and what happens once. */
static int is_beside(const struct hx_option *o)
{
    static const char *const left_out[] = {"draft", "tap", "offload", "release-file", NULL};

    for (size_t i = 0; left_out[i]; i++)
        if (strcmp(o->name, left_out[i]) == 0)
            return 1;
    return hx_option_is_plans(o) ? o->of && strcmp(o->of, hx_seam_names[HX_SEAM_DRAFT]) == 0
                                 : is_of(o, HX_SEAM_DRAFT) || is_of(o, HX_SEAM_TAP);
}

/* 1: some option names the method, or chooses it.  The plan need not be resolved. */
static int is_named(const struct hx_plan *p, const struct hx_method *m)
{
    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_plan_value *v = &p->values.at[i];

        if (v->option->flags & HX_OPTION_CHOOSES && hx_method_has(m, v->option->name))
            return 1;
        if (hx_plan_seam_of(v->option->name) == m->seam && (strstr(v->text, m->name) || (m->aka && strstr(v->text, m->aka))))
            return 1;
    }
    return 0;
}

/* 1: the option is of one of the plan's linear methods, too. */
static int is_of_linear(const struct hx_plan *p, const struct hx_option *o)
{
    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->seam == HX_SEAM_LINEAR && hx_method_has(hx_methods[i], o->name) && is_named(p, hx_methods[i]))
            return 1;
    return 0;
}

/* 1: an option that says who guesses, or how, and is not m's; m NULL: nobody guesses. */
static int is_of_others(const struct hx_option *o, const struct hx_method *m)
{
    if (hx_option_is_plans(o))
        return hx_plan_seam_of(o->name) == HX_SEAM_DRAFT || (!m && o->of && hx_plan_seam_of(o->of) == HX_SEAM_DRAFT);
    return is_of(o, HX_SEAM_DRAFT) && !(m && hx_method_has(m, o->name));
}

int hx_plan_drafted(struct hx_plan **out, const struct hx_plan *p, const char *draft, struct hx_error *err)
{
    const struct hx_method *m = draft ? hx_method_find(hx_methods, HX_SEAM_DRAFT, draft, strcspn(draft, ":")) : NULL;
    int rc = hx_plan_copy(out, p, err);

    for (size_t i = 0; !rc && i < p->values.n; i++)
        if (is_of_others(p->values.at[i].option, m) && !is_of_linear(p, p->values.at[i].option))
            hx_plan_values_drop(&(*out)->values, p->values.at[i].option->name);
    if (!rc && draft)
        rc = hx_plan_set(*out, hx_seam_names[HX_SEAM_DRAFT], draft, err);
    if (rc) {
        hx_plan_close(*out);
        *out = NULL;
    }
    return rc;
}

/* What was said about the cache, drafts, taps and what happens once is left out; what is on the DSP is not among the values. */
static int keeps(const struct hx_option *o, int attn)
{
    if (is_beside(o) || strcmp(o->name, hx_seam_names[HX_SEAM_KV]) == 0)
        return 0;
    if (strcmp(o->name, hx_seam_names[HX_SEAM_ATTN]) == 0 || (!hx_option_is_plans(o) && is_of(o, HX_SEAM_ATTN)))
        return attn;
    return hx_option_is_plans(o) || is_of(o, HX_SEAM_LINEAR);
}

/* 1: it names a tap that is a part of what the model makes, or is such a tap's. */
static int is_of_stream(const struct hx_plan_value *v)
{
    for (size_t i = 0; hx_methods[i]; i++) {
        const struct hx_method *m = hx_methods[i];

        if (m->seam == HX_SEAM_TAP && m->gives & HX_TRAIT_STREAM &&
            (hx_method_has(m, v->option->name) || (hx_plan_seam_of(v->option->name) == HX_SEAM_TAP && strcmp(v->text, m->name) == 0)))
            return 1;
    }
    return 0;
}

int hx_plan_twin(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err)
{
    struct hx_plan *to = NULL;
    int rc = hx_plan_open(&to, p->values.prefix, p->flags, err);

    for (size_t i = 0; !rc && i < p->values.n; i++)
        if (!is_beside(p->values.at[i].option) || is_of_stream(&p->values.at[i]))
            rc = hx_plan_values_set(&to->values, p->values.at[i].option, p->values.at[i].text, 0, err);
    if (!rc) {
        to->offload = p->offload;
        to->shard = p->shard;
        to->second = p->second;
        rc = hx_plan_resolve(to, err);
    }
    if (rc)
        hx_plan_close(to);
    else
        *out = to;
    return rc;
}

int hx_plan_reference(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err)
{
    const int attn = keeps_attn(p);
    struct hx_plan *to = NULL;
    int rc;

    if (hx_plan_whole_layers(p))
        return hx_error_set(err, -EINVAL, "layers as a whole on the DSP have no K and V that could be f32 instead");
    rc = hx_plan_open(&to, p->values.prefix, p->flags, err);
    for (size_t i = 0; !rc && i < p->values.n; i++)
        if (keeps(p->values.at[i].option, attn))
            rc = hx_plan_values_set(&to->values, p->values.at[i].option, p->values.at[i].text, 0, err);
    if (!rc)
        rc = hx_plan_set(to, "kv", "f32", err);
    if (!rc) {
        to->offload = p->offload & ~(uint32_t)(HX_OFFLOAD_KV | HX_OFFLOAD_ATTN);
        rc = hx_plan_resolve(to, err);
    }
    if (rc)
        hx_plan_close(to);
    else
        *out = to;
    return rc;
}
