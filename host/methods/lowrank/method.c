/* Linear method `lowrank`: its options, most of which have the published names, and its report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/watch.h"
#include "engine/plan.h"
#include "methods/cpu/isa/isa.h"
#include "linear_lowrank.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"

extern const struct hx_method hx_method_linear_lowrank;

enum { MOST_ASKED = 65536, QKV = 1 << HX_WQ | 1 << HX_WK | 1 << HX_WV, FFN = 1 << HX_GATE | 1 << HX_UP | 1 << HX_DOWN };

static const char *const bases[] = {"shared", "per-slot", NULL}, *const norms[] = {"none", "slot", NULL};
static const char *const solvers[] = {"auto", "eigen", "subspace", NULL}, *const sources[] = {"weights", "text", NULL};
static const char *const formats[] = {"f32", "f16", "q8_0", NULL}, *const appliers[] = {"cpu", "ref", NULL};
static const uint32_t types[] = {HX_QUANT_F32, HX_QUANT_F16, HX_QUANT_Q8_0};
static const char *const states[] = {"none", "hit", "built", "rebuilt"};

static const struct hx_option options[] = {
    {.name = "axex-compress", .flags = HX_OPTION_CHOOSES | HX_OPTION_SHAPES, .help = "wq, wk, wv as products of two thin matrices"},
    {.name = "axex-attn-only", .flags = HX_OPTION_SHAPES, .help = "and wo as well, unless --axex-skip-o; nothing of the FFN"},
    {.name = "axex-skip-o", .flags = HX_OPTION_SHAPES, .help = "wo stays as it is"},
    {.name = "axex-ffn-compress", .flags = HX_OPTION_CHOOSES | HX_OPTION_SHAPES, .help = "gate, up and down beside wq, wk, wv"},
    {.name = "axex-full-compress", .flags = HX_OPTION_CHOOSES | HX_OPTION_SHAPES, .help = "all seven of a layer"},
    {.name = "axex-compress-rank", .arg = "N|auto", .def = "auto", .flags = HX_OPTION_SHAPES,
     .help = "rank, 1536 at most; auto: no more numbers than before, and a layer's fit into VTCM"},
    {.name = "axex-rank-plan", .arg = "FILE",
     .help = "ranks by layer, and gains, as hexrig subspace mcr, learn and gauge write them; others: --axex-compress-rank"},
    {.name = "axex-sink-bypass", .arg = "FILE",
     .help = "bases have one direction more, and begin with what comes in at sinks of that text, if they miss it"},
    {.name = "axex-thermal", .flags = HX_OPTION_SHAPES,
     .help = "ranks fall as the rig gets hotter, by its node thermal; nothing is handed over for that"},
    {.name = "axex-thermal-least", .arg = "R", .def = "32", .min = HX_LOWRANK_STEP, .max = HX_LOWRANK_MOST, .of = "axex-thermal",
     .flags = HX_OPTION_SHAPES, .help = "rank of the hottest, a multiple of 32"},
    {.name = "axex-thermal-low", .arg = "C", .def = "65", .max = 200, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL,
     .help = "up to here ranks are whole"},
    {.name = "axex-thermal-high", .arg = "C", .def = "85", .max = 200, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL,
     .help = "from here on they are the least"},
    {.name = "axex-thermal-power", .arg = "W", .def = "0", .max = 1000, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL,
     .help = "budget, beyond which they fall as well; 0: none"},
    {.name = "axex-weight-pca", .help = "bases of the weights, which is the default"},
    {.name = "grc-basis", .arg = "shared|per-slot", .def = "shared", .names = bases, .flags = HX_OPTION_SHAPES,
     .help = "wq, wk and wv have one basis, or each its own, as all others have"},
    {.name = "grc-norm", .arg = "none|slot", .def = "none", .names = norms,
     .help = "slot: matrices of one basis count alike, whatever their norms"},
    {.name = "grc-solver", .arg = "auto|eigen|subspace", .def = "auto", .names = solvers,
     .help = "eigenvectors of the whole matrix, or of a subspace (above 1024 rows)"},
    {.name = "basis-from", .arg = "weights|text", .def = "weights", .names = sources,
     .help = "bases for the least error of weights, or of what they make of a text"},
    {.name = "basis-text", .arg = "FILE", .of = "basis-from", .help = "that text"},
    {.name = "wproj-format", .arg = "f32|f16|q8_0", .def = "f32", .names = formats, .flags = HX_OPTION_SHAPES,
     .help = "number format of the thin matrices"},
    {.name = "wproj-cache", .arg = "DIR|none",
     .help = "folder for the thin matrices of this start ($XDG_CACHE_HOME/hexrig, else ~/.cache/hexrig)"},
    {.name = "wproj-by", .arg = "cpu|ref", .def = "cpu", .names = appliers,
     .help = "who applies them, and the matrices that stay: linear method cpu, or the reference"},
    {.name = "placement", .arg = "ddr|vtcm|dma|resident|auto", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP}, /* told about with linear method dsp */
    {.name = NULL},
};

/* --- options */

/* 0: auto.  -1: no rank. */
static long rank_of(const char *text)
{
    char *end;
    long n;

    if (strcmp(text, "auto") == 0)
        return 0;
    errno = 0;
    n = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && n >= 1 && n <= MOST_ASKED ? n : -1;
}

static int excludes(const struct hx_plan *p, const char *a, const char *b, struct hx_error *err)
{
    if (!hx_plan_given(p, a) || !hx_plan_given(p, b))
        return 0;
    return hx_error_set(err, -EINVAL, "%s%s and %s%s exclude each other", hx_plan_prefix(p), a, hx_plan_prefix(p), b);
}

static int check_text(const struct hx_plan *p, struct hx_error *err)
{
    const int text = hx_plan_index(p, "basis-from") == 1;

    if (text && hx_plan_given(p, "axex-weight-pca"))
        return hx_error_set(err, -EINVAL, "%sbasis-from text and %saxex-weight-pca exclude each other", hx_plan_prefix(p),
                            hx_plan_prefix(p));
    if (text != hx_plan_given(p, "basis-text"))
        return hx_error_set(err, -EINVAL, text ? "%sbasis-from text needs %sbasis-text" : "%sbasis-text needs %sbasis-from text",
                            hx_plan_prefix(p), hx_plan_prefix(p));
    return 0;
}

static struct hx_thermal_rank_cfg heat_of(const struct hx_plan *p)
{
    return (struct hx_thermal_rank_cfg){.least = hx_plan_number(p, "axex-thermal-least"), .low_c = hx_plan_real(p, "axex-thermal-low"),
                                        .high_c = hx_plan_real(p, "axex-thermal-high"), .budget_w = hx_plan_real(p, "axex-thermal-power")};
}

static int check_heat(const struct hx_plan *p, struct hx_error *err)
{
    const struct hx_thermal_rank_cfg h = heat_of(p);

    if (h.least % HX_LOWRANK_STEP)
        return hx_error_set(err, -EINVAL, "%saxex-thermal-least %zu; legal: multiples of %d", hx_plan_prefix(p), h.least, HX_LOWRANK_STEP);
    if (!(h.low_c < h.high_c))
        return hx_error_set(err, -EINVAL, "%saxex-thermal-low %g; %saxex-thermal-high is %g", hx_plan_prefix(p), h.low_c,
                            hx_plan_prefix(p), h.high_c);
    return 0;
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    const char *rank = hx_plan_text(p, "axex-compress-rank");
    int rc = excludes(p, "axex-attn-only", "axex-ffn-compress", err);

    if (!rc)
        rc = excludes(p, "axex-attn-only", "axex-full-compress", err);
    if (!rc && rank_of(rank) < 0)
        rc = hx_error_set(err, -EINVAL, "%s: unknown value '%.64s'; legal: auto, or integers from 1 to %d",
                          hx_plan_spell(p, "axex-compress-rank"), rank, MOST_ASKED);
    if (!rc)
        rc = check_heat(p, err);
    return rc ? rc : check_text(p, err);
}

static uint32_t matrices_of(const struct hx_plan *p)
{
    const int skip_o = hx_plan_given(p, "axex-skip-o");
    uint32_t set = QKV;

    if (hx_plan_given(p, "axex-full-compress"))
        set = HX_LAYER_MATRICES;
    if (hx_plan_given(p, "axex-ffn-compress"))
        set |= FFN;
    if (hx_plan_given(p, "axex-attn-only"))
        set |= 1 << HX_WO;
    return skip_o ? set & ~(1u << HX_WO) : set;
}

/* What stands behind the method's name in a map wins. */
static size_t asked_rank(const struct hx_plan *p, const struct hx_linear_set *set, const struct hx_watch *watch)
{
    const size_t rank = (size_t)rank_of(set->arg ? set->arg : hx_plan_text(p, "axex-compress-rank"));

    if (rank <= HX_LOWRANK_MOST)
        return rank;
    hx_watch_note(watch, "rank %zu is above the cap of %d, which it becomes", rank, HX_LOWRANK_MOST);
    return HX_LOWRANK_MOST;
}

/* Shapes alone have no matrices but those on the DSP: the output matrix may be this method's all the same. */
static int out_is_elsewhere(const struct hx_plan *p)
{
    return !hx_plan_has_weights(p) && hx_plan_linear(p, 0, HX_OUT).method == &hx_method_linear_lowrank;
}

static int open_planned(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                        const struct hx_rank_plan *plan, struct hx_error *err)
{
    const struct hx_plan *p = o->plan;
    const char *cache = hx_plan_text(p, "wproj-cache");
    const int heats = hx_plan_given(p, "axex-thermal");
    const struct hx_thermal_rank_cfg heat = heat_of(p);
    char *usual = cache ? NULL : hx_wproj_cache_folder();
    const struct hx_lowrank_cfg cfg = {
        .shape = {.rank = asked_rank(p, set, o->watch), .plan = plan, .matrices = matrices_of(p),
                  .per_slot = hx_plan_index(p, "grc-basis") == 1, .out_is_elsewhere = out_is_elsewhere(p),
                  .sink = hx_plan_given(p, "axex-sink-bypass"), .least = heats ? heat.least : 0,
                  .format = types[hx_plan_index(p, "wproj-format")]},
        .how = {(enum hx_lowrank_solver)hx_plan_index(p, "grc-solver"), hx_plan_index(p, "grc-norm") == 1, NULL,
                plan ? plan->gain : NULL},
        .reference = hx_plan_index(p, "wproj-by") == 1,
        .text = hx_plan_text(p, "basis-text"),
        .sink_text = hx_plan_text(p, "axex-sink-bypass"),
        .heat = heats ? &heat : NULL,
        .placement = (uint32_t)hx_plan_index(p, "placement"),
        .packets = hx_plan_packets(p),
        .shapes_alone = !hx_plan_has_weights(p),
        .folder = !cache ? usual : strcmp(cache, "none") == 0 ? NULL : cache,
    };
    int rc = hx_linear_lowrank_open(out, o, set, &cfg, err);

    free(usual);
    return rc;
}

static int open_lowrank(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                        struct hx_error *err)
{
    const char *path = hx_plan_text(o->plan, "axex-rank-plan");
    struct hx_rank_plan plan = {0};
    int rc = path ? hx_rank_plan_read(&plan, path, o->model, err) : 0;

    if (!rc && plan.gain && hx_plan_given(o->plan, "basis-text"))
        rc = hx_error_set(err, -EINVAL, "%s: it has gains, which are for bases of weights", path);
    if (!rc)
        rc = open_planned(out, o, set, path ? &plan : NULL, err);
    hx_rank_plan_free(&plan);
    return rc;
}

/* --- report */

/* Of the matrices of one kind, over the layers. */
struct kind {
    size_t n, rank_min, rank_max, known;
    double rel_f2, eckart_young, rho_min;
};

/* Errors this small are rounding: the quotient of two of them says nothing. */
static const double nothing = 1e-12;

static void add(struct kind *k, const struct hx_lowrank_part *part, size_t rank)
{
    k->rank_min = !k->n || rank < k->rank_min ? rank : k->rank_min;
    k->rank_max = rank > k->rank_max ? rank : k->rank_max;
    k->n++;
    k->rel_f2 += part->rel_f2;
    if (part->eckart_young < 0)
        return;
    k->eckart_young += part->eckart_young;
    if (part->eckart_young > nothing && (!k->rho_min || part->rel_f2 / part->eckart_young < k->rho_min))
        k->rho_min = part->rel_f2 / part->eckart_young;
    k->known++;
}

static json_t *kind_json(const struct kind *k)
{
    json_t *j = json_pack("{s:I, s:f}", "rank", (json_int_t)k->rank_min, "rel_f2", k->rel_f2 / (double)k->n);

    if (k->rank_max != k->rank_min)
        json_object_set_new(j, "rank_most", json_integer((json_int_t)k->rank_max));
    if (k->known == k->n)
        json_object_set_new(j, "eckart_young", json_real(k->eckart_young / (double)k->n));
    if (k->known == k->n && k->rho_min > 0)
        json_object_set_new(j, "rho_least", json_real(k->rho_min));
    return j;
}

static void add_kinds(json_t *to, const struct hx_lowrank_factors *f)
{
    struct kind kinds[HX_PER_LAYER] = {{0}};

    for (size_t i = 0; i < f->n_parts; i++)
        add(&kinds[f->parts[i].which], &f->parts[i], f->bases[f->parts[i].basis].rank);
    for (int w = 0; w < HX_PER_LAYER; w++)
        if (kinds[w].n)
            json_object_set_new(to, hx_matrix_names[w], kind_json(&kinds[w]));
}

/* Means over the bases that there was a sink for. */
static json_t *sink_json(const struct hx_lowrank_factors *f, const struct hx_lowrank_told *told)
{
    double held = 0, cosine = 0, lost = 0, without = 0;
    size_t n = 0, first = 0;
    json_t *j;

    for (size_t i = 0; i < f->n_bases; i++) {
        const struct hx_lowrank_basis *b = &f->bases[i];

        if (b->sink.held < 0)
            continue;
        n++;
        first += (size_t)b->sink.first;
        held += b->sink.held;
        cosine = b->sink.cosine > cosine ? b->sink.cosine : cosine;
        lost += b->sink.lost;
        without += b->sink.lost_without;
    }
    j = json_pack("{s:I, s:I, s:f, s:I, s:I}", "tokens", (json_int_t)told->sink_tokens, "found", (json_int_t)told->sinks, "most_sigma",
                  told->sink_sigma, "bases", (json_int_t)n, "added", (json_int_t)first);
    if (j && n) {
        json_object_set_new(j, "held", json_real(held / (double)n));
        json_object_set_new(j, "cosine_most", json_real(cosine));
        json_object_set_new(j, "lost_without", json_real(without / (double)n));
        json_object_set_new(j, "lost", json_real(lost / (double)n));
    }
    return j;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_lowrank_factors *f = hx_linear_lowrank_factors(self);
    const struct hx_lowrank_bytes b = hx_lowrank_bytes(f);
    const struct hx_lowrank_told told = hx_linear_lowrank_told(self);
    const struct hx_lowrank_heat *heat = hx_linear_lowrank_heat(self);
    json_t *j;

    (void)kv;
    j = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:s, s:f}", "basis", hx_plan_text(p, "grc-basis"), "from",
                  hx_plan_text(p, "basis-from"), "format", hx_plan_text(p, "wproj-format"), "matrices", (json_int_t)f->n_parts,
                  "bases", (json_int_t)f->n_bases, "bytes_per_token", (json_int_t)b.factors, "raw_bytes_per_token",
                  (json_int_t)b.raw, "raw_bytes_per_token_same_format", (json_int_t)b.same_format, "ratio",
                  (double)b.factors / (double)b.raw, "ratio_same_format", (double)b.factors / (double)b.same_format, "cache",
                  states[told.state], "seconds", told.seconds);
    if (j && told.path)
        json_object_set_new(j, "cache_file", hx_json_text(told.path));
    if (j && told.vectors)
        json_object_set_new(j, "text_vectors", json_integer((json_int_t)told.vectors));
    if (j)
        add_kinds(j, f);
    if (j && told.sink_tokens)
        json_object_set_new(j, "sink", sink_json(f, &told));
    if (j && heat)
        json_object_set_new(j, "thermal", hx_lowrank_heat_json(heat, f));
    return j;
}

/* Factors that share their input share a call, as matrices do. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_plan_linear_calls(p, &hx_method_linear_lowrank, s));
}

const struct hx_method hx_method_linear_lowrank = {
    .name = "lowrank",
    .aka = "grc",
    .seam = HX_SEAM_LINEAR,
    .about = "products of two thin matrices: GRC's shared basis of wq, wk, wv, or a basis for each",
    .arg = "RANK",
    .arg_min = 1,
    .arg_max = MOST_ASKED,
    .options = options,
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ARGMAX | HX_TRAIT_SHAPES,
    .kernels = hx_isa_best,
    .check = check,
    .open.linear = open_lowrank,
    .reports = "lowrank",
    .report = report,
    .calls = calls,
};
