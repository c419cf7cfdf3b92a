/* Where states come from: options that actions have in common, and the states. */
#ifndef HX_UGT_SOURCE_H
#define HX_UGT_SOURCE_H

#include "subspace/subject.h"
#include "topics/states.h"

enum { HX_UGT_ZONES = 16, HX_UGT_CTX = 128 };

enum { HX_OPT_PROMPTS = HX_OPT_FREE + 64, HX_OPT_ZONE, HX_OPT_WINDOWS, HX_OPT_EVERY, HX_OPT_K, HX_OPT_SEED };

struct hx_ugt_source {
    struct hx_subject s;
    const char *prompts;              /* file; NULL: the shipped topics, unless zones are given */
    const char *zone[HX_UGT_ZONES];   /* NAME=FILE */
    size_t n_zones, windows, ctx;
    int every;
    char *shipped;
    struct hx_topics topics;
    struct hx_states states;
};

/* Of a model, and of its texts. */
#define HX_UGT_SOURCE_OPTIONS                                                                                              \
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)", 0},                                       \
    {"prompts", HX_OPT_PROMPTS, "FILE", 0, "one a line, `# TOPIC` above those of a topic (share/hexrig/topics.txt)", 0},   \
    {"zone", HX_OPT_ZONE, "NAME=FILE", 0, "instead: a topic out of windows of a text; several times", 0},                  \
    {"windows", HX_OPT_WINDOWS, "N", 0, "of each --zone (96)", 0},                                                         \
    {"ctx", HX_OPT_CTX, "N", 0, "tokens of a window, and most of a prompt (128)", 0},                                      \
    {"threads", HX_OPT_THREADS, "N", 0, "that compute (the CPUs that this process may use)", 0},                           \
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0}

/* 0, an enum hx_exit after a message, or HX_OPT_UNKNOWN. */
int hx_ugt_source_option(struct hx_ugt_source *s, int key, char *arg);

/* Opens the model and reads the texts; takes no states.  Returns an enum hx_exit after a message. */
int hx_ugt_source_open(struct hx_ugt_source *s);

/* Their final states, before the last norm.  Returns an enum hx_exit after a message. */
int hx_ugt_source_states(struct hx_ugt_source *s, int nll);

void hx_ugt_source_close(struct hx_ugt_source *s);

#endif
