/* What stands behind the C API's handles (hexrig.h): api_model.c and api_context.c. */
#ifndef HX_API_H
#define HX_API_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "hexrig.h"
#include "base/error.h"

/* Turns in the order in which threads ask. */
struct hx_turns {
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t moved;
    unsigned long next, now; /* ticket for the next one, ticket whose turn it is */
};

struct hexrig_model {
    struct hx_plan *plan;        /* of all contexts */
    struct hx_core *core;        /* model, threads and matrices */
    size_t max_batch;            /* of contexts */
    atomic_uint refs;            /* the caller's, and one per context */
    struct hx_turns turns;       /* who may run the model */
};

/* Waits for its turn, and ends it. */
void hx_api_enter(struct hexrig_model *m);
void hx_api_leave(struct hexrig_model *m);

void hx_api_get(struct hexrig_model *m);
void hx_api_put(struct hexrig_model *m);

/* Copies a reason that was stored in `cause` (a local of the API's function) to the caller; returns rc. */
int hx_api_error(struct hexrig_error *err, const struct hx_error *cause, int rc);

/* Makes one; returns rc. */
int hx_api_fail(struct hexrig_error *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
