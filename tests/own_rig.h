/* A rig of a test program's own, for programs that use the client library as anybody would: a front end per run of the
 * program, HEXRIG_DEVICE names the node.
 *
 * HEXRIG_LIBEXEC and DSP_LIBRARY_PATH may name another build's driver and skels: a ThreadSanitizer build of the client
 * works with a plain DSP, whose address space TSan could not bear. */
#ifndef OWN_RIG_H
#define OWN_RIG_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"

static const char *own_rig_front_end;
static const char *own_rig_profile; /* NULL = default */
static struct hxt_child own_rig_child;

static inline int own_rig_serves(void *node)
{
    return access(node, F_OK) == 0;
}

static inline int own_rig_start(void **state)
{
    const char *libexec = getenv("HEXRIG_LIBEXEC"), *skels = getenv("DSP_LIBRARY_PATH");
    const char *argv[] = {hxt_path("%s/hexrig-fuse", libexec ? libexec : HXT_BUILD "/libexec/hexrig"),
                          "--mount", hxt_tmpdir(), "--front-end", own_rig_front_end,
                          own_rig_profile ? "--profile" : NULL, own_rig_profile, NULL};
    const char *env[] = {hxt_path("DSP_LIBRARY_PATH=%s", skels ? skels : HXT_BUILD "/tests"), NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = 600};
    char node[512];

    (void)state;
    snprintf(node, sizeof(node), "%s/fastrpc-cdsp", hxt_tmpdir());
    setenv("HEXRIG_DEVICE", node, 1);
    if (hxt_start(&own_rig_child, &cmd))
        return -1;
    return hxt_until(own_rig_serves, node, 10) ? 0 : -1;
}

static inline int own_rig_stop(void **state)
{
    struct hxt_result r;

    (void)state;
    hxt_signal(&own_rig_child, SIGTERM);
    if (hxt_wait(&own_rig_child, &r))
        return -1;
    if (r.exit_code != 0)
        print_error("rig: exit %d signal %d\n", r.exit_code, r.signal);
    if (r.exit_code != 0 || getenv("HXT_VERBOSE"))
        print_error("%s\n", r.err);
    int rc = r.exit_code == 0 ? 0 : -1;
    hxt_result_free(&r);
    return rc;
}

/* Process id of the rig's DSP, the one child of its driver; 0 when there is none now. */
static inline int own_rig_dsp(void)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%d/children", own_rig_child.pid, own_rig_child.pid), NULL);
    int pid = text ? atoi(text) : 0;

    free(text);
    return pid > 1 ? pid : 0;
}

/* Runs `run(mode)` in a process of its own.  The result's exit code; a signal is 1. */
static inline int own_rig_run(int (*run)(const char *mode), const char *mode)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        exit(run(mode));
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    if (!WIFEXITED(status))
        print_error("%s: signal %d\n", mode, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif
