/* The options that there are: finding them, checking and keeping the values that they were given. */
#include "draft.h"
#include "plan_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const softmaxes[] = {"fp32", "int", NULL}, *const on_off[] = {"on", "off", NULL};

const struct hx_option hx_plan_options[] = {
    {.name = "linear", .arg = "METHOD", .help = "how matrices are applied, or a map of METHOD and SET[@LAYERS]=METHOD"},
    {.name = "kv", .arg = "METHOD", .help = "K and V cache"},
    {.name = "attn", .arg = "METHOD", .help = "how attention is computed"},
    {.name = "draft", .arg = "METHOD", .help = "who guesses the next tokens, for the model to verify"},
    {.name = "tap", .arg = "METHOD", .help = "who reads or changes the residual stream; repeatable"},
    {.name = "offload", .arg = "LIST",
     .help = "what runs on the DSP: linear (all matrices), linear=NAME,... (wq wk wv wo gate up down out), argmax, "
             "attn (attention where the cache is), kv (the cache), layer (whole layers, a call each)"},
    {.name = "packets", .help = "DSP calls of the methods as dspqueue packets, one for each"},
    {.name = "softmax", .arg = "fp32|int", .def = "fp32", .names = softmaxes,
     .help = "softmax of attention: fp32, or by integer tables"},
    {.name = "page-weights", .flags = HX_OPTION_PAGES, .help = "weights come from the model's file page by page, a thread reads ahead"},
    {.name = "page-kib", .arg = "N", .def = "512", .min = 4, .max = 1 << 20, .of = "page-weights",
     .help = "most of a page, of which 16 are in memory"},
    {.name = "release-file", .help = "the model's file is let go once methods have its weights in a form of their own"},
    {.name = "grc-free-raw", .means = "release-file", .help = ""},
    {.name = "spec-batch", .arg = "G", .def = "4", .min = 1, .max = HX_DRAFT_MAX, .of = "draft",
     .help = "most guesses of a step at the beginning"},
    {.name = "spec-adapt", .arg = "on|off", .def = "on", .names = on_off, .of = "draft",
     .help = "one guess more, up to 16, after a step whose guesses were all right, fewer after one with less than half of them"},
    {.name = "spec-thresh", .arg = "P", .def = "0.45", .min = 0, .max = 1, .flags = HX_OPTION_REAL, .of = "draft",
     .help = "guesses to which the drafter itself gives less than P are not verified"},
    {.name = "spec-warmup", .arg = "N", .def = "4", .min = 0, .max = 1 << 20, .of = "draft",
     .help = "tokens that the model makes alone first"},
    {.name = "no-verifier", .of = "draft", .help = "the guesses are the text, and the model is not asked"},
    {.name = "eos-guard", .help = "the first 4 tokens of a text are none that end it"},
    {.name = NULL},
};

/* 1: of the methods that have this option it is told about with this one, the m-th, the first whose table has its help. */
static int is_told_here(const struct hx_method *const *methods, size_t m, const struct hx_option *o)
{
    if (!o->help)
        return 0;
    for (size_t before = 0; before < m; before++)
        for (const struct hx_option *other = methods[before]->options; other && other->name; other++)
            if (other->help && strcmp(other->name, o->name) == 0)
                return 0;
    return 1;
}

void hx_option_each(const struct hx_method *const *methods, void (*told)(const struct hx_option *o, const struct hx_method *owner))
{
    for (const struct hx_option *o = hx_plan_options; o->name; o++)
        told(o, NULL);
    for (size_t m = 0; methods[m]; m++)
        for (const struct hx_option *o = methods[m]->options; o && o->name; o++)
            if (is_told_here(methods, m, o))
                told(o, methods[m]);
}

int hx_option_is_plans(const struct hx_option *o)
{
    const struct hx_option *own = hx_plan_options;

    while (own->name && own != o)
        own++;
    return own->name != NULL;
}

const struct hx_option *hx_option_find(const struct hx_method *const *methods, const char *name)
{
    for (const struct hx_option *o = hx_plan_options; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    for (size_t m = 0; methods[m]; m++) /* the first with help is the one that is told about, as in hx_option_each() */
        for (const struct hx_option *o = methods[m]->options; o && o->name; o++)
            if (o->help && strcmp(o->name, name) == 0)
                return o;
    return NULL;
}

/* --- values */

static int bad_value(const struct hx_plan_values *v, const struct hx_option *o, const char *value, const char *legal,
                     struct hx_error *err)
{
    return hx_error_set(err, -EINVAL, "%s%s: unknown value '%.64s'; legal: %s", v->prefix, o->name, value, legal);
}

static int check_number(const struct hx_plan_values *v, const struct hx_option *o, const char *value,
                        struct hx_error *err)
{
    char *end, legal[64];
    unsigned long long n;

    errno = 0;
    n = strtoull(value, &end, 10);
    if (*value >= '0' && *value <= '9' && !*end && !errno && n >= o->min && n <= o->max)
        return 0;
    snprintf(legal, sizeof(legal), "integers from %llu to %llu", (unsigned long long)o->min,
             (unsigned long long)o->max);
    return bad_value(v, o, value, legal, err);
}

static int check_real(const struct hx_plan_values *v, const struct hx_option *o, const char *value, struct hx_error *err)
{
    char *end, legal[64];
    const double x = strtod(value, &end);

    if (((*value >= '0' && *value <= '9') || *value == '.') && !*end && x >= (double)o->min && x <= (double)o->max)
        return 0;
    snprintf(legal, sizeof(legal), "numbers from %llu to %llu", (unsigned long long)o->min, (unsigned long long)o->max);
    return bad_value(v, o, value, legal, err);
}

/* The index of a legal value; -1: none. */
static int index_of(const struct hx_option *o, const char *value)
{
    for (int i = 0; o->names[i]; i++)
        if (strcmp(o->names[i], value) == 0)
            return i;
    return -1;
}

static int check_name(const struct hx_plan_values *v, const struct hx_option *o, const char *value,
                      struct hx_error *err)
{
    char legal[160];

    if (index_of(o, value) >= 0)
        return 0;
    hx_names_list(o->names, legal, sizeof(legal));
    return bad_value(v, o, value, legal, err);
}

static int check_value(const struct hx_plan_values *v, const struct hx_option *o, const char *value,
                       struct hx_error *err)
{
    if (!o->arg)
        return value ? hx_error_set(err, -EINVAL, "%s%s takes no value, and '%.64s' is one", v->prefix, o->name,
                                    value)
                     : 0;
    if (!value)
        return hx_error_set(err, -EINVAL, "%s%s needs a value: %s", v->prefix, o->name, o->arg);
    if (o->names)
        return check_name(v, o, value, err);
    if (o->flags & HX_OPTION_REAL)
        return check_real(v, o, value, err);
    return o->max ? check_number(v, o, value, err) : 0;
}

const struct hx_plan_value *hx_plan_values_find(const struct hx_plan_values *v, const char *name)
{
    for (size_t i = v->n; i-- > 0;)
        if (strcmp(v->at[i].option->name, name) == 0)
            return &v->at[i];
    return NULL;
}

int hx_plan_values_set(struct hx_plan_values *v, const struct hx_option *o, const char *value, int add,
                       struct hx_error *err)
{
    struct hx_plan_value *to;
    char *text = NULL;
    int rc = check_value(v, o, value, err);

    if (rc)
        return rc;
    if (o->means) { /* an older spelling */
        const struct hx_option *now = hx_option_find(v->methods, o->means);

        value = value && o->names ? now->names[index_of(o, value)] : value;
        o = now;
    }
    if (value && !(text = strdup(value)))
        return hx_error_set(err, -ENOMEM, "out of memory");
    to = add ? NULL : (struct hx_plan_value *)hx_plan_values_find(v, o->name);
    if (!to && v->n == HX_PLAN_GIVEN) {
        free(text);
        return hx_error_set(err, -EINVAL, "more than %d options", HX_PLAN_GIVEN);
    }
    if (!to)
        v->at[v->n++] = (struct hx_plan_value){o, text};
    else {
        free(to->text);
        to->text = text;
    }
    return 0;
}

void hx_plan_values_drop(struct hx_plan_values *v, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->at[i].option->name, name) == 0)
            free(v->at[i].text);
        else
            v->at[kept++] = v->at[i];
    v->n = kept;
}

void hx_plan_values_free(struct hx_plan_values *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->at[i].text);
    v->n = 0;
}

enum hx_seam hx_plan_seam_of(const char *option)
{
    int i = 0;

    while (i < HX_SEAMS && strcmp(hx_seam_names[i], option) != 0)
        i++;
    return (enum hx_seam)i;
}
