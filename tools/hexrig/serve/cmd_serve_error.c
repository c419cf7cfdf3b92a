/* Errors of hexrig serve, as they go out. */
#include <stdarg.h>
#include <stdio.h>

#include "cli/report.h"
#include "cmd_serve.h"

int hx_serve_fail(struct hx_serve_error *e, unsigned status, const char *param, const char *code,
                  const char *fmt, ...)
{
    va_list ap;

    e->status = status;
    snprintf(e->param, sizeof(e->param), "%s", param ? param : "");
    e->code = code;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    return -1;
}

json_t *hx_serve_error_json(const struct hx_serve_error *e)
{
    return json_pack("{s:{s:o, s:s, s:s?, s:s?}}", "error", "message", hx_json_text(e->text),
                     "type", e->status < 500 ? "invalid_request_error" : "server_error", "param",
                     *e->param ? e->param : NULL, "code", e->code);
}
