/* hexrig.h: GGUF models on this machine and on the emulated cDSP, from C.
 *
 *     cc app.c $(pkg-config --cflags --libs hexrig)
 *
 * A model is a file with its weights and threads; a context is one text over it, with a K/V cache that is sized when it is
 * opened.  Any number of contexts may share a model.
 *
 * Threads: a model may be used by any number of threads, a context by one at a time.  Contexts of one model compute in
 * turn, in the order in which their threads ask: each gets exactly what it would get alone.
 *
 * Errors: functions that can fail return 0 (or a count, as they say) or a negative errno value, and store one line of
 * text in *err when it is not NULL.  Nothing is printed.
 *
 * Memory: what is opened is closed by its closing function, which accepts NULL; all other memory is the caller's.  Strings
 * in a struct are borrowed for the call, unless said otherwise.  Bytes of text are UTF-8 where the model makes such.
 *
 * The caches `spinor` (default) and anything that is offloaded need a rig: the one that runs (HEXRIG_DEVICE, or `hexrig
 * up`), else a private one is started and ends with the process. */
#ifndef HEXRIG_H
#define HEXRIG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* "0.9.0": of the library. */
const char *hexrig_version(void);

struct hexrig_error {
    char text[512]; /* terminated; "" when nothing failed */
};

/* --- model */

struct hexrig_model;

/* Starts as HEXRIG_CONFIG_INIT; NULL and 0 mean the default.  Values are those of the options of `hexrig run`. */
struct hexrig_config {
    size_t size;           /* sizeof(struct hexrig_config), so that later libraries know what earlier callers know */
    const char *model;     /* GGUF file; default: the one that comes with hexrig */
    const char *kv;        /* "spinor" (63-byte blocks on the DSP), "f32", ... */
    const char *density;   /* of spinor: "per-vector", "per-layer", "batched" (default), "per-token", "queue" */
    const char *cal;       /* of spinor: calibration file; default: the one beside the model, or the shipped one */
    const char *basis;     /* of spinor: "vht2", "vht2w", "klt" */
    const char *k;         /* of spinor: K coded "before" or "after" RoPE; as option k-rope "pre" or "post" */
    const char *linear;    /* method of matrices: "cpu" (default), "ref" (plain fp32), ..., or a map (docs/methods.md) */
    const char *attn;      /* method of attention: "flash" (default), "ref", "poly" */
    const char *offload;   /* what else runs on the DSP: "linear", "argmax", ..., with commas */
    const char *placement; /* of offloaded weights: "ddr", "vtcm", "dma" (default) */
    size_t threads;        /* that compute; default: the CPUs that this process may use */
    size_t max_batch;      /* tokens of one pass over the model, 512 */
    const char *const *options; /* any other option of `hexrig run` (docs/methods.md): "shim-p=41", "native-ok", ...;
                                 * NULL-terminated, or NULL.  Where one names a setting that a field above has
                                 * too ("kv=f32", "k-rope=post" for k), the option silently wins over the field;
                                 * only "offload=..." adds to it */
};
/* By position: C++ before C++20 has no designated initialisers. */
#define HEXRIG_CONFIG_INIT                                                                                            \
    {sizeof(struct hexrig_config), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL}

/* cfg may be NULL: all defaults.  0; -ENOENT, -EINVAL, -ENOMEM, ... */
int hexrig_model_open(struct hexrig_model **out, const struct hexrig_config *cfg,
                      struct hexrig_error *err);

/* The model goes when its last context is closed. */
void hexrig_model_close(struct hexrig_model *m);

size_t hexrig_model_vocab(const struct hexrig_model *m);   /* tokens 0..vocab-1 */
size_t hexrig_model_context(const struct hexrig_model *m); /* positions that it was trained for */

/* --- text and tokens */

enum {
    HEXRIG_BOS = 1,     /* begin with the model's BOS, if it wants one: for the start of a text */
    HEXRIG_SPECIAL = 2, /* control tokens may be written as text; not for text from a stranger */
};

/* Tokens of n bytes into ids [max].  Returns how many there are, which may be more than max: then max are stored.
 * Negative: -EINVAL for unknown flags, -ENOMEM. */
long hexrig_tokenize(const struct hexrig_model *m, const char *text, size_t n, unsigned flags,
                     uint32_t *ids, size_t max, struct hexrig_error *err);

/* Text of n tokens into text [size], always terminated when size > 0: the bytes of each, one behind the other, which
 * may begin or end within a character.  Returns its length, which may be size or more: then it was cut.  Control tokens have
 * no text.  Negative: -EINVAL (a token that is none). */
long hexrig_detokenize(const struct hexrig_model *m, const uint32_t *ids, size_t n, char *text,
                       size_t size, struct hexrig_error *err);

/* 1 when the token ends a text or a turn. */
int hexrig_is_end(const struct hexrig_model *m, uint32_t id);

struct hexrig_message {
    const char *role; /* "system", "user" or "assistant" */
    const char *text; /* terminated */
};

/* Tokens of a conversation up to where the assistant's reply begins.  family: "chatml", "llama-3", "gemma", ..., or NULL
 * for the model's own.  Returns and stores as hexrig_tokenize(); -ENOENT: the model has no template; -EINVAL: unknown
 * role or family, or an order of messages that the family does not have. */
long hexrig_chat(const struct hexrig_model *m, const char *family,
                 const struct hexrig_message *messages, size_t n, uint32_t *ids, size_t max,
                 struct hexrig_error *err);

/* --- context */

struct hexrig_context;

/* n_ctx: positions, 1..hexrig_model_context(); 0 = all of them.  The memory for all is taken here. */
int hexrig_context_open(struct hexrig_context **out, struct hexrig_model *m, size_t n_ctx,
                        struct hexrig_error *err);
void hexrig_context_close(struct hexrig_context *c);

/* Tokens that the context holds. */
size_t hexrig_position(const struct hexrig_context *c);

/* Forgets all tokens from position `pos` on; 0 = the whole text.  -EINVAL: it holds fewer. */
int hexrig_rewind(struct hexrig_context *c, size_t pos, struct hexrig_error *err);

/* Runs n tokens behind those it holds.  0; -E2BIG: the context would be full, and nothing was run; -EINVAL: a token that
 * is none. */
int hexrig_feed(struct hexrig_context *c, const uint32_t *ids, size_t n, struct hexrig_error *err);

/* Logits of the token that follows: out [vocab].  -EINVAL: the context holds no token; -ENOTSUP: choices are made on the
 * DSP. */
int hexrig_logits(struct hexrig_context *c, float *out, struct hexrig_error *err);

struct hexrig_sampling {
    double temperature;    /* 0: the most probable token */
    size_t top_k;          /* 0: all */
    double top_p;          /* (0, 1]; 0 counts as 1 */
    double min_p;          /* [0, 1] */
    double repeat_penalty; /* > 0; 0 counts as 1: none */
    size_t repeat_last;    /* tokens that it looks back */
    uint64_t seed;         /* equal seeds, equal texts */
};

/* How this context samples from now on (from the start: greedily), beginning with the seed.  hexrig_generate() begins with
 * the seed each time. */
int hexrig_set_sampling(struct hexrig_context *c, const struct hexrig_sampling *s,
                        struct hexrig_error *err);

/* Picks the token that follows; it is not fed.  Errors as hexrig_logits(). */
int hexrig_sample(struct hexrig_context *c, uint32_t *id, struct hexrig_error *err);

/* --- generation: feed and sample in a loop, with text and an end */

enum hexrig_finish {
    HEXRIG_LENGTH = 1, /* max_tokens were made */
    HEXRIG_END,        /* a token that ends a text or a turn */
    HEXRIG_STOP,       /* a stop string */
    HEXRIG_CANCELLED,  /* the callback said so */
};

struct hexrig_generation {
    const uint32_t *prompt; /* [n_prompt], behind what the context holds; may be none if that is something */
    size_t n_prompt;
    size_t max_tokens;      /* >= 1 */
    int ignore_end;         /* 1: only max_tokens and stop strings end it */
    int reply;              /* 1: the text starts afresh (a chat), 0: it goes on the prompt's */
    const char *const *stop; /* [n_stop] the text ends before any of these */
    size_t n_stop;

    /* Text as it is made, in whole characters: n >= 1 bytes, not terminated, borrowed for the call.  Called on the
     * caller's thread, without a lock; it must not use this context.  Not 0: cancel.  May be NULL. */
    int (*text)(void *arg, const char *text, size_t n);
    void *arg;

    /* results */
    enum hexrig_finish finish;
    size_t n_made; /* tokens; the context holds them, also the one that ended the text, and what belongs to a stop string */
};

/* 0, also when cancelled; -E2BIG: prompt and max_tokens do not fit into the context, and nothing was run; -EINVAL,
 * -ENOMEM.  Memory is taken at the start, none per token. */
int hexrig_generate(struct hexrig_context *c, struct hexrig_generation *g,
                    struct hexrig_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
