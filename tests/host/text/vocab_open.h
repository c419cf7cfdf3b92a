/* Opens a vocabulary of vocab_gguf.h as a tokenizer: vocab_start(&o.file), keys, then one of these. */
#ifndef VOCAB_OPEN_H
#define VOCAB_OPEN_H

#include <stdlib.h>

#include "hxt.h"
#include "vocab_gguf.h"

struct open {
    struct vocab file;
    struct hx_gguf *g;
    struct hx_tokenizer *t;
};

static inline int try_open(struct open *o, struct hx_error *err)
{
    vocab_end(&o->file);
    o->t = NULL;
    assert_int_equal(hx_gguf_open_bytes(&o->g, "sample", o->file.p, o->file.n, err), 0);
    return hx_tokenizer_open(&o->t, o->g, err);
}

static inline struct hx_tokenizer *must_open(struct open *o)
{
    struct hx_error err = {""};

    if (try_open(o, &err))
        fail_msg("%s", err.text);
    return o->t;
}

static inline void shut(struct open *o)
{
    hx_tokenizer_close(o->t);
    hx_gguf_close(o->g);
    free(o->file.p);
}

#endif
