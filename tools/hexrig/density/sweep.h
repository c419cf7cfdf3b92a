/* A sweep of `hexrig density`: which questions there are, in which order.
 *
 * Cases (a value of everything that --sweep names) times densities times positions.  A case has a rig of its own where its profile
 * is, and plans of its own; a density's plans are resolved before anything runs, so that what is not legal is said at once. */
#ifndef HX_DENSITY_SWEEP_H
#define HX_DENSITY_SWEEP_H

#include <jansson.h>

#include "answer.h"
#include "options/engine_opts.h"

enum { HX_SWEEP_LIST = 64, HX_SWEEP_NAMES = 6, HX_SWEEP_CASES = 256 };

/* --sweep NAME=V1,V2,... */
struct hx_swept {
    char *text;              /* what the others point into */
    const char *name;
    const char *value[HX_SWEEP_LIST];
    size_t n;
};

struct hx_sweep_case {
    const char *value[HX_SWEEP_NAMES]; /* of each swept name */
    const char *profile, *model;       /* NULL: of the command line, or the default */
    unsigned clients;                  /* side by side; 0: not said, one */
    size_t guesses;                    /* of a step; 0: there are none */
    double accept;                     /* the share of them that is right */
    struct hx_geometry shape;          /* name NULL: a model */
    const char *density[HX_SWEEP_LIST];
    struct hx_plan *plan[HX_SWEEP_LIST]; /* [n_density], resolved */
    size_t n_density;
};

struct hx_sweep {
    struct hx_engine_opts o;
    const char *geometry, *densities, *positions; /* as given; NULL: not */
    enum hx_density_how how;
    struct hx_swept swept[HX_SWEEP_NAMES];
    size_t n_swept;
    char *words;                        /* what density points into */
    const char *density[HX_SWEEP_LIST]; /* as given */
    size_t n_density;
    size_t pos[HX_SWEEP_LIST], n_pos;   /* ascending */
    struct hx_sweep_case *cases;        /* [n_cases] */
    size_t n_cases;
};

/* A row to be: indices into the above. */
struct hx_sweep_point {
    size_t at, density, pos;
};

/* --sweep, while options are read.  Returns an enum hx_exit after a message. */
int hx_sweep_add(struct hx_sweep *s, const char *spec);

/* --spec G,A, likewise: rows without guesses, and for each pair rows with G of them a step, of which a share A is right.  The comma becomes
 * a colon in place, as a value has no comma; kept. */
int hx_sweep_add_spec(struct hx_sweep *s, char *pair);

/* All options have been read: lists, cases, plans.  Returns an enum hx_exit; a message is printed when not 0. */
int hx_sweep_check(struct hx_sweep *s);

/* A copy of `base`, which is not resolved, with a density (NULL: none), resolved.  0; -EINVAL: the methods do not allow it; -ENOMEM. */
int hx_sweep_plan(const struct hx_plan *base, const char *density, struct hx_plan **out, struct hx_error *err);

/* The density that is one call for each whole layer. */
extern const char hx_sweep_whole_layers[];

/* In the order in which they are measured. */
size_t hx_sweep_points(const struct hx_sweep *s);
struct hx_sweep_point hx_sweep_point(const struct hx_sweep *s, size_t i);

/* 1: clients are swept, so that what goes by until all tokens are there is not what one of them takes. */
int hx_sweep_has_clients(const struct hx_sweep *s);

/* What is asked at a point, as far as it does not depend on who asks. */
struct hx_density_question hx_sweep_question(const struct hx_sweep *s, const struct hx_sweep_point *p);

/* Shares of work: points of which one costs no more than all of them are one share, the others are one each.  unit: [points], of each
 * point which one it is part of, from 0 on, in the order of points; NULL: nobody wants to know.  Returns how many there are. */
size_t hx_sweep_units(const struct hx_sweep *s, size_t *unit);

void hx_sweep_free(struct hx_sweep *s);

#endif
