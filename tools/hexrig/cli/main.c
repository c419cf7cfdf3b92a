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
#include "cmd_help.h"
#include "commands.h"
#include "hx_rig.h"
#include "hx_version.h"
#include "idl.h"
#include "report.h"

static int (*const runs[])(int argc, char **argv) = {
#define COMMAND(name, run, what) run,
#include "commands.inc"
#undef COMMAND
};

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

static int run_command(const struct hx_command *c, int argc, char **argv)
{
    int (*const run)(int argc, char **argv) = runs[c - hx_commands];
    char name[32];
    int rc;

    snprintf(name, sizeof(name), "hexrig %s", c->name);
    argv[0] = name;
    if (run == hx_cmd_up) { /* its rig stays */
        rc = hx_cmd_up(argc, argv);
    } else {
        adopt_orphans();
        rc = run(argc, argv);
        reap_orphans();
    }
    return rc == HX_EXIT_HELP ? HX_EXIT_OK : rc;
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
    const struct hx_command *c;

    if (argc < 2) {
        fprintf(stderr, "hexrig: no command; see hexrig help\n");
        return HX_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        hx_commands_print();
        return HX_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hexrig %s\n", hx_version);
        return HX_EXIT_OK;
    }
    c = hx_command("hexrig", argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : HX_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    fill_standard_fds();
    hx_cmd_help_runs(run_command);
    hx_json_watch();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, which is cleaned up after */
    return finish(command_line(argc, argv));
}
