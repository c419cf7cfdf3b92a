/* hexrig listing: the packet tables of a kernel, from its source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/share.h"
#include "listing/kernel.h"

enum { OPT_CHECK = HX_OPT_FREE, OPT_COMPARE, MAX_FLAGS = 64 };

struct options {
    const char *output;
    enum hx_kernel_mode mode;
    bool quiet;
    const char *include[MAX_FLAGS + 1], *define[MAX_FLAGS + 1]; /* ended by NULL */
    size_t includes, defines;
};

static const char cmd[] = "listing";

static const struct argp_option options[] = {
    {"output", 'o', "TABLE", 0, "the table (FILE.listing.h beside the source)", 0},
    {"check", OPT_CHECK, NULL, 0, "write nothing: exit 1 when a source, what it includes or its flags have changed; needs no compiler", 0},
    {"compare", OPT_COMPARE, NULL, 0, "write nothing: exit 1 when a table is not what the compiler gives now", 0},
    {"include", 'I', "DIR", 0, "look for headers there, as for the compiler", 0},
    {"define", 'D', "NAME[=VALUE]", 0, "define a macro, as for the compiler", 0},
    {"quiet", 'q', NULL, 0, "say nothing of functions without a table, nor of tables that are current", 0},
    {0},
};

static int append(const char **list, size_t *n, const char *option, const char *value)
{
    if (*n == MAX_FLAGS)
        return hx_cmd_usage(cmd, "--%s: more than %d", option, MAX_FLAGS);
    list[(*n)++] = value;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'o': o->output = arg; return 0;
    case OPT_CHECK: o->mode = HX_KERNEL_CHECK; return 0;
    case OPT_COMPARE: o->mode = HX_KERNEL_COMPARE; return 0;
    case 'I': return hx_opt_error(append(o->include, &o->includes, "include", arg));
    case 'D': return hx_opt_error(append(o->define, &o->defines, "define", arg));
    case 'q': o->quiet = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options, parse_option, "FILE.c...",
    "Makes the packet tables by which the cost model charges kernels (hexrig_code.h): compiles each FILE.c for Hexagon at "
    "-O2 and -O0 with the headers of this installation, and writes FILE.listing.h with a table for each function that has "
    "HX_CODE().  The compiler is $HEXAGON_CLANG, or a clang with a Hexagon target."
    "\vExample: hexrig listing -I include kernel.c",
    NULL, NULL, NULL,
};

/* FILE.listing.h for FILE.c; malloc'ed. */
static char *table_of(const char *source)
{
    const char *slash = strrchr(source, '/'), *dot = strrchr(source, '.');
    const size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - source) : strlen(source);
    char *path;

    return asprintf(&path, "%.*s.listing.h", (int)n, source) < 0 ? NULL : path;
}

static int one(struct hx_kernel *k, const struct options *o, const char *source)
{
    char *beside = o->output ? NULL : table_of(source);
    int rc = -1;

    k->source = source;
    k->table = o->output ? o->output : beside;
    if (k->table)
        rc = hx_kernel(k);
    free(beside);
    return rc ? HX_EXIT_FAILED : HX_EXIT_OK;
}

static int all(const struct options *o, int n, char **sources)
{
    const struct hx_source_flags flags = {o->include, o->define};
    struct hx_compiler compiler;
    struct hx_kernel k = {.flags = &flags, .mode = o->mode, .quiet = o->quiet, .compiler = &compiler};
    char *headers = hx_share("../../include/hexrig"), *libc = hx_share("libc");
    int rc = headers && libc ? HX_EXIT_OK : hx_cmd_fail(cmd, "cannot tell where this installation is");

    k.headers = headers;
    k.libc = libc;
    if (!rc && o->mode != HX_KERNEL_CHECK && hx_compiler_find(&compiler))
        rc = HX_EXIT_FAILED;
    for (int i = 0; i < n && (!rc || i > 0); i++)
        rc |= one(&k, o, sources[i]);
    free(headers);
    free(libc);
    return rc;
}

int hx_cmd_listing(int argc, char **argv)
{
    struct options o = {0};
    int rest, rc = hx_opt_parse_some(&argp, 0, argc, argv, &o, &rest);

    if (rc)
        return rc;
    if (rest == argc)
        return hx_cmd_usage(cmd, "no source file");
    if (o.output && argc - rest > 1)
        return hx_cmd_usage(cmd, "--output is for one source file");
    return all(&o, argc - rest, argv + rest);
}
