/* hexrig run-with: runs a program so that it finds the rig. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_rig.h"
#include "crash_watch.h"
#include "budget/gate.h"
#include "options/rig_time.h"
#include "program_report.h"
#include "run_program.h"
#include "seccomp_notify.h"

enum how { SECCOMP, PRELOAD, LIBRARY };

enum { OPT_DEVICE = HX_OPT_FREE, OPT_REPORT, OPT_IDL, OPT_GDB, OPT_HOW }; /* the last with an enum how added */

static const char cmd[] = "run-with";

static const struct argp_option options[] = {
    {"seccomp", OPT_HOW + SECCOMP, NULL, 0,
     "answer these system calls for PROGRAM and all that it starts, static programs, too; ends when all of them have "
     "(default)", 0},
    {"preload", OPT_HOW + PRELOAD, NULL, 0,
     "libhexrig-preload.so does it inside PROGRAM: for kernels before 5.14, and where opening files must stay fast; "
     "dynamically linked programs only", 0},
    {"library", OPT_HOW + LIBRARY, NULL, 0, "for programs that load libcdsprpc.so: they find hexrig's", 0},
    {"device", OPT_DEVICE, "DEV", 0,
     "the rig's fastrpc-cdsp (HEXRIG_DEVICE, the default mount, /dev/fastrpc-cdsp, else a private rig that ends with the "
     "program)", 0},
    {"report", OPT_REPORT, "FILE", OPTION_ARG_OPTIONAL,
     "what PROGRAM has called, by interface and method: calls, bytes, modelled ms; to FILE (stderr)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "the report as one JSON object", 0},
    {"idl", OPT_IDL, "FILE", 0, "names of methods whose skel has none, for the report; repeatable", 0},
    {"gdb", OPT_GDB, NULL, 0, "where a skel crashes, gdb holds its process at the place, here in the foreground", 0},
    {NULL, 0, NULL, 0, "Of a private rig:", 1},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path (s22u-577)", 1},
    {"filter", HX_OPT_FILTER, "SPEC", 0, "one more filter, NAME:KEY=VALUE,...; repeatable", 1},
    HX_RIG_TIME_ROWS(1),
    HX_RIG_FARF_ROW(1),
    {0},
};

static const char doc[] =
    "Runs PROGRAM so that it finds the rig, as it would find the DSP of a phone.  For programs that open "
    "/dev/fastrpc-cdsp (or -secure) and /dev/dma_heap/system themselves: the rig's device appears in their place, and "
    "ALLOC_DMA_BUFF and DMA_HEAP_IOCTL_ALLOC give shared memory."
    "\vExit status: PROGRAM's, 128 + N when signal N ended it, 127 when there is no PROGRAM, 126 when it cannot be "
    "executed.  PROGRAM is told HEXRIG_DEVICE in every case.\n\n"
    "Example: hexrig run-with --report -- ./my-fastrpc-test";

enum { FILTERS_MAX = 16 };

struct args {
    const char *device, *profile;
    const char *filters[FILTERS_MAX + 1]; /* [n_filters], and one for rig_time.h's */
    size_t n_filters;
    struct hx_rig_time time;
    struct hx_program_report report;
    struct hx_gate gate;
    int gdb;
    enum how how;
    int n_how;
};

/* Path of "../lib/NAME" as seen from this executable. */
static int installed(const char *name, char *path, size_t bytes)
{
    char exe[PATH_MAX], up[PATH_MAX + 64], *slash;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    if (n < 0)
        return -errno;
    exe[n] = '\0';
    slash = strrchr(exe, '/');
    snprintf(up, sizeof(up), "%.*s/../lib/%s", (int)(slash - exe), exe, name);
    return bytes >= PATH_MAX && realpath(up, path) ? 0 : -errno;
}

/* Puts `value` in front of what the variable holds. */
static int prepend(const char *name, const char *value)
{
    const char *old = getenv(name);
    char *text = NULL;
    int rc;

    if (asprintf(&text, "%s%s%s", value, old && *old ? ":" : "", old ? old : "") < 0)
        return -ENOMEM;
    rc = setenv(name, text, 1) ? -errno : 0;
    free(text);
    return rc;
}

/* The variables by which the program's dynamic loader finds us. */
static int set_loader(enum how how)
{
    static const struct {
        const char *variable, *file;
    } loader[] = {
        [PRELOAD] = {"LD_PRELOAD", "libhexrig-preload.so"},
        [LIBRARY] = {"LD_LIBRARY_PATH", "."},
    };
    char path[PATH_MAX];
    int rc;

    if (how == SECCOMP)
        return HX_EXIT_OK;
    rc = installed(loader[how].file, path, sizeof(path));
    if (rc)
        return hx_cmd_fail(cmd, "../lib/%s: %s", loader[how].file, strerror(-rc));
    rc = prepend(loader[how].variable, path);
    return rc ? hx_cmd_fail(cmd, "%s", strerror(-rc)) : HX_EXIT_OK;
}

/* What a running rig may not have needs a private one, unless a device is named. */
static int configure(struct args *a)
{
    const char *env = getenv("HEXRIG_DEVICE"), *spec = hx_rig_time_filter(&a->time);
    const int is_named = a->device || (env && *env);
    struct hx_rig_cfg cfg = {.filters = a->filters, .profile = a->profile};
    int rc;

    if (a->gdb && setenv("HEXRIG_CRASH", "hold", 1)) /* for the rig */
        return hx_cmd_fail(cmd, "%s", strerror(errno));
    if (spec)
        a->filters[a->n_filters++] = spec;
    cfg.n_filters = a->n_filters;
    cfg.force_private = !is_named && (a->n_filters || a->profile || a->time.farf || a->gdb);
    rc = hx_rig_configure(&cfg);
    return rc ? hx_cmd_fail(cmd, "cannot configure the rig: %s", strerror(-rc)) : HX_EXIT_OK;
}

/* Finds or starts the rig and names it to the program, whose current directory may be another. */
static int find_rig(const char *device, enum how how, char *path)
{
    int rc;

    if (device && setenv("HEXRIG_DEVICE", device, 1))
        return hx_cmd_fail(cmd, "%s", strerror(errno));
    rc = hx_cmd_connect(cmd);
    if (rc)
        return rc;
    if (how != LIBRARY && strcmp(hx_rig_front_end(), "socket") == 0)
        return hx_cmd_fail(cmd, "%s: a socket, which no ioctl reaches: this way needs a rig with front end "
                           "fuse or cuse; programs that load libcdsprpc.so work with --library",
                           hx_rig_device());
    if (!realpath(hx_rig_device(), path))
        return hx_cmd_fail(cmd, "%s: %s", hx_rig_device(), strerror(errno));
    return setenv("HEXRIG_DEVICE", path, 1) ? hx_cmd_fail(cmd, "%s", strerror(errno)) : HX_EXIT_OK;
}

static int run_program(const struct hx_program *program, int gdb)
{
    int rc = gdb ? hx_crash_watch_begin() : 0;

    if (rc)
        return hx_cmd_fail(cmd, "--gdb: %s", strerror(-rc));
    rc = hx_program_run(program);
    if (gdb)
        hx_crash_watch_end();
    if (program->watch)
        hx_crash_watch_tell();
    return rc;
}

static int run_with(struct args *a, char **argv)
{
    struct hx_program program = {.argv = argv, .watch = a->how == SECCOMP};
    char err[256], path[PATH_MAX];
    int rc, told;

    if (program.watch && hx_seccomp_supported(err, sizeof(err)))
        return hx_cmd_fail(cmd, "%s; try --preload", err);
    rc = find_rig(a->device, a->how, path);
    if (rc == HX_EXIT_OK)
        rc = set_loader(a->how);
    if (rc == HX_EXIT_OK)
        rc = hx_program_report_begin(&a->report, cmd);
    if (rc != HX_EXIT_OK)
        return rc;
    program.device = path;
    rc = run_program(&program, a->gdb);
    told = hx_program_report_end(&a->report, cmd);
    return rc ? rc : told;
}

static int add_filter(struct args *a, const char *spec)
{
    if (a->n_filters == FILTERS_MAX)
        return hx_cmd_usage(cmd, "--filter: at most %d", FILTERS_MAX);
    a->filters[a->n_filters++] = spec;
    return 0;
}

static int add_idl(struct hx_program_report *r, const char *file)
{
    if (r->n_idl == HX_REPORT_IDLS)
        return hx_cmd_usage(cmd, "--idl: at most %d", HX_REPORT_IDLS);
    r->idl[r->n_idl++] = file;
    return 0;
}

static int option(struct args *a, int key, const char *arg)
{
    switch (key) {
    case OPT_DEVICE:
        a->device = arg;
        return 0;
    case OPT_REPORT:
        a->report.wanted = 1;
        a->report.file = arg;
        return 0;
    case HX_OPT_JSON:
        a->report.wanted = a->report.json = 1;
        return 0;
    case OPT_GDB:
        a->gdb = 1;
        return 0;
    case OPT_IDL:
        return add_idl(&a->report, arg);
    case HX_OPT_PROFILE:
        a->profile = arg;
        return 0;
    case HX_OPT_FILTER:
        return add_filter(a, arg);
    case OPT_HOW + SECCOMP:
    case OPT_HOW + PRELOAD:
    case OPT_HOW + LIBRARY:
        a->how = (enum how)(key - OPT_HOW);
        a->n_how++;
        return 0;
    default:
        return hx_rig_time_option(&a->time, cmd, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &a->gate;
    return hx_opt_error(option(a, key, arg));
}

static int check(struct args *a, int has_program)
{
    int rc;

    if (a->n_how > 1)
        return hx_cmd_usage(cmd, "one of --seccomp, --preload and --library");
    if (!has_program)
        return hx_cmd_usage(cmd, "no program");
    rc = hx_gate_begin(&a->gate);
    a->report.gate = hx_gate_is_on(&a->gate) ? &a->gate : NULL;
    return rc;
}

int hx_cmd_run_with(int argc, char **argv)
{
    const struct argp_child children[] = {{&hx_gate_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, "[--] PROGRAM [ARG]...", doc, children, NULL, NULL};
    struct args a = {.how = SECCOMP, .gate = {.cmd = cmd}};
    int program, rc = hx_opt_parse_some(&argp, ARGP_IN_ORDER, argc, argv, &a, &program);

    if (!rc)
        rc = check(&a, program < argc);
    if (!rc)
        rc = configure(&a);
    if (!rc)
        rc = run_with(&a, argv + program);
    hx_gate_free(&a.gate);
    return rc;
}
