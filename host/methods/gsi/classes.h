/* Which matrices share an input and hence a basis: wq, wk, wv; wo; gate and up; down, of a layer.  And what was counted of each. */
#ifndef HX_GSI_CLASSES_H
#define HX_GSI_CLASSES_H

#include "engine/linear.h"
#include "engine/method.h"
#include "engine/tap.h"
#include "image.h"
#include "subspace.h"

struct hx_gsi_part {
    struct hx_linear *w;   /* the engine's */
    struct hx_linear full; /* the same matrix by the method that applies all of it, without its bias */
    enum hx_matrix which;
    size_t class;          /* index */
    struct hx_image image; /* of the class's basis */
    double norm;           /* at least |W|_2, the largest singular value; 0: nobody has asked */
    struct {
        uint64_t whole, image;
    } there;               /* bytes on the DSP; 0: it is not there */
};

/* Since open, or since hx_gsi_classes_restart().  `read` counts numbers, whatever their format. */
struct hx_gsi_counts {
    uint64_t vectors;      /* that matrices were applied to */
    uint64_t gated, fast;  /* of which the gate looked at so many, and so many took the image; static: all are fast */
    struct hx_gsi_read {
        uint64_t weights, image, basis, growth;
    } read, bytes;         /* growth: weights read and columns written by additions */
    uint64_t added;        /* directions */
    uint64_t checked, violations; /* results of images that were held against W x; beyond the bound */
    double worst;          /* largest error over its bound */
};

/* What is on the DSP (on_dsp.h) grows there: here such a basis has the directions of the text, and k counts all. */
struct hx_gsi_class {
    size_t layer;
    enum hx_tap_point input;
    size_t first, n;       /* parts, one behind the other */
    size_t rows, cols;     /* rows: of all parts */
    size_t made, own;      /* directions of the text; of which a cascade has added so many in this layer */
    struct hx_subspace basis;
    size_t most;           /* directions that it may grow to, at most its room */
    int on_dsp;            /* as in hx_linear_set, of all parts */
    double r_eff;          /* effective rank of what the text puts in; -1: not known */
    int off;               /* 1: its gate opened too rarely, and W is applied without it */
    size_t recent, recent_fast; /* of the gate's last verdicts */
    uint64_t basis_there;  /* bytes on the DSP; 0: it is not there */
    struct hx_gsi_counts counts;
};

struct hx_gsi_classes {
    struct hx_gsi_part *parts;   /* [n_parts] layer by layer */
    struct hx_gsi_class *at;     /* [n] */
    size_t n_parts, n;
    uint32_t format;             /* of images */
    size_t growth;               /* directions that may join each basis */
    int shapes_alone;            /* 1: there are no weights and no text: all is 0, and the DSP has layers' bases and images once */
    uint64_t bytes_basis, bytes_images, bytes_weights; /* that are held; of the matrices as the file has them */
};

struct hx_gsi_shape {
    int shapes_alone;    /* as in the classes */
    size_t rank, growth; /* directions of the text, at least 1 and at most so many, and how many may be added while it runs */
    uint32_t format;     /* of images: F32, F16, Q8_0 */
};

/* c: zeroed.  Takes the set's matrices of layers.  0; -EINVAL: a rank above what a matrix takes in, rows that do not go into blocks of the
 * format, a class of which only some are to be on the DSP, nothing to take; -ENOMEM.  In any case to be freed. */
int hx_gsi_classes_open(struct hx_gsi_classes *c, const struct hx_linear_set *set, const struct hx_gsi_shape *shape,
                        struct hx_error *err);

void hx_gsi_classes_free(struct hx_gsi_classes *c);

/* Takes the first k directions, at most those of the text, and counts from 0.  What was added is forgotten; so are, where bases may grow,
 * directions of the text that it has taken the place of. */
void hx_gsi_classes_restart(struct hx_gsi_classes *c, size_t k);

#endif
