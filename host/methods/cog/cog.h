/* COG: a memory of exchanges that grows with use, and tells what it knows already.
 *
 * An exchange is a trajectory: a point z in k coordinates, what was asked and what was answered.  A question is compared with all of them
 * by 1 - cosine of coordinates; how far the nearest one is says what is to be done:
 *     < .05 RETRIEVE: the answer is known    < .20 AUGMENT: with the nearest exchange in front    < .50 EXPAND    else EXPLORE
 * (the published first reply, of similarity .806, would be AUGMENT by this, the published table).
 * What is farther than `novel` makes the metric grow, M += eta z z^T / ||z z^T||_F, eta .012, and M += .01 I where its least eigenvalue
 * is below .01.  M begins as I; its growth is ||M - I||_F.  Increments of one length add up; what saturates is novelty, not the metric.
 *
 * One thread at a time.  Source: published COG and the four tiers. */
#ifndef HX_COG_H
#define HX_COG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/linear.h"

enum hx_cog_tier { HX_COG_RETRIEVE, HX_COG_AUGMENT, HX_COG_EXPAND, HX_COG_EXPLORE, HX_COG_TIERS };

extern const char *const hx_cog_tier_names[]; /* "RETRIEVE", ...; NULL-terminated */

#define HX_COG_NOVEL .20 /* distance beyond which the metric grows */

struct hx_trajectory {
    double *z;           /* [k] */
    char *prompt, *answer;
    double teh;          /* the answer's largest, 0..1 */
};

/* A line of the log. */
struct hx_cog_turn {
    char *prompt, *answer;
    enum hx_cog_tier tier;
    double similarity;
};

struct hx_cog {
    size_t k, d;
    uint64_t model;      /* fingerprint */
    float *basis;        /* [k][d], orthonormal */
    double *metric;      /* [k][k], symmetric */
    uint32_t *forbidden, *snipe; /* coordinates: looked at, and projected out; below k */
    size_t n_forbidden, n_snipe;
    struct hx_trajectory *at;
    size_t n;
    struct hx_cog_turn *log;
    size_t n_log;
};

/* The basis [k][d] is copied.  0 or -ENOMEM; in any case to be freed. */
int hx_cog_open(struct hx_cog *c, size_t k, size_t d, const float *basis, struct hx_error *err);

/* Accepts zeroes. */
void hx_cog_free(struct hx_cog *c);

/* Replaces a list of coordinates.  0 or -ENOMEM. */
int hx_cog_choose(uint32_t **list, size_t *n, const uint32_t *coordinates, size_t n_coordinates);

/* z [k] of a state h [d]. */
void hx_cog_place(const struct hx_cog *c, const double *h, double *z);

/* z [k] of a question, its tokens ids [n]: of the mean of their rows in the embedding matrix, for which nothing has to run; 0 of none.
 * 0; -EINVAL: rows of another width than d, or an id that has none; -ENOMEM. */
int hx_cog_place_tokens(const struct hx_cog *c, const struct hx_linear *embd, const uint32_t *ids, size_t n, double *z,
                        struct hx_error *err);

struct hx_cog_match {
    size_t nearest;      /* trajectory; n: there is none */
    double similarity;   /* cosine; 0 where there is none, or z is 0 */
    enum hx_cog_tier tier;
};

/* The first one of equals. */
struct hx_cog_match hx_cog_match(const struct hx_cog *c, const double *z);

/* Adds a trajectory.  0 or -ENOMEM: nothing changed. */
int hx_cog_add(struct hx_cog *c, const double *z, const char *prompt, const char *answer, double teh, struct hx_error *err);

/* Adds a line to the log.  0 or -ENOMEM. */
int hx_cog_say(struct hx_cog *c, const char *prompt, const char *answer, enum hx_cog_tier tier, double similarity, struct hx_error *err);

/* The metric grows by z; nothing for z of length 0.  0; -ELIBACC: no LAPACK; -ENOMEM. */
int hx_cog_grow(struct hx_cog *c, const double *z, struct hx_error *err);

/* Where the coordinates of the snipe list leave a point: not at all, before the metric grows by it, or after that, before it is kept. */
enum hx_cog_snipe { HX_COG_SNIPE_OFF, HX_COG_SNIPE_BEFORE, HX_COG_SNIPE_AFTER };

extern const char *const hx_cog_snipe_names[]; /* "off", "before", "after"; NULL-terminated */

/* Of a point z [k]: what the metric takes, and what is compared and kept; both [k] and not z. */
void hx_cog_snipe(const struct hx_cog *c, enum hx_cog_snipe where, const double *z, double *taken, double *kept);

/* |z_F| / |z|, 0..1: the length of a point's forbidden coordinates by its own; 0 of a point that is 0. */
double hx_cog_share(const struct hx_cog *c, const double *z);

/* ||M - I||_F, and the least eigenvalue. */
double hx_cog_growth(const struct hx_cog *c);
int hx_cog_least(const struct hx_cog *c, double *least, struct hx_error *err);

#endif
