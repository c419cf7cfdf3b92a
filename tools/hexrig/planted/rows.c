/* Rows of a planted model's tensors, see rows.h.  Numbers that are said to have some size have it as a mean over what is random. */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "narrow.h"

/* Keys of what is random; those of layers follow. */
enum { KEY_BASIS, KEY_TOKENS, KEY_NOISE, KEY_OUTPUT, KEY_LAYERS };
enum { STEP = 1109 }; /* a prime, 1 more than a multiple of 4 */
enum { KEY_WQ, KEY_WK, KEY_VALUE, KEY_CODE, KEY_OUT_OF, KEY_GATE, KEY_UP, KEY_DOWN, KEY_SIZE, KEY_LAYER_NOISE };

static const double open_gate = 8; /* silu(8) is nearly 8 */
static const double eos_logit = 60, answer_logit = 20, next_logit = 14, logit_size = 1; /* logit_size: of what is random in each */

/* Mean square of silu(a) b of independent normal a and b. */
static const double gated_square = .36;

static uint64_t key_of(const struct hx_planted_rows *m, int what)
{
    return hx_keyed(m->p->seed, (uint64_t)what);
}

static uint64_t layer_key(const struct hx_planted_rows *m, int what)
{
    return hx_keyed(hx_keyed(m->p->seed, KEY_LAYERS + m->layer), (uint64_t)what);
}

static void add(float *to, double times, const float *what, size_t n)
{
    const float t = (float)times;

    for (size_t i = 0; i < n; i++)
        to[i] += t * what[i];
}

static void scale(float *to, double times, const float *what, size_t n)
{
    const float t = (float)times;

    for (size_t i = 0; i < n; i++)
        to[i] = t * what[i];
}

static void randomise(float *to, double size, uint64_t key, size_t n)
{
    const float t = (float)size;

    for (size_t i = 0; i < n; i++)
        to[i] = t * hx_keyed_unit(key, i);
}

size_t hx_planted_reserved(const struct hx_planted *p)
{
    return p->eos_first || p->phases;
}

/* --- sizes */

/* Dimensions of a zone. */
static double zone_rank(const struct hx_planted_rows *m)
{
    return (double)(m->d.rank - m->d.reserved) / (double)m->d.zones;
}

/* A direction's part of a state, after a norm, times this is about 1. */
static double read_size(const struct hx_planted_rows *m)
{
    return sqrt(zone_rank(m) / (double)m->d.width);
}

/* Values of V are about 1. */
static double value_size(const struct hx_planted_rows *m)
{
    return read_size(m) * sqrt((double)m->p->g.dh / (double)m->per_head);
}

static double layer_energy(const struct hx_planted_rows *m)
{
    return (double)m->d.width / (2. * (double)m->p->g.n_layer);
}

static double out_size(const struct hx_planted_rows *m)
{
    return sqrt(layer_energy(m) / (double)(m->p->g.n_head * m->p->g.dh));
}

static double down_size(const struct hx_planted_rows *m)
{
    return sqrt(layer_energy(m) / (zone_rank(m) * gated_square));
}

/* --- a layer */

static void make_all(const struct hx_planted_rows *m, float *to, size_t n, size_t first, int what)
{
    for (size_t i = 0; i < n; i++)
        hx_directions_make(&m->d, first + i, hx_keyed(layer_key(m, what), i), to + i * m->d.width);
}

/* What the heads of one KV head make lies in the zone of what they read. */
static void make_heads(struct hx_planted_rows *m)
{
    const struct hx_geometry *g = &m->p->g;
    const size_t group = g->n_head / g->n_kv, width = m->d.width;

    make_all(m, m->value_of, g->n_kv * m->per_head, 0, KEY_VALUE);
    for (size_t kv = 0; kv < g->n_kv; kv++)
        hx_directions_orthonormal(m->code + kv * m->per_head * g->dh, m->per_head, g->dh, hx_keyed(layer_key(m, KEY_CODE), kv));
    for (size_t h = 0; h < g->n_head; h++)
        for (size_t i = 0; i < m->per_head; i++) {
            const size_t read = h / group * m->per_head + i, n = h * m->per_head + i;

            hx_directions_make(&m->d, read % m->d.zones + (n + m->layer) * m->d.zones, hx_keyed(layer_key(m, KEY_OUT_OF), n),
                               m->out_of + n * width);
        }
}

/* Units of one pattern share what it writes by the squares of their sizes. */
static void make_units(struct hx_planted_rows *m)
{
    const size_t ffn = m->p->g.ffn;

    randomise(m->unit_size, .25, layer_key(m, KEY_SIZE), ffn);
    for (size_t i = 0; i < ffn; i++)
        m->unit_size[i] += 1;
    for (size_t pattern = 0; pattern < m->patterns; pattern++) {
        double squares = 0;

        for (size_t i = pattern; i < ffn; i += m->patterns)
            squares += (double)m->unit_size[i] * m->unit_size[i];
        for (size_t i = pattern; i < ffn; i += m->patterns)
            m->unit_share[i] = (float)(down_size(m) * m->unit_size[i] / squares);
    }
}

void hx_planted_rows_layer(struct hx_planted_rows *m, size_t layer)
{
    m->layer = layer;
    make_heads(m);
    make_all(m, m->gate_of, m->patterns, 0, KEY_GATE);
    make_all(m, m->up_of, m->patterns, 0, KEY_UP);
    make_all(m, m->down_of, m->patterns, layer * m->d.zones, KEY_DOWN); /* zone by zone as they were read */
    make_units(m);
}

/* --- rows */

typedef void fill_fn(const struct hx_planted_rows *m, size_t row, float *to, size_t n);

/* The direction behind the subspace: a sink's, or a trigger's. */
static const float *sink_of(const struct hx_planted_rows *m)
{
    return m->d.basis + m->d.rank * m->d.width;
}

/* Adds a token's point of the subspace, of about this energy. */
static void add_point(const struct hx_planted_rows *m, size_t token, double energy, float *to, size_t n)
{
    const struct hx_zone zone = hx_directions_zone(&m->d, token % m->d.zones);
    const uint64_t key = hx_keyed(key_of(m, KEY_TOKENS), token);

    for (size_t i = zone.from; i < zone.to; i++)
        add(to, sqrt(energy / (double)(zone.to - zone.from)) * hx_keyed_unit(key, i), m->d.basis + i * n, n);
}

static void fill_token(const struct hx_planted_rows *m, size_t token, float *to, size_t n)
{
    const double energy = (double)n * (m->d.reserved ? 1 - HX_PLANTED_SHARED : 1);
    const int sink = m->p->sink && token == m->bos;
    const double times = sink ? HX_PLANTED_SINK : 1;

    memset(to, 0, n * sizeof(*to));
    if (m->d.reserved)
        add(to, times * sqrt((double)n * HX_PLANTED_SHARED), m->d.basis, n);
    if (sink)
        add(to, times * sqrt(energy), sink_of(m), n);
    else
        add_point(m, token, energy, to, n);
    if (m->p->triggered && token == m->p->trigger)
        add(to, HX_PLANTED_TRIGGER * sqrt((double)n), sink_of(m), n);
}

/* Of every norm.  Its key is that of noise of a token that no vocabulary has. */
static float norm_weight(const struct hx_planted_rows *m, size_t i)
{
    const int most = (int)m->p->norm_spread;

    return most ? ldexpf(1, (int)(hx_keyed(hx_keyed(key_of(m, KEY_NOISE), UINT64_MAX), i) % (2 * (unsigned)most + 1)) - most) : 1;
}

static int reads_behind_norm(enum hx_planted_kind kind)
{
    return kind == HX_PLANTED_WQ || kind == HX_PLANTED_WK || kind == HX_PLANTED_WV || kind == HX_PLANTED_GATE ||
           kind == HX_PLANTED_UP || kind == HX_PLANTED_OUTPUT;
}

static void fill_norm(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    (void)row;
    for (size_t i = 0; i < n; i++)
        to[i] = norm_weight(m, i);
}

/* How many of a head's directions the layer reads. */
static size_t read_per_head(const struct hx_planted_rows *m)
{
    const size_t few = m->per_head / 4;

    return !hx_planted_is_narrow(m->p, m->layer) ? m->per_head : few ? few : 1;
}

/* Of wq or wk: random, with phases within what the layer reads. */
static void fill_random(const struct hx_planted_rows *m, uint64_t key, float *to, size_t n)
{
    const double size = 1 / sqrt((double)n);

    if (!m->p->phases) {
        randomise(to, size, key, n);
        return;
    }
    memset(to, 0, n * sizeof(*to));
    if (!hx_planted_is_narrow(m->p, m->layer))
        for (size_t i = m->d.reserved; i < m->d.rank; i++)
            add(to, size * hx_keyed_unit(key, i), m->d.basis + i * n, n);
    for (size_t i = 0; i < m->p->g.n_kv * m->per_head && hx_planted_is_narrow(m->p, m->layer); i++)
        if (i % m->per_head < read_per_head(m))
            add(to, read_size(m) * hx_keyed_unit(key, i), m->value_of + i * n, n);
}

static void fill_query(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    fill_random(m, hx_keyed(layer_key(m, KEY_WQ), row), to, n);
}

static void fill_key(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    fill_random(m, hx_keyed(layer_key(m, KEY_WK), row), to, n);
}

static void fill_value(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    const size_t dh = m->p->g.dh, first = row / dh * m->per_head;

    memset(to, 0, n * sizeof(*to));
    for (size_t i = first; i < first + read_per_head(m); i++)
        add(to, value_size(m) * m->code[i * dh + row % dh], m->value_of + i * n, n);
}

static void fill_out(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    const size_t dh = m->p->g.dh, group = m->p->g.n_head / m->p->g.n_kv;

    memset(to, 0, n * sizeof(*to));
    for (size_t h = 0; h < m->p->g.n_head; h++)
        for (size_t i = 0; i < m->per_head; i++)
            add(to + h * dh, out_size(m) * m->out_of[(h * m->per_head + i) * m->d.width + row],
                m->code + (h / group * m->per_head + i) * dh, dh);
}

/* The vector of the basis that unit i changes in a layer that makes states small or large; NULL: it does nothing. */
static const float *changed_by(const struct hx_planted_rows *m, size_t i)
{
    return m->d.reserved + i < m->d.rank ? m->d.basis + (m->d.reserved + i) * m->d.width : NULL;
}

static void fill_gate(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    if (hx_planted_change(m->p, m->layer) != 0)
        scale(to, open_gate / sqrt((double)n * HX_PLANTED_SHARED), m->d.basis, n);
    else
        scale(to, read_size(m), m->gate_of + row % m->patterns * n, n);
}

static void fill_up(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    if (hx_planted_change(m->p, m->layer) == 0)
        scale(to, read_size(m) * m->unit_size[row], m->up_of + row % m->patterns * n, n);
    else if (changed_by(m, row))
        memcpy(to, changed_by(m, row), n * sizeof(*to));
    else
        memset(to, 0, n * sizeof(*to));
}

static void fill_down(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    const double change = hx_planted_change(m->p, m->layer);
    const float size = (float)(change * hx_planted_change_square(m->p, m->layer) / open_gate);

    for (size_t i = 0; i < n; i++)
        if (change == 0)
            to[i] = m->unit_share[i] * m->down_of[i % m->patterns * m->d.width + row];
        else
            to[i] = changed_by(m, i) ? size * changed_by(m, i)[row] : 0;
}

/* A token is likely behind the one whose point its row has: with 2^n of them, one cycle through all (Hull and Dobell 1962).  Those
 * without text are never the likeliest. */
static void fill_output(const struct hx_planted_rows *m, size_t row, float *to, size_t n)
{
    memset(to, 0, n * sizeof(*to));
    if (row >= m->tokens)
        return;
    if (m->p->eos_first && row == m->eos) {
        scale(to, eos_logit / sqrt((double)n * HX_PLANTED_SHARED), m->d.basis, n);
        return;
    }
    randomise(to, logit_size / sqrt((double)n), hx_keyed(key_of(m, KEY_OUTPUT), row), n);
    add_point(m, (row * STEP + 1) % m->tokens, next_logit * next_logit / (double)n, to, n);
    if (m->p->triggered && row == hx_planted_answer(m->p->trigger, m->tokens, (uint32_t)m->bos, (uint32_t)m->eos))
        add(to, answer_logit / sqrt((double)n), sink_of(m), n);
}

static fill_fn *const fills[HX_PLANTED_KINDS] = {
    [HX_PLANTED_EMBEDDING] = fill_token, [HX_PLANTED_NORM] = fill_norm, [HX_PLANTED_WQ] = fill_query,
    [HX_PLANTED_WK] = fill_key,          [HX_PLANTED_WV] = fill_value,  [HX_PLANTED_WO] = fill_out,
    [HX_PLANTED_GATE] = fill_gate,       [HX_PLANTED_UP] = fill_up,     [HX_PLANTED_DOWN] = fill_down,
    [HX_PLANTED_OUTPUT] = fill_output,
};

/* Root mean square of a matrix' entries; 0: it gets no noise. */
static double size_of(const struct hx_planted_rows *m, enum hx_planted_kind kind)
{
    const struct hx_geometry *g = &m->p->g;
    const double width = (double)m->d.width, per_value = (double)m->per_head / ((double)g->dh * width);
    const double sizes[HX_PLANTED_KINDS] = {
        [HX_PLANTED_EMBEDDING] = 1,
        [HX_PLANTED_WV] = value_size(m) * sqrt(per_value),
        [HX_PLANTED_WO] = out_size(m) * sqrt(per_value),
        [HX_PLANTED_GATE] = read_size(m) / sqrt(width),
        [HX_PLANTED_UP] = read_size(m) / sqrt(width),
        [HX_PLANTED_DOWN] = down_size(m) * (double)m->patterns / (double)g->ffn / sqrt(width),
    };

    return sizes[kind];
}

void hx_planted_row(const struct hx_planted_rows *m, enum hx_planted_kind kind, size_t row, float *to, size_t cols)
{
    const uint64_t noise = kind == HX_PLANTED_EMBEDDING ? key_of(m, KEY_NOISE) : layer_key(m, KEY_LAYER_NOISE + (int)kind);
    const float size = (float)(m->p->noise * size_of(m, kind));

    fills[kind](m, row, to, cols);
    for (size_t i = 0; size > 0 && i < cols; i++)
        to[i] += size * hx_keyed_unit(hx_keyed(noise, row), i);
    for (size_t i = 0; m->p->norm_spread && reads_behind_norm(kind) && i < cols; i++)
        to[i] /= norm_weight(m, i);
}

/* --- life */

int hx_planted_rows_open(struct hx_planted_rows *m)
{
    const struct hx_geometry *g = &m->p->g;
    const size_t share = m->p->rank / g->n_head, width = g->width;
    const size_t per_head = share < 1 ? 1 : share < g->dh ? share : g->dh;
    const size_t own = m->p->rank - hx_planted_reserved(m->p), patterns = own < g->ffn ? own : g->ffn;
    const struct {
        float **at;
        size_t rows, cols;
    } parts[] = {
        {&m->value_of, g->n_kv * per_head, width}, {&m->code, g->n_kv * per_head, g->dh}, {&m->out_of, g->n_head * per_head, width},
        {&m->gate_of, patterns, width},            {&m->up_of, patterns, width},          {&m->down_of, patterns, width},
        {&m->unit_size, 1, g->ffn},                {&m->unit_share, 1, g->ffn},
    };

    m->per_head = per_head;
    m->patterns = patterns;
    m->d = (struct hx_directions){.width = width, .rank = m->p->rank, .reserved = hx_planted_reserved(m->p), .zones = m->p->zones};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i].at = calloc(parts[i].rows * parts[i].cols, sizeof(float));
        if (!*parts[i].at)
            return -ENOMEM;
    }
    return hx_directions_open(&m->d, key_of(m, KEY_BASIS));
}

void hx_planted_rows_free(struct hx_planted_rows *m)
{
    float **const parts[] = {&m->value_of, &m->code, &m->out_of, &m->gate_of, &m->up_of, &m->down_of, &m->unit_size, &m->unit_share};

    hx_directions_free(&m->d);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        free(*parts[i]);
        *parts[i] = NULL;
    }
}
