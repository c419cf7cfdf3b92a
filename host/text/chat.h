/* Chat messages to the token ids that a model was trained on.
 *
 * A family is a fixed way of writing turns; there is no template language.  hx_chat_init() takes the family
 * from the caller or recognises it by marks in `tokenizer.chat_template`:
 *   chatml      <|im_start|>ROLE\nTEXT<|im_end|>\n                        (qwen, SmolLM2, hexrig-tiny, ...)
 *   llama-3     BOS <|start_header_id|>ROLE<|end_header_id|>\n\nTEXT<|eot_id|>
 *   gemma       BOS <start_of_turn>ROLE\nTEXT<end_of_turn>\n              (assistant is written "model")
 *   llama-2     BOS "[INST] <<SYS>>\nSYSTEM\n<</SYS>>\n\nTEXT [/INST]" " TEXT " EOS BOS "[INST] ...
 *   mistral     BOS "[INST] TEXT[/INST]" " TEXT" EOS "[INST] ...          (7B v0.3 and its kin)
 *   mistral-v1  BOS "[INST] TEXT [/INST]" "TEXT" EOS "[INST] ...          (7B v0.1, v0.2)
 * chatml starts with BOS where the tokenizer's file wants it, the others where it names one.  Default system
 * messages that some templates carry are not added, nor are tools, dates and thoughts.  llama-3, gemma and
 * llama-2 cut white space from both ends of a text, as their templates do.  gemma, llama-2 and the mistrals
 * have no system turn: a first system message goes in front of the first user message, with an empty line
 * between (llama-2: in its <<SYS>> mark).
 *
 * What a message says is never read as a control token: the family's marks are put in by their ids.
 * Immutable after hx_chat_init(): may be used from any thread. */
#ifndef HX_CHAT_H
#define HX_CHAT_H

#include <stddef.h>
#include <stdint.h>

#include "gguf/gguf.h"
#include "tokenizer.h"
#include "base/error.h"

struct hx_chat_message {
    const char *role;    /* "system", "user" or "assistant" */
    struct hx_str text;  /* any bytes */
};

struct hx_chat_family; /* a row of chat.c's table */

struct hx_chat {
    const struct hx_tokenizer *tok; /* borrowed as long as the object is used */
    const struct hx_chat_family *family;
};

/* Chooses the family: by name when `family` is not NULL, else by the template in g (borrowed for the call; may
 * be NULL when `family` is given).  0; -ENOENT: no family was named and the file has no template; -EINVAL: a
 * template that is not recognised (the message names --chat=FAMILY and the families as the way out), a name
 * that is no family, or a vocabulary without the family's marks. */
int hx_chat_init(struct hx_chat *c, const struct hx_tokenizer *t, const struct hx_gguf *g,
                 const char *family, struct hx_error *err);

/* "chatml", ... */
const char *hx_chat_name(const struct hx_chat *c);

/* All names in one line, "chatml, llama-3, ...": for messages and help texts. */
const char *hx_chat_families(void);

/* Ids of n >= 1 messages.  `reply` 1: followed by the opening of the assistant's turn, so that a model goes on
 * with the reply, which ends with a token of hx_tokenizer_ends(); 0: the messages only.  *ids is malloc'ed and
 * belongs to the caller.  Rendering the same messages and more gives ids that start alike, so a cache can be
 * used again up to the first difference.
 * 0; -ENOMEM; -EINVAL: an unknown role, no messages, or an order that the family cannot write (gemma, llama-2 and
 * the mistrals: an optional system message, then user and assistant in turn, user first). */
int hx_chat_render(const struct hx_chat *c, const struct hx_chat_message *messages, size_t n,
                   int reply, uint32_t **ids, size_t *n_ids, struct hx_error *err);

#endif
