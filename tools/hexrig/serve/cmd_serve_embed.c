/* /v1/embeddings of hexrig serve: what is asked for, and what is answered.  Source of the formats: OpenAI's API reference,
 * "Embeddings". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_serve.h"

static int bad_input(struct hx_serve_error *e)
{
    return hx_serve_fail(e, 400, "input", NULL, "input: a string, an array of tokens, or an array of up to %d of such is legal",
                         HX_SERVE_INPUTS);
}

static int read_ids(struct hx_embedding_input *in, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e)
{
    in->n = json_array_size(v);
    in->ids = calloc(in->n + !in->n, sizeof(*in->ids));
    if (!in->ids)
        return hx_serve_fail(e, 500, NULL, NULL, "out of memory");
    for (size_t i = 0; i < in->n; i++) {
        const json_t *id = json_array_get(v, i);
        const json_int_t x = json_integer_value(id);

        if (!json_is_integer(id) || x < 0 || (size_t)x >= m->e->model->vocab)
            return hx_serve_fail(e, 400, "input", NULL, "input: an array of tokens holds something that is none");
        in->ids[i] = (uint32_t)x;
    }
    return 0;
}

static int read_input(struct hx_embedding_input *in, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e)
{
    const size_t n_ctx = m->e->kv->n_ctx;

    if (!json_is_string(v) && !json_is_array(v))
        return bad_input(e);
    if (json_is_array(v) && read_ids(in, m, v, e))
        return -1;
    if (json_is_string(v) && hx_tokenizer_encode_with(m->e->model->tok, json_string_value(v), json_string_length(v),
                                                      HX_ENCODE_BOS | HX_ENCODE_EOS, &in->ids, &in->n))
        return hx_serve_fail(e, 500, NULL, NULL, "out of memory");
    if (!in->n)
        return hx_serve_fail(e, 400, "input", NULL, "input: it is empty");
    if (in->n > n_ctx)
        return hx_serve_fail(e, 400, "input", "context_length_exceeded", "input: %zu tokens, the context has %zu positions", in->n,
                             n_ctx);
    return 0;
}

static int read_inputs(struct hx_serve_request *r, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e)
{
    const int many = json_is_array(v) && !json_is_integer(json_array_get(v, 0));
    const size_t n = many ? json_array_size(v) : 1;
    int rc = 0;

    if (!v || !n || n > HX_SERVE_INPUTS)
        return bad_input(e);
    if (hx_embedding_open(&r->embedding, n, m->e->model->width))
        return hx_serve_fail(e, 500, NULL, NULL, "out of memory");
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_input(&r->embedding.inputs[i], m, many ? json_array_get(v, i) : v, e);
    return rc;
}

static int read_format(struct hx_serve_request *r, const json_t *body, struct hx_serve_error *e)
{
    const json_t *v = json_object_get(body, "encoding_format"), *size = json_object_get(body, "dimensions");
    const char *format = json_string_value(v);

    if (v && (!format || (strcmp(format, "float") != 0 && strcmp(format, "base64") != 0)))
        return hx_serve_fail(e, 400, "encoding_format", NULL, "encoding_format: float and base64 are legal");
    r->base64 = format && strcmp(format, "base64") == 0;
    if (size && (!json_is_integer(size) || (size_t)json_integer_value(size) != r->embedding.width))
        return hx_serve_fail(e, 400, "dimensions", NULL, "dimensions: the model's %zu are legal", r->embedding.width);
    return 0;
}

int hx_serve_parse_embedding(struct hx_serve_request *r, const struct hx_serve_model *m, const char *bytes, size_t n,
                             struct hx_serve_error *e)
{
    static const char *const known[] = {"input", "model", "encoding_format", "dimensions", "user", NULL};
    json_t *body = hx_serve_body(bytes, n, known, e);
    const json_t *model = json_object_get(body, "model");
    int rc = body ? 0 : -1;

    *r = (struct hx_serve_request){.n = 1};
    if (!rc && model)
        rc = hx_serve_check_model(m, model, e);
    if (!rc)
        rc = read_inputs(r, m, json_object_get(body, "input"), e);
    if (!rc)
        rc = read_format(r, body, e);
    json_decref(body);
    return rc;
}

/* --- replies */

/* RFC 4648 of little-endian floats, as OpenAI's clients read them. */
static json_t *base64_of(const float *v, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *bytes = (const uint8_t *)v;
    const size_t n_bytes = n * sizeof(*v);
    char *text = malloc((n_bytes + 2) / 3 * 4 + 1), *to = text;
    json_t *j;

    for (size_t i = 0; text && i < n_bytes; i += 3) {
        const uint32_t group = (uint32_t)bytes[i] << 16 | (i + 1 < n_bytes ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < n_bytes ? bytes[i + 2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = i + 1 < n_bytes ? digits[group >> 6 & 63] : '=';
        *to++ = i + 2 < n_bytes ? digits[group & 63] : '=';
    }
    j = text ? json_stringn(text, (size_t)(to - text)) : NULL;
    free(text);
    return j;
}

static json_t *floats_of(const float *v, size_t n)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, json_real((double)v[i]));
    return j;
}

json_t *hx_serve_embedding_reply(const struct hx_serve_model *m, const struct hx_serve_job *job)
{
    const struct hx_embedding *em = &job->req.embedding;
    const json_int_t tokens = (json_int_t)hx_embedding_tokens(em);
    json_t *data = json_array();

    for (size_t i = 0; i < em->n; i++) {
        const float *v = em->out + i * em->width;

        json_array_append_new(data, json_pack("{s:s, s:I, s:o}", "object", "embedding", "index", (json_int_t)i, "embedding",
                                              job->req.base64 ? base64_of(v, em->width) : floats_of(v, em->width)));
    }
    return json_pack("{s:s, s:o, s:s, s:{s:I, s:I}}", "object", "list", "data", data, "model", m->name, "usage", "prompt_tokens",
                     tokens, "total_tokens", tokens);
}
