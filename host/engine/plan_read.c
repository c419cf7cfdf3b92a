/* What a plan can be asked for, by methods too: so nothing here knows which methods there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_impl.h"

/* --- what was said */

int hx_plan_given(const struct hx_plan *p, const char *name)
{
    return hx_plan_values_find(&p->values, name) != NULL || (p->kv_auto && strcmp(name, "kv") == 0);
}

int hx_plan_kv_auto(const struct hx_plan *p)
{
    return p->kv_auto;
}

const char *hx_plan_text(const struct hx_plan *p, const char *name)
{
    const struct hx_plan_value *v = hx_plan_values_find(&p->values, name);

    return v ? v->text : hx_option_find(p->values.methods, name)->def;
}

uint64_t hx_plan_number(const struct hx_plan *p, const char *name)
{
    const char *text = hx_plan_text(p, name);

    return text ? strtoull(text, NULL, 10) : 0;
}

double hx_plan_real(const struct hx_plan *p, const char *name)
{
    const char *text = hx_plan_text(p, name);

    return text ? strtod(text, NULL) : 0;
}

size_t hx_plan_index(const struct hx_plan *p, const char *name)
{
    const struct hx_option *o = hx_option_find(p->values.methods, name);
    const char *text = hx_plan_text(p, name);
    size_t i = 0;

    while (text && o->names[i] && strcmp(o->names[i], text) != 0)
        i++;
    return text ? i : 0;
}

const char *hx_plan_prefix(const struct hx_plan *p)
{
    return p->values.prefix;
}

const char *hx_plan_spell(const struct hx_plan *p, const char *option)
{
    static _Thread_local char text[80];

    snprintf(text, sizeof(text), "%s%s", p->values.prefix, option);
    return text;
}

/* --- of a resolved plan */

const struct hx_method *hx_plan_method(const struct hx_plan *p, enum hx_seam seam)
{
    return seam == HX_SEAM_LINEAR ? hx_linear_map_base(&p->map)->method : p->method[seam];
}

int hx_plan_guesses(const struct hx_plan *p)
{
    return p->drafts && !hx_plan_given(p, "no-verifier");
}

const char *hx_plan_draft_arg(const struct hx_plan *p)
{
    const char *text = hx_plan_text(p, hx_seam_names[HX_SEAM_DRAFT]);
    const char *colon = text ? strchr(text, ':') : NULL;

    return colon ? colon + 1 : NULL;
}

const struct hx_method *hx_plan_tap(const struct hx_plan *p, size_t i)
{
    return p->tap[i];
}

uint32_t hx_plan_offload(const struct hx_plan *p)
{
    return p->offload;
}

int hx_plan_softmax_int(const struct hx_plan *p)
{
    return p->softmax_int;
}

int hx_plan_packets(const struct hx_plan *p)
{
    return hx_plan_given(p, "packets");
}

struct hx_calls hx_plan_sends(const struct hx_plan *p, double calls)
{
    return hx_plan_packets(p) ? (struct hx_calls){0, calls} : (struct hx_calls){calls, 0};
}

int hx_plan_rig(const struct hx_plan *p)
{
    return p->rig;
}

int hx_plan_pages(const struct hx_plan *p)
{
    int any = 0;

    for (size_t i = 0; i < p->values.n; i++)
        any |= (p->values.at[i].option->flags & HX_OPTION_PAGES) != 0;
    return any;
}

const char *hx_plan_note(const struct hx_plan *p)
{
    return *p->note ? p->note : NULL;
}

int hx_plan_whole_layers(const struct hx_plan *p)
{
    return p->method[HX_SEAM_KV] && p->method[HX_SEAM_KV]->gives & HX_TRAIT_LAYER;
}

/* 1: no linear method is asked for this matrix. */
static int is_in_whole_layer(const struct hx_plan *p, enum hx_matrix which)
{
    return which != HX_OUT && hx_plan_whole_layers(p);
}

void hx_plan_share(struct hx_plan *p, struct hx_shard *s)
{
    p->shard = s;
}

void hx_plan_make_second(struct hx_plan *p)
{
    p->second = 1;
}

void hx_plan_without_weights(struct hx_plan *p)
{
    p->flags |= HX_PLAN_NO_WEIGHTS;
}

int hx_plan_has_weights(const struct hx_plan *p)
{
    return !(p->flags & HX_PLAN_NO_WEIGHTS);
}

int hx_plan_is_second(const struct hx_plan *p)
{
    return p->second;
}

struct hx_shard *hx_plan_shard(const struct hx_plan *p)
{
    return p->shard;
}

/* Matrices of a layer that a method applies, those on the DSP only or all. */
static int applies(const struct hx_plan *p, const struct hx_method *m, size_t layer, int on_dsp)
{
    for (int w = 0; w < HX_MATRICES; w++) {
        const struct hx_plan_linear l = hx_plan_linear(p, layer, (enum hx_matrix)w);

        if (l.method == m && !is_in_whole_layer(p, (enum hx_matrix)w) && (!on_dsp || l.on_dsp || m->needs & HX_TRAIT_RIG))
            return 1;
    }
    return 0;
}

/* Who applies what changes only where the layers of an item begin and behind their end. */
static int uses_linear(const struct hx_plan *p, const struct hx_method *m, int on_dsp)
{
    for (size_t i = 0; i < p->map.n; i++)
        if (applies(p, m, p->map.at[i].from, on_dsp) ||
            (p->map.at[i].to < SIZE_MAX && applies(p, m, p->map.at[i].to + 1, on_dsp)))
            return 1;
    return applies(p, m, 0, on_dsp);
}

int hx_plan_uses_on_dsp(const struct hx_plan *p, const struct hx_method *m)
{
    return m->seam == HX_SEAM_LINEAR ? uses_linear(p, m, 1) : hx_plan_uses(p, m);
}

int hx_plan_uses(const struct hx_plan *p, const struct hx_method *m)
{
    if (m->seam == HX_SEAM_LINEAR)
        return uses_linear(p, m, 0);
    if (m->seam != HX_SEAM_TAP)
        return p->method[m->seam] == m;
    for (size_t i = 0; p->tap[i]; i++)
        if (p->tap[i] == m)
            return 1;
    return 0;
}

/* --- matrices */

struct hx_plan_linear hx_plan_linear(const struct hx_plan *p, size_t layer, enum hx_matrix which)
{
    const struct hx_linear_item *item = hx_linear_map_at(&p->map, layer, which);
    const int named = (p->offload & 1u << which) != 0;

    if (named && item->method->offloaded)
        return (struct hx_plan_linear){item->method->offloaded, NULL, 1};
    return (struct hx_plan_linear){item->method, item->arg, named && item->method->gives & HX_TRAIT_DSP};
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* 1: of a matrix on the DSP this is the value of an option, from the map or else from the option itself; NULL: it is the
 * latter, whatever that says. */
static int takes(const struct hx_plan *p, const struct hx_option *o, const char *value, size_t layer, enum hx_matrix which)
{
    const struct hx_plan_linear l = hx_plan_linear(p, layer, which);
    const char *own = same_text(l.method->arg_of, o->name) ? l.arg : NULL;

    if (is_in_whole_layer(p, which) || !hx_method_has(l.method, o->name) || !(l.on_dsp || l.method->needs & HX_TRAIT_RIG))
        return 0;
    return value ? strcmp(own ? own : hx_plan_text(p, o->name), value) == 0 : !own;
}

static int takes_in(const struct hx_plan *p, const struct hx_option *o, const char *value, size_t layer, size_t n_layer)
{
    for (int w = 0; w < HX_MATRICES; w++)
        if ((layer < n_layer || w == HX_OUT) && takes(p, o, value, layer, (enum hx_matrix)w))
            return 1;
    return 0;
}

int hx_plan_takes(const struct hx_plan *p, const struct hx_option *o, const char *value, size_t n_layer)
{
    int any = takes_in(p, o, value, 0, n_layer) ||
              (hx_plan_whole_layers(p) && hx_method_has(p->method[HX_SEAM_KV], o->name) &&
               (!value || strcmp(hx_plan_text(p, o->name), value) == 0));

    for (size_t i = 0; i < p->map.n && !any; i++) /* as in uses_linear() */
        any = takes_in(p, o, value, p->map.at[i].from, n_layer) ||
              (p->map.at[i].to < SIZE_MAX && takes_in(p, o, value, p->map.at[i].to + 1, n_layer));
    return any;
}

static int is_call(const struct hx_plan *p, const struct hx_method *m, size_t layer, enum hx_matrix which)
{
    const struct hx_plan_linear l = hx_plan_linear(p, layer, which);

    return l.method == m && !is_in_whole_layer(p, which) && (l.on_dsp || m->needs & HX_TRAIT_RIG);
}

/* What differs in its argument is another method at work. */
static int go_together(const struct hx_plan *p, const struct hx_method *m, size_t layer, enum hx_matrix a, enum hx_matrix b)
{
    return is_call(p, m, layer, a) && is_call(p, m, layer, b) &&
           same_text(hx_plan_linear(p, layer, a).arg, hx_plan_linear(p, layer, b).arg);
}

double hx_plan_linear_calls(const struct hx_plan *p, const struct hx_method *m, const struct hx_shape *s)
{
    /* the first matrix with the same input */
    static const enum hx_matrix first[HX_PER_LAYER] = {HX_WQ, HX_WQ, HX_WQ, HX_WO, HX_GATE, HX_GATE, HX_DOWN};
    double sum = 0;

    for (size_t layer = 0; layer < s->n_layer; layer++)
        for (int w = 0; w < HX_PER_LAYER; w++) {
            int before = (int)first[w];

            while (before < w && !go_together(p, m, layer, (enum hx_matrix)before, (enum hx_matrix)w))
                before++;
            sum += before == w && is_call(p, m, layer, (enum hx_matrix)w);
        }
    return sum + is_call(p, m, 0, HX_OUT);
}
