/* Reads the node `crashes`, and starts debuggers. */
#include "crash_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hx_rig.h"

enum { LOOK_MS = 200 };

/* The number behind " KEY=" in a line, or 0. */
static long number_in(const char *line, const char *key)
{
    const char *end = strchr(line, '\n'), *at = strstr(line, key);

    return at && (!end || at < end) ? strtol(at + strlen(key), NULL, 10) : 0;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : NULL;
}

void hx_crash_watch_tell(void)
{
    char *text;
    int ours = 0;

    if (hx_rig_read(NULL, "crashes", &text))
        return;
    for (const char *line = strncmp(text, "log=\n", 5) == 0 ? NULL : text; line; line = next_line(line)) {
        if (strncmp(line, "crash=", 6) == 0)
            ours = number_in(line, " pid=") == getpid();
        else if (ours && strncmp(line, "  ", 2) == 0)
            fprintf(stderr, "hexrig run-with: %.*s\n", (int)strcspn(line + 2, "\n"), line + 2);
    }
    free(text);
}

/* --- debuggers ------------------------------------------------------------------------------------------------------ */

static struct {
    pthread_t thread;
    int wake[2]; /* a pipe; its end is the thread's */
} watch;

/* gdb reads commands from our terminal, as long as it runs; the program, if it reads there, too, has to wait. */
static void debug(pid_t pd)
{
    char number[16];
    sigset_t none;
    pid_t pid;

    snprintf(number, sizeof(number), "%d", (int)pd);
    fprintf(stderr, "hexrig run-with: gdb -p %s stops where the skel crashed\n", number);
    pid = fork();
    if (pid == 0) {
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execlp("gdb", "gdb", "-q", "-p", number, "-ex", "continue", (char *)NULL);
        fprintf(stderr, "hexrig run-with: gdb: %s\n", strerror(errno));
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* The PD that waits, or 0. */
static pid_t held_pd(void)
{
    char *text;
    pid_t pd = 0;

    if (hx_rig_read(NULL, "crashes", &text))
        return 0;
    for (const char *line = text; line && !pd; line = next_line(line))
        if (strncmp(line, "crash=", 6) == 0 && number_in(line, " held="))
            pd = (pid_t)number_in(line, " pd_pid=");
    free(text);
    return pd;
}

static void *look(void *unused)
{
    struct pollfd end = {.fd = watch.wake[0], .events = POLLIN};

    (void)unused;
    while (poll(&end, 1, LOOK_MS) == 0) {
        pid_t pd = held_pd();

        if (!pd)
            continue;
        debug(pd);
        if (held_pd() == pd) { /* it would wait for ever */
            fprintf(stderr, "hexrig run-with: gdb has not held %d; it ends\n", (int)pd);
            kill(pd, SIGKILL);
        }
    }
    return NULL;
}

/* The thread takes no signals: they are for the one that runs the program, and what came here would be lost to it. */
int hx_crash_watch_begin(void)
{
    sigset_t all, before;
    int rc;

    if (pipe(watch.wake))
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&watch.thread, NULL, look, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        return 0;
    close(watch.wake[0]);
    close(watch.wake[1]);
    return -rc;
}

void hx_crash_watch_end(void)
{
    close(watch.wake[1]);
    pthread_join(watch.thread, NULL);
    close(watch.wake[0]);
}
