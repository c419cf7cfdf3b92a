/* Shapes of published models, and of others by the config.json that comes with them. */
#include "geometry.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#define QWEN3_4B "qwen3-4b"
#define LLAMA3_8B "llama3-8b"
#define GEMMA3_1B "gemma3-1b"
#define SMOLLM2_135M "smollm2-135m"
#define GPTJ_6B "gptj-6b"

/* Source: config.json of the published models. */
const struct hx_geometry hx_geometries[] = {
    {QWEN3_4B, 36, 8, 128, 1e6f, 2560, 32, 9728, 151936, 1},
    {LLAMA3_8B, 32, 8, 128, 5e5f, 4096, 32, 14336, 128256, 1},
    {GEMMA3_1B, 26, 1, 256, 1e6f, 1152, 4, 6912, 262144, 1},
    {SMOLLM2_135M, 30, 3, 64, 1e5f, 576, 9, 1536, 49152, 1},
    {GPTJ_6B, 28, 16, 256, 1e4f, 4096, 16, 16384, 50400, 0},
    {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

const char *const hx_geometry_names[] = {QWEN3_4B, LLAMA3_8B, GEMMA3_1B, SMOLLM2_135M, GPTJ_6B, NULL};

int hx_geometry_is_file(const char *name)
{
    const size_t n = strlen(name), suffix = sizeof(".json") - 1;

    return strchr(name, '/') || (n > suffix && strcmp(name + n - suffix, ".json") == 0);
}

/* --- config.json */

enum { MOST = 1 << 24 };

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

static const struct type *read_type(const struct hx_geometry *g, const json_t *j, struct hx_error *err)
{
    const char *name = json_string_value(json_object_get(j, "model_type"));

    for (size_t i = 0; name && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    hx_error_set(err, -EINVAL, "%s: model_type '%.64s' is none that hexrig runs", g->name, name ? name : "");
    return NULL;
}

/* otherwise: where the key is missing or null; 0: it has to be there. */
static int read_size(size_t *to, const struct hx_geometry *g, const json_t *j, const char *key, size_t otherwise,
                     struct hx_error *err)
{
    const json_t *v = json_object_get(j, key);

    *to = otherwise;
    if (otherwise && (!v || json_is_null(v)))
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > MOST)
        return hx_error_set(err, -EINVAL, "%s: %s is %s; it has to be an integer from 1 to %d", g->name, key,
                            v ? "something else" : "missing", MOST);
    *to = (size_t)json_integer_value(v);
    return 0;
}

static int read_shapes(struct hx_geometry *g, const json_t *j, struct hx_error *err)
{
    const double base = json_number_value(json_object_get(j, "rope_theta"));
    const struct type *t = read_type(g, j, err);
    int rc = t ? 0 : -EINVAL;

    if (!rc)
        rc = read_size(&g->n_layer, g, j, t->old ? "n_layer" : "num_hidden_layers", 0, err);
    if (!rc)
        rc = read_size(&g->width, g, j, t->old ? "n_embd" : "hidden_size", 0, err);
    if (!rc)
        rc = read_size(&g->n_head, g, j, t->old ? "n_head" : "num_attention_heads", 0, err);
    if (!rc)
        rc = read_size(&g->n_kv, g, j, "num_key_value_heads", g->n_head, err);
    if (!rc)
        rc = read_size(&g->dh, g, j, "head_dim", g->width / g->n_head, err);
    if (!rc)
        rc = read_size(&g->ffn, g, j, t->ffn, t->old ? 4 * g->width : 0, err);
    if (!rc)
        rc = read_size(&g->vocab, g, j, "vocab_size", 0, err);
    g->gated = !rc && t->gated;
    g->rope_base = base > 0 ? (float)base : 1e4f;
    return rc;
}

int hx_geometry_read(struct hx_geometry *g, const char *path, struct hx_error *err)
{
    json_error_t why;
    json_t *j = json_load_file(path, 0, &why);
    const json_t *text = json_object_get(j, "text_config");
    int rc;

    *g = (struct hx_geometry){.name = path};
    if (!j && json_error_code(&why) == json_error_cannot_open_file)
        return hx_error_set(err, -ENOENT, "%s: cannot be opened", path);
    if (!json_is_object(j))
        rc = hx_error_set(err, -EINVAL, "%s: this is no config.json: %s", path, j ? "no object" : why.text);
    else
        rc = read_shapes(g, json_is_object(text) ? text : j, err);
    json_decref(j);
    return rc;
}
