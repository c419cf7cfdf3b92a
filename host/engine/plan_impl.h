/* Inside the plan: plan_values.c keeps options as they were given, plan.c makes methods of them, plan_check.c says whether
 * they fit, plan_read.c is what methods and others ask it for, plan_report.c tells about all of that. */
#ifndef HX_PLAN_IMPL_H
#define HX_PLAN_IMPL_H

#include "linear_map.h"
#include "method.h"
#include "plan.h"

enum { HX_PLAN_GIVEN = 64 };

struct hx_plan_values {
    struct hx_plan_value {
        const struct hx_option *option; /* never an older spelling */
        char *text;                     /* NULL: a flag */
    } at[HX_PLAN_GIVEN];
    size_t n;
    const struct hx_method *const *methods; /* whose options there are, beside the plan's own */
    const char *prefix;                     /* of option names in messages */
};

struct hx_plan {
    struct hx_plan_values values;
    unsigned flags;                           /* enum hx_plan_flag */
    struct hx_linear_map map;
    const struct hx_method *method[HX_SEAMS]; /* of kv, attn and draft */
    const struct hx_method *tap[HX_PLAN_TAPS + 1];
    uint32_t offload;                         /* enum hx_offload */
    int kv_auto;                              /* 1: --kv auto, which is none of the values */
    int softmax_int, rig, drafts; /* drafts: 1: another drafter than the default, which never guesses */
    char note[512];
    struct hx_shard *shard;
    int second; /* 1: of the pair that shares the work, this process has the second part */
};

/* 1: the method does some of the work. */
int hx_plan_uses(const struct hx_plan *p, const struct hx_method *m);

/* 1: a linear method, some of whose matrices are on the DSP, or another method that is used. */
int hx_plan_uses_on_dsp(const struct hx_plan *p, const struct hx_method *m);

/* 1: a matrix on the DSP has this value of an option with HX_OPTION_ON_DSP, from the map or else from the option; NULL: it has
 * the option's, as the map says nothing.  n_layer: of the model; SIZE_MAX: unknown. */
int hx_plan_takes(const struct hx_plan *p, const struct hx_option *o, const char *value, size_t n_layer);

/* Calls `told` for each option of the plan and these methods, in the order of hx_plan_option(): one that several methods have once, with
 * the first that has help for it.  owner: NULL of the plan's own. */
void hx_option_each(const struct hx_method *const *methods, void (*told)(const struct hx_option *o, const struct hx_method *owner));

/* 1: it is one of the plan's own. */
int hx_option_is_plans(const struct hx_option *o);

/* The option of that name; older spellings too.  NULL: unknown. */
const struct hx_option *hx_option_find(const struct hx_method *const *methods, const char *name);

/* Checks and keeps a value; value NULL: none.  add: 1: beside earlier ones of the same name, 0: in their place.
 * 0; -EINVAL; -ENOMEM. */
int hx_plan_values_set(struct hx_plan_values *v, const struct hx_option *o, const char *value, int add,
                       struct hx_error *err);

/* The last value of that name; NULL: it was not given. */
const struct hx_plan_value *hx_plan_values_find(const struct hx_plan_values *v, const char *name);

/* As if none of that name had been given. */
void hx_plan_values_drop(struct hx_plan_values *v, const char *name);

void hx_plan_values_free(struct hx_plan_values *v);

/* The seam that an option of that name chooses a method of; HX_SEAMS: of none. */
enum hx_seam hx_plan_seam_of(const char *option);

/* After methods are chosen.  Sets p->rig and p->note.  0, or -EINVAL with a reason. */
int hx_plan_check(struct hx_plan *p, struct hx_error *err);

#endif
