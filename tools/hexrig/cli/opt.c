/* Command lines: values of options with their messages, and argp as all commands use it. */
#include "opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "opt_tree.h"

/* --- argp */

struct parse {
    void *input; /* of the command's parser function */
    int helped;
};

static error_t common(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;

    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = p->input;
        return 0;
    case 'h':
        setenv("ARGP_HELP_FMT", "rmargin=79,opt-doc-col=30,no-dup-args-note", 0);
        hx_help_print(state->root_argp, state->name);
        p->helped = 1;
        return HX_OPT_SAID;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int hx_opt_parse_some(const struct argp *argp, unsigned flags, int argc, char **argv, void *input, int *rest)
{
    static const struct argp_option options[] = {{"help", 'h', NULL, 0, "this text", -1}, {0}};
    struct parse p = {input, 0};
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp root = {options, common, NULL, NULL, children, NULL, NULL};
    error_t rc = argp_parse(&root, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_NO_ERRS | flags, rest, &p);

    if (p.helped)
        return HX_EXIT_HELP;
    if (rc == ENOMEM) /* argp's own, which it does not say */
        return hx_cmd_fail(argv[0], "out of memory");
    if (rc == EINVAL)
        hx_opt_complain(&root, flags & ARGP_IN_ORDER || getenv("POSIXLY_CORRECT"), argc, argv);
    return rc == HX_OPT_FAILED ? HX_EXIT_FAILED : rc ? HX_EXIT_USAGE : HX_EXIT_OK;
}

int hx_opt_parse(const char *cmd, const struct argp *argp, int argc, char **argv, void *input)
{
    int rest, rc = hx_opt_parse_some(argp, 0, argc, argv, input, &rest);

    return !rc && rest < argc ? hx_cmd_usage(cmd, "unexpected argument '%s'", argv[rest]) : rc;
}

/* --- values */

int hx_opt_u64(const char *cmd, const char *option, const char *arg, uint64_t min, uint64_t max,
               uint64_t *out)
{
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || errno || v < min || v > max) {
        char legal[64];

        snprintf(legal, sizeof(legal), "integers from %llu to %llu", (unsigned long long)min,
                 (unsigned long long)max);
        return hx_cmd_bad_value(cmd, option, arg, legal);
    }
    *out = v;
    return 0;
}

int hx_opt_size(const char *cmd, const char *option, const char *arg, size_t min, size_t max,
                size_t *out)
{
    uint64_t v;
    int rc = hx_opt_u64(cmd, option, arg, min, max, &v);

    if (!rc)
        *out = v;
    return rc;
}

int hx_opt_real(const char *cmd, const char *option, const char *arg, double min, double max,
                double *out)
{
    char *end, legal[64];
    double v = strtod(arg, &end);

    if (end == arg || *end || !isfinite(v) || v < min || v > max) {
        snprintf(legal, sizeof(legal), "numbers from %g to %g", min, max);
        return hx_cmd_bad_value(cmd, option, arg, legal);
    }
    *out = v;
    return 0;
}

int hx_opt_name(const char *cmd, const char *option, const char *arg, const char *const *names,
                size_t *out)
{
    char legal[128] = "";

    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], arg) == 0) {
            if (out)
                *out = i;
            return 0;
        }
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 names[i]);
    }
    return hx_cmd_bad_value(cmd, option, arg, legal);
}

int hx_opt_front_end(const char *cmd, const char *arg, const char **out)
{
    static const char *const names[] = {"auto", "fuse", "socket", "cuse", NULL};

    *out = arg;
    return hx_opt_name(cmd, "front-end", arg, names, NULL);
}
