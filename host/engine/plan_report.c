/* What a plan says about itself: in reports, and how many DSP calls its methods make. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "plan_impl.h"

struct hx_calls hx_plan_calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    struct hx_calls sum = {0, 0};

    for (size_t i = 0; hx_methods[i]; i++)
        if (hx_methods[i]->calls && hx_plan_uses(p, hx_methods[i])) {
            const struct hx_calls c = hx_methods[i]->calls(p, s, pos);

            sum.invokes += c.invokes;
            sum.packets += c.packets;
        }
    return sum;
}

static json_t *taps(const struct hx_plan *p)
{
    json_t *list = json_array();

    for (size_t i = 0; p->tap[i]; i++)
        json_array_append_new(list, json_string(p->tap[i]->name));
    return list;
}

/* As it was given, with what stands behind the name. */
static json_t *draft(const struct hx_plan *p)
{
    const char *text = hx_plan_text(p, hx_seam_names[HX_SEAM_DRAFT]);

    return text ? hx_json_text(text) : json_string(p->method[HX_SEAM_DRAFT]->name);
}

/* The plan's own options are reported as methods, but for those that choose none. */
static int is_a_choice(const struct hx_option *o)
{
    static const char *const settings[] = {"softmax",     "packets",     "spec-batch",  "spec-adapt",
                                           "spec-thresh", "spec-warmup", "no-verifier", "eos-guard", NULL};

    for (size_t i = 0; settings[i]; i++)
        if (strcmp(o->name, settings[i]) == 0)
            return 0;
    return hx_option_is_plans(o);
}

/* Values may be names of files, which are any bytes.  NULL: out of memory. */
static json_t *changed_options(const struct hx_plan *p)
{
    json_t *j = json_object();
    int rc = j ? 0 : -1;

    for (size_t i = 0; i < p->values.n; i++) {
        const struct hx_option *o = p->values.at[i].option;
        const char *text = p->values.at[i].text;

        if (is_a_choice(o) || (text && o->def && strcmp(text, o->def) == 0))
            continue;
        rc |= json_object_set_new(j, o->name, text ? hx_json_text(text) : json_true());
    }
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}

/* "a,b": all values that matrices on the DSP have. */
static void values_on_dsp(const struct hx_plan *p, const struct hx_option *o, size_t n_layer, char *out, size_t n)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; o->names[i] && used < n; i++)
        if (hx_plan_takes(p, o, o->names[i], n_layer))
            used += (size_t)snprintf(out + used, n - used, "%s%s", used ? "," : "", o->names[i]);
}

static json_t *reported(const struct hx_plan *p, const struct hx_option *o, size_t n_layer)
{
    char values[160];

    if (!(o->flags & HX_OPTION_ON_DSP))
        return json_string(hx_plan_uses_option(p, o->name) ? hx_plan_text(p, o->name) : "none");
    values_on_dsp(p, o, n_layer, values, sizeof(values));
    return json_string(*values ? values : "none");
}

/* Options of the methods at work whose value is a figure by itself. */
static int add_reported(const struct hx_plan *p, size_t n_layer, json_t *report)
{
    const struct hx_method *owner;
    const struct hx_option *o;
    int rc = 0;

    for (size_t i = 0; (o = hx_plan_option(i, &owner)); i++)
        if (o->flags & HX_OPTION_REPORTED)
            rc |= json_object_set_new(report, o->name, reported(p, o, n_layer));
    return rc;
}

int hx_plan_report(const struct hx_plan *p, size_t n_layer, json_t *report)
{
    const struct hx_plan_value *map = hx_plan_values_find(&p->values, "linear");
    char offload[HX_OFFLOAD_TEXT];
    int rc;

    hx_offload_text(p->offload, offload);
    rc = json_object_set_new(report, "linear",
                             hx_json_text(map ? map->text : hx_plan_method(p, HX_SEAM_LINEAR)->name));
    for (int seam = HX_SEAM_KV; seam <= HX_SEAM_ATTN; seam++)
        rc |= json_object_set_new(report, hx_seam_names[seam], json_string(p->method[seam]->name));
    rc |= json_object_set_new(report, hx_seam_names[HX_SEAM_DRAFT], draft(p));
    rc |= json_object_set_new(report, "taps", taps(p));
    rc |= json_object_set_new(report, "offload", json_string(offload));
    rc |= add_reported(p, n_layer, report);
    rc |= json_object_set_new(report, "options", changed_options(p));
    return rc ? -ENOMEM : 0;
}
