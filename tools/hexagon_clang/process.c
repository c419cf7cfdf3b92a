#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the program with `fd` as its descriptor `as`, or with nothing changed: fd -1.  Its pid, or -errno. */
static pid_t start(const struct hx_arg_list *args, int fd, int as)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid < 0 ? -errno : pid;
    if (fd >= 0)
        dup2(fd, as);
    execvp(args->at[0], args->at);
    fprintf(stderr, "hexagon-clang: error: %s: %s\n", args->at[0], strerror(errno));
    _exit(127);
}

static int end_of(pid_t pid)
{
    int status;

    if (pid < 0) {
        fprintf(stderr, "hexagon-clang: error: %s\n", strerror(-pid));
        return 127;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);

        if (n < 0 && errno != EINTR)
            break; /* it has ended, and its exit status tells */
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

int hx_process_run(const struct hx_arg_list *args, const char *input, size_t bytes)
{
    int ends[2];
    pid_t pid;

    if (!input)
        return end_of(start(args, -1, -1));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return end_of(-errno);
    signal(SIGPIPE, SIG_IGN);
    pid = start(args, ends[0], STDIN_FILENO);
    close(ends[0]);
    write_all(ends[1], input, bytes);
    close(ends[1]);
    return end_of(pid);
}

int hx_process_read(const struct hx_arg_list *args, char **output, size_t *bytes)
{
    char block[1 << 16];
    int ends[2];
    ssize_t n;
    pid_t pid;
    FILE *out;

    *output = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return end_of(-errno);
    pid = start(args, ends[1], STDOUT_FILENO);
    close(ends[1]);
    out = open_memstream(output, bytes);
    while (out && ((n = read(ends[0], block, sizeof(block))) > 0 || (n < 0 && errno == EINTR)))
        fwrite(block, 1, n > 0 ? (size_t)n : 0, out);
    close(ends[0]);
    if (!out || fclose(out) != 0) {
        end_of(pid);
        return end_of(-ENOMEM);
    }
    return end_of(pid);
}
