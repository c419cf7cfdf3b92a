/* Replies of hexrig serve, whole or in chunks, as JSON.
 * Source of the formats: OpenAI's API reference, "Completions", "Chat" and "Models". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_serve.h"

static json_t *utf8(const char *text, size_t n)
{
    char *s = hx_json_utf8(text, n);
    json_t *j = json_string(s);

    free(s);
    return j;
}

static const char *finish_reason(enum hx_finish finish)
{
    return finish == HX_FINISH_LENGTH ? "length" : "stop";
}

static json_t *usage(const struct hx_serve_job *job)
{
    const json_int_t prompt = (json_int_t)job->req.cfg.n_prompt, made = (json_int_t)job->n_made;

    return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", prompt, "completion_tokens", made, "total_tokens",
                     prompt + made, "prompt_tokens_details", "cached_tokens", (json_int_t)job->req.cfg.n_cached);
}

/* What every reply and chunk begins with; `choice` is its only one, or NULL. */
static json_t *frame(const struct hx_serve_model *m, const struct hx_serve_job *job, const char *object,
                     json_t *choice)
{
    json_t *choices = json_array();
    char id[64];

    snprintf(id, sizeof(id), "%s-%llx-%llu", job->req.chat ? "chatcmpl" : "cmpl",
             (unsigned long long)m->since, (unsigned long long)job->number);
    if (choice)
        json_array_append_new(choices, choice);
    return json_pack("{s:s, s:s, s:I, s:s, s:o}", "id", id, "object", object, "created",
                     (json_int_t)job->created, "model", m->name, "choices", choices);
}

/* A choice without its text: what it is, its log-probabilities and why it ended, or NULL. */
static json_t *choice_of(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part, const char *name,
                         json_t *text, const char *end)
{
    return json_pack("{s:i, s:o, s:o, s:s?}", "index", 0, name, text, "logprobs", hx_serve_logprobs(m, job, part), "finish_reason", end);
}

json_t *hx_serve_reply(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part)
{
    const int chat = job->req.chat;
    json_t *text = utf8(part->text, part->n), *choice, *j;

    if (chat)
        text = json_pack("{s:s, s:o}", "role", "assistant", "content", text);
    choice = choice_of(m, job, part, chat ? "message" : "text", text, finish_reason(job->finish));
    j = choice ? frame(m, job, chat ? "chat.completion" : "text_completion", choice) : NULL;
    if (j)
        json_object_set_new(j, "usage", usage(job));
    return j;
}

/* What a chunk adds to a chat's message. */
static json_t *delta_of(enum hx_serve_chunk kind, const struct hx_serve_part *part)
{
    switch (kind) {
    case HX_CHUNK_ROLE:
        return json_pack("{s:s, s:s}", "role", "assistant", "content", "");
    case HX_CHUNK_END:
        return json_object();
    default:
        return json_pack("{s:o}", "content", utf8(part->text, part->n));
    }
}

json_t *hx_serve_chunk(struct hx_serve_model *m, const struct hx_serve_job *job, enum hx_serve_chunk kind,
                       const struct hx_serve_part *part)
{
    static const struct hx_serve_part nothing = {"", 0, 0, 0};
    const char *object = job->req.chat ? "chat.completion.chunk" : "text_completion";
    const char *end = kind == HX_CHUNK_END ? finish_reason(job->finish) : NULL;
    json_t *choice = NULL, *j;

    part = part ? part : &nothing;
    if (kind != HX_CHUNK_USAGE)
        choice = job->req.chat ? choice_of(m, job, part, "delta", delta_of(kind, part), end)
                               : choice_of(m, job, part, "text", utf8(part->text, part->n), end);
    j = choice || kind == HX_CHUNK_USAGE ? frame(m, job, object, choice) : NULL;
    if (j && kind == HX_CHUNK_USAGE)
        json_object_set_new(j, "usage", usage(job));
    else if (j && job->req.include_usage)
        json_object_set_new(j, "usage", json_null());
    return j;
}

json_t *hx_serve_model_json(const struct hx_serve_model *m)
{
    return json_pack("{s:s, s:s, s:I, s:s}", "id", m->name, "object", "model", "created",
                     (json_int_t)m->since, "owned_by", "hexrig");
}
