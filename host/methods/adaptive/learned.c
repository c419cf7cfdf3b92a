/* Soft ranks, see learned.h. */
#include "learned.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double hx_level_ranks[HX_LEVELS] = {8, 16, 32, 64, 128, 192, 256, 512};

static const double least_gain = 1e-12;

static void softmax(const double *theta, size_t n, double *p)
{
    double most = theta[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        most = fmax(most, theta[i]);
    for (size_t i = 0; i < n; i++) {
        p[i] = exp(theta[i] - most);
        sum += p[i];
    }
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

static double cost(const struct hx_learned *l, size_t layer, size_t level)
{
    return l->harm[layer * l->levels + level] + l->price * hx_level_ranks[level];
}

double hx_learned_loss(const struct hx_learned *l, double *soft, double *gradient)
{
    double loss = 0, p[HX_LEVELS];

    for (size_t i = 0; i < l->layers; i++) {
        double mean = 0, rank = 0;

        softmax(l->theta + i * l->levels, l->levels, p);
        for (size_t r = 0; r < l->levels; r++) {
            mean += p[r] * cost(l, i, r);
            rank += p[r] * hx_level_ranks[r];
        }
        for (size_t r = 0; r < l->levels && gradient; r++)
            gradient[i * l->levels + r] = p[r] * (cost(l, i, r) - mean);
        if (soft)
            soft[i] = rank;
        loss += mean;
    }
    return loss;
}

/* next = theta - rate * gradient; its loss. */
static double try_step(const struct hx_learned *l, double rate, const double *gradient, double *next)
{
    struct hx_learned there = *l;

    there.theta = next;
    for (size_t i = 0; i < l->layers * l->levels; i++)
        next[i] = l->theta[i] - rate * gradient[i];
    return hx_learned_loss(&there, NULL, NULL);
}

int hx_learned_train(struct hx_learned *l, double rate, size_t steps, struct hx_learned_told *told, struct hx_error *err)
{
    const size_t n = l->layers * l->levels;
    double *gradient = calloc(2 * n, sizeof(*gradient)), *next = gradient + n, gain = 1;

    if (!gradient)
        return hx_error_set(err, -ENOMEM, "out of memory");
    *told = (struct hx_learned_told){.first = hx_learned_loss(l, NULL, gradient)};
    told->last = told->first;
    while (told->steps < steps && gain > least_gain) {
        const double loss = try_step(l, rate, gradient, next);

        told->steps++;
        if (!(loss < told->last)) {
            rate /= 2;
            gain = rate > least_gain ? 1 : 0;
            continue;
        }
        gain = told->last - loss;
        told->last = loss;
        memcpy(l->theta, next, n * sizeof(*next));
        hx_learned_loss(l, NULL, gradient);
    }
    free(gradient);
    return 0;
}

/* --- what a unit of rank costs */

void hx_tpj_observe(struct hx_tpj *t, double watt, double tokens_per_s)
{
    t->joules[t->n++ % HX_TPJ_WINDOW] = watt / tokens_per_s;
}

double hx_tpj_per_rank(const struct hx_tpj *t, double watt, double tokens_per_s)
{
    const size_t n = t->n < HX_TPJ_WINDOW ? t->n : HX_TPJ_WINDOW;
    double sum = 0;

    if (n < HX_TPJ_LEAST)
        return watt / tokens_per_s / HX_TPJ_MIDDLE;
    for (size_t i = 0; i < n; i++)
        sum += t->joules[i];
    return sum / (double)n / HX_TPJ_MIDDLE;
}
