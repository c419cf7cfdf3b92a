/* hexrig trace: runs a command on a rig of its own whose calls are traced; --replay prices recorded calls again. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/opt.h"
#include "hx_rig.h"
#include "replay/cmd_replay.h"
#include "run_program.h"

enum { OPT_EVENTS = HX_OPT_FREE, OPT_REPLAY, OPT_BATCH, OPT_TRANSPORT };

static const char cmd[] = "trace";

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the trace (hexrig-trace.json)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile of the rig, name or path (s22u-577)", 0},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", 0},
    {"events", OPT_EVENTS, "N", 0,
     "room for so many events of the DSP per call, 0 to 1048576; what finds none is counted (16384)", 0},
    {"replay", OPT_REPLAY, "FILE", 0,
     "price the calls of a trace or of a text file again, without a COMMAND; --profile: by which profile (the recording's)", 0},
    {"batch", OPT_BATCH, "N", 0, "with --replay: up to N calls of a method that follow each other become one, 1 to 1048576 (1)", 0},
    {"transport", OPT_TRANSPORT, "T", 0, "with --replay: invoke | packet: calls, or packets of a dspqueue (invoke)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "with --replay: one JSON object", 0},
    {0},
};

static const char doc[] =
    "Runs COMMAND on a private rig and writes what its calls did: on the client's side dispatch, marshal, queue and exec; "
    "on the DSP each thread, its DMA transfers and the HVX contexts.  All times are modelled, so two runs of a program "
    "that makes one call at a time give the same file.  Open it at https://ui.perfetto.dev or chrome://tracing."
    "\vCOMMAND is a command of hexrig (run, ppl, run-with, ...) with its arguments, else a program that loads "
    "libcdsprpc.so.  Programs that open the device themselves: COMMAND = run-with -- PROGRAM.\n\n"
    "--replay: the calls of FILE, a trace or lines of text (docs/trace.md), priced by the cost model's formulas, before and after, by "
    "method and in all.\n\n"
    "Exit status: COMMAND's; 1 when the rig or the file fails.\n\n"
    "Example: hexrig trace -o t.json -- run -p \"The king was\" -n 4 --kv spinor";

struct trace {
    const char *output, *profile, *front_end; /* NULL: not given */
    uint64_t events;
    int has_events, of_replay; /* options of the one and of the other were given */
    struct hx_replay_args replay; /* without a file: COMMAND is run */
    char **argv; /* COMMAND */
};

/* The file as the rig's process finds it. */
static int absolute(const char *path, char *full, size_t bytes)
{
    char cwd[PATH_MAX];

    if (*path == '/')
        return snprintf(full, bytes, "%s", path) < (int)bytes ? 0 : -ENAMETOOLONG;
    if (!getcwd(cwd, sizeof(cwd)))
        return -errno;
    return snprintf(full, bytes, "%s/%s", cwd, path) < (int)bytes ? 0 : -ENAMETOOLONG;
}

static int start_rig(const struct trace *t, const char *file)
{
    char *filter, device[PATH_MAX];
    struct hx_rig_cfg rig = {.profile = t->profile, .front_end = t->front_end, .n_filters = 1,
                             .force_private = 1};
    int rc;

    if (asprintf(&filter, "trace:events=%llu,file=%s", (unsigned long long)t->events, file) < 0)
        return hx_cmd_fail(cmd, "out of memory");
    rig.filters = (const char *const *)&filter;
    rc = hx_rig_configure(&rig);
    free(filter);
    if (rc)
        return hx_cmd_fail(cmd, "%s", strerror(-rc));
    rc = hx_cmd_connect(cmd);
    if (rc)
        return rc;
    if (!realpath(hx_rig_device(), device) || setenv("HEXRIG_DEVICE", device, 1))
        return hx_cmd_fail(cmd, "%s: %s", hx_rig_device(), strerror(errno));
    return HX_EXIT_OK;
}

/* The command line behind COMMAND: this program again, which knows how to start others. */
static char **command_line(char **argv, char *self)
{
    static char *const others[] = {"run-with", "--library", "--"};
    size_t n = 0, at = 0;
    char **line;

    while (argv[n])
        n++;
    line = calloc(n + 5, sizeof(*line));
    if (!line)
        return NULL;
    line[at++] = self;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !hx_command(NULL, argv[0]); i++)
        line[at++] = others[i];
    memcpy(line + at, argv, n * sizeof(*line));
    return line;
}

/* 1: there is a call in the file; 0: there is none; negative errno, -ENODATA: the file has no end. */
static int has_call(const char *file)
{
    FILE *f = fopen(file, "re");
    char *line = NULL;
    size_t bytes = 0;
    int found = 0, whole = 0, rc;

    if (!f)
        return -errno;
    while (getline(&line, &bytes, f) > 0) {
        found |= strstr(line, "\"ph\": \"X\"") != NULL;
        whole = strncmp(line, "], \"otherData\": ", 16) == 0 && strstr(line, "}}\n");
    }
    rc = !feof(f) ? -EIO : whole ? found : -ENODATA;
    free(line);
    fclose(f);
    return rc;
}

static int report(const char *file)
{
    int rc = has_call(file);

    if (rc == -ENODATA) {
        unlink(file); /* the rig has said what was the matter */
        return hx_cmd_fail(cmd, "%s: the rig could not write all of it; it is removed", file);
    }
    if (rc < 0)
        return hx_cmd_fail(cmd, "%s: %s", file, strerror(-rc));
    fprintf(stderr, "hexrig trace: %s: %s\n", file,
            rc ? "open it at https://ui.perfetto.dev or chrome://tracing"
               : "no call reached this rig (a COMMAND that insists on a rig of its own?)");
    return rc ? HX_EXIT_OK : HX_EXIT_FAILED;
}

static int run(const struct trace *t)
{
    char self[PATH_MAX], file[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    int rc = n < 0 ? -errno : absolute(t->output, file, sizeof(file)), bad;
    struct hx_program program = {0};

    if (rc)
        return hx_cmd_fail(cmd, "%s", strerror(-rc));
    self[n] = '\0';
    program.argv = command_line(t->argv, self);
    rc = program.argv ? start_rig(t, file) : hx_cmd_fail(cmd, "out of memory");
    if (rc == HX_EXIT_OK) {
        rc = hx_program_run(&program);
        hx_rig_disconnect(); /* the file is complete when the rig has ended */
        bad = report(t->output);
        rc = rc ? rc : bad;
    }
    free(program.argv);
    return rc;
}

static int transport(struct trace *t, const char *arg)
{
    static const char *const names[] = {"invoke", "packet", NULL};
    size_t at = 0;
    int rc = hx_opt_name(cmd, "transport", arg, names, &at);

    t->replay.packets = at == 1;
    return rc;
}

static int replay_option(struct trace *t, int key, const char *arg)
{
    t->of_replay = 1;
    switch (key) {
    case OPT_BATCH:
        return hx_opt_size(cmd, "batch", arg, 1, 1 << 20, &t->replay.batch);
    case OPT_TRANSPORT:
        return transport(t, arg);
    default:
        t->replay.json = 1;
        return 0;
    }
}

static int option(struct trace *t, int key, const char *arg)
{
    switch (key) {
    case 'o':
        t->output = arg;
        return 0;
    case HX_OPT_PROFILE:
        t->profile = arg;
        return 0;
    case HX_OPT_FRONT_END:
        return hx_opt_front_end(cmd, arg, &t->front_end);
    case OPT_REPLAY:
        t->replay.file = arg;
        return 0;
    case OPT_BATCH:
    case OPT_TRANSPORT:
    case HX_OPT_JSON:
        return replay_option(t, key, arg);
    case OPT_EVENTS:
        t->has_events = 1;
        return hx_opt_u64(cmd, "events", arg, 0, 1 << 20, &t->events);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int replay(struct trace *t, int has_command)
{
    if (has_command || t->output || t->front_end || t->has_events)
        return hx_cmd_usage(cmd, "--replay runs nothing: without COMMAND, --output, --front-end and --events");
    t->replay.profile = t->profile;
    return hx_cmd_replay(cmd, &t->replay);
}

int hx_cmd_trace(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "[--] COMMAND [ARG]...\n--replay FILE", doc, NULL, NULL, NULL};
    struct trace t = {.events = 16384, .replay.batch = 1};
    int command, rc = hx_opt_parse_some(&argp, ARGP_IN_ORDER, argc, argv, &t, &command);

    if (rc)
        return rc;
    if (t.replay.file)
        return replay(&t, command < argc);
    if (t.of_replay)
        return hx_cmd_usage(cmd, "--batch, --transport and --json are for --replay FILE");
    if (command == argc)
        return hx_cmd_usage(cmd, "no command");
    t.output = t.output ? t.output : "hexrig-trace.json";
    t.argv = argv + command;
    return run(&t);
}
