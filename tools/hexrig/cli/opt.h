/* Command lines: option values with their messages, and argp for whole commands.
 *
 * A command has a table of struct argp_option and a parser function, like every program that uses glibc's argp; tables of
 * other parts (the engine's options: options/engine_opts.h) are its children.  hx_opt_parse() makes of argp what all
 * commands have in common: one line per mistake, exit status 2, --help on stdout. */
#ifndef HX_OPT_H
#define HX_OPT_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd.h"

enum { HX_MAX_TOKENS = 1 << 20 };

/* Keys of options without a short name.  Every command numbers its own from HX_OPT_FREE on; the engine's are the others. */
enum {
    HX_OPT_CTX = 0x100,
    HX_OPT_THREADS,
    HX_OPT_MODEL_CPUS,
    HX_OPT_ORACLE_CPUS,
    HX_OPT_STORAGE,
    HX_OPT_PROFILE,
    HX_OPT_FRONT_END,
    HX_OPT_FILTER,
    HX_OPT_TIME,
    HX_OPT_HOST_US,
    HX_OPT_FARF,
    HX_OPT_JSON,
    HX_OPT_BUDGET,
    HX_OPT_COMPARE,
    HX_OPT_SAVE_BASELINE,
    HX_OPT_TOLERANCE,
    HX_OPT_FREE,
    HX_OPT_PLAN = 0x1000, /* and above: options of the plan, engine_opts.c */
};

/* What a parser function returns when it has printed why: a mistake in the line, or a failure (HX_EXIT_FAILED). */
enum { HX_OPT_SAID = 125 /* ECANCELED */, HX_OPT_FAILED = 5 /* EIO */ };

/* What a parser function returns for rc: 0, an enum hx_exit after a message, or HX_OPT_UNKNOWN: the key is not its. */
enum { HX_OPT_UNKNOWN = -1 };

static inline error_t hx_opt_error(int rc)
{
    return rc == HX_OPT_UNKNOWN ? ARGP_ERR_UNKNOWN : rc == HX_EXIT_FAILED ? HX_OPT_FAILED : rc ? HX_OPT_SAID : 0;
}

/* Parses the command's line; `input` goes to its parser function.  argv[0] is "hexrig NAME".  HX_EXIT_OK, HX_EXIT_HELP, or
 * after a message HX_EXIT_USAGE, or HX_EXIT_FAILED without the memory to parse it. */
int hx_opt_parse(const char *cmd, const struct argp *argp, int argc, char **argv, void *input);

/* The same for a command that takes words, too: *rest becomes the index of the first one (argc: there is none).
 * flags: 0, words and options in any order; or ARGP_IN_ORDER, options end at the first word. */
int hx_opt_parse_some(const struct argp *argp, unsigned flags, int argc, char **argv, void *input, int *rest);

/* Numbers: 0, or HX_EXIT_USAGE after a message that names the option, the value and the range. */
int hx_opt_u64(const char *cmd, const char *option, const char *arg, uint64_t min, uint64_t max,
               uint64_t *out);
int hx_opt_size(const char *cmd, const char *option, const char *arg, size_t min, size_t max,
                size_t *out);
/* One of `names` (NULL-terminated); *out, if given, becomes its index. */
int hx_opt_name(const char *cmd, const char *option, const char *arg, const char *const *names,
                size_t *out);
int hx_opt_real(const char *cmd, const char *option, const char *arg, double min, double max,
                double *out);

/* --front-end: *out becomes arg.  HX_FRONT_ENDS: its values, for help texts. */
#define HX_FRONT_ENDS "auto, fuse, socket, cuse"
int hx_opt_front_end(const char *cmd, const char *arg, const char **out);

#endif
