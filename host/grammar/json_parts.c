/* Objects, arrays and strings of a schema, as states of its grammar. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_grammar_impl.h"

uint32_t hx_schema_refuse(struct hx_schema *s, int rc, const char *fmt, ...)
{
    char why[256];
    va_list ap;

    if (s->rc)
        return HX_GRAMMAR_NONE;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    s->rc = hx_error_set(s->err, rc, "%s: %s", s->path, why);
    return HX_GRAMMAR_NONE;
}

/* The path is longer meanwhile. */
uint32_t hx_schema_below(struct hx_schema *s, const char *what, const char *name, const json_t *j, uint32_t next)
{
    const size_t n = strlen(s->path);
    uint32_t state;

    snprintf(s->path + n, sizeof(s->path) - n, "/%s%s%s", what, *name ? "/" : "", name);
    state = s->build(s, j, next);
    s->path[n] = '\0';
    return state;
}

uint32_t hx_schema_literal(struct hx_schema *s, const json_t *v, uint32_t next)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    uint32_t state;

    if (!text)
        return hx_schema_refuse(s, -ENOMEM, "out of memory");
    state = hx_grammar_text(s->g, text, strlen(text), next);
    free(text);
    return state;
}

/* A keyword's number, or `absent`. */
static size_t number_of(struct hx_schema *s, const json_t *j, const char *key, size_t most, size_t absent)
{
    const json_t *v = json_object_get(j, key);
    const json_int_t x = json_integer_value(v);

    if (!v)
        return absent;
    if (!json_is_integer(v) || x < 0 || (size_t)x > most)
        hx_schema_refuse(s, -E2BIG, "%s: integers from 0 to %zu are legal", key, most);
    return (size_t)x;
}

/* --- strings */

static uint32_t build_string(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const size_t min = number_of(s, j, "minLength", HX_SCHEMA_CHARS, 0);
    const size_t max = number_of(s, j, "maxLength", HX_SCHEMA_CHARS, SIZE_MAX);
    const uint32_t end = hx_grammar_text(s->g, "\"", 1, next), chars = s->rules.chars;
    uint32_t state = end;

    if (!min && max == SIZE_MAX)
        return hx_grammar_call(s->g, s->rules.string, next);
    if (min > max)
        return hx_schema_refuse(s, -EINVAL, "minLength is above maxLength");
    if (s->rc)
        return HX_GRAMMAR_NONE;
    if (max == SIZE_MAX) {
        state = hx_grammar_later(s->g);
        hx_grammar_define(s->g, state, hx_grammar_either(s->g, hx_grammar_call(s->g, chars, state), end));
    }
    for (size_t i = max == SIZE_MAX ? min : max; i-- > 0;) {
        state = hx_grammar_call(s->g, chars, state);
        if (i >= min)
            state = hx_grammar_either(s->g, state, end);
    }
    return hx_grammar_text(s->g, "\"", 1, state);
}

/* --- arrays */

/* Behind `from` elements: up to max in all, at least min, then the bracket. */
static uint32_t rest_of_array(struct hx_schema *s, uint32_t item, size_t from, size_t min, size_t max, uint32_t next)
{
    const uint32_t close = hx_json_close(&s->rules, s->g, ']', next);
    const size_t last = max != SIZE_MAX ? max : min > from ? min : from; /* elements until it ends, or may go on for ever */
    uint32_t state = close;

    if (max == SIZE_MAX) {
        state = hx_grammar_later(s->g);
        hx_grammar_define(s->g, state, hx_grammar_either(
            s->g, hx_json_comma(&s->rules, s->g, hx_grammar_call(s->g, item, state)), close));
    }
    for (size_t i = last; i-- > from;) {
        state = hx_json_comma(&s->rules, s->g, hx_grammar_call(s->g, item, state));
        if (i >= min)
            state = hx_grammar_either(s->g, state, close);
    }
    return state;
}

static uint32_t build_array(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const size_t min = number_of(s, j, "minItems", HX_SCHEMA_ITEMS, 0);
    const size_t max = number_of(s, j, "maxItems", HX_SCHEMA_ITEMS, SIZE_MAX);
    const json_t *items = json_object_get(j, "items");
    const uint32_t empty = hx_grammar_text(s->g, "]", 1, next);
    uint32_t item = s->rules.value, state = empty;

    if (items)
        item = hx_schema_below(s, "items", "", items, hx_grammar_end(s->g));
    if (min > max)
        return hx_schema_refuse(s, -EINVAL, "minItems is above maxItems");
    if (s->rc)
        return HX_GRAMMAR_NONE;
    if (max) {
        state = hx_grammar_call(s->g, item, rest_of_array(s, item, 1, min, max, next));
        if (!min)
            state = hx_grammar_either(s->g, state, empty);
    }
    return hx_json_open(&s->rules, s->g, '[', state);
}

/* --- objects */

static int is_required(const json_t *j, const char *name)
{
    const json_t *required = json_object_get(j, "required");

    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *s = json_string_value(json_array_get(required, i));

        if (s && strcmp(s, name) == 0)
            return 1;
    }
    return 0;
}

static int check_required(struct hx_schema *s, const json_t *j)
{
    const json_t *required = json_object_get(j, "required"), *properties = json_object_get(j, "properties");

    if (required && (!json_is_array(required) || json_array_size(required) > HX_SCHEMA_PROPERTIES))
        hx_schema_refuse(s, -EINVAL, "required: an array of up to %d names is legal", HX_SCHEMA_PROPERTIES);
    for (size_t i = 0; !s->rc && i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));

        if (!name || !json_object_get(properties, name))
            hx_schema_refuse(s, -EINVAL, "required: '%.60s' is none of the properties", name ? name : "");
    }
    return s->rc;
}

/* Names are free. */
static uint32_t build_map(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const json_t *more = json_object_get(j, "additionalProperties");
    uint32_t value = s->rules.value;

    if (json_is_false(more))
        return hx_json_open(&s->rules, s->g, '{', hx_grammar_text(s->g, "}", 1, next));
    if (json_is_object(more))
        value = hx_schema_below(s, "additionalProperties", "", more, hx_grammar_end(s->g));
    return hx_json_open(&s->rules, s->g, '{', hx_json_list(&s->rules, s->g, hx_json_member(&s->rules, s->g, value), '}', next));
}

/* "NAME": VALUE, and what follows. */
static uint32_t member(struct hx_schema *s, const char *name, const json_t *value, uint32_t next)
{
    const uint32_t state = hx_schema_below(s, "properties", name, value, next);
    json_t *key = json_string(name);
    uint32_t whole = s->rc ? HX_GRAMMAR_NONE : hx_schema_literal(s, key, hx_json_colon(&s->rules, s->g, state));

    json_decref(key);
    return whole;
}

/* `first`: no property came yet; `more`: one did.  Both are what may follow behind property i, from the last one on. */
static uint32_t build_properties(struct hx_schema *s, const json_t *j, uint32_t next)
{
    json_t *properties = json_object_get(j, "properties");
    uint32_t first = hx_grammar_text(s->g, "}", 1, next), more = hx_json_close(&s->rules, s->g, '}', next);
    const char *names[HX_SCHEMA_PROPERTIES], *name;
    const json_t *values[HX_SCHEMA_PROPERTIES];
    size_t n = 0;
    json_t *v;

    if (json_object_size(properties) > HX_SCHEMA_PROPERTIES)
        return hx_schema_refuse(s, -E2BIG, "properties: up to %d are legal", HX_SCHEMA_PROPERTIES);
    json_object_foreach(properties, name, v) {
        names[n] = name;
        values[n++] = v;
    }
    while (n-- && !s->rc) {
        const uint32_t this = member(s, names[n], values[n], more);
        const uint32_t next_one = hx_json_comma(&s->rules, s->g, this);

        first = is_required(j, names[n]) ? this : hx_grammar_either(s->g, this, first);
        more = is_required(j, names[n]) ? next_one : hx_grammar_either(s->g, next_one, more);
    }
    return hx_json_open(&s->rules, s->g, '{', first);
}

static uint32_t build_object(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const json_t *properties = json_object_get(j, "properties"), *more = json_object_get(j, "additionalProperties");

    if (properties && !json_is_object(properties))
        return hx_schema_refuse(s, -EINVAL, "properties: an object is legal");
    if (more && !json_is_boolean(more) && !json_is_object(more))
        return hx_schema_refuse(s, -EINVAL, "additionalProperties: a schema, true or false is legal");
    if (check_required(s, j))
        return HX_GRAMMAR_NONE;
    return json_object_size(properties) ? build_properties(s, j, next) : build_map(s, j, next);
}

uint32_t hx_schema_kind(struct hx_schema *s, const json_t *j, enum hx_schema_kind kind, uint32_t next)
{
    switch (kind) {
    case HX_SCHEMA_OBJECT:
        return build_object(s, j, next);
    case HX_SCHEMA_ARRAY:
        return build_array(s, j, next);
    case HX_SCHEMA_STRING:
        return build_string(s, j, next);
    case HX_SCHEMA_INTEGER:
        return hx_grammar_call(s->g, s->rules.integer, next);
    case HX_SCHEMA_NUMBER:
        return hx_grammar_call(s->g, s->rules.number, next);
    case HX_SCHEMA_BOOLEAN:
        return hx_grammar_either(s->g, hx_grammar_text(s->g, "true", 4, next), hx_grammar_text(s->g, "false", 5, next));
    default:
        return hx_grammar_text(s->g, "null", 4, next);
    }
}
