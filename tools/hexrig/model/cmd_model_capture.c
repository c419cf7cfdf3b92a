/* hexrig model capture: runs a text through a model and writes hidden states, inputs of matrices, Q, K or V to a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/report.h"
#include "cmd_model.h"
#include "options/engine_opts.h"
#include "text/text.h"

enum { OPT_POINTS = HX_OPT_FREE, OPT_LAYERS, OPT_TOKENS };
enum { DEFAULT_TOKENS = 4096, WINDOW = 128 };

static const char cmd[] = "model capture";

static const struct argp_option options[] = {
    {"file", 'f', "TEXT", 0, "text file", 0},
    {"output", 'o', "FILE", 0, "capture to write: docs/capture.md", 0},
    {"points", OPT_POINTS, "LIST", 0, "short for --capture-points", 0},
    {"layers", OPT_LAYERS, "FROM[-TO]", 0, "short for --capture-layers", 0},
    {"tokens", 'n', "N", 0, "at most so many of the text (4096)", 0},
    {0},
};

static const char doc[] =
    "Runs windows of --ctx (128) tokens of a text, each in a fresh context, and writes what flows through the model at the "
    "points that were asked for: by default the hidden states behind each layer."
    "\vExample: hexrig model capture -f text.txt -o states.hxc --points after_ffn,k --layers 2-5";

struct capture {
    struct hx_engine_opts o;
    const char *text;
    size_t tokens;
};

static int set(struct capture *c, const char *name, const char *arg)
{
    struct hx_error err = {""};

    return hx_plan_set(c->o.plan, name, arg, &err) ? hx_cmd_usage(cmd, "%s", err.text) : 0;
}

static int option(struct capture *c, int key, const char *arg)
{
    switch (key) {
    case 'f':
        c->text = arg;
        return 0;
    case 'o':
        return set(c, "capture", arg);
    case OPT_POINTS:
        return set(c, "capture-points", arg);
    case OPT_LAYERS:
        return set(c, "capture-layers", arg);
    case 'n':
        return hx_opt_size(cmd, "tokens", arg, 1, HX_MAX_TOKENS, &c->tokens);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct capture *c = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &c->o;
    return hx_opt_error(option(c, key, arg));
}

static int parse(struct capture *c, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&c->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, "-f TEXT -o FILE", doc, children, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, c);

    if (!rc && !c->text)
        rc = hx_cmd_usage(cmd, "no text (-f FILE)");
    if (!rc && !hx_plan_given(c->o.plan, "capture"))
        rc = hx_cmd_usage(cmd, "no file to write (-o FILE)");
    if (!rc)
        rc = hx_engine_opts_default(&c->o, "kv", "f32");
    return rc ? rc : hx_engine_opts_done(&c->o);
}

static int run_windows(struct capture *c, struct hx_engine *e, const uint32_t *ids, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t at = 0; !rc && at < n; at += c->o.n_ctx)
        rc = hx_engine_run(e, ids + at, n - at < c->o.n_ctx ? n - at : c->o.n_ctx, 0, err);
    return rc;
}

static int run(struct capture *c, struct hx_engine *e)
{
    struct hx_error err = {""};
    uint32_t *ids = NULL;
    size_t n = 0;
    json_t *j;
    int rc;

    if (c->o.n_ctx > e->model->n_ctx)
        return hx_cmd_fail(cmd, "--ctx %zu: the model's context is %zu", c->o.n_ctx, e->model->n_ctx);
    rc = hx_text_encode(e->model->tok, c->text, &ids, &n, &err);
    n = n < c->tokens ? n : c->tokens;
    if (!rc && !n)
        rc = hx_error_set(&err, -EINVAL, "%s: the text is empty", c->text);
    if (!rc)
        rc = run_windows(c, e, ids, n, &err);
    free(ids);
    j = rc ? NULL : json_pack("{s:o, s:o, s:I, s:I}", "model", hx_json_text(c->o.model), "text", hx_json_text(c->text),
                              "tokens", (json_int_t)n, "ctx", (json_int_t)c->o.n_ctx);
    if (!rc)
        j = hx_engine_opts_report(&c->o, e, j);
    if (!rc)
        rc = hx_engine_finish(e, &err);
    if (rc) {
        json_decref(j);
        return hx_cmd_fail(cmd, "%s", err.text);
    }
    return hx_report_print(cmd, j, c->o.json);
}

int hx_model_cmd_capture(int argc, char **argv)
{
    struct capture c = {.o = {.n_ctx = WINDOW}, .tokens = DEFAULT_TOKENS};
    struct hx_engine *e = NULL;
    int rc = hx_engine_opts_init(&c.o, cmd, 0);

    if (!rc)
        rc = parse(&c, argc, argv);
    if (!rc)
        rc = hx_engine_opts_open(&c.o, &e);
    if (!rc)
        rc = run(&c, e);
    hx_engine_close(e);
    hx_engine_opts_free(&c.o);
    return rc;
}
