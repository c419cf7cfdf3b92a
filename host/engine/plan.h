/* The plan: what an engine will be made of.  Options in, methods and capabilities out, once, for every command, the server,
 * the C API and the benches.
 *
 *     hx_plan_open(&p, "--", 0, &err);
 *     hx_plan_set(p, "kv", "f32", &err);          as often as there are options
 *     hx_plan_resolve(p, &err);                   defaults, legality; then it is constant
 *     hx_engine_open(&e, &cfg with .plan = p, &err);
 *
 * Besides the methods' options (method.h) a plan has those of hx_plan_options: one for each seam, and what is of all methods.
 *
 * --linear MAP says which method applies which matrix: items with commas, of which a later one wins.  An item is METHOD[:ARG]
 * (all matrices) or SET[@FROM[-TO]]=METHOD[:ARG], SET a name of hx_matrix_set(), FROM and TO layers from 0:
 *     cpu,ffn_down@2-5=native:64
 *
 * One thread at a time; a resolved plan may be read by many. */
#ifndef HX_PLAN_H
#define HX_PLAN_H

#include "dsp/offload.h"
#include "method.h"

struct hx_shard;

enum { HX_PLAN_TAPS = 8 }; /* most taps */

enum hx_plan_flag {
    HX_PLAN_MAY_FORK = 1, /* options with HX_OPTION_FORKS are legal */
    HX_PLAN_KV_AUTO = 2,  /* "kv" may be HX_PLAN_AUTO: whoever opened the plan chooses a cache before it is resolved */
    HX_PLAN_NO_WEIGHTS = 4, /* set by hx_plan_without_weights() */
};

#define HX_PLAN_AUTO "auto"

/* The plan's own options, ends with a NULL name. */
extern const struct hx_option hx_plan_options[];

/* prefix: in front of option names in messages, "--" or ""; borrowed.  flags: enum hx_plan_flag.  0 or -ENOMEM. */
int hx_plan_open(struct hx_plan **out, const char *prefix, unsigned flags, struct hx_error *err);

/* Accepts NULL. */
void hx_plan_close(struct hx_plan *p);

/* A copy of an unresolved plan, for more options.  0 or -ENOMEM. */
int hx_plan_copy(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err);

/* A copy of an unresolved plan with this drafter, "lookup" or "gp:96", or NULL for none; options of drafters that it does not have are left
 * out.  0; -EINVAL: there is no such drafter; -ENOMEM. */
int hx_plan_drafted(struct hx_plan **out, const struct hx_plan *p, const char *draft, struct hx_error *err);

/* A resolved plan like p, but with K and V in f32 and without drafts and taps; attention is p's where it was asked for and works on
 * rows.  An engine with it can share p's core.  0; -ENOMEM; -EINVAL: p has whole layers on the DSP. */
int hx_plan_reference(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err);

/* A resolved plan like p, but without drafts, and with no taps but those that are a part of what the model makes (HX_TRAIT_STREAM), for
 * another engine over p's core.  0, -ENOMEM or -EINVAL. */
int hx_plan_twin(struct hx_plan **out, const struct hx_plan *p, struct hx_error *err);

/* One option; value NULL: none.  A later one of the same name replaces it, but --tap and --offload add up.  0; -EINVAL with a reason:
 * unknown, or a value that is not legal. */
int hx_plan_set(struct hx_plan *p, const char *name, const char *value, struct hx_error *err);

/* Strings "name=value" or "name", NULL-terminated; list may be NULL. */
int hx_plan_set_list(struct hx_plan *p, const char *const *list, struct hx_error *err);

/* Chooses methods, fills in defaults and checks.  May be called once.  0, or -EINVAL with a reason. */
int hx_plan_resolve(struct hx_plan *p, struct hx_error *err);

/* --- what was said.  `name`: of an option that exists. */

/* The value, else the default; NULL: neither. */
const char *hx_plan_text(const struct hx_plan *p, const char *name);
uint64_t hx_plan_number(const struct hx_plan *p, const char *name); /* 0: neither */
double hx_plan_real(const struct hx_plan *p, const char *name);     /* likewise */
size_t hx_plan_index(const struct hx_plan *p, const char *name);    /* among the legal values; 0: neither */
int hx_plan_given(const struct hx_plan *p, const char *name);       /* also of a flag: 1 when it was set */
int hx_plan_kv_auto(const struct hx_plan *p);                       /* 1: "kv" is HX_PLAN_AUTO; resolved so, it is the default */
uint32_t hx_plan_offload(const struct hx_plan *p);                  /* all --offload so far: bits of enum hx_offload */

/* --- of a resolved plan */

/* The method of a seam; of linear the one that applies what no item with a SET names; of draft NULL when there is none.
 * Not of taps. */
const struct hx_method *hx_plan_method(const struct hx_plan *p, enum hx_seam seam);

/* 1: a drafter is chosen whose guesses the model verifies. */
int hx_plan_guesses(const struct hx_plan *p);

/* What stands behind the drafter's name, --draft NAME:ARG; NULL: nothing. */
const char *hx_plan_draft_arg(const struct hx_plan *p);

/* The i-th tap; NULL: there are no more. */
const struct hx_method *hx_plan_tap(const struct hx_plan *p, size_t i);

/* Which method applies a matrix, what stands behind its name in the map (NULL: nothing), and whether --offload names the
 * matrix and the method sees to that by itself. */
struct hx_plan_linear {
    const struct hx_method *method;
    const char *arg;
    int on_dsp;
};
struct hx_plan_linear hx_plan_linear(const struct hx_plan *p, size_t layer, enum hx_matrix which);

/* -EINVAL when the map names a layer that a model of n_layer does not have. */
int hx_plan_check_layers(const struct hx_plan *p, size_t n_layer, struct hx_error *err);

int hx_plan_softmax_int(const struct hx_plan *p);
int hx_plan_packets(const struct hx_plan *p);      /* 1: methods send their DSP calls as packets (dsp/packets.h) */
int hx_plan_whole_layers(const struct hx_plan *p); /* 1: the cache does whole layers, and linear methods the output matrix alone */
int hx_plan_rig(const struct hx_plan *p);          /* 1: something of it needs a rig */

/* 1: one of the chosen methods has this option, and it matters there. */
int hx_plan_uses_option(const struct hx_plan *p, const char *name);

/* 1: something is in a file and read ahead (HX_OPTION_PAGES). */
int hx_plan_pages(const struct hx_plan *p);

/* A line about options that change nothing with the chosen methods; NULL: there are none. */
const char *hx_plan_note(const struct hx_plan *p);

/* INVOKEs and packets of one token at a position, by all methods. */
struct hx_calls hx_plan_calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos);

/* What a method's `calls` returns: so many calls, or as many packets. */
struct hx_calls hx_plan_sends(const struct hx_plan *p, double calls);

/* INVOKEs, or packets, per token of a linear method that makes one call for the matrices with one input in common, as far as the map gives
 * them one argument. */
double hx_plan_linear_calls(const struct hx_plan *p, const struct hx_method *m, const struct hx_shape *s);

/* Adds "linear", "kv", "attn", "draft", "taps", "offload", "options" (what was given and is not the default) and the values of
 * options with HX_OPTION_REPORTED, by their names, to a report: "none" where the option matters to nothing, "ddr,vtcm" where the
 * map has several.  n_layer: of the model; SIZE_MAX: unknown.  0 or -ENOMEM. */
int hx_plan_report(const struct hx_plan *p, size_t n_layer, json_t *report);

/* The other process that shares the work (--crt-shard), borrowed; NULL: none.  The only thing to be set after resolving. */
void hx_plan_share(struct hx_plan *p, struct hx_shard *s);
struct hx_shard *hx_plan_shard(const struct hx_plan *p);

/* Of such a pair this process is the second one: files and reports are the first one's.  Set with hx_plan_share(). */
void hx_plan_make_second(struct hx_plan *p);
int hx_plan_is_second(const struct hx_plan *p);

/* From now on it is for shapes without weights (hexrig density --geometry): what methods would make of weights or texts is 0, in as many
 * bytes.  Before it is resolved. */
void hx_plan_without_weights(struct hx_plan *p);
int hx_plan_has_weights(const struct hx_plan *p);

/* "--NAME", or however this plan spells options, for messages of methods.  Valid until the next call of this thread. */
const char *hx_plan_spell(const struct hx_plan *p, const char *option);

/* "--" or "". */
const char *hx_plan_prefix(const struct hx_plan *p);

/* Every option there is: the plan's own, then those of methods, each once.  NULL: no more.  *owner: the first method that
 * has it and its help, NULL for the plan's own. */
const struct hx_option *hx_plan_option(size_t i, const struct hx_method **owner);

#endif
