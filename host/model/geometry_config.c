/* Shapes of published models out of the config.json that comes with them. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "geometry_impl.h"

/* "model_type" of what hexrig runs, and which key has the feed-forward's width.  `old`: keys of GPT-2's kind, and no gate. */
static const struct type {
    const char *name, *ffn;
    int gated, old;
} types[] = {
    {"llama", "intermediate_size", 1, 0},  {"mistral", "intermediate_size", 1, 0}, {"qwen2", "intermediate_size", 1, 0},
    {"qwen3", "intermediate_size", 1, 0},  {"gemma2", "intermediate_size", 1, 0},  {"gemma3", "intermediate_size", 1, 0},
    {"gemma3_text", "intermediate_size", 1, 0}, {"gpt2", "n_inner", 0, 1},          {"gptj", "n_inner", 0, 1},
    {"opt", "ffn_dim", 0, 0},
};

/* Where a key first stands in the file; 1: it does not.  jansson keeps no lines. */
static size_t line_of(const char *text, const char *key)
{
    const size_t n = strlen(key);
    const char *at = text;
    size_t line = 1;

    while ((at = strstr(at, key)) && (at == text || at[-1] != '"' || at[n] != '"'))
        at++;
    for (const char *c = text; at && c < at; c++)
        line += *c == '\n';
    return line;
}

static const struct type *read_type(const struct hx_geometry *g, const char *text, const json_t *j, struct hx_error *err)
{
    char legal[160] = "";
    const char *name = json_string_value(json_object_get(j, "model_type"));

    for (size_t i = 0; name && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "", types[i].name);
    hx_error_set(err, -EINVAL, "%s:%zu: model_type '%.64s' is none that hexrig runs; legal: %s", g->name, line_of(text, "model_type"),
                 name ? name : "", legal);
    return NULL;
}

/* otherwise: where the key is missing or null; 0: it has to be there. */
static int read_size(size_t *to, const struct hx_geometry *g, const char *file, const json_t *j, const char *key, size_t otherwise,
                     struct hx_error *err)
{
    const json_t *v = json_object_get(j, key);

    *to = otherwise;
    if (otherwise && (!v || json_is_null(v)))
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > HX_GEOMETRY_MOST)
        return hx_error_set(err, -EINVAL, "%s:%zu: %s is %s; it has to be an integer from 1 to %d", g->name, line_of(file, key), key,
                            v ? "something else" : "missing", HX_GEOMETRY_MOST);
    *to = (size_t)json_integer_value(v);
    return 0;
}

static int read_shapes(struct hx_geometry *g, const char *text, const json_t *j, struct hx_error *err)
{
    const double base = json_number_value(json_object_get(j, "rope_theta"));
    const struct type *t = read_type(g, text, j, err);
    int rc = t ? 0 : -EINVAL;

    if (!rc)
        rc = read_size(&g->n_layer, g, text, j, t->old ? "n_layer" : "num_hidden_layers", 0, err);
    if (!rc)
        rc = read_size(&g->width, g, text, j, t->old ? "n_embd" : "hidden_size", 0, err);
    if (!rc)
        rc = read_size(&g->n_head, g, text, j, t->old ? "n_head" : "num_attention_heads", 0, err);
    if (!rc)
        rc = read_size(&g->n_kv, g, text, j, "num_key_value_heads", g->n_head, err);
    if (!rc)
        rc = read_size(&g->dh, g, text, j, "head_dim", g->width / g->n_head, err);
    if (!rc)
        rc = read_size(&g->ffn, g, text, j, t->ffn, t->old ? 4 * g->width : 0, err);
    if (!rc)
        rc = read_size(&g->vocab, g, text, j, "vocab_size", 0, err);
    g->gated = !rc && t->gated;
    g->rope_base = base > 0 ? (float)base : 1e4f;
    return rc;
}

int hx_geometry_read_config(struct hx_geometry *g, const char *text, struct hx_error *err)
{
    json_error_t why;
    json_t *j = json_loads(text, 0, &why);
    const json_t *inner = json_object_get(j, "text_config");
    int rc;

    if (!json_is_object(j))
        rc = hx_error_set(err, -EINVAL, "%s:%d: this is no config.json: %s", g->name, j ? 1 : why.line, j ? "no object" : why.text);
    else
        rc = read_shapes(g, text, json_is_object(inner) ? inner : j, err);
    json_decref(j);
    return rc;
}
