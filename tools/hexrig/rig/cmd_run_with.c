/* hexrig run-with: runs a program so that it finds the rig. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "hx_rig.h"
#include "options/rig_time.h"
#include "run_program.h"
#include "seccomp_notify.h"

enum how { SECCOMP, PRELOAD, LIBRARY };

static const struct option options[] = {
    {"device", required_argument, NULL, 'd'}, {"seccomp", no_argument, NULL, 's'},
    {"preload", no_argument, NULL, 'p'},      {"library", no_argument, NULL, 'l'},
    {"time", required_argument, NULL, 't'},   {"host-us", required_argument, NULL, 'u'},
    {"farf", optional_argument, NULL, 'a'},   {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig run-with [OPTION]... [--] PROGRAM [ARG]...\n\n"
           "Runs PROGRAM so that it finds the rig, as it would find the DSP of a phone.  For programs that open\n"
           "/dev/fastrpc-cdsp (or -secure) and /dev/dma_heap/system themselves: the rig's device appears in their\n"
           "place, and ALLOC_DMA_BUFF and DMA_HEAP_IOCTL_ALLOC give shared memory.\n\n"
           "  --seccomp         answer these system calls for PROGRAM and all that it starts; static programs,\n"
           "                    too; ends when all of them have (default)\n"
           "  --preload         libhexrig-preload.so does it inside PROGRAM: for kernels before 5.14, and where\n"
           "                    opening files must stay fast; dynamically linked programs only\n"
           "  --library         for programs that load libcdsprpc.so: they find hexrig's\n"
           "  --device DEV      the rig's fastrpc-cdsp (default: HEXRIG_DEVICE, the default mount,\n"
           "                    /dev/fastrpc-cdsp, else a private rig that ends with the program)\n"
           "  --time MODE       of a private rig: virtual (default): nobody waits for the modelled time; real:\n"
           "                    calls really take it; off: no model\n"
           "  --host-us N       of a private rig: modelled work of PROGRAM before each call, us (default: 0)\n"
           "  --farf[=LEVEL]    of a private rig: messages of DSP code to stderr, from LOW, MEDIUM, HIGH or\n"
           "                    ERROR on (default: HIGH)\n"
           "  --help\n\n"
           "Exit status: PROGRAM's, 128 + N when signal N ended it, 127 when there is no PROGRAM, 126 when it\n"
           "cannot be executed.  PROGRAM is told HEXRIG_DEVICE in every case.\n\n"
           "Example: hexrig run-with -- ./my-fastrpc-test\n");
}

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
        return hx_cmd_fail("run-with", "../lib/%s: %s", loader[how].file, strerror(-rc));
    rc = prepend(loader[how].variable, path);
    return rc ? hx_cmd_fail("run-with", "%s", strerror(-rc)) : HX_EXIT_OK;
}

/* Who asks for something that a running rig may not have gets a private one, unless a device is named. */
static int configure(struct hx_rig_time *time, int farf, const char *device)
{
    const char *env = getenv("HEXRIG_DEVICE"), *spec = hx_rig_time_filter(time);
    struct hx_rig_cfg cfg = {.filters = &spec, .n_filters = spec != NULL,
                             .force_private = !device && !(env && *env) && (spec || farf)};
    int rc = hx_rig_configure(&cfg);

    return rc ? hx_cmd_fail("run-with", "cannot configure the rig: %s", strerror(-rc)) : HX_EXIT_OK;
}

/* Finds or starts the rig and names it to the program, whose current directory may be another. */
static int find_rig(const char *device, enum how how, char *path)
{
    char err[1280] = "";

    if (device && setenv("HEXRIG_DEVICE", device, 1))
        return hx_cmd_fail("run-with", "%s", strerror(errno));
    if (hx_rig_connect(err, sizeof(err)))
        return hx_cmd_fail("run-with", "%s", err);
    if (how != LIBRARY && strcmp(hx_rig_front_end(), "socket") == 0)
        return hx_cmd_fail("run-with", "%s: a socket, which no ioctl reaches: this way needs a rig with front end "
                           "fuse or cuse; programs that load libcdsprpc.so work with --library",
                           hx_rig_device());
    if (!realpath(hx_rig_device(), path))
        return hx_cmd_fail("run-with", "%s: %s", hx_rig_device(), strerror(errno));
    return setenv("HEXRIG_DEVICE", path, 1) ? hx_cmd_fail("run-with", "%s", strerror(errno)) : HX_EXIT_OK;
}

static int run_with(enum how how, const char *device, char **argv)
{
    struct hx_program program = {.argv = argv, .watch = how == SECCOMP};
    char err[256], path[PATH_MAX];
    int rc;

    if (program.watch && hx_seccomp_supported(err, sizeof(err)))
        return hx_cmd_fail("run-with", "%s; try --preload", err);
    rc = find_rig(device, how, path);
    if (rc == HX_EXIT_OK)
        rc = set_loader(how);
    if (rc != HX_EXIT_OK)
        return rc;
    program.device = path;
    return hx_program_run(&program);
}

int hx_cmd_run_with(int argc, char **argv)
{
    const char *device = NULL;
    struct hx_rig_time time = {0};
    enum how how = SECCOMP;
    int c, n_how = 0, farf = 0, rc = HX_EXIT_OK;

    while (rc == HX_EXIT_OK && (c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (c) {
        case 'd':
            device = optarg;
            break;
        case 's':
        case 'p':
        case 'l':
            how = c == 's' ? SECCOMP : c == 'p' ? PRELOAD : LIBRARY;
            n_how++;
            break;
        case 't':
            rc = hx_rig_time_mode(&time, "run-with", optarg);
            break;
        case 'u':
            rc = hx_rig_time_host(&time, "run-with", optarg);
            break;
        case 'a':
            farf = 1;
            rc = hx_rig_farf("run-with", optarg);
            break;
        case 'h':
            help();
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    if (rc != HX_EXIT_OK)
        return rc;
    if (n_how > 1)
        return hx_cmd_usage("run-with", "one of --seccomp, --preload and --library");
    if (optind == argc)
        return hx_cmd_usage("run-with", "no program");
    rc = configure(&time, farf, device);
    return rc == HX_EXIT_OK ? run_with(how, device, argv + optind) : rc;
}
