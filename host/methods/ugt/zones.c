/* Routing to zones, see zones.h. */
#include "zones.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHUFFLES = 32 };

/* --- centroids */

/* Whether each sample makes its zone's centroid: the first, the third, ... of the zone.  seen: [zones]. */
static int makes(const struct hx_ugt_samples *s, size_t i, size_t *seen)
{
    return seen[s->zone[i]]++ % 2 == 0;
}

static int centroids_of(const struct hx_ugt_samples *s, double *centroids, size_t *seen, struct hx_error *err)
{
    memset(centroids, 0, s->zones * s->k * sizeof(*centroids));
    memset(seen, 0, s->zones * sizeof(*seen));
    for (size_t i = 0; i < s->n; i++)
        for (size_t a = 0, use = (size_t)makes(s, i, seen); a < s->k && use; a++)
            centroids[s->zone[i] * s->k + a] += s->z[i * s->k + a];
    for (size_t zone = 0; zone < s->zones; zone++) {
        const double n = (double)((seen[zone] + 1) / 2);

        if (seen[zone] < 2)
            return hx_error_set(err, -EINVAL, "ugt: zone %zu has %zu samples; 2 are needed", zone, seen[zone]);
        for (size_t a = 0; a < s->k; a++)
            centroids[zone * s->k + a] /= n;
    }
    return 0;
}

int hx_ugt_centroids(const struct hx_ugt_samples *s, double *centroids, struct hx_error *err)
{
    size_t *seen = calloc(s->zones, sizeof(*seen));
    int rc = seen ? centroids_of(s, centroids, seen, err) : hx_error_set(err, -ENOMEM, "ugt: out of memory");

    free(seen);
    return rc;
}

/* --- routing */

struct router {
    double *centroids; /* [zones][k] */
    size_t *seen;      /* [zones] */
    size_t *shuffled;  /* [n] zones */
    double apart;      /* of two zones' numbers as coordinates, squared; 0: without */
};

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static size_t nearest(const struct hx_ugt_samples *s, const struct router *r, size_t i)
{
    double least = INFINITY;
    size_t best = 0;

    for (size_t zone = 0; zone < s->zones; zone++) {
        const double far = (double)zone - (double)s->zone[i];
        const double to = distance(s->z + i * s->k, r->centroids + zone * s->k, s->k) + r->apart * far * far;

        if (to < least) {
            least = to;
            best = zone;
        }
    }
    return best;
}

static double share(const struct hx_ugt_samples *s, const struct router *r, size_t *routed)
{
    size_t right = 0;

    *routed = 0;
    memset(r->seen, 0, s->zones * sizeof(*r->seen));
    for (size_t i = 0; i < s->n; i++) {
        if (makes(s, i, r->seen))
            continue;
        right += nearest(s, r, i) == s->zone[i];
        ++*routed;
    }
    return *routed ? (double)right / (double)*routed : 0;
}

/* More than any state is from any centroid: their squares to the origin, times four. */
static double farther(const struct hx_ugt_samples *s)
{
    double most = 0;

    for (size_t i = 0; i < s->n; i++) {
        double square = 0;

        for (size_t a = 0; a < s->k; a++)
            square += s->z[i * s->k + a] * s->z[i * s->k + a];
        most = fmax(most, square);
    }
    return 1 + 8 * most;
}

/* Fisher and Yates, by SplitMix64. */
static void shuffle(size_t *x, size_t n, uint64_t key)
{
    key *= 0xd1342543de82ef95u;
    for (size_t i = n; i > 1; i--) {
        uint64_t z = key += 0x9e3779b97f4a7c15u;
        size_t with, was;

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        with = (size_t)((z ^ z >> 31) % i);
        was = x[i - 1];
        x[i - 1] = x[with];
        x[with] = was;
    }
}

static double separation(const double *c, size_t zones, size_t k)
{
    double sum = 0;

    for (size_t i = 0; i < zones; i++)
        for (size_t j = i + 1; j < zones; j++) {
            double both = 0, one = 0, other = 0;

            for (size_t a = 0; a < k; a++) {
                both += c[i * k + a] * c[j * k + a];
                one += c[i * k + a] * c[i * k + a];
                other += c[j * k + a] * c[j * k + a];
            }
            sum += one > 0 && other > 0 ? both / sqrt(one * other) : 0;
        }
    return 1 - sum / ((double)zones * (double)(zones - 1) / 2);
}

static double largest(const struct hx_ugt_samples *s, size_t *seen)
{
    size_t most = 0;

    memset(seen, 0, s->zones * sizeof(*seen));
    for (size_t i = 0; i < s->n; i++) {
        const size_t n = ++seen[s->zone[i]];

        most = n > most ? n : most;
    }
    return (double)most / (double)s->n;
}

/* The control: zones of samples are dealt anew. */
static int route_shuffled(const struct hx_ugt_samples *s, struct router *r, uint64_t key, struct hx_ugt_routed *out, struct hx_error *err)
{
    struct hx_ugt_samples other = *s;
    size_t routed;
    int rc = 0;

    memcpy(r->shuffled, s->zone, s->n * sizeof(*r->shuffled));
    other.zone = r->shuffled;
    r->apart = 0;
    for (size_t i = 0; i < SHUFFLES && !rc; i++) {
        shuffle(r->shuffled, s->n, key + i);
        rc = centroids_of(&other, r->centroids, r->seen, err);
        out->shuffled += rc ? 0 : share(&other, r, &routed) / SHUFFLES;
    }
    return rc;
}

static int route(const struct hx_ugt_samples *s, struct router *r, uint64_t key, struct hx_ugt_routed *out, struct hx_error *err)
{
    int rc = centroids_of(s, r->centroids, r->seen, err);

    if (rc)
        return rc;
    out->without_id = share(s, r, &out->routed);
    out->separation = separation(r->centroids, s->zones, s->k);
    r->apart = farther(s);
    out->with_id = share(s, r, &out->routed);
    out->largest = largest(s, r->seen);
    return route_shuffled(s, r, key, out, err);
}

int hx_ugt_route(const struct hx_ugt_samples *s, uint64_t key, struct hx_ugt_routed *out, struct hx_error *err)
{
    struct router r = {0};
    int rc;

    *out = (struct hx_ugt_routed){0};
    if (s->zones < 2)
        return hx_error_set(err, -EINVAL, "ugt: %zu zones; 2 are needed", s->zones);
    r.centroids = malloc(s->zones * s->k * sizeof(*r.centroids));
    r.seen = malloc(s->zones * sizeof(*r.seen));
    r.shuffled = malloc((s->n + 1) * sizeof(*r.shuffled));
    rc = r.centroids && r.seen && r.shuffled ? route(s, &r, key, out, err) : hx_error_set(err, -ENOMEM, "ugt: out of memory");
    free(r.centroids);
    free(r.seen);
    free(r.shuffled);
    return rc;
}
