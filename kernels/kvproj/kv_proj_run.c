/* Projects, stores and attends, see kv_proj_run.h. */
#include "kv_proj_run.h"

#include "AEEStdErr.h"
#include "HAP_perf.h"
#include "layer/layer_attn.h"
#include "skel/parallel.h"

enum { WORDS = HX_KV_PROJ_WORDS, HALVES = 64 };

/* The matrices and memory of a KV head. */
struct head {
    const float *of_k, *of_v, *back; /* [dh][directions], likewise, [directions][dh] */
    uint8_t *k, *v;
};

static size_t directions(const kv_proj_shape *s)
{
    return hx_kv_proj_round(s->rank, WORDS);
}

static struct head head_of(const struct hx_proj_call *c, size_t kv_head)
{
    const kv_proj_shape *s = &c->model->shape;
    const size_t i = c->layer * s->kv_heads + kv_head, floats = hx_kv_proj_matrix_floats(s->dh, s->rank);
    const float *bases = c->model->bases + i * 3 * floats;
    uint8_t *past = c->model->past + i * hx_kv_proj_head_bytes(s->positions, s->rank, s->z_bytes);

    return (struct head){bases, bases + floats, bases + 2 * floats, past, past + hx_kv_proj_k_bytes(s->positions, s->rank, s->z_bytes)};
}

/* --- scratch: of each thread two vectors of coefficients, and scores */

static size_t z_floats(const kv_proj_shape *s)
{
    return hx_kv_proj_round(s->rank, HALVES);
}

static size_t thread_floats(const kv_proj_shape *s)
{
    return 2 * z_floats(s) + hx_kv_proj_round((size_t)s->positions + 1, HALVES);
}

size_t hx_proj_scratch_bytes(const kv_proj_shape *s)
{
    return HX_PROJ_THREADS * thread_floats(s) * sizeof(float);
}

static float *scratch_of(const struct hx_proj_call *c, unsigned thread)
{
    return (float *)c->scratch + thread * thread_floats(&c->model->shape);
}

/* --- steps */

/* Zeros from the end of what was computed to that of the vector. */
static void clear(float *z, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        z[i] = 0;
}

/* z = U^T x */
static void project(const kv_proj_shape *s, const float *basis, const float *x, float *z)
{
    hx_proj_sum_hvx(x, basis, (int)s->dh, (int)(directions(s) / WORDS), z);
    clear(z, directions(s), z_floats(s));
}

static void store(const struct hx_proj_call *c)
{
    const kv_proj_shape *s = &c->model->shape;
    float *z_k = scratch_of(c, 0), *z_v = z_k + z_floats(s);

    for (size_t h = 0; h < s->kv_heads; h++) {
        const struct head head = head_of(c, h);

        for (size_t i = 0; i < c->n; i++) {
            const size_t at = (i * s->kv_heads + h) * s->dh;

            project(s, head.of_k, c->k + at, z_k);
            project(s, head.of_v, c->v + at, z_v);
            c->model->form->put(head.k, head.v, c->first + i, z_k, z_v, (int)s->rank);
        }
    }
}

/* One head of one token. */
static void attend(const struct hx_proj_call *c, size_t token, size_t q_head, unsigned thread)
{
    const kv_proj_shape *s = &c->model->shape;
    const struct hx_proj_form *form = c->model->form;
    const size_t kv_head = q_head / (c->heads / s->kv_heads), past = c->first + token, tile = hx_kv_proj_tile(s->z_bytes);
    const struct head head = head_of(c, kv_head);
    const float *q = c->q + (token * c->heads + q_head) * s->dh;
    const size_t own = (token * s->kv_heads + kv_head) * s->dh;
    const int vectors = (int)(s->dh / WORDS);
    float *z = scratch_of(c, thread), *scores = z + 2 * z_floats(s), *y = c->y + (token * c->heads + q_head) * s->dh;
    float weight;

    project(s, head.of_k, q, z);
    form->scores(z, head.k, (int)s->rank, (int)(past / tile + 1), c->scale, scores);
    scores[past] = c->scale * hx_proj_dot_hvx(q, c->k + own, vectors);
    hx_layer_softmax_hvx(scores, 0, (int)past + 1);
    weight = scores[past];
    scores[past] = 0; /* a number of positions that is odd has this one with it */
    form->values(scores, head.v, (int)hx_kv_proj_round(past, 2), (int)s->rank, z);
    clear(z, s->rank, z_floats(s));
    hx_proj_sum_hvx(z, head.back, (int)directions(s), vectors, y);
    hx_proj_mix_hvx(y, weight, c->v + own, vectors);
}

static int attend_share(void *arg, struct hx_part part)
{
    const struct hx_proj_call *c = arg;
    const struct hx_share s = hx_share_of(c->n * c->heads, part);

    for (size_t i = s.first; i < s.first + s.n; i++)
        attend(c, i / c->heads, i % c->heads, part.index);
    return AEE_SUCCESS;
}

int hx_proj_call_run(const struct hx_proj_call *c, kv_proj_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time unused = {0, 0};
    struct hx_proj_call call = *c;
    uint64_t stored;
    int rc;

    store(c);
    stored = HAP_perf_get_pcycles();
    rc = hx_parallel(c->threads, attend_share, &call, &unused, &hx_handover_pair);
    cycles->project = stored - started;
    cycles->attention = HAP_perf_get_pcycles() - stored;
    cycles->total = cycles->project + cycles->attention;
    return rc;
}
