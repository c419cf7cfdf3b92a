/* The published phases of a model's "geometry", each over a sample of activations: how alike heads are, how curved the cloud of states is,
 * and which of many statements about them hold for a sample ("axioms"), and for another one, too. */
#ifndef HX_SUBSPACE_AXIOMS_H
#define HX_SUBSPACE_AXIOMS_H

#include "activations.h"
#include "methods/geometry/curvature.h"
#include "methods/geometry/field.h"

/* n tokens of activations. */
struct hx_sample {
    const struct hx_activations *of;
    const size_t *at; /* [n] */
    size_t n;         /* 16 or more */
};

/* Similarity of two heads of a layer, 1 for the same up to rotation and size: linear CKA (Kornblith et al. 2019) without its bias of few
 * samples (Song et al. 2012), so that independent ones have about 0. */
int hx_head_similarity(const struct hx_sample *s, size_t layer, size_t head, size_t other, double *out, struct hx_error *err);

/* The last layer's states of a sample in its first 8 principal components, each of variance 1. */
struct hx_frame {
    size_t n;                              /* components: fewer when others have no variance */
    double *mean, *axes;                   /* [width], [n][width], divided by the standard deviation */
};
int hx_frame_open(struct hx_frame *f, const struct hx_sample *s, struct hx_error *err);
void hx_frame_free(struct hx_frame *f);

/* to: [s->n][f->n]. */
int hx_frame_place(const struct hx_frame *f, const struct hx_sample *s, double *to, struct hx_error *err);

/* --- statements */

enum hx_axiom_type { HX_AXIOM_METRIC, HX_AXIOM_SYMMETRY, HX_AXIOM_GEODESIC, HX_AXIOM_BOUNDARY, HX_AXIOM_TYPES };

/* "metric", "symmetry", "geodesic", "boundary". */
extern const char *const hx_axiom_names[];

enum { HX_AXIOMS_OF_TYPE = 24 };

struct hx_axiom {
    enum hx_axiom_type type;
    size_t which[3];      /* metric: axis; symmetry: layer, two heads; geodesic: point of the sample; boundary: layer */
    double value, again;  /* of the sample, of the other */
    int accepted, survived; /* value, and again, on the side that the type wants */
};

/* Where the border of a type lies, and on which side a value has to be: 1 above, -1 below. */
struct hx_axiom_rule {
    const char *says;
    double border;
    int side;
};
extern const struct hx_axiom_rule hx_axiom_rules[HX_AXIOM_TYPES];

struct hx_axioms {
    struct hx_axiom at[HX_AXIOM_TYPES * HX_AXIOMS_OF_TYPE];
    size_t n;
};

/* Statements about s, tested with `other`, which has no token of s. */
int hx_axioms_find(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err);

#endif
