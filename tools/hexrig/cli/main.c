/* hexrig COMMAND: finds the command and runs it, with what every command needs around it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "hx_rig.h"
#include "hx_version.h"
#include "idl.h"
#include "report.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
#define COMMAND(name, run, what) {name, run, what},
#include "commands.inc"
#undef COMMAND
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
    argv[0] = name;
    if (commands[i].run == hx_cmd_up) { /* its rig stays */
        rc = hx_cmd_up(argc, argv);
    } else {
        adopt_orphans();
        rc = commands[i].run(argc, argv);
        reap_orphans();
    }
    return rc == HX_EXIT_HELP ? HX_EXIT_OK : rc;
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

/* Results that did not arrive are a failure.  A reader that went away (| head) need not be told. */
static int finish(int rc)
{
    int lost = ferror(stdout), err;

    errno = 0; /* of an earlier failure nothing is known */
    lost |= fclose(stdout) != 0;
    err = errno;
    if (!lost && !rc && hx_json_lost()) {
        fprintf(stderr, "hexrig: out of memory: some of the output is missing\n");
        return HX_EXIT_FAILED;
    }
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
    hx_json_watch();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, which is cleaned up after */
    return finish(command_line(argc, argv));
}
