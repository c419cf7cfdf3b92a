/* response_format of a chat: the grammar that its reply has to keep to. */
#include <errno.h>
#include <string.h>

#include "cmd_serve.h"
#include "grammar/json_grammar.h"

#define FORMAT "response_format"

static int bad(struct hx_serve_error *e, const char *want)
{
    return hx_serve_fail(e, 400, FORMAT, NULL, FORMAT ": %s", want);
}

static int make(struct hx_serve_request *r, const struct hx_serve_model *m, const json_t *schema, struct hx_serve_error *e)
{
    struct hx_error err = {""};
    int rc;

    if (!m->vocab)
        return bad(e, m->vocab_err.text);
    rc = hx_json_grammar(&r->grammar, schema, &err);
    r->cfg.grammar = r->grammar;
    return rc ? hx_serve_fail(e, rc == -ENOMEM ? 500 : 400, rc == -ENOMEM ? NULL : FORMAT, NULL, FORMAT ": %s", err.text) : 0;
}

/* json_schema: {"name": ..., "schema": {...}}, of which name, description and strict change nothing. */
static int make_of_schema(struct hx_serve_request *r, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e)
{
    static const char *const known[] = {"name", "description", "strict", "schema"};
    const json_t *named = json_object_get(v, "json_schema"), *schema = json_object_get(named, "schema");
    const char *key;
    json_t *member;

    if (!json_is_object(named) || !schema)
        return bad(e, "json_schema: an object with a schema is legal");
    json_object_foreach((json_t *)named, key, member) {
        size_t i = 0;

        while (i < 4 && strcmp(key, known[i]) != 0)
            i++;
        if (i == 4)
            return hx_serve_fail(e, 400, FORMAT, "unknown_parameter", FORMAT ": json_schema: unknown field '%.60s'", key);
    }
    return make(r, m, schema, e);
}

int hx_serve_format(struct hx_serve_request *r, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e)
{
    const char *type = json_string_value(json_object_get(v, "type"));

    if (type && strcmp(type, "text") == 0)
        return 0;
    if (type && strcmp(type, "json_object") == 0)
        return make(r, m, NULL, e);
    if (type && strcmp(type, "json_schema") == 0)
        return make_of_schema(r, m, v, e);
    return bad(e, "an object whose type is text, json_object or json_schema is legal");
}
