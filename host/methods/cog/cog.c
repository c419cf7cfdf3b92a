/* A memory of exchanges, see cog.h. */
#include "cog.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"

const char *const hx_cog_snipe_names[] = {"off", "before", "after", NULL};
const char *const hx_cog_tier_names[] = {"RETRIEVE", "AUGMENT", "EXPAND", "EXPLORE", NULL};

static const double borders[] = {.05, .20, .50}, eta = .012, floor_of = .01; /* of distance; of growth; of eigenvalues */

static int no_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "cog: out of memory");
}

int hx_cog_open(struct hx_cog *c, size_t k, size_t d, const float *basis, struct hx_error *err)
{
    *c = (struct hx_cog){.k = k, .d = d, .basis = malloc(k * d * sizeof(*c->basis)), .metric = calloc(k * k, sizeof(*c->metric))};
    if (!c->basis || !c->metric)
        return no_memory(err);
    memcpy(c->basis, basis, k * d * sizeof(*basis));
    for (size_t i = 0; i < k; i++)
        c->metric[i * k + i] = 1;
    return 0;
}

void hx_cog_free(struct hx_cog *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->at[i].z);
        free(c->at[i].prompt);
        free(c->at[i].answer);
    }
    for (size_t i = 0; i < c->n_log; i++) {
        free(c->log[i].prompt);
        free(c->log[i].answer);
    }
    free(c->at);
    free(c->log);
    free(c->basis);
    free(c->metric);
    free(c->forbidden);
    free(c->snipe);
    *c = (struct hx_cog){0};
}

int hx_cog_choose(uint32_t **list, size_t *n, const uint32_t *coordinates, size_t n_coordinates)
{
    uint32_t *copy = malloc((n_coordinates + 1) * sizeof(*copy));

    if (!copy)
        return -ENOMEM;
    if (n_coordinates)
        memcpy(copy, coordinates, n_coordinates * sizeof(*copy));
    free(*list);
    *list = copy;
    *n = n_coordinates;
    return 0;
}

void hx_cog_place(const struct hx_cog *c, const double *h, double *z)
{
    for (size_t i = 0; i < c->k; i++) {
        z[i] = 0;
        for (size_t x = 0; x < c->d; x++)
            z[i] += (double)c->basis[i * c->d + x] * h[x];
    }
}

int hx_cog_place_tokens(const struct hx_cog *c, const struct hx_linear *embd, const uint32_t *ids, size_t n, double *z,
                        struct hx_error *err)
{
    double *mean = calloc(c->d, sizeof(*mean));
    float *row = malloc(embd->cols * sizeof(*row));
    int rc = mean && row ? 0 : no_memory(err);

    if (!rc && embd->cols != c->d)
        rc = hx_error_set(err, -EINVAL, "cog: states of %zu; the model's are %zu wide", c->d, embd->cols);
    for (size_t i = 0; i < n && !rc; i++) {
        if (ids[i] >= embd->rows) {
            rc = hx_error_set(err, -EINVAL, "cog: token %u; the vocabulary has %zu", ids[i], embd->rows);
            break;
        }
        hx_linear_row(embd, ids[i], row);
        for (size_t x = 0; x < c->d; x++)
            mean[x] += (double)row[x] / (double)n;
    }
    if (!rc)
        hx_cog_place(c, mean, z);
    free(mean);
    free(row);
    return rc;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void hx_cog_snipe(const struct hx_cog *c, enum hx_cog_snipe where, const double *z, double *taken, double *kept)
{
    memcpy(taken, z, c->k * sizeof(*taken));
    memcpy(kept, z, c->k * sizeof(*kept));
    for (size_t i = 0; i < c->n_snipe && where != HX_COG_SNIPE_OFF; i++) {
        kept[c->snipe[i]] = 0;
        if (where == HX_COG_SNIPE_BEFORE)
            taken[c->snipe[i]] = 0;
    }
}

double hx_cog_share(const struct hx_cog *c, const double *z)
{
    double all = 0, own = 0;

    for (size_t i = 0; i < c->k; i++)
        all += z[i] * z[i];
    for (size_t i = 0; i < c->n_forbidden; i++)
        own += z[c->forbidden[i]] * z[c->forbidden[i]];
    return all > 0 ? sqrt(own / all) : 0;
}

struct hx_cog_match hx_cog_match(const struct hx_cog *c, const double *z)
{
    struct hx_cog_match m = {.nearest = c->n};
    const double own = dot(z, z, c->k);
    double most = -INFINITY;

    for (size_t i = 0; i < c->n; i++) {
        const double both = sqrt(own * dot(c->at[i].z, c->at[i].z, c->k));
        const double cosine = both > 0 ? dot(z, c->at[i].z, c->k) / both : 0;

        if (cosine > most) {
            most = cosine;
            m.nearest = i;
        }
    }
    m.similarity = c->n ? most : 0;
    while (m.tier < HX_COG_EXPLORE && !(1 - m.similarity < borders[m.tier]))
        m.tier++;
    return m;
}

int hx_cog_add(struct hx_cog *c, const double *z, const char *prompt, const char *answer, double teh, struct hx_error *err)
{
    struct hx_trajectory *more = realloc(c->at, (c->n + 1) * sizeof(*more)), t = {.teh = teh};

    if (!more)
        return no_memory(err);
    c->at = more;
    t.z = malloc(c->k * sizeof(*t.z));
    t.prompt = strdup(prompt);
    t.answer = strdup(answer);
    if (!t.z || !t.prompt || !t.answer) {
        free(t.z);
        free(t.prompt);
        free(t.answer);
        return no_memory(err);
    }
    memcpy(t.z, z, c->k * sizeof(*z));
    c->at[c->n++] = t;
    return 0;
}

int hx_cog_say(struct hx_cog *c, const char *prompt, const char *answer, enum hx_cog_tier tier, double similarity, struct hx_error *err)
{
    struct hx_cog_turn *more = realloc(c->log, (c->n_log + 1) * sizeof(*more)), t = {strdup(prompt), strdup(answer), tier, similarity};

    c->log = more ? more : c->log;
    if (more && t.prompt && t.answer) {
        c->log[c->n_log++] = t;
        return 0;
    }
    free(t.prompt);
    free(t.answer);
    return no_memory(err);
}

/* --- the metric */

int hx_cog_least(const struct hx_cog *c, double *least, struct hx_error *err)
{
    double *copy = malloc((c->k + 1) * c->k * sizeof(*copy));
    int rc = copy ? 0 : no_memory(err);

    if (!rc) {
        memcpy(copy, c->metric, c->k * c->k * sizeof(*copy));
        rc = hx_eigen_values(copy, c->k, copy + c->k * c->k, err);
    }
    if (!rc)
        *least = copy[c->k * c->k + c->k - 1];
    free(copy);
    return rc;
}

int hx_cog_grow(struct hx_cog *c, const double *z, struct hx_error *err)
{
    const double square = dot(z, z, c->k); /* the Frobenius norm of z z^T */
    double least = 1;
    int rc;

    if (!(square > 0))
        return 0;
    for (size_t i = 0; i < c->k; i++)
        for (size_t j = 0; j < c->k; j++)
            c->metric[i * c->k + j] += eta * (z[i] * z[j]) / square;
    rc = hx_cog_least(c, &least, err);
    for (size_t i = 0; i < c->k && least < floor_of; i++)
        c->metric[i * c->k + i] += floor_of;
    return rc;
}

double hx_cog_growth(const struct hx_cog *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->k * c->k; i++) {
        const double x = c->metric[i] - (i / c->k == i % c->k);

        sum += x * x;
    }
    return sqrt(sum);
}
