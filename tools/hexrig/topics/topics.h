/* Texts by topic: prompts of a file, or windows of texts, as token ids.
 *
 * A file of prompts has one a line, and lines `# NAME` that say of which topic those below are; empty lines are none.  Eight harmless
 * topics are shipped (share/hexrig/topics.txt). */
#ifndef HX_TOPICS_H
#define HX_TOPICS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "text/tokenizer.h"

enum { HX_TOPIC_NAME = 63 }; /* most bytes of a topic's name: what a file of guards has room for */

struct hx_topics {
    char **name;       /* [n_topics] of 1 to HX_TOPIC_NAME bytes, of any kind */
    size_t n_topics;
    struct hx_topic_text {
        uint32_t *ids; /* [n] 1 at least; a BOS token first where the tokenizer wants one */
        size_t n, topic;
    } *at;             /* [n] */
    size_t n, longest; /* texts, and tokens of the longest */
};

/* Adds what the file has; texts of more than `most` tokens are cut there.  0; -EINVAL: no topic, a prompt in front of the first one,
 * a name that is empty or too long; -ENOMEM; negative errno.  In any case to be freed. */
int hx_topics_read(struct hx_topics *t, const struct hx_tokenizer *tok, const char *path, size_t most, struct hx_error *err);

/* Adds topic NAME of "NAME=FILE", or FILE itself without one: `windows` windows of ctx tokens, spread over the text.  Returns likewise. */
int hx_topics_windows(struct hx_topics *t, const struct hx_tokenizer *tok, const char *what, size_t windows, size_t ctx,
                      struct hx_error *err);

/* Accepts zeroes. */
void hx_topics_free(struct hx_topics *t);

/* The topic of that name; t->n_topics: there is none. */
size_t hx_topics_find(const struct hx_topics *t, const char *name);

/* to[name] = of, which is taken over.  Bytes that are no UTF-8 become U+FFFD; where that makes two names one, the second has " 2" behind
 * it.  0, or -1: out of memory. */
int hx_topics_json_set(json_t *to, const char *name, json_t *of);

#endif
