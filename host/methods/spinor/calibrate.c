/* Calibration of the block's tables, see calibrate.h.  The text is run once per pass of the fit, so that memory does not
 * grow with the text. */
#include "calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cal_fit.h"
#include "engine/forward.h"
#include "model/rope.h"
#include "text/text.h"

static const struct hx_fit *const fits[HX_BASES] = {
    [HX_BASIS_VHT2] = &hx_fit_vht2,
    [HX_BASIS_VHT2W] = &hx_fit_vht2,
    [HX_BASIS_KLT] = &hx_fit_klt,
};

/* --- runs over a text */

struct visit {
    struct hx_tap tap; /* first: sees K and V of every layer go by */
    struct hx_tap *taps[2];
    const struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
    struct hx_ropes ropes;
    int k_after_rope;
    size_t ctx;
    hx_cal_visit_fn *fn;
    void *arg;
};

/* All K or all V of one layer of the window that runs. */
static int visit_rows(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct visit *v = (struct visit *)t;
    const size_t n_kv = v->m->n_kv, dh = v->m->dh;
    const int is_k = at->point == HX_TAP_K;
    const struct hx_rope *rope = hx_ropes_of(&v->ropes, at->layer);
    float x[HX_BLOCK_MAX_DH];

    (void)err;
    for (size_t i = 0; i < at->n; i++)
        for (size_t head = 0; head < n_kv; head++) {
            memcpy(x, rows + i * at->row + head * dh, dh * sizeof(*x));
            if (is_k && !v->k_after_rope)
                hx_rope_undo(rope, x, at->pos[i]);
            v->fn(v->arg, at->layer * 2 * n_kv + (is_k ? 0 : n_kv) + head, x);
        }
    return 0;
}

static int visit_windows(struct visit *v, const uint32_t *ids, size_t n_windows,
                         struct hx_error *err)
{
    int rc = 0;

    for (size_t w = 0; !rc && w < n_windows; w++)
        rc = hx_forward_run(v->f, ids + w * v->ctx, v->ctx, 0, err);
    return rc;
}

static int open_visit(struct visit *v, struct hx_error *err)
{
    const struct hx_model *m = v->m;
    int rc;

    if (hx_ropes_init(&v->ropes, &m->rope, v->ctx))
        return hx_error_set(err, -ENOMEM, "calibration: out of memory");
    rc = hx_kv_f32_open(&v->kv, m->n_layer, m->n_kv, m->dh, v->ctx, err);
    if (!rc)
        rc = hx_attn_ref_open(&v->attn, v->ctx, err);
    if (!rc)
        rc = hx_forward_open(&v->f, m, v->kv, v->attn, v->ctx, err);
    v->taps[0] = &v->tap;
    return rc ? rc : hx_forward_use(v->f, &(struct hx_forward_parts){.taps = v->taps}, err);
}

static size_t window(size_t n_ids)
{
    return n_ids < HX_CAL_CTX ? n_ids : HX_CAL_CTX;
}

static size_t windows(size_t n_ids)
{
    const size_t n = n_ids / window(n_ids);

    return n < HX_CAL_WINDOWS ? n : HX_CAL_WINDOWS;
}

static int check(const struct hx_model *m, size_t n_ids, struct hx_error *err)
{
    if (!hx_block_shape(m->dh))
        return hx_error_set(err, -EINVAL, "calibration: the model's head dimension is %zu; blocks "
                          "need 64, 128, 256 or 512", m->dh);
    if (n_ids < HX_CAL_MIN_VECTORS)
        return hx_error_set(err, -EINVAL, "calibration: the text has %zu tokens; at least %d are "
                          "needed", n_ids, HX_CAL_MIN_VECTORS);
    return 0;
}

int hx_cal_visit(const struct hx_model *m, int k_after_rope, const uint32_t *ids, size_t n_ids,
                 hx_cal_visit_fn *fn, void *arg, size_t *n_vectors, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "calibration", .at = visit_rows};
    struct visit v = {.tap = {&ops, 1u << HX_TAP_K | 1u << HX_TAP_V}, .m = m, .k_after_rope = k_after_rope,
                      .fn = fn, .arg = arg};
    int rc = check(m, n_ids, err);

    if (rc)
        return rc;
    v.ctx = window(n_ids);
    *n_vectors = windows(n_ids) * v.ctx;
    rc = open_visit(&v, err);
    if (!rc)
        rc = visit_windows(&v, ids, windows(n_ids), err);
    hx_forward_close(v.f);
    hx_attn_close(v.attn);
    hx_kv_close(v.kv);
    hx_ropes_free(&v.ropes);
    return rc;
}

/* --- fit */

/* Vectors in n-1 directions at most have no n-th: klt would code noise there. */
static int check_directions(const struct hx_codec_format *f, size_t n_ids, struct hx_error *err)
{
    const size_t lanes = f->shape->n_skel + f->shape->n_res, ctx = window(n_ids), n = windows(n_ids) * ctx;

    if (f->basis != HX_BASIS_KLT || n > lanes)
        return 0;
    return hx_error_set(err, -EINVAL, "calibration: the text has %zu tokens, %zu window%s of %zu: %zu vectors per slot; klt has %zu "
                        "directions at head dimension %u and needs more vectors than that", n_ids, windows(n_ids),
                        windows(n_ids) == 1 ? "" : "s", ctx, n, lanes, f->shape->dh);
}

struct job {
    struct hx_cal *cal;
    const struct hx_fit *fit;
    size_t pass, n_sums;
    double *sums; /* [n_slots][n_sums] */
    size_t n_kv;
};

static void add(void *arg, size_t slot, const float *x)
{
    struct job *j = arg;

    j->fit->add[j->pass](&j->cal->format, hx_cal_table(j->cal, slot), j->sums + slot * j->n_sums,
                         x);
}

/* Adds one slot to what is told about its part. */
static void look(struct job *j, size_t slot, const struct hx_fit_seen *seen)
{
    struct hx_cal_part_seen *part = slot / j->n_kv % 2 ? &j->cal->seen.v : &j->cal->seen.k;
    const int first = slot == 0 || slot == j->n_kv;

    part->retained += seen->retained / (j->cal->n_slots / 2.0);
    part->retained_min = first ? seen->retained : fmin(part->retained_min, seen->retained);
    part->rank_min = first || seen->rank < part->rank_min ? seen->rank : part->rank_min;
}

static int finish(struct job *j, size_t n_vectors, struct hx_error *err)
{
    struct hx_error detail = {""};

    for (size_t slot = 0; slot < j->cal->n_slots; slot++) {
        void *table = hx_cal_table(j->cal, slot);
        struct hx_fit_seen seen = {0};
        int rc = j->fit->finish[j->pass](&j->cal->format, j->sums + slot * j->n_sums,
                                         (double)n_vectors, table, &seen, &detail);
        const int last = j->pass + 1 == HX_FIT_PASSES || !j->fit->add[j->pass + 1];

        if (!rc && last && hx_codec_check_table(&j->cal->format, table))
            rc = hx_error_set(&detail, -EDOM, "its numbers exceed fp16");
        if (j->pass == 0)
            look(j, slot, &seen);
        if (rc)
            return hx_error_set(err, rc, "calibration: slot %zu cannot be fitted: %s", slot,
                                detail.text);
    }
    return 0;
}

static int run_job(struct job *j, const struct hx_model *m, const uint32_t *ids, size_t n_ids,
                   struct hx_error *err)
{
    size_t n_vectors;
    int rc = 0;

    for (j->pass = 0; !rc && j->pass < HX_FIT_PASSES && j->fit->add[j->pass]; j->pass++) {
        memset(j->sums, 0, j->cal->n_slots * j->n_sums * sizeof(*j->sums));
        rc = hx_cal_visit(m, j->cal->k_after_rope, ids, n_ids, add, j, &n_vectors, err);
        if (!rc)
            rc = finish(j, n_vectors, err);
    }
    return rc;
}

int hx_calibrate(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *cfg,
                 const uint32_t *ids, size_t n_ids, struct hx_error *err)
{
    struct hx_codec_format f;
    struct job j = {.fit = fits[cfg->basis], .n_kv = m->n_kv};
    int rc = check(m, n_ids, err);

    if (rc)
        return rc;
    if (hx_codec_format_lanes(&f, m->dh, cfg->n_skel, cfg->n_res, cfg->basis, cfg->code))
        return hx_error_set(err, -EINVAL, "calibration: no blocks of head dimension %zu with %zu skeleton and %zu residual lanes; "
                            "legal: up to %d, up to %u, and at most %d bytes in all", m->dh,
                            cfg->n_skel ? cfg->n_skel : HX_BLOCK_SKEL,
                            cfg->n_res ? cfg->n_res : hx_block_shape(m->dh)->n_res, HX_BLOCK_MAX_SKEL,
                            hx_block_shape(m->dh)->n_res, HX_BLOCK_MAX_SLOT - 1);
    rc = check_directions(&f, n_ids, err);
    if (rc)
        return rc;
    j.n_sums = j.fit->n_sums(&f);
    j.cal = hx_cal_alloc(&f, (uint32_t)(m->n_layer * 2 * m->n_kv));
    if (j.cal)
        j.sums = calloc(j.cal->n_slots, j.n_sums * sizeof(*j.sums));
    if (!j.sums) {
        hx_cal_free(j.cal);
        return hx_error_set(err, -ENOMEM, "calibration: out of memory");
    }
    j.cal->k_after_rope = cfg->k_after_rope;
    j.cal->fingerprint = m->fingerprint;
    j.cal->seen = (struct hx_cal_seen){.windows = windows(n_ids), .ctx = window(n_ids), .vectors = windows(n_ids) * window(n_ids)};
    rc = run_job(&j, m, ids, n_ids, err);
    free(j.sums);
    if (rc)
        hx_cal_free(j.cal);
    else
        *out = j.cal;
    return rc;
}

int hx_calibrate_text(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *cfg,
                      const char *path, struct hx_error *err)
{
    uint32_t *ids;
    size_t n;
    int rc = hx_text_encode(m->tok, path, &ids, &n, err);

    if (rc)
        return rc;
    rc = hx_calibrate(out, m, cfg, ids, n, err);
    free(ids);
    return rc;
}
