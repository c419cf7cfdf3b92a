/* hexrig block stats: how well blocks hold the K and V of a model, per layer and head. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "engine/plan.h"
#include "methods/spinor/block_report.h"
#include "methods/spinor/cal_choose.h"
#include "hx_f16.h"
#include "methods/spinor/calibrate.h"
#include "cmd_block.h"
#include "cli/report.h"
#include "cli/share.h"
#include "text/text.h"

enum { WINDOWS = 8 }; /* of HX_CAL_CTX tokens */

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)", 0},
    {"file", 'f', "TEXT", 0, "text (share/hexrig/books-holdout.txt)", 0},
    {"cal", HX_BLOCK_OPT_CAL, "FILE", 0, "calibration (beside the model, or the shipped one)", 0},
    {"uncalibrated", HX_BLOCK_OPT_UNCALIBRATED, NULL, 0, "no calibration: predictions by the Moebius sum (basis vht2 or vht2w)", 0},
    {"basis", HX_BLOCK_OPT_BASIS, "B", 0, "vht2 | vht2w | klt (klt, or as in --cal)", 0},
    {"k-rope", HX_BLOCK_OPT_K_ROPE, "pre|post", 0, "K coded before or after RoPE (pre, or as in --cal)", 0},
    {"k", HX_BLOCK_OPT_K, "before|after", OPTION_HIDDEN, "", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const struct hx_block_syntax syntax = {
    .cmd = "block stats",
    .options = options,
    .doc = "Runs a model over the first 8 windows of 128 tokens of a text, encodes and decodes every K and V vector, and "
           "prints cosine and relative error (of summed squares) per layer and head; of the bases with a predictor also which share "
           "of the residual lanes' variance it explains (r2)."
           "\vExample: hexrig block stats --basis vht2 --json",
};

struct tally {
    size_t n;
    double cosine, cosine_min, error2, norm2; /* sums, but for the smallest cosine */
    double missed2, variance; /* of the residual lanes: what their prediction leaves, and all; sums of squares */
};

struct stats {
    struct hx_model *m;
    struct hx_cal *cal;
    struct hx_codec *codec;
    struct tally *tally; /* [n_slots] */
    double (*lane)[2];   /* [n_slots][n_res]: sum and sum of squares; NULL: nothing is predicted */
    size_t refused;      /* vectors that no block can hold */
};

/* What is left of the residual lanes once they are predicted. */
static void add_prediction(struct stats *s, size_t slot, const float *x)
{
    const struct hx_block_shape *shape = s->cal->format.shape;
    const uint16_t *skeleton_at = hx_codec_skeleton_at(s->codec, slot), *lane_at = hx_codec_lanes_at(s->codec, slot);
    double coef[HX_BLOCK_MAX_PAD];
    uint16_t skeleton[HX_BLOCK_MAX_SKEL];
    struct hx_codec_residual r;

    hx_codec_coefficients(s->codec, slot, x, coef);
    for (size_t j = 0; j < shape->n_skel; j++)
        skeleton[j] = hx_f16_from_f32((float)coef[skeleton_at[j]]);
    hx_codec_residual(s->codec, slot, coef, skeleton, &r);
    for (size_t i = 0; i < shape->n_res; i++) {
        const double c = coef[lane_at[i]], missed = r.sheet[i] ? 2 * c - (double)r.r[i] : (double)r.r[i];

        s->tally[slot].missed2 += missed * missed;
        s->lane[slot * shape->n_res + i][0] += c;
        s->lane[slot * shape->n_res + i][1] += c * c;
    }
}

/* Once all vectors were added. */
static void sum_variance(struct stats *s, size_t slot)
{
    const size_t n_res = s->cal->format.shape->n_res;
    struct tally *t = &s->tally[slot];

    for (size_t i = 0; s->lane && t->n && i < n_res; i++) {
        const double *lane = s->lane[slot * n_res + i];

        t->variance += lane[1] - lane[0] * lane[0] / (double)t->n;
    }
}

static void add(void *arg, size_t slot, const float *x)
{
    struct stats *s = arg;
    struct tally *t = &s->tally[slot];
    uint8_t block[HX_BLOCK_MAX_SLOT];
    float back[HX_BLOCK_MAX_DH];
    double dot = 0, xx = 0, bb = 0, error2 = 0, cosine;

    if (hx_codec_encode(s->codec, slot, x, block) || hx_codec_decode(s->codec, slot, block, back)) {
        s->refused++;
        return;
    }
    for (size_t i = 0; i < s->m->dh; i++) {
        const double a = (double)x[i], b = (double)back[i];

        dot += a * b;
        xx += a * a;
        bb += b * b;
        error2 += (a - b) * (a - b);
    }
    cosine = xx > 0 && bb > 0 ? dot / sqrt(xx * bb) : xx == bb;
    t->cosine_min = t->n ? fmin(t->cosine_min, cosine) : cosine;
    t->cosine += cosine;
    t->error2 += error2;
    t->norm2 += xx;
    t->n++;
    if (s->lane)
        add_prediction(s, slot, x);
}

static void merge(struct tally *to, const struct tally *t)
{
    to->cosine_min = to->n ? fmin(to->cosine_min, t->cosine_min) : t->cosine_min;
    to->cosine += t->cosine;
    to->error2 += t->error2;
    to->norm2 += t->norm2;
    to->missed2 += t->missed2;
    to->variance += t->variance;
    to->n += t->n;
}

static double relative_error(const struct tally *t)
{
    return t->norm2 > 0 ? sqrt(t->error2 / t->norm2) : 0;
}

static double r2(const struct tally *t)
{
    return 1 - t->missed2 / t->variance;
}

static json_t *tally_json(const struct tally *t)
{
    json_t *j = json_pack("{s:I, s:f, s:f, s:f}", "vectors", (json_int_t)t->n, "cosine",
                     t->n ? t->cosine / (double)t->n : 0, "cosine_min", t->cosine_min,
                     "relative_error", relative_error(t));

    if (t->variance > 0)
        json_object_set_new(j, "r2", json_real(r2(t)));
    return j;
}

/* One line or one JSON object per slot; sums them up by K and V. */
static json_t *rows(struct stats *s, int json, struct tally sum[2])
{
    static const char *const parts[] = {"k", "v"};
    const size_t n_kv = s->m->n_kv;
    json_t *list = json_array();

    for (size_t slot = 0; slot < s->cal->n_slots; slot++) {
        const struct tally *t = &s->tally[slot];
        const size_t layer = slot / (2 * n_kv), is_v = slot / n_kv % 2, head = slot % n_kv;
        char explained[32] = "";
        json_t *row = json_pack("{s:I, s:I, s:s}", "layer", (json_int_t)layer, "head",
                                (json_int_t)head, "part", parts[is_v]);

        sum_variance(s, slot);
        merge(&sum[is_v], t);
        if (t->variance > 0)
            snprintf(explained, sizeof(explained), " r2=%.6f", r2(t));
        json_object_update_new(row, tally_json(t));
        json_object_set_new(row, "bits_per_value",
                            json_real(8.0 * s->cal->format.shape->payload / (double)s->m->dh));
        json_array_append_new(list, row);
        if (!json)
            printf("layer=%zu head=%zu part=%s cosine=%.6f cosine_min=%.6f relative_error=%.6f%s\n",
                   layer, head, parts[is_v], t->n ? t->cosine / (double)t->n : 0, t->cosine_min,
                   relative_error(t), explained);
    }
    return list;
}

static int report(struct stats *s, const struct hx_block_opts *o)
{
    struct tally sum[2] = {{0}, {0}};
    json_t *list = rows(s, o->json, sum);
    json_t *j = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "model", hx_json_text(o->model),
                          "text", hx_json_text(o->text), "block",
                          hx_block_report(&s->cal->format, s->cal->k_after_rope), "k",
                          tally_json(&sum[0]), "v", tally_json(&sum[1]), "refused",
                          (json_int_t)s->refused);

    if (j && o->json)
        json_object_set(j, "rows", list);
    json_decref(list);
    return hx_report_print(o->cmd, j, o->json);
}

static int measure(struct stats *s, const struct hx_block_opts *o, const char *share,
                   struct hx_error *err)
{
    struct hx_plan *plan = NULL;
    uint32_t *ids = NULL;
    size_t n, n_vectors;
    int predicts, rc = hx_model_open(&s->m, o->model, hx_archs, err);

    if (!rc)
        rc = hx_block_plan(&plan, o, err);
    if (!rc)
        rc = hx_cal_choose(&s->cal,
                           &(struct hx_open){.plan = plan, .model = s->m, .model_path = o->model, .share = share}, 0,
                           err);
    hx_plan_close(plan);
    if (!rc)
        rc = hx_text_encode(s->m->tok, o->text, &ids, &n, err);
    if (rc)
        return rc;
    predicts = s->cal->format.basis != HX_BASIS_KLT;
    s->codec = hx_cal_codec(s->cal);
    s->tally = calloc(s->cal->n_slots, sizeof(*s->tally));
    if (predicts)
        s->lane = calloc((size_t)s->cal->n_slots * s->cal->format.shape->n_res, sizeof(*s->lane));
    if (!s->codec || !s->tally || (predicts && !s->lane))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    else
        rc = hx_cal_visit(s->m, s->cal->k_after_rope, ids,
                          n < WINDOWS * HX_CAL_CTX ? n : WINDOWS * HX_CAL_CTX, add, s, &n_vectors,
                          err);
    free(ids);
    return rc;
}

int hx_block_stats(int argc, char **argv)
{
    struct hx_block_opts o = {.json = 0};
    struct stats s = {.cal = NULL};
    struct hx_error err = {""};
    char *share = NULL, *model = NULL, *text = NULL;
    int rc = hx_block_parse(&o, &syntax, argc, argv);

    if (rc)
        return rc;
    share = hx_share("");
    model = hx_share("hexrig-tiny-q8_0.gguf");
    text = hx_share("books-holdout.txt");
    if (!share || !model || !text) {
        rc = hx_cmd_fail(o.cmd, "cannot find this program's share folder");
    } else {
        o.model = o.model ? o.model : model;
        o.text = o.text ? o.text : text;
        rc = measure(&s, &o, share, &err) ? hx_cmd_fail(o.cmd, "%s", err.text) : report(&s, &o);
    }
    free(s.lane);
    free(s.tally);
    free(s.codec);
    hx_cal_free(s.cal);
    hx_model_close(s.m);
    free(share);
    free(model);
    free(text);
    return rc;
}
