/* What the actions of `hexrig subspace` look at: a model and its matrices, and options that all have. */
#ifndef HX_SUBSPACE_SUBJECT_H
#define HX_SUBSPACE_SUBJECT_H

#include <jansson.h>

#include "base/pool.h"
#include "cli/opt.h"
#include "engine/method.h"
#include "methods/adaptive/rank_plan.h"
#include "model/matrix.h"

struct hx_subject {
    const char *cmd;    /* for messages */
    const char *path;   /* of the model; NULL: the shipped one */
    char *shipped;
    size_t threads;     /* 0: the CPUs that this process may use */
    const char *folder; /* for files; NULL: none */
    int json;
    struct hx_model *m;
    struct hx_matrices matrices;
    struct hx_linear_set set; /* all matrices of the layers, and the output matrix last */
    struct hx_pool *pool;
};

/* -m, --threads, -o, --json. */
#define HX_SUBJECT_OPTIONS                                                                         \
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)", 0},               \
    {"threads", HX_OPT_THREADS, "N", 0, "that compute (the CPUs that this process may use)", 0},   \
    {"output", 'o', "DIR", 0, "also writes files there", 0},                                       \
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0}

/* 0, an enum hx_exit after a message, or HX_OPT_UNKNOWN. */
int hx_subject_option(struct hx_subject *s, int key, char *arg);

/* Opens the model.  Returns an enum hx_exit after a message. */
int hx_subject_open(struct hx_subject *s);

void hx_subject_close(struct hx_subject *s);

/* Runs fn for i in 0..n-1 on the pool's threads.  0, or the first failure. */
typedef int hx_subject_fn(void *arg, size_t i, struct hx_error *err);
int hx_subject_each(const struct hx_subject *s, size_t n, hx_subject_fn *fn, void *arg, struct hx_error *err);

/* Writes j as NAME into the folder, which is made if missing; nothing without one.  Returns an enum hx_exit. */
int hx_subject_write_json(const struct hx_subject *s, const char *name, const json_t *j);

/* Writes p as rank_plan.txt there; nothing without a folder.  Returns an enum hx_exit. */
int hx_subject_write_plan(const struct hx_subject *s, const struct hx_rank_plan *p);

/* Opens NAME there for writing; NULL after a message. */
FILE *hx_subject_create(const struct hx_subject *s, const char *name);

#endif
