/* Asks the cost model for a forward pass, see forward.h. */
#include "forward.h"

#include <string.h>

#include "AEEStdErr.h"
#include "timing_pool.h"

/* --- layers of a model, as one call */

/* Of the block of weights, as silicon.idl describes it. */
struct block {
    uint8_t *at;
    struct hx_timing_pool *pool; /* numbers; the block's bytes are filled already */
};

static size_t padded(size_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

/* Scales and norms must be numbers, the codes may be any bytes. */
static void skip_floats(struct block *b, size_t bytes, size_t floats)
{
    float *f = (float *)(b->at + bytes);

    for (size_t i = 0; b->pool && i < floats; i++)
        f[i] = (float)(hx_pool_next(b->pool) & 0xffff) / 32768.0f - 1;
    b->at += padded(bytes + floats * sizeof(*f));
}

static void skip_matrix(struct block *b, int rows, int in)
{
    skip_floats(b, (size_t)rows * padded((size_t)in), (size_t)rows);
}

static void skip_layer(struct block *b, const silicon_geometry *g)
{
    const int heads = g->heads * g->head_width;

    skip_matrix(b, heads, g->width);
    skip_matrix(b, g->head_width, g->width);
    skip_matrix(b, g->head_width, g->width);
    skip_matrix(b, g->width, heads);
    skip_matrix(b, g->ffn, g->width);
    skip_matrix(b, g->ffn, g->width);
    skip_matrix(b, g->width, g->ffn);
    skip_floats(b, 0, 4 * (size_t)g->width + 2 * (size_t)g->head_width);
}

static size_t layer_bytes(const silicon_geometry *g)
{
    struct block nothing = {NULL, NULL};

    skip_layer(&nothing, g);
    return (size_t)(uintptr_t)nothing.at;
}

static uint8_t *make_weights(struct hx_timing_pool *p, const silicon_geometry *g, int layers, size_t bytes)
{
    uint8_t *weights = hx_pool_bytes(p, bytes);
    struct block b = {weights, p};

    for (int i = 0; weights && i < layers; i++)
        skip_layer(&b, g);
    for (int i = 0; weights && i < g->width; i++)
        ((float *)b.at)[i] = 1;
    return weights;
}

int hx_forward_run_layers(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    silicon_geometry g = hx_forward_models[0].geometry;

    g.ffn = a->shape[2] ? (int)a->shape[2] : g.ffn;
    const int layers = (int)a->shape[1], rows = (int)a->shape[0] * g.width, n_times = (layers + 1) * SILICON_PASS_TIMES;
    const size_t bytes = layer_bytes(&g) * (size_t)layers + (size_t)g.width * sizeof(float);
    float *x = hx_pool_floats(&p, (size_t)rows), *y = hx_pool_take(&p, (size_t)rows * sizeof(*y));
    uint8_t *weights = bytes <= INT32_MAX ? make_weights(&p, &g, layers, bytes) : NULL;
    uint64_t *times = hx_pool_take(&p, (size_t)n_times * sizeof(*times));
    int rc = p.failed || !weights ? AEE_ENOMEMORY : 0;

    g.tokens = (int)a->shape[0];
    rc = rc ? rc : silicon_forward(h, &a->how, &g, layers, x, rows, weights, (int)bytes, y, rows, times, n_times, c);
    if (!rc && a->times)
        memcpy(a->times, times, (size_t)n_times * sizeof(*times));
    return hx_pool_give_back(&p, rc);
}

int hx_forward_make_tables(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_ask cold = *a;

    cold.how.cold = 1;
    return a->how.cold || a->how.threads == 1 ? AEE_SUCCESS : hx_forward_run_layers(h, &cold, c);
}

/* --- a pass */

enum kind { STAGING, TABLES, ATTENTION, FFN, SCALAR };

static const char *where(enum kind kind, const silicon_how *how)
{
    static const char *const weights[][2] = {
        [SILICON_DDR] = {"DDR, 1 context", "DDR, 2 contexts"},
        [SILICON_VTCM] = {"VTCM, 1 context", "VTCM, 2 contexts"},
        [SILICON_DMA] = {"tiles by DMA, 1 context", "tiles by DMA, 2 contexts"},
    };
    const int two = how->threads == 2;

    switch (kind) {
    case STAGING: return "DDR to VTCM";
    case TABLES: return "DDR, scalar scan";
    case ATTENTION: return weights[how->placement == SILICON_DDR ? SILICON_DDR : SILICON_VTCM][two];
    case FFN: return weights[how->placement == SILICON_DMA ? SILICON_DMA : SILICON_DDR][two];
    default: return "scalar";
    }
}

/* Operations of a layer; per: how often, for each layer, token, query or row of q and k. */
enum per { LAYER, TOKEN, QUERY, HEAD };

static const struct operation {
    const char *name;
    enum kind kind;
    enum per per;
    int times;
} operations[SILICON_PASS_PCYCLES] = {
    [SILICON_PASS_STAGING] = {"copy of attention weights", STAGING, LAYER, 1},
    [SILICON_PASS_TABLES] = {"row sums of a matrix", TABLES, LAYER, 7},
    [SILICON_PASS_NORM] = {"rmsnorm", SCALAR, TOKEN, 4},
    [SILICON_PASS_Q] = {"matmul Q", ATTENTION, LAYER, 1},
    [SILICON_PASS_K] = {"matmul K", ATTENTION, LAYER, 1},
    [SILICON_PASS_V] = {"matmul V", ATTENTION, LAYER, 1},
    [SILICON_PASS_HEAD_NORM] = {"rmsnorm of a head", SCALAR, HEAD, 1},
    [SILICON_PASS_ROPE] = {"rope", SCALAR, HEAD, 1},
    [SILICON_PASS_SCORES] = {"attention scores", SCALAR, QUERY, 1},
    [SILICON_PASS_SOFTMAX] = {"softmax", SCALAR, QUERY, 1},
    [SILICON_PASS_VALUES] = {"attention values", SCALAR, QUERY, 1},
    [SILICON_PASS_O] = {"matmul O", ATTENTION, LAYER, 1},
    [SILICON_PASS_GATE] = {"matmul gate", FFN, LAYER, 1},
    [SILICON_PASS_UP] = {"matmul up", FFN, LAYER, 1},
    [SILICON_PASS_GELU] = {"gelu", SCALAR, TOKEN, 1},
    [SILICON_PASS_DOWN] = {"matmul down", FFN, LAYER, 1},
    [SILICON_PASS_ADD] = {"residual add", SCALAR, TOKEN, 2},
};

static uint64_t count(const struct hx_forward_ask *ask, const struct operation *op)
{
    const uint64_t tokens = (uint64_t)ask->tokens, heads = (uint64_t)ask->model->geometry.heads;
    const uint64_t per[] = {[LAYER] = 1, [TOKEN] = tokens, [QUERY] = tokens * heads, [HEAD] = tokens * (heads + 1)};

    return (uint64_t)(op->times * ask->model->layers) * per[op->per];
}

/* What is run: a first layer, one that stands for all others, and what follows the last. */
enum { FIRST, OTHER, END, RUN = END };

static double pcycles_per_ms(const uint64_t *row)
{
    return 1e3 * (double)row[SILICON_PASS_PCYCLES] / (double)row[SILICON_PASS_MICROSECONDS];
}

static void add_lines(const struct hx_forward_ask *ask, uint64_t times[][SILICON_PASS_TIMES], struct hx_forward *out)
{
    const double rate = pcycles_per_ms(times[OTHER]);

    for (int i = 0; i < SILICON_PASS_PCYCLES; i++) {
        struct hx_forward_line *line = &out->line[out->lines];
        const double once = (double)(times[FIRST][i] + times[END][i]), each = (double)times[OTHER][i];

        *line = (struct hx_forward_line){.name = operations[i].name, .where = where(operations[i].kind, &ask->how),
                                         .count = count(ask, &operations[i]) + (times[END][i] ? (uint64_t)ask->tokens : 0),
                                         .pcycles = once + each * (ask->model->layers - 1)};
        line->ms = line->pcycles / rate;
        out->lines += line->pcycles > 0;
    }
}

/* What is in no operation: the request for VTCM, and the steps between operations. */
static void add_rest(double dsp_ms, double rate, struct hx_forward *out)
{
    struct hx_forward_line rest = {.name = "rest", .where = "VTCM request, steps between", .count = 1, .ms = dsp_ms};

    for (int i = 0; i < out->lines; i++)
        rest.ms -= out->line[i].ms;
    rest.pcycles = rest.ms * rate;
    out->line[out->lines++] = rest;
}

static double host_ms(const struct hx_forward_ask *ask)
{
    return ask->host_ms < 0 ? ask->model->host_ms_per_token * ask->tokens : ask->host_ms;
}

int hx_forward(const struct hx_forward_ask *ask, hx_timing_asker *asker, struct hx_forward *out)
{
    uint64_t times[RUN + 1][SILICON_PASS_TIMES];
    const struct hx_timing_ask layers = {.kernel = "layers", .shape = {ask->tokens, RUN}, .how = ask->how, .shared = 1,
                                         .first = ask->first, .times = times[0]};
    int rc = asker(&layers, &out->call);

    if (rc)
        return rc;
    const double more_us = (double)times[OTHER][SILICON_PASS_MICROSECONDS] * (ask->model->layers - RUN);
    out->call.exec_us += more_us;
    out->call.wall_us += more_us;
    out->lines = 0;
    add_lines(ask, times, out);
    out->dsp_ms = out->call.exec_us / 1e3;
    add_rest(out->dsp_ms, pcycles_per_ms(times[OTHER]), out);
    out->call_ms = out->call.wall_us / 1e3;
    out->host_ms = host_ms(ask);
    out->ttft_ms = out->call_ms + out->host_ms;
    return 0;
}

/* --- in brief */

/* One layer's times, of so many tokens and rows of the FFN. */
static int ask_layer(const struct hx_forward_ask *ask, hx_timing_asker *asker, int tokens, int ffn, uint64_t *times)
{
    uint64_t all[2][SILICON_PASS_TIMES] = {{0}}; /* the layer, and what follows the last */
    const struct hx_timing_ask layer = {.kernel = "layers", .shape = {tokens, 1, ffn}, .how = ask->how, .shared = 1, .first = 1,
                                        .times = all[0]};
    struct hx_timing call;
    int rc = asker(&layer, &call);

    memcpy(times, all[0], sizeof(all[0]));
    return rc;
}

/* Operations that a layer with an FFN of one row does not have, or has less of. */
static int is_of_ffn(int operation)
{
    return operation == SILICON_PASS_TABLES || operation == SILICON_PASS_GELU || operations[operation].kind == FFN;
}

int hx_forward_brief(const struct hx_forward_ask *ask, hx_timing_asker *asker, double *ttft_us)
{
    enum { FEW = 2 };
    const int in_tiles = ask->how.placement == SILICON_DMA; /* fetched once for all tokens */
    const int tokens = ask->tokens, few = tokens < FEW || in_tiles ? tokens : FEW;
    uint64_t attention[SILICON_PASS_TIMES], ffn[SILICON_PASS_TIMES];
    double pcycles = 0;
    int rc = ask_layer(ask, asker, tokens, 1, attention);

    rc = rc ? rc : ask_layer(ask, asker, few, ask->model->geometry.ffn, ffn);
    if (rc)
        return rc;
    for (int i = 0; i < SILICON_PASS_PCYCLES; i++)
        pcycles += !is_of_ffn(i) ? (double)attention[i] : (double)ffn[i] * (i == SILICON_PASS_TABLES ? 1 : (double)tokens / few);
    *ttft_us = 1e3 * (pcycles * ask->model->layers / pcycles_per_ms(ffn) + host_ms(ask));
    return 0;
}

/* As a row asks for it: wall_us is the time to the first token. */
int hx_forward_answer(const struct hx_timing_ask *ask, hx_timing_asker *asker, struct hx_timing *out)
{
    const struct hx_forward_ask pass = {.model = &hx_forward_models[0], .tokens = (int)ask->shape[0], .how = ask->how,
                                        .first = ask->first, .host_ms = -1};
    struct hx_forward f;
    int rc = ask->shape[0] > HX_FORWARD_TOKENS_MAX ? AEE_EBADPARM : 0;

    memset(out, 0, sizeof(*out));
    if (!rc && ask->brief)
        return hx_forward_brief(&pass, asker, &out->wall_us);
    rc = rc ? rc : hx_forward(&pass, asker, &f);
    if (rc)
        return rc;
    *out = f.call;
    out->wall_us = f.ttft_ms * 1e3;
    return 0;
}
