/* hexrig bench compare: two command lines timed in turns, and whether one is faster. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "bench.h"
#include "cli/commands.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "compare_stats.h"
#include "timed_command.h"

enum { OPT_REPS = HX_OPT_FREE, OPT_PAIRED, OPT_BOOTSTRAP, OPT_COOLDOWN, OPT_SEED };

static const struct argp_option options[] = {
    {"reps", OPT_REPS, "N", 0, "runs of each that count, 2 to 1000 (8)", 0},
    {"paired", OPT_PAIRED, NULL, 0, "compare the runs of each turn with each other (else: all of A with all of B)", 0},
    {"bootstrap", OPT_BOOTSTRAP, "N", 0, "samples for the ratio's interval, 100 to 1000000 (2000)", 0},
    {"cooldown", OPT_COOLDOWN, "S", 0, "seconds without work before each run (0)", 0},
    {"seed", OPT_SEED, "N", 0, "of the samples (1)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Times two command lines in turns, A B, B A, A B and so on, and tells how many times as long B takes: the ratio and its "
    "interval by the bootstrap (95 %), Student's t test and Wilcoxon's; with --paired those of pairs, else Welch's and the rank "
    "sum test.  A first run of each does not count.  All times are measured."
    "\vA and B are a command of hexrig or any other program, with its arguments.  Each is one word in quotes; or A is several words, and "
    "B is all that follows.  Options of this command stand in front of A, or behind a B in quotes.  A command that fails ends the "
    "comparison; an interrupt ends what runs.\n\n"
    "Exit status: 1 when a command fails, 128 + N for signal N.\n\n"
    "Example: hexrig bench compare 'run -p x --kv f32' -- 'run -p x' --reps 8 --paired";

static const char cmd[] = "bench compare";

static const double confidence = 0.95;

/* One of the two. */
struct side {
    const char *name; /* "A", "B" */
    char **argv;      /* with hexrig's own path in front where it is a command of hexrig; owned, its words are borrowed */
    wordexp_t split;  /* words of a line in quotes */
    char text[1024];  /* as it was given, for messages */
    double s[HX_COMPARE_MAX];
};

struct compare {
    size_t reps, bootstrap;
    double cooldown;
    uint64_t seed;
    int paired, json;
    char self[PATH_MAX];
    struct hx_timed timed;
    struct side side[2];
};

static int option(struct compare *c, int key, const char *arg)
{
    switch (key) {
    case OPT_REPS:
        return hx_opt_size(cmd, "reps", arg, 2, HX_COMPARE_MAX, &c->reps);
    case OPT_PAIRED:
        c->paired = 1;
        return 0;
    case OPT_BOOTSTRAP:
        return hx_opt_size(cmd, "bootstrap", arg, 100, 1000000, &c->bootstrap);
    case OPT_COOLDOWN:
        return hx_opt_real(cmd, "cooldown", arg, 0, 3600, &c->cooldown);
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, UINT64_MAX, &c->seed);
    case HX_OPT_JSON:
        c->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static const struct argp argp = {options, parse_option, "A -- B", doc, NULL, NULL, NULL};

/* --- the command lines -------------------------------------------------------------------------------------------- */

/* A line in quotes becomes words as in a shell, without running anything. */
static int split(struct side *s, const char *line)
{
    const int rc = wordexp(line, &s->split, WRDE_NOCMD | WRDE_UNDEF);

    if (rc == WRDE_NOSPACE)
        return hx_cmd_fail(cmd, "out of memory");
    if (rc)
        return hx_cmd_usage(cmd, "%s: '%s' is no single command (%s)", s->name, line,
                            rc == WRDE_SYNTAX ? "quotes or braces stay open" : "a variable, or what a shell would do");
    return s->split.we_wordc ? HX_EXIT_OK : hx_cmd_usage(cmd, "%s is empty", s->name);
}

static int take(struct compare *c, struct side *s, char **words, size_t n)
{
    size_t at = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%s%s", i ? " " : "", words[i]);
    if (n == 1) {
        rc = split(s, words[0]);
        if (rc)
            return rc;
        words = s->split.we_wordv;
        n = s->split.we_wordc;
    }
    s->argv = calloc(n + 2, sizeof(*s->argv));
    if (!s->argv)
        return hx_cmd_fail(cmd, "out of memory");
    if (hx_command(NULL, words[0]))
        s->argv[at++] = c->self;
    memcpy(s->argv + at, words, n * sizeof(*words));
    return HX_EXIT_OK;
}

/* Behind A: B, which ends with the line, or is one word when A is one. */
static int parse_b(struct compare *c, int argc, char **argv, int a_is_one_word)
{
    int first, rc;

    if (!a_is_one_word)
        return argc > 1 ? take(c, &c->side[1], argv + 1, (size_t)argc - 1) : hx_cmd_usage(cmd, "no B behind --");
    rc = hx_opt_parse_some(&argp, 0, argc, argv, c, &first);
    if (rc)
        return rc;
    if (first == argc)
        return hx_cmd_usage(cmd, "no B behind --");
    if (argc - first > 1)
        return hx_cmd_usage(cmd, "A is one word, so B is one, too: put quotes around '%s %s'", argv[first], argv[first + 1]);
    return take(c, &c->side[1], argv + first, 1);
}

static int parse(struct compare *c, int argc, char **argv)
{
    int middle = 1, first, rc;

    while (middle < argc && strcmp(argv[middle], "--") != 0)
        middle++;
    rc = hx_opt_parse_some(&argp, ARGP_IN_ORDER, middle, argv, c, &first);
    if (rc)
        return rc;
    if (first == middle || middle == argc)
        return hx_cmd_usage(cmd, "two command lines: A -- B");
    rc = take(c, &c->side[0], argv + first, (size_t)(middle - first));
    if (rc)
        return rc;
    argv[middle] = argv[0];
    return parse_b(c, argc - middle, argv + middle, middle - first == 1);
}

/* --- the runs ----------------------------------------------------------------------------------------------------- */

static int failed(const struct side *s, const struct hx_timed_run *run, size_t turn)
{
    char how[64], which[64];
    const char *line = run->err;

    if (WIFSIGNALED(run->status))
        snprintf(how, sizeof(how), "signal %d (%s)", WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
    else
        snprintf(how, sizeof(how), "exit code %d", WEXITSTATUS(run->status));
    if (turn)
        snprintf(which, sizeof(which), "run %zu", turn);
    else
        snprintf(which, sizeof(which), "the run that does not count");
    hx_cmd_fail(cmd, "%s failed in %s: %s: %s; %s", s->name, which, s->text, how, *line ? "its stderr:" : "nothing on its stderr");
    while (*line) {
        const size_t n = strcspn(line, "\n");

        fprintf(stderr, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return HX_EXIT_FAILED;
}

/* turn 0 does not count. */
static int run_once(struct compare *c, struct side *s, size_t turn)
{
    struct hx_timed_run run;
    int rc = hx_timed_pause(&c->timed, c->cooldown);

    if (!rc)
        rc = hx_timed_run(&c->timed, s->argv, &run);
    if (rc == -EINTR) {
        hx_cmd_fail(cmd, "interrupted (%s)", strsignal(c->timed.interrupted));
        return 128 + c->timed.interrupted;
    }
    if (rc)
        return hx_cmd_fail(cmd, "%s: %s: %s", s->name, s->argv[0], strerror(-rc));
    if (!WIFEXITED(run.status) || WEXITSTATUS(run.status))
        return failed(s, &run, turn);
    if (turn)
        s->s[turn - 1] = run.wall_s;
    return HX_EXIT_OK;
}

/* Every other turn begins with B, so that neither always runs on a machine that the other one has warmed. */
static int run_all(struct compare *c)
{
    int rc = HX_EXIT_OK;

    hx_timed_begin(&c->timed);
    for (size_t turn = 0; !rc && turn <= c->reps; turn++)
        for (size_t i = 0; !rc && i < 2; i++)
            rc = run_once(c, &c->side[(turn + 1 + i) % 2], turn);
    return rc;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static json_t *report_side(const struct compare *c, const struct side *s)
{
    double sorted[HX_COMPARE_MAX];
    json_t *times = json_array();

    memcpy(sorted, s->s, c->reps * sizeof(*sorted));
    qsort(sorted, c->reps, sizeof(*sorted), by_value);
    for (size_t i = 0; i < c->reps; i++)
        json_array_append_new(times, json_real(s->s[i]));
    return json_pack("{s:o, s:f, s:f, s:f, s:f, s:o}", "command", hx_json_text(s->text), "mean_s", hx_mean(s->s, c->reps), "sd_s",
                     hx_standard_deviation(s->s, c->reps), "median_s", hx_percentile(sorted, c->reps, 0.5), "min_s", sorted[0],
                     "runs_s", times);
}

static int report(const struct compare *c)
{
    const double *a = c->side[0].s, *b = c->side[1].s;
    const struct hx_student t = c->paired ? hx_student_paired(a, b, c->reps) : hx_student_welch(a, b, c->reps);
    struct hx_wilcoxon w;
    struct hx_interval ratio;
    json_t *j;

    if (hx_bootstrap_ratio(a, b, c->reps, c->paired, c->bootstrap, c->seed, confidence, &ratio) ||
        (c->paired ? hx_signed_rank : hx_rank_sum)(a, b, c->reps, &w))
        return hx_cmd_fail(cmd, "out of memory");
    j = json_pack("{s:o, s:o, s:I, s:b, s:f, s:f, s:f, s:f, s:f}", "a", report_side(c, &c->side[0]), "b", report_side(c, &c->side[1]),
                  "reps", (json_int_t)c->reps, "paired", c->paired, "cooldown_s", c->cooldown, "mean_ratio",
                  hx_mean_ratio(a, b, c->reps, c->paired), "ratio_low", ratio.low, "ratio_high", ratio.high, "confidence",
                  confidence);
    if (!j)
        return hx_report_print(cmd, j, c->json);
    json_object_set_new(j, "bootstrap", json_pack("{s:I, s:I}", "draws", (json_int_t)c->bootstrap, "seed", (json_int_t)c->seed));
    json_object_set_new(j, "t_test", json_pack("{s:s, s:o, s:f, s:f}", "kind", c->paired ? "paired" : "welch", "t",
                                               isnan(t.t) ? json_null() : json_real(t.t), "df", t.df, "p", t.p));
    json_object_set_new(j, "wilcoxon", json_pack("{s:s, s:f, s:I, s:f, s:b}", "kind", c->paired ? "signed_rank" : "rank_sum", "w", w.w,
                                                 "n", (json_int_t)w.n, "p", w.p, "exact", w.exact));
    return hx_report_print(cmd, j, c->json);
}

int hx_bench_compare(int argc, char **argv)
{
    struct compare *c = calloc(1, sizeof(*c));
    ssize_t n;
    int rc;

    if (!c)
        return hx_cmd_fail(cmd, "out of memory");
    *c = (struct compare){.reps = 8, .bootstrap = 2000, .seed = 1, .side = {{.name = "A"}, {.name = "B"}}};
    n = readlink("/proc/self/exe", c->self, sizeof(c->self) - 1);
    rc = n < 0 ? hx_cmd_fail(cmd, "%s", strerror(errno)) : parse(c, argc, argv);
    if (!rc)
        rc = run_all(c);
    if (!rc)
        rc = report(c);
    for (size_t i = 0; i < 2; i++) {
        wordfree(&c->side[i].split);
        free(c->side[i].argv);
    }
    free(c);
    return rc;
}
