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

static json_t *usage(const struct hx_serve_choices *all)
{
    const struct hx_completion_cfg *cfg = &all->job[0]->req.cfg;
    const json_int_t prompt = (json_int_t)cfg->n_prompt;
    json_int_t made = 0;

    for (size_t i = 0; i < all->n; i++)
        made += (json_int_t)all->job[i]->n_made;
    return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", prompt, "completion_tokens", made, "total_tokens",
                     prompt + made, "prompt_tokens_details", "cached_tokens", (json_int_t)cfg->n_cached);
}

/* What every reply and chunk begins with. */
static json_t *frame(const struct hx_serve_model *m, const struct hx_serve_job *job, const char *object, json_t *choices)
{
    char id[64];

    snprintf(id, sizeof(id), "%s-%llx-%llu", job->req.chat ? "chatcmpl" : "cmpl",
             (unsigned long long)m->since, (unsigned long long)job->number);
    return json_pack("{s:s, s:s, s:I, s:s, s:o}", "id", id, "object", object, "created",
                     (json_int_t)job->created, "model", m->name, "choices", choices);
}

/* A choice, or what a chunk adds to one: `name` is what its text is called; end: why it ended, or NULL. */
static json_t *choice_of(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part, const char *name,
                         json_t *text, const char *end)
{
    return json_pack("{s:I, s:o, s:o, s:s?}", "index", (json_int_t)job->req.index, name, text, "logprobs",
                     hx_serve_logprobs(m, job, part), "finish_reason", end);
}

static json_t *whole_choice(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part)
{
    json_t *text = utf8(part->text, part->n);

    if (job->req.chat)
        text = json_pack("{s:s, s:o}", "role", "assistant", "content", text);
    return choice_of(m, job, part, job->req.chat ? "message" : "text", text, finish_reason(job->finish));
}

json_t *hx_serve_reply(struct hx_serve_model *m, const struct hx_serve_choices *all, const struct hx_serve_part *parts)
{
    const struct hx_serve_job *first = all->job[0];
    json_t *choices = json_array(), *j;

    for (size_t i = 0; i < all->n; i++)
        if (json_array_append_new(choices, whole_choice(m, all->job[i], &parts[i]))) {
            json_decref(choices);
            return NULL;
        }
    j = frame(m, first, first->req.chat ? "chat.completion" : "text_completion", choices);
    if (j)
        json_object_set_new(j, "usage", usage(all));
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

static const char *chunk_object(const struct hx_serve_job *job)
{
    return job->req.chat ? "chat.completion.chunk" : "text_completion";
}

json_t *hx_serve_chunk(struct hx_serve_model *m, const struct hx_serve_job *job, enum hx_serve_chunk kind,
                       const struct hx_serve_part *part)
{
    const char *end = kind == HX_CHUNK_END ? finish_reason(job->finish) : NULL;
    json_t *choice, *j;

    choice = job->req.chat ? choice_of(m, job, part, "delta", delta_of(kind, part), end)
                           : choice_of(m, job, part, "text", utf8(part->text, part->n), end);
    j = choice ? frame(m, job, chunk_object(job), json_pack("[o]", choice)) : NULL;
    if (j && job->req.include_usage)
        json_object_set_new(j, "usage", json_null());
    return j;
}

json_t *hx_serve_usage_chunk(struct hx_serve_model *m, const struct hx_serve_choices *all)
{
    json_t *j = frame(m, all->job[0], chunk_object(all->job[0]), json_array());

    if (j)
        json_object_set_new(j, "usage", usage(all));
    return j;
}

json_t *hx_serve_model_json(const struct hx_serve_model *m)
{
    return json_pack("{s:s, s:s, s:I, s:s}", "id", m->name, "object", "model", "created",
                     (json_int_t)m->since, "owned_by", "hexrig");
}
