/* Log-probabilities of tokens in replies of hexrig serve.
 * Source of the formats: OpenAI's API reference; chats and completions have different ones. */
#include <stdlib.h>

#include "cli/report.h"
#include "cmd_serve.h"

static const double never = -9999; /* for the logarithm of 0, which JSON has no number for */

static double number(float logprob)
{
    return (double)logprob > never ? (double)logprob : never;
}

static json_t *utf8(struct hx_str s)
{
    char *text = hx_json_utf8(s.p, s.n);
    json_t *j = json_string(text);

    free(text);
    return j;
}

static json_t *bytes_of(struct hx_str s)
{
    json_t *bytes = json_array();

    for (size_t i = 0; i < s.n; i++)
        json_array_append_new(bytes, json_integer((uint8_t)s.p[i]));
    return bytes;
}

static json_t *chat_token(const struct hx_tokenizer *t, struct hx_logprob p)
{
    const struct hx_str piece = hx_tokenizer_piece(t, p.id);

    return json_pack("{s:o, s:f, s:o}", "token", utf8(piece), "logprob", number(p.logprob), "bytes", bytes_of(piece));
}

static json_t *of_chat(const struct hx_tokenizer *t, const struct hx_logprobs *p, size_t first, size_t end)
{
    json_t *content = json_array();

    for (size_t i = first; i < end; i++) {
        json_t *token = chat_token(t, p->made[i]), *top = json_array();

        for (size_t k = 0; k < p->top; k++)
            json_array_append_new(top, chat_token(t, p->best[i * p->top + k]));
        json_object_set_new(token, "top_logprobs", top);
        json_array_append_new(content, token);
    }
    return json_pack("{s:o, s:n}", "content", content, "refusal");
}

/* {"TOKEN": LOGPROB, ...}, of the i-th token's best: of tokens that look the same the better one. */
static json_t *best_by_text(const struct hx_tokenizer *t, const struct hx_logprobs *p, size_t i)
{
    json_t *j = json_object();

    for (size_t k = 0; k < p->top; k++) {
        const struct hx_logprob best = p->best[i * p->top + k];
        json_t *text = utf8(hx_tokenizer_piece(t, best.id));

        if (text && !json_object_get(j, json_string_value(text)))
            json_object_set_new(j, json_string_value(text), json_real(number(best.logprob)));
        json_decref(text);
    }
    return j;
}

static json_t *of_text(const struct hx_tokenizer *t, const struct hx_logprobs *p, size_t first, size_t end)
{
    json_t *tokens = json_array(), *logprobs = json_array(), *top = json_array(), *offsets = json_array();
    size_t at = 0;

    for (size_t i = 0; i < end; i++) {
        const struct hx_str piece = hx_tokenizer_piece(t, p->made[i].id);

        if (i >= first) {
            json_array_append_new(tokens, utf8(piece));
            json_array_append_new(logprobs, json_real(number(p->made[i].logprob)));
            json_array_append_new(top, best_by_text(t, p, i));
            json_array_append_new(offsets, json_integer((json_int_t)at));
        }
        at += piece.n;
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "tokens", tokens, "token_logprobs", logprobs, "top_logprobs", top, "text_offset",
                     offsets);
}

/* End tokens are no part of the text. */
json_t *hx_serve_logprobs(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part)
{
    const struct hx_logprobs *p = &job->probs;
    json_t *j = NULL;

    if (!job->req.logprobs || part->first == part->end)
        return json_null();
    pthread_rwlock_rdlock(&m->lock);
    if (m->e) {
        const struct hx_tokenizer *t = m->e->model->tok;
        const int ended = job->req.cfg.at_end_token && hx_tokenizer_ends(t, p->made[part->end - 1].id);
        const size_t end = part->end - (size_t)ended;

        j = end == part->first ? json_null() : job->req.chat ? of_chat(t, p, part->first, end) : of_text(t, p, part->first, end);
    }
    pthread_rwlock_unlock(&m->lock);
    return j ? j : json_null();
}
