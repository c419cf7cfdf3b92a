/* .miku files, see miku.h. */
#include "miku.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "methods/capture/sealed.h"
#include "methods/guard/guard.h"

enum { MOST_D = 1 << 16, DIGITS = 17 };

static const char format[] = "miku-v1";

struct header {
    char magic[8];
    uint32_t version, json_bytes;
};
_Static_assert(sizeof(struct header) == 16, "header of a state");

static const struct hx_sealed_kind kind = {"HXMIKU", ".miku file", 1, sizeof(struct header)};

/* --- writing */

static json_t *coordinates_json(const uint32_t *list, size_t n)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, json_integer(list[i]));
    return j;
}

static json_t *point_json(const double *z, size_t k)
{
    json_t *j = json_array();

    for (size_t i = 0; i < k; i++)
        json_array_append_new(j, json_real(z[i]));
    return j;
}

static json_t *trajectories_json(const struct hx_cog *c)
{
    json_t *j = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(j, json_pack("{s:o, s:o, s:f, s:o}", "prompt", hx_json_text(c->at[i].prompt), "answer",
                                           hx_json_text(c->at[i].answer), "teh", c->at[i].teh, "z", point_json(c->at[i].z, c->k)));
    return j;
}

static json_t *log_json(const struct hx_cog *c)
{
    json_t *j = json_array();

    for (size_t i = 0; i < c->n_log; i++)
        json_array_append_new(j, json_pack("{s:o, s:o, s:s, s:f}", "prompt", hx_json_text(c->log[i].prompt), "answer",
                                           hx_json_text(c->log[i].answer), "tier", hx_cog_tier_names[c->log[i].tier], "similarity",
                                           c->log[i].similarity));
    return j;
}

/* malloc'ed; NULL: out of memory. */
static char *text_of(const struct hx_cog *c)
{
    char model[17];
    json_t *j;
    char *text;

    snprintf(model, sizeof(model), "%016" PRIx64, c->model);
    j = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "format", format, "model_id", model, "k_ugt", (json_int_t)c->k, "d_model",
                  (json_int_t)c->d, "forbidden_coords", coordinates_json(c->forbidden, c->n_forbidden), "snipe_coords",
                  coordinates_json(c->snipe, c->n_snipe), "trajectories", trajectories_json(c), "conversation_log", log_json(c));
    text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) : NULL;
    json_decref(j);
    return text;
}

int hx_miku_write(const struct hx_cog *c, const char *path, struct hx_error *err)
{
    char *text = text_of(c);
    struct header h = {.version = kind.version, .json_bytes = text ? (uint32_t)strlen(text) : 0};
    const struct hx_sealed_part parts[] = {{&h, sizeof(h)}, {text, h.json_bytes}, {c->basis, c->k * c->d * sizeof(*c->basis)},
                                           {c->metric, c->k * c->k * sizeof(*c->metric)}};
    int rc;

    memcpy(h.magic, kind.magic, sizeof(h.magic));
    rc = text ? hx_sealed_write(path, &kind, parts, sizeof(parts) / sizeof(parts[0]), err)
              : hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    free(text);
    return rc;
}

/* --- reading */

static int bad(struct hx_error *err, const char *path, const char *what)
{
    return hx_error_set(err, -EINVAL, "%s: %s cannot be", path, what);
}

static int take_coordinates(uint32_t **list, size_t *n, const json_t *j, size_t k)
{
    const size_t size = json_array_size(j);
    uint32_t *to = malloc((size + 1) * sizeof(*to));
    char *seen = calloc(k, 1);
    int good = to && seen && json_is_array(j) && size <= k;

    for (size_t i = 0; i < size && good; i++) {
        const json_int_t v = json_integer_value(json_array_get(j, i));

        good = json_is_integer(json_array_get(j, i)) && v >= 0 && (size_t)v < k && !seen[v]++;
        to[i] = (uint32_t)v;
    }
    good = good && !hx_cog_choose(list, n, to, size);
    free(to);
    free(seen);
    return good;
}

static int is_share(const json_t *j)
{
    return json_is_real(j) && json_real_value(j) >= -1.001 && json_real_value(j) <= 1.001;
}

static int take_trajectory(struct hx_cog *c, const json_t *j, double *z)
{
    const char *prompt = json_string_value(json_object_get(j, "prompt")), *answer = json_string_value(json_object_get(j, "answer"));
    const json_t *at = json_object_get(j, "z"), *teh = json_object_get(j, "teh");
    int good = prompt && answer && is_share(teh) && json_array_size(at) == c->k;

    for (size_t i = 0; i < c->k && good; i++) {
        z[i] = json_real_value(json_array_get(at, i));
        good = json_is_real(json_array_get(at, i)) && isfinite(z[i]);
    }
    return good && !hx_cog_add(c, z, prompt, answer, json_real_value(teh), NULL);
}

static int take_turn(struct hx_cog *c, const json_t *j)
{
    const char *prompt = json_string_value(json_object_get(j, "prompt")), *answer = json_string_value(json_object_get(j, "answer"));
    const char *tier = json_string_value(json_object_get(j, "tier"));
    const json_t *similarity = json_object_get(j, "similarity");
    int which = 0;

    if (!prompt || !answer || !tier || !is_share(similarity))
        return 0;
    while (which < HX_COG_TIERS && strcmp(tier, hx_cog_tier_names[which]) != 0)
        which++;
    return which < HX_COG_TIERS && !hx_cog_say(c, prompt, answer, (enum hx_cog_tier)which, json_real_value(similarity), NULL);
}

static int take_lists(struct hx_cog *c, const json_t *j, const char *path, struct hx_error *err)
{
    const json_t *trajectories = json_object_get(j, "trajectories"), *log = json_object_get(j, "conversation_log");
    double *z = malloc(c->k * sizeof(*z));
    int rc = z ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", path);

    if (!rc && !take_coordinates(&c->forbidden, &c->n_forbidden, json_object_get(j, "forbidden_coords"), c->k))
        rc = bad(err, path, "forbidden_coords");
    if (!rc && !take_coordinates(&c->snipe, &c->n_snipe, json_object_get(j, "snipe_coords"), c->k))
        rc = bad(err, path, "snipe_coords");
    if (!rc && (!json_is_array(trajectories) || !json_is_array(log)))
        rc = bad(err, path, "trajectories or conversation_log");
    for (size_t i = 0; i < json_array_size(trajectories) && !rc; i++)
        rc = take_trajectory(c, json_array_get(trajectories, i), z) ? 0 : bad(err, path, "a trajectory");
    for (size_t i = 0; i < json_array_size(log) && !rc; i++)
        rc = take_turn(c, json_array_get(log, i)) ? 0 : bad(err, path, "a line of conversation_log");
    free(z);
    return rc;
}

/* A metric is made of sums that are the same on both sides of its diagonal, to the last bit. */
static int check_tensors(const struct hx_cog *c, const char *path, struct hx_error *err)
{
    const double skew = hx_guard_skew(&(struct hx_guard_q){c->basis, c->k, c->d});

    if (!(skew <= HX_GUARD_SKEW))
        return hx_error_set(err, -EINVAL, "%s: its basis is not orthonormal: off by %g, %g at most", path, skew, HX_GUARD_SKEW);
    for (size_t i = 0; i < c->k; i++)
        for (size_t j = 0; j <= i; j++) {
            const double x = c->metric[i * c->k + j], y = c->metric[j * c->k + i];

            if (!isfinite(x) || x != y)
                return hx_error_set(err, -EINVAL, "%s: its metric is not symmetric: %g in row %zu, column %zu, and %g the other way", path,
                                    x, i, j, y);
        }
    return 0;
}

/* Sizes, then tensors, which have to be as long as these say. */
static int take_tensors(struct hx_cog *c, const json_t *j, const char *rest, size_t n, const char *path, struct hx_error *err)
{
    const json_int_t k = json_integer_value(json_object_get(j, "k_ugt")), d = json_integer_value(json_object_get(j, "d_model"));
    size_t basis, metric;
    int rc;

    if (k < 1 || d < 1 || d > MOST_D || k > d)
        return bad(err, path, "k_ugt or d_model");
    basis = (size_t)k * (size_t)d * sizeof(float);
    metric = (size_t)k * (size_t)k * sizeof(double);
    if (n != basis + metric)
        return bad(err, path, "the length of its tensors");
    float *copy = malloc(basis); /* the file's lie anywhere */
    if (!copy)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    memcpy(copy, rest, basis);
    rc = hx_cog_open(c, (size_t)k, (size_t)d, copy, err);
    free(copy);
    if (rc)
        return rc;
    memcpy(c->metric, rest + basis, metric);
    return check_tensors(c, path, err);
}

static int take_model(struct hx_cog *c, const json_t *j, const char *path, uint64_t model, struct hx_error *err)
{
    const char *name = json_string_value(json_object_get(j, "format")), *id = json_string_value(json_object_get(j, "model_id"));
    char *end;

    if (!name || strcmp(name, format) != 0)
        return bad(err, path, "its format");
    if (!id || strlen(id) != 16)
        return bad(err, path, "model_id");
    c->model = strtoull(id, &end, 16);
    return *end ? bad(err, path, "model_id") : hx_sealed_model(path, &kind, c->model, model, err);
}

static int parse(struct hx_cog *c, const char *bytes, size_t n, const char *path, uint64_t model, struct hx_error *err)
{
    struct header h;
    json_t *j;
    int rc;

    memcpy(&h, bytes, sizeof(h));
    if (h.json_bytes > n - sizeof(h))
        return bad(err, path, "the length of its JSON");
    j = json_loadb(bytes + sizeof(h), h.json_bytes, 0, NULL);
    if (!j)
        return bad(err, path, "its JSON");
    rc = take_tensors(c, j, bytes + sizeof(h) + h.json_bytes, n - sizeof(h) - h.json_bytes, path, err);
    if (!rc)
        rc = take_model(c, j, path, model, err);
    if (!rc)
        rc = take_lists(c, j, path, err);
    json_decref(j);
    return rc;
}

int hx_miku_read(struct hx_cog *c, const char *path, uint64_t model, struct hx_error *err)
{
    char *bytes;
    size_t n;
    int rc = hx_sealed_read(path, &kind, &bytes, &n, err);

    *c = (struct hx_cog){0};
    if (rc)
        return rc;
    rc = parse(c, bytes, n, path, model, err);
    if (rc)
        hx_cog_free(c);
    free(bytes);
    return rc;
}
