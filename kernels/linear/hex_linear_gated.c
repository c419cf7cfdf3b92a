/* Methods gates and gated of interface hex_linear: matrices that read a small image of themselves where a gate allows it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hex_linear_join.h"
#include "hex_linear_state.h"
#include "hexrig_slow_path.h"
#include "subspace_gate.h"

/* --- which gates there are */

static int refuse(const char *what, size_t i)
{
    FARF(ERROR, "hex_linear: %s %zu: there is no such one, or its matrices do not fit each other", what, i);
    return AEE_EBADPARM;
}

static int is_there(const struct hx_linear_state *s, unsigned which, enum hx_weights_type type)
{
    return which < s->n_m && s->m[which].type == type;
}

static int check_gate(const struct hx_linear_state *s, const hex_linear_gate *g, size_t n_parts)
{
    return is_there(s, g->basis, HX_WEIGHTS_BASIS) && g->k >= 1 && g->k <= s->m[g->basis].rows && g->n >= 1 && g->n <= HX_LINEAR_FUSED &&
           g->first <= n_parts && g->n <= n_parts - g->first;
}

static int check_part(const struct hx_linear_state *s, const hex_linear_gate *g, const hex_linear_part *p, const hex_linear_part *first)
{
    const struct hx_linear_matrix *basis = &s->m[g->basis];

    return is_there(s, p->image, HX_WEIGHTS_ROW8) && p->whole < s->n_m && s->m[p->whole].type != HX_WEIGHTS_BASIS &&
           s->m[p->whole].type == s->m[first->whole].type && s->m[p->whole].cols == basis->cols &&
           s->m[p->image].cols == basis->rows && s->m[p->image].rows == s->m[p->whole].rows;
}

static int check_list(const struct hx_linear_state *s, const hex_linear_gate *list, size_t n, const hex_linear_part *parts, size_t n_parts)
{
    size_t next = 0;

    for (size_t i = 0; i < n; i++) {
        if (list[i].first != next || !check_gate(s, &list[i], n_parts))
            return refuse("gate", i);
        for (next = list[i].first; next < list[i].first + list[i].n; next++)
            if (!check_part(s, &list[i], &parts[next], &parts[list[i].first]))
                return refuse("part", next);
    }
    return next == n_parts ? AEE_SUCCESS : refuse("part", next);
}

static int set_gates(struct hx_linear_state *s, const hex_linear_gate *list, size_t n, const hex_linear_part *parts, size_t n_parts)
{
    struct hx_linear_gates *g;
    size_t floats = 0;
    int rc = check_list(s, list, n, parts, n_parts);

    if (rc || !n)
        return rc;
    for (size_t i = 0; i < n; i++)
        floats += s->m[list[i].basis].rows;
    g = malloc(sizeof(*g) + n * sizeof(*g->at) + n_parts * sizeof(*g->parts) + floats * sizeof(float));
    if (!g)
        return AEE_ENOMEMORY;
    g->at = (struct hx_linear_class *)(g + 1);
    g->parts = (struct hx_linear_part *)(g->at + n);
    g->n_parts = n_parts;
    float *scale = (float *)(g->parts + n_parts);

    for (size_t i = 0; i < n; i++) {
        g->at[i] = (struct hx_linear_class){.basis = list[i].basis, .k = list[i].k, .first = list[i].first, .n = list[i].n, .scale = scale};
        for (size_t j = 0; j < s->m[list[i].basis].rows; j++)
            *scale++ = 1;
        for (size_t p = list[i].first; p < list[i].first + list[i].n; p++)
            g->parts[p] = (struct hx_linear_part){parts[p].whole, parts[p].image, i};
    }
    s->gates = g;
    return AEE_SUCCESS;
}

int hex_linear_gates(remote_handle64 h, const hex_linear_gate *list, int listLen, const hex_linear_part *parts, int partsLen)
{
    struct hx_linear_state *s = hx_linear_get(h);

    if (!s)
        return AEE_EINVHANDLE;
    free(s->gates);
    s->gates = NULL;
    return hx_linear_put(s, set_gates(s, list, (size_t)listLen, parts, (size_t)partsLen));
}

/* --- a call */

/* What gated() got. */
struct job {
    struct hx_linear_state *s;
    const hex_linear_how *how;
    struct hx_linear_class *class;
    const unsigned *which; /* [n_w] parts */
    size_t n_w, rows;      /* rows: of all of these */
    size_t n, cols;
    size_t most;
    const float *x;
    float *y;
    unsigned *paths;
    struct hx_linear_gate gate; /* of one vector or of all */
    uint8_t *bad;               /* [n] */
    float *some_x, *some_y;     /* [n][cols or room], [n][rows]: of vectors with one path, where there are others */
    float *columns;             /* [rows of all of the gate's parts] */
    hex_linear_cycles *cycles;
};

static int check(struct job *j, size_t x_len, size_t y_len, size_t paths_len)
{
    const struct hx_linear_gates *g = j->s->gates;
    struct hx_linear_call c = {.how = j->how, .n_m = 1, .n = j->n};
    int rc;

    if (!g) {
        FARF(ERROR, "hex_linear: no gates are there");
        return AEE_EBADSTATE;
    }
    for (size_t i = 0; i < j->n_w; i++) {
        if (j->which[i] >= g->n_parts || g->parts[j->which[i]].class != g->parts[j->which[0]].class)
            return refuse("part", j->which[i]);
        j->rows += j->s->m[g->parts[j->which[i]].whole].rows;
    }
    j->class = &j->s->gates->at[g->parts[j->which[0]].class];
    c.m[0] = &j->s->m[j->class->basis];
    j->cols = c.m[0]->cols;
    rc = hx_linear_check_call(&c, x_len);
    if (!rc)
        rc = hx_linear_check_y(&c, j->rows, y_len);
    if (!rc && (paths_len != j->n || !(j->gate.eps >= 0))) {
        FARF(ERROR, "hex_linear: %zu paths of %zu vectors, eps %g", paths_len, j->n, (double)j->gate.eps);
        rc = AEE_EBADPARM;
    }
    return rc;
}

/* Cuts the buffer into pieces, or, at NULL, only tells how large it has to be. */
static size_t lay_out(struct job *j, uint8_t *at)
{
    const size_t room = j->s->m[j->class->basis].rows, longest = j->cols > room ? j->cols : room;
    const int pairs = (int)hx_weights_direction_vectors(j->cols);
    const size_t wide = j->n * (size_t)pairs * HX_WEIGHTS_HALVES;
    struct hx_linear_gate *g = &j->gate;
    struct {
        float **to;
        size_t floats;
    } pieces[] = {
        {&g->x, wide},      {&g->within[0], wide},          {&g->within[1], wide},           {&g->z, j->n * room},
        {&g->norm2, j->n},  {&g->top, j->n},                {&j->some_x, j->n * longest},    {&j->some_y, j->n * j->rows},
        {&j->columns, hx_linear_class_rows(j->s, j->class)},
    };
    size_t used = hx_linear_piece(j->n);

    j->bad = at;
    g->pairs = pairs;
    g->z_stride = room;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        *pieces[i].to = at ? (float *)(at + used) : NULL;
        used += hx_linear_piece(pieces[i].floats * sizeof(float));
    }
    return used;
}

/* --- the gate */

static int is_fast(const struct hx_linear_gate *g, size_t i, float rest2)
{
    return isinf(g->eps) || rest2 <= g->eps * g->eps * g->norm2[i];
}

/* Of the call's vectors, whose ids are paths.  The caller holds an HVX context. */
static void decide(const struct hx_linear_call *c, unsigned *paths)
{
    const struct hx_linear_gate *g = c->gate;
    const size_t wide = (size_t)g->pairs * HX_WEIGHTS_HALVES;

    for (size_t i = 0; i < c->n; i++) {
        float *x = g->x + i * wide;
        const float rest2 = hx_gate_rest_hvx(x, g->within[0] + i * wide, g->within[1] + i * wide, g->pairs, x);

        c->bad[i] = (uint8_t)!isfinite(g->top[i]);
        paths[i] = !c->bad[i] && is_fast(g, i, rest2) ? HEX_LINEAR_FAST : HEX_LINEAR_SLOW;
    }
}

/* That of vectors from the first one on. */
static struct hx_linear_gate gate_from(const struct job *j, size_t first)
{
    struct hx_linear_gate g = j->gate;
    const size_t at = first * (size_t)g.pairs * HX_WEIGHTS_HALVES;

    g.k = j->class->k;
    g.x += at;
    g.within[0] += at;
    g.within[1] += at;
    g.z += first * g.z_stride;
    g.norm2 += first;
    g.top += first;
    return g;
}

/* Vectors first to first + n - 1. */
static int judge(struct job *j, size_t first, size_t n)
{
    struct hx_linear_gate g = gate_from(j, first);
    struct hx_linear_call c = {.how = j->how, .m = {&j->s->m[j->class->basis]}, .n_m = 1, .gate = &g, .x = j->x + first * j->cols, .n = n,
                               .bad = j->bad + first};

    memset(g.z, 0, n * g.z_stride * sizeof(float));
    return hx_linear_run_gate(j->s, &c, decide, j->paths + first, j->cycles);
}

/* One after the other, as long as what does not pass may join. */
static int judge_and_join(struct job *j, size_t *done)
{
    size_t i = 0;
    int rc = AEE_SUCCESS;

    for (; i < j->n && j->class->k < j->most && !rc; i++) {
        struct hx_linear_gate g = gate_from(j, i);
        const size_t k = j->class->k;

        rc = judge(j, i, 1);
        if (!rc && j->paths[i] == HEX_LINEAR_SLOW && !j->bad[i])
            rc = hx_linear_join(j->s, j->how, j->class, &g, j->columns, j->cycles);
        if (j->class->k > k)
            j->paths[i] = HEX_LINEAR_JOINED;
    }
    *done = i;
    return rc;
}

/* --- the two paths */

static int is_on(const struct job *j, size_t i, int fast)
{
    return (j->paths[i] == HEX_LINEAR_FAST) == fast;
}

static size_t count(const struct job *j, int fast)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n; i++)
        n += (size_t)is_on(j, i, fast);
    return n;
}

/* z as the images' columns have it, or x, of the vectors of a path, side by side. */
static const float *gather(const struct job *j, int fast, size_t n)
{
    const size_t room = j->gate.z_stride;
    float *to = j->some_x;

    if (!fast && n == j->n)
        return j->x;
    for (size_t i = 0; i < j->n; i++) {
        if (!is_on(j, i, fast))
            continue;
        if (!fast)
            memcpy(to, j->x + i * j->cols, j->cols * sizeof(*to));
        for (size_t d = 0; fast && d < room; d++)
            to[d] = j->gate.z[i * room + d] * j->class->scale[d];
        to += fast ? room : j->cols;
    }
    return j->some_x;
}

/* To where the results of all vectors go. */
static void scatter(const struct job *j, const struct hx_linear_call *c, int fast)
{
    const float *from = j->some_y;
    float *to = j->y;

    for (size_t m = 0; m < c->n_m; m++) {
        const size_t rows = c->m[m]->rows;

        for (size_t i = 0; i < j->n; i++, to += rows)
            if (is_on(j, i, fast)) {
                memcpy(to, from, rows * sizeof(*to));
                from += rows;
            }
    }
}

static int take_path(struct job *j, int fast)
{
    struct hx_linear_call c = {.how = j->how, .n_m = j->n_w, .n = count(j, fast)};
    hex_linear_cycles more = {0, 0, 0, 0};
    unsigned which[HX_LINEAR_FUSED];
    size_t rows;
    int rc;

    if (!c.n)
        return AEE_SUCCESS;
    for (size_t i = 0; i < j->n_w; i++)
        which[i] = fast ? j->s->gates->parts[j->which[i]].image : j->s->gates->parts[j->which[i]].whole;
    c.x = gather(j, fast, c.n);
    rc = hx_linear_choose(j->s, &c, which, &rows);
    if (!rc)
        rc = hx_linear_products(j->s, &c, c.n == j->n ? j->y : j->some_y, &more);
    if (!rc && c.n < j->n)
        scatter(j, &c, fast);
    hx_linear_add_cycles(j->cycles, &more);
    return rc;
}

static int run(struct job *j)
{
    size_t done;
    int rc = hx_linear_grow(&j->s->between, lay_out(j, NULL));

    if (rc)
        return rc;
    lay_out(j, j->s->between.at);
    rc = judge_and_join(j, &done);
    if (!rc && done < j->n)
        rc = judge(j, done, j->n - done);
    if (!rc)
        rc = take_path(j, 1);
    return rc ? rc : take_path(j, 0);
}

int hex_linear_gated(remote_handle64 h, const hex_linear_how *how, const unsigned int *which, int whichLen, unsigned int n, float eps,
                     unsigned int most, const float *x, int xLen, float *y, int yLen, unsigned int *paths, int pathsLen,
                     hex_linear_cycles *pcycles)
{
    struct job j = {.how = how, .which = which, .n_w = (size_t)whichLen, .n = n, .most = most, .x = x, .y = y, .paths = paths,
                    .gate = {.eps = eps}, .cycles = pcycles};
    int rc;

    if (whichLen < 1 || whichLen > HX_LINEAR_FUSED) {
        FARF(ERROR, "hex_linear: %d matrices in a call; 1 to %d are legal", whichLen, HX_LINEAR_FUSED);
        return AEE_EBADPARM;
    }
    j.s = hx_linear_get(h);
    if (!j.s)
        return AEE_EINVHANDLE;
    *pcycles = (hex_linear_cycles){0, 0, 0, 0};
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = check(&j, (size_t)xLen, (size_t)yLen, (size_t)pathsLen);
    if (!rc && (uintptr_t)y % HX_LINEAR_ALIGN)
        HX_SLOW_PATH();
    if (!rc)
        rc = run(&j);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return hx_linear_put(j.s, rc);
}
