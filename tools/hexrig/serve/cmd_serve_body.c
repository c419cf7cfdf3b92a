/* What bodies of requests have in common. */
#include <string.h>

#include "cmd_serve.h"

json_t *hx_serve_body(const char *bytes, size_t n, const char *const *known, struct hx_serve_error *e)
{
    json_error_t err;
    json_t *body = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &err), *v;
    const char *key;

    if (!body)
        hx_serve_fail(e, 400, NULL, NULL, "the body is no JSON: line %d, column %d: %s", err.line, err.column, err.text);
    else if (!json_is_object(body))
        hx_serve_fail(e, 400, NULL, NULL, "the body is no JSON object");
    json_object_foreach(body, key, v) {
        size_t i = 0;

        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            hx_serve_fail(e, 400, key, "unknown_parameter", "unknown field '%.100s'", key);
    }
    if (e->status) {
        json_decref(body);
        return NULL;
    }
    return body;
}

int hx_serve_check_model(const struct hx_serve_model *m, const json_t *name, struct hx_serve_error *e)
{
    if (!json_is_string(name))
        return hx_serve_fail(e, 400, "model", NULL, "model: a string is legal");
    if (strcmp(json_string_value(name), m->name) == 0)
        return 0;
    return hx_serve_fail(e, 404, "model", "model_not_found", "model: there is no '%.100s'; this server has '%.100s'",
                         json_string_value(name), m->name);
}
