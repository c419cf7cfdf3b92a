/* /tokenize and /detokenize of hexrig serve: what the model reads and writes, without computing anything.  Source of the formats:
 * llama.cpp's llama-server. */
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_serve_exchange.h"

static int flag(const json_t *body, const char *name, struct hx_serve_error *e)
{
    const json_t *v = json_object_get(body, name);

    if (v && !json_is_boolean(v))
        hx_serve_fail(e, 400, name, NULL, "%s: true and false are legal", name);
    return json_is_true(v);
}

static json_t *utf8(const char *bytes, size_t n)
{
    char *text = hx_json_utf8(bytes, n);
    json_t *j = json_string(text);

    free(text);
    return j;
}

/* {"tokens": [...]}: ids, or with pieces {"id", "piece"}. */
static json_t *tokens_json(const struct hx_tokenizer *t, const uint32_t *ids, size_t n, int pieces)
{
    json_t *tokens = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct hx_str piece = hx_tokenizer_piece(t, ids[i]);

        json_array_append_new(tokens, pieces ? json_pack("{s:I, s:o}", "id", (json_int_t)ids[i], "piece", utf8(piece.p, piece.n))
                                             : json_integer(ids[i]));
    }
    return json_pack("{s:o}", "tokens", tokens);
}

json_t *hx_serve_tokenize(const struct hx_exchange *x, const struct hx_tokenizer *t, struct hx_serve_error *e)
{
    static const char *const known[] = {"content", "add_special", "with_pieces", NULL};
    json_t *body = hx_serve_body(x->body ? x->body : "", x->n, known, e), *j = NULL;
    const json_t *content = json_object_get(body, "content");
    const unsigned special = flag(body, "add_special", e) ? HX_ENCODE_BOS | HX_ENCODE_EOS : 0;
    const int pieces = flag(body, "with_pieces", e);
    uint32_t *ids = NULL;
    size_t n;

    if (!e->status && !json_is_string(content))
        hx_serve_fail(e, 400, "content", NULL, "content: a string is legal");
    if (!e->status && hx_tokenizer_encode_with(t, json_string_value(content), json_string_length(content),
                                               HX_ENCODE_SPECIAL | special, &ids, &n))
        hx_serve_fail(e, 500, NULL, NULL, "out of memory");
    if (!e->status)
        j = tokens_json(t, ids, n, pieces);
    free(ids);
    json_decref(body);
    return j;
}

/* The text of ids, each of which has to be one. */
static char *text_of(const struct hx_tokenizer *t, const json_t *tokens, size_t *bytes, struct hx_serve_error *e)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);

    for (size_t i = 0; f && i < json_array_size(tokens); i++) {
        const json_t *id = json_array_get(tokens, i);
        const json_int_t v = json_integer_value(id);

        if (!json_is_integer(id) || v < 0 || (size_t)v >= hx_tokenizer_vocab(t)) {
            hx_serve_fail(e, 400, "tokens", NULL, "tokens: integers from 0 to %zu are legal", hx_tokenizer_vocab(t) - 1);
            break;
        }
        fwrite(hx_tokenizer_piece(t, (uint32_t)v).p, 1, hx_tokenizer_piece(t, (uint32_t)v).n, f);
    }
    if (!f || fclose(f))
        hx_serve_fail(e, 500, NULL, NULL, "out of memory");
    return text;
}

json_t *hx_serve_detokenize(const struct hx_exchange *x, const struct hx_tokenizer *t, struct hx_serve_error *e)
{
    static const char *const known[] = {"tokens", NULL};
    json_t *body = hx_serve_body(x->body ? x->body : "", x->n, known, e), *j = NULL;
    const json_t *tokens = json_object_get(body, "tokens");
    char *text = NULL;
    size_t n = 0;

    if (!e->status && !json_is_array(tokens))
        hx_serve_fail(e, 400, "tokens", NULL, "tokens: an array of integers is legal");
    if (!e->status)
        text = text_of(t, tokens, &n, e);
    if (!e->status)
        j = json_pack("{s:o}", "content", utf8(text, n));
    free(text);
    json_decref(body);
    return j;
}
