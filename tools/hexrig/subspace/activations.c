/* Activations over a text, see activations.h. */
#include "activations.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "methods/moments/text_pass.h"

struct watch {
    struct hx_tap tap; /* first */
    struct hx_activations *a;
    size_t done; /* tokens of windows before this one */
};

static int keep(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct watch *w = (struct watch *)t;
    float *to = at->point == HX_TAP_IN_O ? w->a->heads : w->a->states;

    (void)err;
    memcpy(to + (at->layer * w->a->tokens + w->done) * at->row, rows, at->n * at->row * sizeof(*rows));
    if (at->point == HX_TAP_AFTER_FFN && at->layer + 1 == w->a->n_layer)
        w->done += at->n;
    return 0;
}

static int make_room(struct hx_activations *a, struct hx_error *err)
{
    const size_t rows = a->n_layer * a->tokens;

    a->states = malloc(rows * a->width * sizeof(*a->states));
    a->heads = malloc(rows * a->n_head * a->dh * sizeof(*a->heads));
    if (a->states && a->heads)
        return 0;
    return hx_error_set(err, -ENOMEM, "no memory for %zu tokens of %zu layers", a->tokens, a->n_layer);
}

int hx_activations_take(struct hx_activations *a, const struct hx_model *m, struct hx_pool *pool, const uint32_t *ids, size_t n_ids,
                        size_t tokens, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "activations", .at = keep};
    struct watch w = {.tap = {&ops, 1u << HX_TAP_AFTER_FFN | 1u << HX_TAP_IN_O}, .a = a};
    struct hx_tap *const taps[] = {&w.tap, NULL};
    const size_t windows = (n_ids < tokens ? n_ids : tokens) / HX_ACTIVATIONS_CTX;
    const struct hx_text_pass pass = {.model = m, .pool = pool, .ids = ids, .ctx = HX_ACTIVATIONS_CTX, .windows = windows};
    int rc;

    *a = (struct hx_activations){.n_layer = m->n_layer, .width = m->width, .n_head = m->n_head, .dh = m->dh,
                                 .tokens = windows * HX_ACTIVATIONS_CTX};
    if (!windows)
        return hx_error_set(err, -EINVAL, "the text has %zu tokens; %d are needed", n_ids, HX_ACTIVATIONS_CTX);
    rc = make_room(a, err);
    return rc ? rc : hx_text_pass_run(&pass, taps, err);
}

/* Box and Muller 1958. */
double hx_normal_at(uint64_t key, size_t i)
{
    const double pi = 3.14159265358979323846, one = 1. / (1ull << 53);
    const double a = ((double)(hx_keyed(key, 2 * i) >> 11) + .5) * one, b = (double)(hx_keyed(key, 2 * i + 1) >> 11) * one;

    return sqrt(-2 * log(a)) * cos(2 * pi * b);
}

int hx_activations_noise(struct hx_activations *a, const struct hx_activations *like, size_t tokens, uint64_t key, struct hx_error *err)
{
    int rc;

    *a = *like;
    a->tokens = tokens;
    rc = make_room(a, err);
    for (size_t i = 0; i < a->n_layer * tokens * a->width && !rc; i++)
        a->states[i] = (float)hx_normal_at(hx_keyed(key, 0), i);
    for (size_t i = 0; i < a->n_layer * tokens * a->n_head * a->dh && !rc; i++)
        a->heads[i] = (float)hx_normal_at(hx_keyed(key, 1), i);
    return rc;
}

void hx_activations_free(struct hx_activations *a)
{
    free(a->states);
    free(a->heads);
    *a = (struct hx_activations){0};
}

/* The first n of a shuffle. */
int hx_choose(size_t *at, size_t n, size_t of, uint64_t key)
{
    size_t *all = malloc(of * sizeof(*all));

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < of; i++)
        all[i] = i;
    for (size_t i = 0; i < n; i++) {
        const size_t other = i + (size_t)(hx_keyed(key, i) % (of - i));

        at[i] = all[other];
        all[other] = all[i];
    }
    free(all);
    return 0;
}

void hx_rows_of(double *to, const float *x, size_t cols, const size_t *at, size_t n, size_t from, size_t d)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            to[i * d + k] = x[at[i] * cols + from + k];
}
