/* JSON schemas to grammars: each schema is built in front of what follows it. */
#include "json_grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_grammar_impl.h"

/* What a keyword speaks of. */
enum { REMARK = 0, REF = 1, ANY = 2, ALL = 4, VALUES = 8, TYPE = 16, OBJECT = 32, ARRAY = 64, STRING = 128 };

static const struct keyword {
    const char *name;
    unsigned group;
} keywords[] = {
    {"type", TYPE}, {"enum", VALUES}, {"const", VALUES}, {"$ref", REF}, {"anyOf", ANY}, {"allOf", ALL},
    {"properties", OBJECT}, {"required", OBJECT}, {"additionalProperties", OBJECT},
    {"items", ARRAY}, {"minItems", ARRAY}, {"maxItems", ARRAY}, {"minLength", STRING}, {"maxLength", STRING},
    {"title", REMARK}, {"description", REMARK}, {"default", REMARK}, {"examples", REMARK}, {"deprecated", REMARK},
    {"readOnly", REMARK}, {"writeOnly", REMARK}, {"$schema", REMARK}, {"$id", REMARK}, {"$comment", REMARK},
    {"$defs", REMARK}, {"definitions", REMARK},
};

static const char *const kind_names[HX_SCHEMA_KINDS] = {"object", "array", "string", "integer", "number", "boolean", "null"};

/* --- values as they are */

static enum hx_schema_kind kind_of(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return HX_SCHEMA_OBJECT;
    case JSON_ARRAY:
        return HX_SCHEMA_ARRAY;
    case JSON_STRING:
        return HX_SCHEMA_STRING;
    case JSON_INTEGER:
        return HX_SCHEMA_INTEGER;
    case JSON_REAL:
        return HX_SCHEMA_NUMBER;
    case JSON_NULL:
        return HX_SCHEMA_NULL;
    default:
        return HX_SCHEMA_BOOLEAN;
    }
}

/* kinds: those that a value may have, by bits. */
static uint32_t build_values(struct hx_schema *s, const json_t *j, unsigned kinds, uint32_t next)
{
    const json_t *all = json_object_get(j, "enum"), *one = json_object_get(j, "const");
    const size_t n = one ? 1 : json_array_size(all);
    uint32_t state = HX_GRAMMAR_NONE;
    size_t ways = 0;

    if (one && all)
        return hx_schema_refuse(s, -EINVAL, "enum and const exclude each other");
    if (!n || n > HX_SCHEMA_VALUES)
        return hx_schema_refuse(s, -E2BIG, "enum: 1 to %d values are legal", HX_SCHEMA_VALUES);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = one ? one : json_array_get(all, i);
        const enum hx_schema_kind kind = kind_of(v);
        uint32_t way;

        if (!(kinds & 1u << kind) && !(kind == HX_SCHEMA_INTEGER && kinds & 1u << HX_SCHEMA_NUMBER))
            continue;
        way = hx_schema_literal(s, v, next);
        state = ways++ ? hx_grammar_either(s->g, state, way) : way;
    }
    return ways ? state : hx_schema_refuse(s, -EINVAL, "no value is of its type");
}

/* --- choices */

static uint32_t build_kinds(struct hx_schema *s, const json_t *j, unsigned kinds, uint32_t next)
{
    uint32_t state = HX_GRAMMAR_NONE;
    size_t ways = 0;

    for (int i = 0; i < HX_SCHEMA_KINDS && !s->rc; i++) {
        uint32_t way;

        if (!(kinds & 1u << i))
            continue;
        way = hx_schema_kind(s, j, (enum hx_schema_kind)i, next);
        state = ways++ ? hx_grammar_either(s->g, state, way) : way;
    }
    return state;
}

static uint32_t build_any_of(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const json_t *all = json_object_get(j, "anyOf");
    const size_t n = json_array_size(all);
    uint32_t state = HX_GRAMMAR_NONE;

    if (!n || n > HX_SCHEMA_CHOICES)
        return hx_schema_refuse(s, -E2BIG, "anyOf: 1 to %d schemas are legal", HX_SCHEMA_CHOICES);
    for (size_t i = 0; i < n && !s->rc; i++) {
        char name[24];
        uint32_t way;

        snprintf(name, sizeof(name), "%zu", i);
        way = hx_schema_below(s, "anyOf", name, json_array_get(all, i), next);
        state = i ? hx_grammar_either(s->g, state, way) : way;
    }
    return state;
}

/* The schema that "#", "#/$defs/NAME" or "#/definitions/NAME" names; NULL: none. */
static const json_t *find_ref(const struct hx_schema *s, const char *ref)
{
    static const char *const folders[] = {"$defs", "definitions"};

    if (strcmp(ref, "#") == 0)
        return s->root;
    for (size_t i = 0; i < 2; i++) {
        const size_t n = strlen(folders[i]);

        if (strncmp(ref, "#/", 2) == 0 && strncmp(ref + 2, folders[i], n) == 0 && ref[2 + n] == '/')
            return json_object_get(json_object_get(s->root, folders[i]), ref + 2 + n + 1);
    }
    return NULL;
}

/* The schema itself is built when all others are. */
static uint32_t build_ref(struct hx_schema *s, const json_t *j, uint32_t next)
{
    const char *name = json_string_value(json_object_get(j, "$ref"));
    const json_t *schema = name ? find_ref(s, name) : NULL;
    size_t i = 0;

    if (!schema)
        return hx_schema_refuse(s, -EINVAL, "$ref: there is no '%.60s' (\"#\", \"#/$defs/NAME\" and \"#/definitions/NAME\" are legal)",
                      name ? name : "");
    while (i < s->n_refs && s->refs[i].schema != schema)
        i++;
    if (i == HX_SCHEMA_REFS)
        return hx_schema_refuse(s, -E2BIG, "more than %d schemas are referred to", HX_SCHEMA_REFS);
    if (i == s->n_refs)
        s->refs[s->n_refs++] = (struct hx_schema_ref){schema, name, hx_grammar_later(s->g)};
    return hx_grammar_call(s->g, s->refs[i].rule, next);
}

/* --- a schema */

static unsigned kind_named(struct hx_schema *s, const json_t *v)
{
    const char *name = json_string_value(v);

    for (unsigned i = 0; name && i < HX_SCHEMA_KINDS; i++)
        if (strcmp(name, kind_names[i]) == 0)
            return 1u << i;
    hx_schema_refuse(s, -EINVAL, "type: object, array, string, integer, number, boolean and null are legal");
    return 0;
}

/* By `type`, or by what its other keywords speak of. */
static unsigned kinds_of(struct hx_schema *s, const json_t *j, unsigned groups)
{
    const json_t *type = json_object_get(j, "type");
    unsigned kinds = 0;

    if (!type)
        kinds = (groups & OBJECT ? 1u << HX_SCHEMA_OBJECT : 0) | (groups & ARRAY ? 1u << HX_SCHEMA_ARRAY : 0) |
                (groups & STRING ? 1u << HX_SCHEMA_STRING : 0);
    else if (!json_is_array(type) || !json_array_size(type))
        return kind_named(s, type);
    for (size_t i = 0; i < json_array_size(type); i++)
        kinds |= kind_named(s, json_array_get(type, i));
    return kinds ? kinds : (1u << HX_SCHEMA_KINDS) - 1;
}

static unsigned groups_of(struct hx_schema *s, const json_t *j)
{
    unsigned groups = 0;
    const char *name;
    json_t *v;

    json_object_foreach((json_t *)j, name, v) {
        size_t i = 0;

        while (i < sizeof(keywords) / sizeof(keywords[0]) && strcmp(keywords[i].name, name) != 0)
            i++;
        if (i == sizeof(keywords) / sizeof(keywords[0]))
            hx_schema_refuse(s, -EINVAL, "'%.60s' is no keyword that is supported", name);
        else
            groups |= keywords[i].group;
    }
    return groups;
}

static uint32_t build_groups(struct hx_schema *s, const json_t *j, unsigned groups, uint32_t next)
{
    switch (groups) {
    case REMARK:
        return hx_grammar_call(s->g, s->rules.value, next);
    case REF:
        return build_ref(s, j, next);
    case ANY:
        return build_any_of(s, j, next);
    case ALL:
        if (json_array_size(json_object_get(j, "allOf")) == 1)
            return hx_schema_below(s, "allOf", "0", json_array_get(json_object_get(j, "allOf"), 0), next);
        return hx_schema_refuse(s, -E2BIG, "allOf: an array of 1 schema is legal");
    case VALUES:
    case VALUES | TYPE:
        return build_values(s, j, kinds_of(s, j, groups), next);
    default:
        if (groups & (REF | ANY | ALL | VALUES))
            return hx_schema_refuse(s, -EINVAL, "$ref, anyOf, allOf, enum and const stand alone (enum and const: or beside type)");
        return build_kinds(s, j, kinds_of(s, j, groups), next);
    }
}

static uint32_t build(struct hx_schema *s, const json_t *j, uint32_t next)
{
    uint32_t state = HX_GRAMMAR_NONE;
    unsigned groups;

    if (s->rc)
        return state;
    if (s->depth == HX_SCHEMA_DEPTH)
        return hx_schema_refuse(s, -E2BIG, "more than %d schemas within each other", HX_SCHEMA_DEPTH);
    if (json_is_true(j))
        return hx_grammar_call(s->g, s->rules.value, next);
    if (!json_is_object(j))
        return hx_schema_refuse(s, -EINVAL, "a schema is an object or true");
    s->depth++;
    groups = groups_of(s, j);
    if (!s->rc)
        state = build_groups(s, j, groups, next);
    s->depth--;
    return state;
}

static uint32_t build_all(struct hx_schema *s)
{
    uint32_t start;

    hx_json_rules_add(&s->rules, s->g);
    if (!s->root)
        return hx_grammar_call(s->g, s->rules.object, hx_grammar_end(s->g));
    start = build(s, s->root, hx_grammar_end(s->g));
    for (size_t i = 0; i < s->n_refs && !s->rc; i++) { /* which may refer to more */
        snprintf(s->path, sizeof(s->path), "%s", s->refs[i].name);
        hx_grammar_define(s->g, s->refs[i].rule, build(s, s->refs[i].schema, hx_grammar_end(s->g)));
    }
    return start;
}

int hx_json_grammar(struct hx_grammar **out, const json_t *schema, struct hx_error *err)
{
    struct hx_schema s = {.g = hx_grammar_new(), .build = build, .root = schema, .path = "#", .err = err};
    uint32_t start;
    int rc;

    if (!s.g)
        return hx_error_set(err, -ENOMEM, "out of memory");
    start = build_all(&s);
    rc = s.rc ? s.rc : hx_grammar_finish(s.g, start, err);
    if (rc == -EDOM)
        rc = hx_error_set(err, -EINVAL, "the schema describes no finite text");
    if (!rc && hx_grammar_shortest(s.g) > HX_SCHEMA_SHORTEST)
        rc = hx_error_set(err, -E2BIG, "the shortest text has %zu bytes, and %d are legal", hx_grammar_shortest(s.g),
                          HX_SCHEMA_SHORTEST);
    if (rc)
        hx_grammar_free(s.g);
    else
        *out = s.g;
    return rc;
}
