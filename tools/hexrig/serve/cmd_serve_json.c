/* Requests to hexrig serve, as JSON.
 * Source of the formats: OpenAI's API reference, "Completions" and "Chat". */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_serve.h"

enum { DEFAULT_TOKENS = 16, DEFAULT_REPEAT_LAST = 64 };

/* --- a request: a table says which fields there are and who reads them */

struct parse {
    struct hx_serve_request *r;
    const struct hx_serve_model *m;
    struct hx_serve_error *e;
    const json_t *body;
    int asked;          /* 1: there is a question beside the prompt, for the server's memory */
    uint32_t *question; /* [n_question] tokens of the prompt's text, or of what a chat's user said last */
    size_t n_question;
};

struct field {
    const char *name;
    int (*set)(struct parse *p, const struct field *f, const json_t *v);
    size_t offset;   /* into struct hx_serve_request, of numbers and flags */
    double min, max; /* of numbers */
};

static int bad(struct parse *p, const struct field *f, const char *want)
{
    return hx_serve_fail(p->e, 400, f->name, NULL, "%s: %s", f->name, want);
}

static int range(struct parse *p, const struct field *f, const char *kind)
{
    char want[96];

    snprintf(want, sizeof(want), "%s from %.15g to %.15g are legal", kind, f->min, f->max);
    return bad(p, f, want);
}

static void *at(struct parse *p, const struct field *f)
{
    return (char *)p->r + f->offset;
}

static int set_real(struct parse *p, const struct field *f, const json_t *v)
{
    double x = json_is_number(v) ? json_number_value(v) : NAN;

    if (!(x >= f->min && x <= f->max))
        return range(p, f, "numbers");
    *(double *)at(p, f) = x;
    return 0;
}

static int set_size(struct parse *p, const struct field *f, const json_t *v)
{
    json_int_t x = json_integer_value(v);

    if (!json_is_integer(v) || (double)x < f->min || (double)x > f->max)
        return range(p, f, "integers");
    *(size_t *)at(p, f) = (size_t)x;
    return 0;
}

static int set_flag(struct parse *p, const struct field *f, const json_t *v)
{
    if (!json_is_boolean(v))
        return bad(p, f, "true and false are legal");
    *(int *)at(p, f) = json_is_true(v);
    return 0;
}

static int set_seed(struct parse *p, const struct field *f, const json_t *v)
{
    if (!json_is_integer(v))
        return bad(p, f, "integers are legal");
    p->r->cfg.sampling.seed = (uint64_t)json_integer_value(v);
    return 0;
}

static int set_ignore_eos(struct parse *p, const struct field *f, const json_t *v)
{
    int rc = set_flag(p, f, v);

    p->r->cfg.at_end_token = !json_is_true(v);
    return rc;
}

static int set_model(struct parse *p, const struct field *f, const json_t *v)
{
    (void)f;
    return hx_serve_check_model(p->m, v, p->e);
}

static int set_one(struct parse *p, const struct field *f, const json_t *v)
{
    return json_is_integer(v) && json_integer_value(v) == 1 ? 0
                                                            : bad(p, f, "this server makes 1 choice");
}

/* Of completions: how many others beside each token. */
static int set_logprobs(struct parse *p, const struct field *f, const json_t *v)
{
    if (json_is_false(v))
        return 0;
    p->r->logprobs = 1;
    return set_size(p, f, v);
}

static int add_stop(struct parse *p, const struct field *f, const json_t *v)
{
    struct hx_serve_request *r = p->r;

    if (!json_is_string(v) || !json_string_length(v))
        return bad(p, f, "a string that is not empty, or an array of such, is legal");
    if (r->cfg.n_stops == HX_SERVE_STOPS)
        return bad(p, f, "up to 4 strings are legal");
    r->stops[r->cfg.n_stops] = strdup(json_string_value(v));
    if (!r->stops[r->cfg.n_stops])
        return hx_serve_fail(p->e, 500, NULL, NULL, "out of memory");
    r->cfg.n_stops++;
    return 0;
}

static int set_stop(struct parse *p, const struct field *f, const json_t *v)
{
    int rc = 0;

    if (!json_is_array(v))
        return add_stop(p, f, v);
    for (size_t i = 0; !rc && i < json_array_size(v); i++)
        rc = add_stop(p, f, json_array_get(v, i));
    return rc;
}

static int set_stream_options(struct parse *p, const struct field *f, const json_t *v)
{
    const json_t *usage = json_object_get(v, "include_usage");

    if (!json_is_object(v) || (usage && !json_is_boolean(usage)))
        return bad(p, f, "an object with include_usage true or false is legal");
    p->r->include_usage = json_is_true(usage);
    return 0;
}

/* What this server cannot do may be asked for not to be done. */
static int set_neutral(struct parse *p, const struct field *f, const json_t *v)
{
    static const char *const words[] = {"", "none", "auto", "text"};
    int fine = json_is_false(v) || (json_is_array(v) && !json_array_size(v)) ||
               (json_is_object(v) && !json_object_size(v)) ||
               (json_is_number(v) && json_number_value(v) == 0);

    for (size_t i = 0; json_is_string(v) && i < sizeof(words) / sizeof(words[0]); i++)
        fine |= strcmp(json_string_value(v), words[i]) == 0;
    return fine ? 0 : bad(p, f, "this server has no such thing");
}

/* What changes no text. */
static int set_nothing(struct parse *p, const struct field *f, const json_t *v)
{
    (void)p;
    (void)f;
    (void)v;
    return 0;
}

static int set_format(struct parse *p, const struct field *f, const json_t *v)
{
    (void)f;
    return p->r->grammar ? 0 : hx_serve_format(p->r, p->m, v, p->e);
}

static int set_prompt_ids(struct parse *p, const struct field *f, const json_t *v)
{
    struct hx_serve_request *r = p->r;

    r->cfg.n_prompt = json_array_size(v);
    r->prompt = calloc(r->cfg.n_prompt, sizeof(*r->prompt));
    if (!r->prompt)
        return hx_serve_fail(p->e, 500, NULL, NULL, "out of memory");
    for (size_t i = 0; i < r->cfg.n_prompt; i++) {
        const json_t *id = json_array_get(v, i);
        json_int_t x = json_integer_value(id);

        if (!json_is_integer(id) || x < 0 || (size_t)x >= p->m->e->model->vocab)
            return bad(p, f, "an array of tokens holds something that is none");
        r->prompt[i] = (uint32_t)x;
    }
    return 0;
}

/* As `hexrig isagi` reads it: without BOS, and text alone. */
static int keep_question(struct parse *p, const char *text, size_t n)
{
    if (!p->m->memory)
        return 0;
    p->asked = 1;
    return hx_tokenizer_encode(p->m->e->model->tok, text, n, &p->question, &p->n_question)
               ? hx_serve_fail(p->e, 500, NULL, NULL, "out of memory") : 0;
}

static int set_prompt(struct parse *p, const struct field *f, const json_t *v)
{
    struct hx_serve_request *r = p->r;

    if (json_is_array(v) && json_array_size(v) == 1 && json_is_string(json_array_get(v, 0)))
        v = json_array_get(v, 0);
    if (json_is_array(v) && json_is_integer(json_array_get(v, 0)))
        return set_prompt_ids(p, f, v);
    if (!json_is_string(v))
        return bad(p, f, "a string, an array of one string or an array of tokens is legal");
    if (keep_question(p, json_string_value(v), json_string_length(v)))
        return -1;
    if (hx_tokenizer_encode_with(p->m->e->model->tok, json_string_value(v), json_string_length(v),
                                 HX_ENCODE_BOS | HX_ENCODE_SPECIAL, &r->prompt, &r->cfg.n_prompt))
        return hx_serve_fail(p->e, 500, NULL, NULL, "out of memory");
    return r->cfg.n_prompt ? 0 : bad(p, f, "it is empty");
}

/* Content: a string, or an array of {"type": "text", "text": STRING}, which are joined.  malloc'ed; NULL: none. */
static char *content_of(const json_t *content, size_t *n)
{
    const int many = json_is_array(content);
    const size_t parts = many ? json_array_size(content) : 1;
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    int fine = f != NULL;

    for (size_t i = 0; fine && i < parts; i++) {
        const json_t *part = many ? json_array_get(content, i) : content;
        const json_t *s = many ? json_object_get(part, "text") : part;
        const char *type = many ? json_string_value(json_object_get(part, "type")) : "text";

        fine = json_is_string(s) && type && strcmp(type, "text") == 0 &&
               fwrite(json_string_value(s), 1, json_string_length(s), f) == json_string_length(s);
    }
    if (f && fclose(f))
        fine = 0;
    if (fine)
        return text;
    free(text);
    return NULL;
}

static int read_message(struct parse *p, const struct field *f, const json_t *v,
                        struct hx_chat_message *out)
{
    static const char *const roles[][2] = {{"system", "system"}, {"developer", "system"},
                                           {"user", "user"}, {"assistant", "assistant"}};
    const char *role = json_string_value(json_object_get(v, "role"));

    for (size_t i = 0; role && i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(role, roles[i][0]) == 0)
            out->role = roles[i][1];
    if (!out->role)
        return bad(p, f, "a message's role is system, developer, user or assistant");
    out->text.p = content_of(json_object_get(v, "content"), &out->text.n);
    return out->text.p ? 0 : bad(p, f, "a message's content is a string or an array of text parts");
}

/* What is looked up of a chat. */
static int keep_last_of_user(struct parse *p, const struct hx_chat_message *messages, size_t n)
{
    while (n && strcmp(messages[n - 1].role, "user") != 0)
        n--;
    return n ? keep_question(p, messages[n - 1].text.p, messages[n - 1].text.n) : keep_question(p, "", 0);
}

static int render(struct parse *p, const struct field *f, const struct hx_chat_message *messages,
                  size_t n)
{
    struct hx_serve_request *r = p->r;
    struct hx_error err = {""};

    if (!p->m->has_chat)
        return hx_serve_fail(p->e, 400, NULL, NULL, "%s", p->m->err.text);
    if (hx_chat_render(&p->m->chat, messages, n, 1, &r->prompt, &r->cfg.n_prompt, &err))
        return bad(p, f, err.text);
    return 0;
}

static int set_messages(struct parse *p, const struct field *f, const json_t *v)
{
    const size_t n = json_array_size(v);
    struct hx_chat_message *messages;
    int rc = 0;

    if (!n)
        return bad(p, f, "an array of at least one message is legal");
    messages = calloc(n, sizeof(*messages));
    if (!messages)
        return hx_serve_fail(p->e, 500, NULL, NULL, "out of memory");
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_message(p, f, json_array_get(v, i), &messages[i]);
    if (!rc)
        rc = render(p, f, messages, n);
    if (!rc)
        rc = keep_last_of_user(p, messages, n);
    for (size_t i = 0; i < n; i++)
        free((char *)messages[i].text.p);
    free(messages);
    return rc;
}

#define FIELD(field, reader) {.name = field, .set = reader}
#define NUMBER(field, reader, member, least, most)                                                 \
    {.name = field, .set = reader, .offset = offsetof(struct hx_serve_request, member),            \
     .min = least, .max = most}
#define END {.name = NULL}
static const struct field both[] = {
    FIELD("model", set_model),
    NUMBER("max_tokens", set_size, cfg.n_max, 1, 1 << 24),
    NUMBER("temperature", set_real, cfg.sampling.temp, 0, 2),
    NUMBER("top_p", set_real, cfg.sampling.top_p, 1e-9, 1),
    NUMBER("top_k", set_size, cfg.sampling.top_k, 0, 1 << 24),
    NUMBER("min_p", set_real, cfg.sampling.min_p, 0, 1),
    NUMBER("repeat_penalty", set_real, cfg.sampling.repeat_penalty, 1e-3, 1e3),
    NUMBER("repeat_last_n", set_size, cfg.sampling.repeat_last, 0, 1 << 20),
    FIELD("seed", set_seed),
    FIELD("stop", set_stop),
    NUMBER("stream", set_flag, stream, 0, 1),
    FIELD("stream_options", set_stream_options),
    NUMBER("ignore_eos", set_ignore_eos, cfg.at_end_token, 0, 1),
    NUMBER("n", set_size, n, 1, HX_SERVE_CHOICES),
    NUMBER("presence_penalty", set_real, cfg.sampling.presence_penalty, -2, 2),
    NUMBER("frequency_penalty", set_real, cfg.sampling.frequency_penalty, -2, 2),
    FIELD("logit_bias", set_neutral),
    FIELD("user", set_nothing),
    END,
}, text_only[] = {
    FIELD("prompt", set_prompt),
    NUMBER("logprobs", set_logprobs, top, 0, 5),
    FIELD("best_of", set_one),
    FIELD("echo", set_neutral),
    FIELD("suffix", set_neutral),
    END,
}, chat_only[] = {
    FIELD("messages", set_messages),
    NUMBER("max_completion_tokens", set_size, cfg.n_max, 1, 1 << 24),
    NUMBER("logprobs", set_flag, logprobs, 0, 1),
    NUMBER("top_logprobs", set_size, top, 0, HX_LOGPROBS_TOP),
    FIELD("response_format", set_format),
    FIELD("tools", set_neutral),
    FIELD("tool_choice", set_neutral),
    FIELD("functions", set_neutral),
    FIELD("function_call", set_neutral),
    FIELD("modalities", set_neutral),
    FIELD("parallel_tool_calls", set_nothing),
    FIELD("reasoning_effort", set_nothing),
    FIELD("metadata", set_nothing),
    FIELD("store", set_nothing),
    FIELD("service_tier", set_nothing),
    FIELD("safety_identifier", set_nothing),
    FIELD("prompt_cache_key", set_nothing),
    END,
};

static const struct field *find(const struct field *f, const char *name)
{
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

static int read_fields(struct parse *p)
{
    const char *name;
    json_t *v;

    json_object_foreach((json_t *)p->body, name, v) {
        const struct field *f = find(both, name);

        if (json_is_null(v)) /* as if it were not there */
            continue;
        if (!f)
            f = find(p->r->chat ? chat_only : text_only, name);
        if (!f)
            return hx_serve_fail(p->e, 400, name, "unknown_parameter", "unknown field '%.100s'",
                                 name);
        if (f->set(p, f, v))
            return -1;
    }
    return 0;
}

/* Is there a prompt, and does the context hold it and what is to be made? */
static int check_size(struct parse *p)
{
    const char *prompt = p->r->chat ? "messages" : "prompt";
    const size_t n_ctx = p->m->e->kv->n_ctx;
    struct hx_completion_cfg *cfg = &p->r->cfg;
    struct hx_error err = {""};
    int rc;

    if (!p->r->prompt)
        return hx_serve_fail(p->e, 400, prompt, NULL, "there is no %s", prompt);
    if (p->r->top > p->m->e->model->vocab)
        p->r->top = p->m->e->model->vocab;
    if (p->r->top && !p->r->logprobs)
        return hx_serve_fail(p->e, 400, "top_logprobs", NULL, "top_logprobs: logprobs has to be true");
    if (p->r->logprobs && p->m->e->argmax)
        return hx_serve_fail(p->e, 400, "logprobs", NULL, "logprobs: choices are made on the DSP (--offload argmax), without them");
    if (cfg->grammar && cfg->n_stops)
        return hx_serve_fail(p->e, 400, "stop", NULL, "stop: it could cut the JSON of response_format");
    if (cfg->grammar && !cfg->at_end_token)
        return hx_serve_fail(p->e, 400, "ignore_eos", NULL, "ignore_eos: the JSON of response_format has an end");
    if (!cfg->n_max) /* a reply may fill the context */
        cfg->n_max = !p->r->chat               ? DEFAULT_TOKENS
                     : cfg->n_prompt <= n_ctx ? n_ctx - cfg->n_prompt + 1
                                              : 1;
    if (cfg->grammar && hx_grammar_shortest(cfg->grammar) > cfg->n_max)
        prompt = "response_format";
    rc = hx_completion_check(p->m->e, cfg, &err);
    return rc ? hx_serve_fail(p->e, 400, prompt, rc == -E2BIG ? "context_length_exceeded" : NULL,
                              "%s", err.text)
              : 0;
}

int hx_serve_parse(struct hx_serve_request *r, const struct hx_serve_model *m, int chat,
                   const char *body, size_t n, struct hx_serve_error *e)
{
    struct parse p = {.r = r, .m = m, .e = e};
    json_error_t err;
    json_t *j = json_loadb(body, n, JSON_REJECT_DUPLICATES, &err);
    int rc;

    *r = (struct hx_serve_request){
        .chat = chat,
        .n = 1,
        .cfg = {.at_end_token = 1, .whole_text = chat,
                .sampling = {.temp = m->e->argmax ? 0 : 1, .top_p = 1,
                             .repeat_last = DEFAULT_REPEAT_LAST}},
    };
    if (!j)
        return hx_serve_fail(e, 400, NULL, NULL, "the body is no JSON: line %d, column %d: %s",
                             err.line, err.column, err.text);
    p.body = j;
    rc = json_is_object(j) ? read_fields(&p)
                           : hx_serve_fail(e, 400, NULL, NULL, "the body is no JSON object");
    r->cfg.prompt = r->prompt;
    if (!rc)
        rc = check_size(&p);
    if (!rc)
        rc = hx_serve_look_up(r, m, p.asked ? p.question : r->prompt, p.asked ? p.n_question : r->cfg.n_prompt, e);
    free(p.question);
    json_decref(j);
    return rc;
}

void hx_serve_request_free(struct hx_serve_request *r)
{
    for (size_t i = 0; i < r->cfg.n_stops; i++)
        free(r->stops[i]);
    free(r->prompt);
    hx_grammar_free(r->grammar);
    hx_embedding_close(&r->embedding);
    memset(r, 0, sizeof(*r));
}
