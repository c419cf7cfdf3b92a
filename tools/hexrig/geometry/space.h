/* What the actions of `hexrig geometry` look at: states of a model over a text that coordinates and metric are made of, states over
 * another text that is scored, and noise that is treated alike.  Never the same text: without one for the metric it is the first half of
 * the one that is scored, and the second half is scored. */
#ifndef HX_GEOMETRY_SPACE_H
#define HX_GEOMETRY_SPACE_H

#include "base/watch.h"
#include "methods/geometry/field.h"
#include "methods/geometry/whitening.h"
#include "subspace/subject.h"

enum { HX_SPACE_CTX = 128 }; /* tokens of a window; each has a fresh context */

/* Points, and where the text goes on from each: the next token's. */
struct hx_cloud {
    size_t n, points, held;
    double *x, *x_next; /* [points][n] of the text for the metric */
    double *y, *y_next; /* [held][n] of the text that is scored */
    struct hx_cloud_metric metric; /* of x; hx_space_metric() */
};

/* States of chosen places of a text. */
struct hx_states {
    float *rows;       /* [places][2][width] the state before the last norm, and the next token's */
    uint32_t *tokens;  /* [places] the token whose state it is */
    uint32_t *answers; /* [places] the token behind the next one: what the next state is to say */
    size_t places;
    size_t windows, shifts; /* that were run; of a text, each by so many beginnings */
};

struct hx_space {
    struct hx_subject s; /* first */
    const char *fit, *score;
    char *shipped;
    size_t axes, points, held, neighbours;
    uint64_t seed;
    struct hx_watch watch;

    char name[128]; /* the case: the model's file without folder and .gguf */
    struct hx_states fits, scores;
    struct hx_whitening w;
    struct hx_cloud cloud, noise;
};

enum {
    HX_SPACE_OPT_FIT = HX_OPT_FREE,
    HX_SPACE_OPT_POINTS,
    HX_SPACE_OPT_HELD,
    HX_SPACE_OPT_AXES,
    HX_SPACE_OPT_NEIGHBOURS,
    HX_SPACE_OPT_SEED,
    HX_SPACE_OPT_FREE
};

/* --fit, --file, --points, --held, --axes, --neighbours, --seed, and those of a subject. */
#define HX_SPACE_OPTIONS                                                                                        \
    HX_SUBJECT_OPTIONS,                                                                                         \
    {"fit", HX_SPACE_OPT_FIT, "TEXT", 0, "that coordinates and metric are made of (the first half of --file)", 0}, \
    {"file", 'f', "TEXT", 0, "that is scored (share/hexrig/books-holdout.txt)", 0},                             \
    {"points", HX_SPACE_OPT_POINTS, "N", 0, "of the cloud, up to 65536", 0},                                    \
    {"held", HX_SPACE_OPT_HELD, "N", 0, "states that are scored (256)", 0},                                     \
    {"axes", HX_SPACE_OPT_AXES, "N", 0, "coordinates, up to 8 (8)", 0},                                         \
    {"neighbours", HX_SPACE_OPT_NEIGHBOURS, "N", 0, "of a point, that make its metric, up to 64 (8)", 0},       \
    {"seed", HX_SPACE_OPT_SEED, "S", 0, "of choices and noise (1)", 0}

/* Defaults; points is the action's own. */
struct hx_space hx_space_of(const char *cmd, size_t points);

/* 0, an enum hx_exit after a message, or HX_OPT_UNKNOWN. */
int hx_space_option(struct hx_space *p, int key, char *arg);

/* Opens the model, runs the texts, makes both clouds.  Returns an enum hx_exit after a message. */
int hx_space_open(struct hx_space *p);
void hx_space_close(struct hx_space *p);

/* The metric of a cloud, and its field.  Returns an enum hx_exit after a message. */
int hx_space_metric(struct hx_space *p, struct hx_cloud *c);

/* Keys of what is drawn, for hx_keyed(). */
enum hx_space_key { HX_SPACE_KEY_PLACES, HX_SPACE_KEY_NOISE, HX_SPACE_KEY_OWN };
uint64_t hx_space_key(const struct hx_space *p, int what);

/* {"model", "fit", "text", "points", "axes", "held_variance", ...}, to which an action adds its own. */
json_t *hx_space_json(const struct hx_space *p);

/* Writes CASE_what.json into the folder, if there is one; then prints j, and releases it.  Returns an enum hx_exit. */
int hx_space_answer(const struct hx_space *p, const char *what, json_t *j);

#endif
