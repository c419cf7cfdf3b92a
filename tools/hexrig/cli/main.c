#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "hx_rig.h"
#include "hx_version.h"
#include "idl.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"up", hx_cmd_up, "start a rig in the background"},
    {"down", hx_cmd_down, "end it"},
    {"status", hx_cmd_status, "show what runs"},
    {"filter", hx_cmd_filter, "change the filters of a rig that runs"},
    {"run", hx_cmd_run, "generate text, the K/V cache on the DSP"},
    {"ppl", hx_cmd_ppl, "perplexity of a text"},
    {"perplexity-sp", hx_cmd_perplexity_sp, "the same by exact arithmetic, as published: flags and SP_* variables"},
    {"serve", hx_cmd_serve, "answer OpenAI-compatible HTTP requests"},
    {"density", hx_cmd_density, "what a token costs, by how its work is cut into DSP calls"},
    {"model", hx_cmd_model, "look into GGUF files, change their number format"},
    {"block", hx_cmd_block, "validate 63-byte blocks"},
    {"report", hx_cmd_report, "what the cost model says, beside silicon"},
    {"bench", hx_cmd_bench, "measure this machine: engine, exact, prefetch"},
    {"run-with", hx_cmd_run_with, "run a FastRPC program so that it finds the rig"},
    {"trace", hx_cmd_trace, "run a command and write what its calls did, for Perfetto"},
    {"idl", hx_idl_main, "compile a FastRPC interface (also: hexidl)"},
    {"theorems", hx_cmd_theorems, "check the papers' statements, one line each"},
    {"demo", hx_cmd_demo, "what the project is about, in one table"},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(void)
{
    printf("usage: hexrig COMMAND [OPTION]...\n\n"
           "A Hexagon V69 cDSP on this machine, and an LLM engine that offloads to it.\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-13s %s\n", commands[i].name, commands[i].what);
    printf("\n"
           "hexrig COMMAND --help tells the options.  A command that needs a rig and finds none starts\n"
           "a private one and ends it.  Example: hexrig run -p \"The king was\" -n 32 --kv spinor\n");
}

/* A private rig is not our child: the library detaches it.  Where init does not reap orphans (many containers) its
 * processes would stay as zombies, so this process takes them in: they end before it does. */
static void adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void reap_orphans(void)
{
    hx_rig_disconnect();
    /* fusermount3 ends a moment after the rig that it served; what does not end within a second is not waited for */
    for (int i = 0; i < 100; i++) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);

        if (pid < 0)
            return;
        if (pid == 0)
            usleep(10000);
    }
}

static int run_command(size_t i, int argc, char **argv)
{
    char name[32];
    int rc;

    snprintf(name, sizeof(name), "hexrig %s", commands[i].name);
    argv[0] = name; /* getopt speaks in this name */
    if (commands[i].run == hx_cmd_up) /* its rig stays */
        return hx_cmd_up(argc, argv);
    adopt_orphans();
    rc = commands[i].run(argc, argv);
    reap_orphans();
    return rc;
}

static int unknown(const char *name)
{
    fprintf(stderr, "hexrig: unknown command '%s'; legal:", name);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
    fputc('\n', stderr);
    return HX_EXIT_USAGE;
}

/* A closed standard descriptor would go to the next file that is opened, and results would be written into that. */
static void fill_standard_fds(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY); /* stdout still fails */
}

/* Results that did not arrive are a failure.  A reader that went away (| head) is no news to anybody. */
static int finish(int rc)
{
    int lost = ferror(stdout), err;

    errno = 0; /* of an earlier failure nothing is known */
    lost |= fclose(stdout) != 0;
    err = errno;
    if (!lost)
        return rc;
    if (err != EPIPE)
        fprintf(stderr, "hexrig: cannot write the output%s%s\n", err ? ": " : "",
                err ? strerror(err) : "");
    return rc ? rc : HX_EXIT_FAILED;
}

static int command_line(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "hexrig: no command; see hexrig --help\n");
        return HX_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help();
        return HX_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hexrig %s\n", hx_version);
        return HX_EXIT_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_command(i, argc - 1, argv + 1);
    return unknown(argv[1]);
}

int main(int argc, char **argv)
{
    fill_standard_fds();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, which is cleaned up after */
    return finish(command_line(argc, argv));
}

int hx_cmd_exists(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return 1;
    return 0;
}

int hx_cmd_front_end_ok(const char *front_end)
{
    static const char *const legal[] = {"auto", "fuse", "socket", "cuse"};

    for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
        if (strcmp(front_end, legal[i]) == 0)
            return 1;
    return 0;
}

int hx_cmd_bad_value(const char *cmd, const char *option, const char *value, const char *legal)
{
    fprintf(stderr, "hexrig %s: --%s: unknown value '%s'; legal: %s\n", cmd, option, value, legal);
    return HX_EXIT_USAGE;
}

int hx_cmd_usage(const char *cmd, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "hexrig %s: ", cmd);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; see hexrig %s --help\n", cmd);
    return HX_EXIT_USAGE;
}

int hx_cmd_fail(const char *cmd, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "hexrig %s: ", cmd);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return HX_EXIT_FAILED;
}

int hx_cmd_connect(const char *cmd)
{
    char err[1280] = "";
    int rc = hx_rig_connect(err, sizeof(err));

    if (rc == -EINVAL)
        return hx_cmd_usage(cmd, "%s", err);
    return rc ? hx_cmd_fail(cmd, "%s", err) : HX_EXIT_OK;
}
