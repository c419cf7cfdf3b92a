/* Methods of ring attention: attention `poly`, exact scores as ring products, and cache `ntt`, K as transforms. */
#include <errno.h>

#include "attn_poly.h"
#include "engine/plan.h"
#include "kv_ntt.h"

/* Of both methods. */
#define RING_OPTIONS                                                                                                     \
    {.name = "ntt", .help = "ring products by transforms modulo one 60-bit prime"},                                      \
        {.name = "ntt-crt", .help = "the same modulo two primes of 30 bits"},                                            \
        {.name = "poly-delta", .arg = "BITS", .def = "16", .min = HX_POLY_DELTA_MIN, .max = HX_POLY_DELTA_MAX,           \
         .help = "integers are values times 2^BITS"},                                                                    \
        {.name = "crt-shard", .flags = HX_OPTION_FORKS,                                                                  \
         .help = "of two primes: a process for each, the second forked, or two ranks under mpirun -np 2 "                \
                 "(run, ppl, perplexity-sp)"},                                                                           \
    {                                                                                                                    \
        .name = NULL                                                                                                     \
    }

enum { KIB = 1024, MOST_KIB = 4 << 20 };

static const struct hx_option kv_options[] = {
    {.name = "ring-vtcm", .arg = "KIB", .def = "0", .max = MOST_KIB,
     .help = "VTCM that keys on the DSP may take, first positions first"},
    {.name = "ring-ddr", .arg = "KIB", .min = 1, .max = MOST_KIB,
     .help = "the DSP's heap that they may take; the host keeps the others (what there is)"},
    RING_OPTIONS,
};

static const struct hx_option attn_options[] = {
    {.name = "poly-attn", .flags = HX_OPTION_CHOOSES,
     .help = "attention scores as exact ring products; without --ntt and --ntt-crt schoolbook, O(N^2)"},
    RING_OPTIONS,
};

/* A cache of transforms needs some; by itself attention multiplies schoolbook. */
static enum hx_poly_mode mode_of(const struct hx_plan *p)
{
    if (hx_plan_given(p, "ntt"))
        return HX_POLY_60;
    return hx_plan_given(p, "ntt-crt") || hx_plan_method(p, HX_SEAM_KV)->gives & HX_TRAIT_KEYS ? HX_POLY_CRT
                                                                                              : HX_POLY_SCHOOL;
}

static struct hx_poly_cfg config(const struct hx_plan *p)
{
    return (struct hx_poly_cfg){mode_of(p), (unsigned)hx_plan_number(p, "poly-delta"), hx_plan_shard(p)};
}

static int on_dsp(const struct hx_plan *p)
{
    return (hx_plan_offload(p) & HX_OFFLOAD_KV) != 0;
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    if (hx_plan_given(p, "ntt") && hx_plan_given(p, "ntt-crt"))
        return hx_error_set(err, -EINVAL, "%sntt and %sntt-crt exclude each other", hx_plan_prefix(p), hx_plan_prefix(p));
    if (hx_plan_given(p, "crt-shard") && mode_of(p) != HX_POLY_CRT)
        return hx_error_set(err, -EINVAL, "%scrt-shard shares out two primes: it needs %spoly-attn %sntt-crt, or %skv ntt",
                            hx_plan_prefix(p), hx_plan_prefix(p), hx_plan_prefix(p), hx_plan_prefix(p));
    return 0;
}

static int check_kv(const struct hx_plan *p, struct hx_error *err)
{
    static const char *const limits[] = {"ring-vtcm", "ring-ddr"};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (hx_plan_given(p, limits[i]) && !on_dsp(p))
            return hx_error_set(err, -EINVAL, "%s is about keys on the DSP: it needs %soffload kv",
                                hx_plan_spell(p, limits[i]), hx_plan_prefix(p));
    if (on_dsp(p) && mode_of(p) == HX_POLY_60)
        return hx_error_set(err, -EINVAL, "%s and %soffload kv exclude each other: the DSP has the two 30-bit primes",
                            hx_plan_spell(p, "ntt"), hx_plan_prefix(p));
    return check(p, err);
}

static int open_attn(struct hx_attn **out, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_poly_cfg cfg = config(o->plan);

    return hx_attn_poly_open(out, &cfg, o->model->dh, o->pool, err);
}

static int open_kv(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_model *m = o->model;
    const struct hx_kv_shape shape = {m->n_layer, m->n_kv, m->dh, o->n_ctx};
    const struct hx_poly_cfg cfg = config(o->plan);
    const struct hx_kv_ntt_limits limits = {hx_plan_number(o->plan, "ring-vtcm") * KIB, hx_plan_number(o->plan, "ring-ddr") * KIB,
                                            hx_plan_packets(o->plan)};

    return on_dsp(o->plan) ? hx_kv_ntt_dsp_open(out, &shape, &cfg, &limits, o->pool, err)
                           : hx_kv_ntt_open(out, &shape, &cfg, o->pool, err);
}

/* --- reports */

static double per_token(uint64_t n, const struct hx_poly_seen *seen)
{
    return seen->tokens ? (double)n / (double)seen->tokens : 0;
}

static json_t *report_ring(const struct hx_poly *ring, const char *keys, const char *kernel, const struct hx_plan *p)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "keys", keys, "product", hx_poly_modes[mode_of(p)], "kernel", kernel,
                     "n", (json_int_t)ring->n, "delta_bits", (json_int_t)ring->delta_bits, "block_bytes",
                     (json_int_t)ring->block_bytes);
}

static int add_seen(json_t *j, const struct hx_poly_seen *seen)
{
    const uint64_t forward = seen->keys + seen->queries;

    return json_object_update_new(
        j, json_pack("{s:I, s:I, s:I, s:f, s:f}", "tokens", (json_int_t)seen->tokens, "ntt_fwd", (json_int_t)forward, "q_ntt",
                     (json_int_t)seen->queries, "ntt_fwd_per_token", per_token(forward, seen), "q_ntt_per_token",
                     per_token(seen->queries, seen)));
}

/* Where the blocks are, and what was read of them there. */
static int add_places(json_t *j, const struct hx_ntt_held *held)
{
    json_t *positions = json_object(), *read = json_object();
    int rc = 0;

    for (size_t i = 0; hx_ntt_places[i]; i++) {
        rc |= json_object_set_new(positions, hx_ntt_places[i], json_integer((json_int_t)held->positions[i]));
        rc |= json_object_set_new(read, hx_ntt_places[i], json_integer((json_int_t)held->read_bytes[i]));
    }
    rc |= json_object_set_new(j, "positions", positions);
    return rc | json_object_set_new(j, "key_bytes_read", read);
}

/* Takes j. */
static json_t *finished(json_t *j, int rc)
{
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}

/* queries: transforms that attention made of the cache's. */
static json_t *report_cache(const struct hx_kv *kv, uint64_t queries, const struct hx_plan *p)
{
    const struct hx_poly *ring = hx_kv_ntt_ring(kv);
    json_t *j = report_ring(ring, "persistent", on_dsp(p) ? "hvx" : hx_poly_kernel(ring), p);
    struct hx_poly_seen seen;
    struct hx_ntt_held held;
    struct hx_error err;
    int rc;

    if (hx_kv_ntt_seen(kv, &seen, &held, &err))
        return finished(j, json_object_set_new(j, "error", json_string(err.text)));
    seen.queries += queries;
    rc = add_seen(j, &seen);
    return finished(j, rc || !on_dsp(p) ? rc : add_places(j, &held));
}

static json_t *report_kv(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    (void)self;
    return report_cache(kv, 0, p);
}

static json_t *report_attn(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_poly *ring = hx_attn_poly(self);
    struct hx_poly_seen seen;
    json_t *j;

    hx_attn_poly_seen(self, &seen);
    if (kv->ops->keys)
        return report_cache(kv, seen.queries, p);
    j = report_ring(ring, "per step", hx_poly_kernel(ring), p);
    return finished(j, add_seen(j, &seen));
}

/* --- calls */

/* Scores are those of the token itself, too; rows are those of the past, of which there is none at first. */
static int asks_for_something(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    const int scores = s->n_head && hx_plan_method(p, HX_SEAM_ATTN)->uses & HX_TRAIT_SCORES;

    return scores || pos > 0;
}

/* How many positions the DSP holds when it has the memory that it may take. */
static size_t held(const struct hx_plan *p, const struct hx_shape *s)
{
    const size_t residues = hx_plan_shard(p) ? sizeof(uint32_t) : HX_CRT_PRIMES * sizeof(uint32_t);
    const size_t each = s->n_layer * s->n_kv * hx_poly_n(s->dh) * residues;

    if (!hx_plan_given(p, "ring-ddr") || !each)
        return SIZE_MAX;
    return hx_plan_number(p, "ring-vtcm") * KIB / each + hx_plan_number(p, "ring-ddr") * KIB / each;
}

/* Of a layer one call that puts K, and one for what attention asks for; of a batch the same.  A position that the DSP does not hold
 * is put without one. */
static struct hx_calls calls_kv(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    const size_t n = held(p, s);
    const double each = (pos < n) + (n && asks_for_something(p, s, pos));

    return hx_plan_sends(p, on_dsp(p) ? each * (double)s->n_layer : 0);
}

const struct hx_method hx_method_attn_poly = {
    .name = "poly",
    .seam = HX_SEAM_ATTN,
    .about = "scores as exact inner products of integers, products in a polynomial ring",
    .options = attn_options,
    .needs = HX_TRAIT_ROWS | HX_TRAIT_POOL,
    .uses = HX_TRAIT_KEYS | HX_TRAIT_SCORES,
    .gives = HX_TRAIT_SOFTMAX_INT | HX_TRAIT_RESIDUES,
    .check = check,
    .open.attn = open_attn,
    .reports = "poly",
    .report = report_attn,
};

const struct hx_method hx_method_kv_ntt = {
    .name = "ntt",
    .seam = HX_SEAM_KV,
    .about = "K as transforms modulo primes, made once per token; V in f32",
    .options = kv_options,
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ROWS | HX_TRAIT_TREE | HX_TRAIT_SCORES | HX_TRAIT_KEYS | HX_TRAIT_RESIDUES,
    .check = check_kv,
    .open.kv = open_kv,
    .reports = "poly",
    .report = report_kv,
    .calls = calls_kv,
};
