/* hexrig trace: runs a command on a rig of its own whose calls are traced. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "options/engine_opts.h"
#include "hx_rig.h"
#include "run_program.h"

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},    {"profile", required_argument, NULL, 'p'},
    {"front-end", required_argument, NULL, 'f'}, {"events", required_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},            {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig trace [-o FILE] [--profile P] [--front-end F] [--events N] [--] COMMAND [ARG]...\n\n"
           "Runs COMMAND on a private rig and writes what its calls did: on the client's side dispatch, marshal,\n"
           "queue and exec; on the DSP each thread, its DMA transfers and the HVX contexts.  All times are\n"
           "modelled, so two runs of a program that makes one call at a time give the same file.  Open it\n"
           "at https://ui.perfetto.dev or chrome://tracing.\n\n"
           "COMMAND is a command of hexrig (run, ppl, run-with, ...) with its arguments, else a program that\n"
           "loads libcdsprpc.so.  Programs that open the device themselves: COMMAND = run-with -- PROGRAM.\n\n"
           "  -o, --output FILE   default hexrig-trace.json\n"
           "      --profile P     cost profile of the rig, name or path (s22u-577)\n"
           "      --front-end F   " HX_FRONT_ENDS " (auto)\n"
           "      --events N      room for so many events of the DSP per call, 0 to 1048576 (16384); what\n"
           "                      finds none is counted\n"
           "  -h, --help\n\n"
           "Exit status: COMMAND's; 1 when the rig or the file fails.\n\n"
           "Example: hexrig trace -o t.json -- run -p \"The king was\" -n 4 --kv spinor\n");
}

struct trace {
    const char *output, *profile, *front_end;
    uint64_t events;
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
        return hx_cmd_fail("trace", "out of memory");
    rig.filters = (const char *const *)&filter;
    rc = hx_rig_configure(&rig);
    free(filter);
    if (rc)
        return hx_cmd_fail("trace", "%s", strerror(-rc));
    rc = hx_cmd_connect("trace");
    if (rc)
        return rc;
    if (!realpath(hx_rig_device(), device) || setenv("HEXRIG_DEVICE", device, 1))
        return hx_cmd_fail("trace", "%s: %s", hx_rig_device(), strerror(errno));
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
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !hx_cmd_exists(argv[0]); i++)
        line[at++] = others[i];
    memcpy(line + at, argv, n * sizeof(*line));
    return line;
}

/* 1: there is a call in the file; 0: there is none; negative errno. */
static int has_call(const char *file)
{
    FILE *f = fopen(file, "re");
    char *line = NULL;
    size_t bytes = 0;
    int found = 0, rc;

    if (!f)
        return -errno;
    while (!found && getline(&line, &bytes, f) > 0)
        found = strstr(line, "\"ph\": \"X\"") != NULL;
    rc = ferror(f) ? -EIO : found;
    free(line);
    fclose(f);
    return rc;
}

static int report(const char *file)
{
    int rc = has_call(file);

    if (rc < 0)
        return hx_cmd_fail("trace", "%s: %s", file, strerror(-rc));
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
        return hx_cmd_fail("trace", "%s", strerror(-rc));
    self[n] = '\0';
    program.argv = command_line(t->argv, self);
    rc = program.argv ? start_rig(t, file) : hx_cmd_fail("trace", "out of memory");
    if (rc == HX_EXIT_OK) {
        rc = hx_program_run(&program);
        hx_rig_disconnect(); /* the file is complete when the rig has ended */
        bad = report(t->output);
        rc = rc ? rc : bad;
    }
    free(program.argv);
    return rc;
}

int hx_cmd_trace(int argc, char **argv)
{
    struct trace t = {.output = "hexrig-trace.json", .events = 16384};
    int c;

    while ((c = getopt_long(argc, argv, "+ho:", options, NULL)) != -1) {
        switch (c) {
        case 'o':
            t.output = optarg;
            break;
        case 'p':
            t.profile = optarg;
            break;
        case 'f':
            if (!hx_cmd_front_end_ok(optarg))
                return hx_cmd_bad_value("trace", "front-end", optarg, HX_FRONT_ENDS);
            t.front_end = optarg;
            break;
        case 'e':
            if (hx_opt_u64("trace", "events", optarg, 0, 1 << 20, &t.events))
                return HX_EXIT_USAGE;
            break;
        case 'h':
            help();
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    if (optind == argc)
        return hx_cmd_usage("trace", "no command");
    t.argv = argv + optind;
    return run(&t);
}
