/* The options of `hexrig report timing --forward`, and its answer. */
#ifndef HX_FORWARD_OPTIONS_H
#define HX_FORWARD_OPTIONS_H

#include <argp.h>
#include <jansson.h>

#include "forward.h"

struct hx_forward_options {
    const struct hx_forward_model *model; /* NULL: no pass is asked for */
    size_t variant;                       /* of hx_forward_variants */
    int tokens;
    double host_ms; /* as in struct hx_forward_ask */
    int details;    /* 1: options were given that only a pass takes */
};

#define HX_FORWARD_OPTIONS {.tokens = 16, .host_ms = -1}

/* For a struct hx_forward_options. */
extern const struct argp hx_forward_argp;

/* Asks the rig that this process is connected to.  NULL: a message has been printed. */
json_t *hx_forward_question(const char *cmd, const struct hx_forward_options *o, const struct hx_timing_ask *ask,
                            const char *profile);

#endif
