/* The commands of `hexrig`, and what they share.
 *
 * A command gets its own argv (argv[0] = "hexrig NAME", for messages about options), prints results to stdout and
 * everything else to stderr, and returns an enum hx_exit.  Each understands --help. */
#ifndef HX_CMD_H
#define HX_CMD_H

#include <stddef.h>

/* HX_EXIT_HELP: --help was printed, and nothing is left to do; the process exits with 0. */
enum hx_exit { HX_EXIT_HELP = -1, HX_EXIT_OK = 0, HX_EXIT_FAILED = 1, HX_EXIT_USAGE = 2 };

int hx_cmd_up(int argc, char **argv);
int hx_cmd_down(int argc, char **argv);
int hx_cmd_status(int argc, char **argv);
int hx_cmd_stats(int argc, char **argv);
int hx_cmd_top(int argc, char **argv);
int hx_cmd_filter(int argc, char **argv);
int hx_cmd_run(int argc, char **argv);
int hx_cmd_ppl(int argc, char **argv);
int hx_cmd_perplexity_sp(int argc, char **argv);
int hx_cmd_density(int argc, char **argv);
int hx_cmd_spec(int argc, char **argv);
int hx_cmd_plan(int argc, char **argv);
int hx_cmd_kcache_size(int argc, char **argv);
int hx_cmd_methods(int argc, char **argv);
int hx_cmd_model(int argc, char **argv);
int hx_cmd_subspace(int argc, char **argv);
int hx_cmd_native(int argc, char **argv);
int hx_cmd_ugt(int argc, char **argv);
int hx_cmd_guard(int argc, char **argv);
int hx_cmd_geometry(int argc, char **argv);
int hx_cmd_isagi(int argc, char **argv);
int hx_cmd_block(int argc, char **argv);
int hx_cmd_dsp(int argc, char **argv);
int hx_cmd_demo(int argc, char **argv);
int hx_cmd_run_with(int argc, char **argv);
int hx_cmd_trace(int argc, char **argv);
int hx_cmd_report(int argc, char **argv);
int hx_cmd_roofline(int argc, char **argv);
int hx_cmd_profile(int argc, char **argv);
int hx_cmd_bench(int argc, char **argv);
int hx_cmd_theorems(int argc, char **argv);
int hx_cmd_serve(int argc, char **argv);
int hx_cmd_listing(int argc, char **argv);
int hx_cmd_llama(int argc, char **argv);
int hx_cmd_doctor(int argc, char **argv);
int hx_cmd_help(int argc, char **argv);

/* Each prints one line and returns HX_EXIT_USAGE:
 *   hexrig CMD: --OPTION: unknown value 'VALUE'; legal: LEGAL
 *   hexrig CMD: MESSAGE; see hexrig CMD --help */
int hx_cmd_bad_value(const char *cmd, const char *option, const char *value, const char *legal);
int hx_cmd_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For what refused an option's value with -EINVAL, a usage error, or with -ENOMEM, a failure. */
int hx_cmd_refused(const char *cmd, int rc, const char *why);

/* Prints `hexrig CMD: MESSAGE` to stderr and returns HX_EXIT_FAILED. */
int hx_cmd_fail(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Starts the rig that hx_rig_configure() was told, or finds one.  HX_EXIT_OK, or one of the two above: usage when the
 * rig refused the value of an option. */
int hx_cmd_connect(const char *cmd);

#endif
