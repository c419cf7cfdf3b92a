/* Runs hexrig from within hexrig, in a process of its own, and reads the JSON that it prints. */
#include "run_json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"

/* Ends with its parent, however that ends; its private rig ends with it. */
static void child(pid_t parent, int out, int err, const char *const *argv)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(127);
    dup2(out, STDOUT_FILENO);
    if (err >= 0)
        dup2(err, STDERR_FILENO);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

/* Why there is nothing from a child that could not say so itself; NULL: it could. */
static const char *silent_end(pid_t pid, int status, const json_error_t *unread)
{
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return "cannot start";
    if (WIFSIGNALED(status))
        return strsignal(WTERMSIG(status));
    return status == 0 ? unread->text : NULL;
}

json_t *hx_run_json(const char *cmd, const char *const *argv, int err, int *code)
{
    int fds[2], status = -1;
    json_error_t unread = {.text = "no memory for what it prints"};
    const char *why;
    json_t *j = NULL;
    FILE *f;
    pid_t parent = getpid(), pid;

    if (code)
        *code = HX_EXIT_FAILED;
    if (pipe(fds)) {
        hx_cmd_fail(cmd, "pipe: %s", strerror(errno));
        return NULL;
    }
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        child(parent, fds[1], err, argv);
    }
    close(fds[1]);
    f = fdopen(fds[0], "r");
    if (f) {
        j = json_loadf(f, 0, &unread);
        fclose(f);
    } else {
        close(fds[0]);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (j && status == 0)
        return j;
    if (code && pid > 0 && WIFEXITED(status) && status)
        *code = WEXITSTATUS(status);
    why = f || pid < 0 ? silent_end(pid, status, &unread) : unread.text;
    if (why)
        hx_cmd_fail(cmd, "hexrig %s: %s", argv[1], why);
    json_decref(j);
    return NULL;
}
