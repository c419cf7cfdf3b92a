/* A rig of a test program's own, see own_rig.h. */
#include "own_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

const char *own_rig_front_end = "fuse";
const char *own_rig_profile;
const char *own_rig_log;
const char *own_rig_mode;
int own_rig_strict_pd;
double own_rig_seconds = 600;
struct hxt_child own_rig_child;

const char *own_rig_path(const char *name)
{
    return hxt_path("%s/rig/%s", hxt_tmpdir(), name);
}

static int serves(void *node)
{
    return access(node, F_OK) == 0;
}

static int has_dsp(void *unused)
{
    (void)unused;
    return own_rig_dsp() > 0;
}

static int lifeline = -1; /* the rig ends when this is closed, by the end of this program, too */

static int start_on_lifeline(const struct hxt_cmd *cmd, const char **fd_arg)
{
    char number[16]; /* hxt_path() has few buffers, and callers have used them */
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFD, 0))
        return -1;
    snprintf(number, sizeof(number), "%d", ends[0]);
    *fd_arg = number;
    rc = hxt_start(&own_rig_child, cmd);
    *fd_arg = NULL;
    close(ends[0]);
    lifeline = ends[1];
    return rc ? -1 : 0;
}

int own_rig_start(void **state)
{
    const char *libexec = getenv("HEXRIG_LIBEXEC"), *skels = getenv("DSP_LIBRARY_PATH");
    const char *argv[] = {hxt_path("%s/hexrig-fuse", libexec ? libexec : HXT_BUILD "/libexec/hexrig"),
                          "--mount", own_rig_path(""), "--front-end", own_rig_front_end,
                          "--lifeline-fd", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    size_t n = 7;
    const char *env[] = {hxt_path("DSP_LIBRARY_PATH=%s", skels ? skels : HXT_BUILD "/tests"), NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = own_rig_seconds};
    char node[512];

    (void)state;
    if (own_rig_profile) {
        argv[n++] = "--profile";
        argv[n++] = own_rig_profile;
    }
    if (own_rig_log) {
        argv[n++] = "--log";
        argv[n++] = own_rig_log;
    }
    if (own_rig_mode) {
        argv[n++] = "--mode";
        argv[n++] = own_rig_mode;
    }
    if (own_rig_strict_pd)
        argv[n++] = "--strict-pd";
    snprintf(node, sizeof(node), "%s", own_rig_path("fastrpc-cdsp"));
    setenv("HEXRIG_DEVICE", node, 1);
    if (mkdir(own_rig_path(""), own_rig_mode ? 0755 : 0700) && errno != EEXIST)
        return -1;
    if (own_rig_mode && chmod(hxt_tmpdir(), 0711))
        return -1;
    if (start_on_lifeline(&cmd, &argv[6]))
        return -1;
    return hxt_until(serves, node, 10) && hxt_until(has_dsp, NULL, 10) ? 0 : -1;
}

int own_rig_stop(void **state)
{
    struct hxt_result r;
    int bad;

    (void)state;
    /* Of a test that failed while the rig was stopped.  Not behind SIGTERM: it could undo the stop that the leak checker waits for. */
    hxt_signal(&own_rig_child, SIGCONT);
    hxt_signal(&own_rig_child, SIGTERM);
    if (hxt_wait(&own_rig_child, &r))
        return -1;
    close(lifeline);
    bad = r.exit_code != 0 || serves((void *)own_rig_path("fastrpc-cdsp"));
    if (bad)
        print_error("rig: exit %d signal %d\n", r.exit_code, r.signal);
    if (bad || getenv("HXT_VERBOSE"))
        print_error("%s\n", r.err);
    hxt_result_free(&r);
    return bad ? -1 : 0;
}

int own_rig_status(const char *key)
{
    char *text = hxt_read_file(own_rig_path("status"), NULL);
    size_t n = strlen(key);
    int v = -1;

    for (char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, key, n) == 0 && at[n] == '=')
            v = atoi(at + n + 1);
    free(text);
    return v;
}

int own_rig_control(const char *command)
{
    int fd = open(own_rig_path("control"), O_WRONLY | O_TRUNC | O_CLOEXEC), error;
    ssize_t n = write(fd, command, strlen(command));

    error = errno;
    close(fd);
    errno = error;
    return n == (ssize_t)strlen(command) ? 0 : -1;
}

int own_rig_idle(void *unused)
{
    (void)unused;
    return own_rig_status("sessions") == 0;
}

static int is_dsp(pid_t pid)
{
    char *name = hxt_read_file(hxt_path("/proc/%d/comm", pid), NULL);
    int is = name && strcmp(name, "hexrig-dsp\n") == 0;

    free(name);
    return is;
}

int own_rig_dsp(void)
{
    pid_t children[8];
    size_t n = hxt_children(own_rig_child.pid, children, HXT_LEN(children));

    for (size_t i = 0; i < n && i < HXT_LEN(children); i++)
        if (is_dsp(children[i]))
            return children[i];
    return 0;
}

size_t own_rig_pds(pid_t pds[OWN_RIG_PDS])
{
    const size_t n = hxt_children(own_rig_dsp(), pds, OWN_RIG_PDS);

    return n < OWN_RIG_PDS ? n : OWN_RIG_PDS;
}

pid_t own_rig_new_pd(const pid_t *before, size_t n)
{
    pid_t now[OWN_RIG_PDS];
    const size_t n_now = own_rig_pds(now);

    for (size_t i = 0; i < n_now; i++) {
        size_t k = 0;

        while (k < n && before[k] != now[i])
            k++;
        if (k == n)
            return now[i];
    }
    return 0;
}

int own_rig_threads(void)
{
    DIR *d = opendir(hxt_path("/proc/%d/task", own_rig_child.pid));
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2; /* "." and ".." */
}

int own_rig_run(int (*run)(const char *mode), const char *mode)
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

int own_rig_run_both(int (*run)(const char *front_end))
{
    int rc = own_rig_run(run, "socket");

    if (access("/dev/fuse", R_OK | W_OK) == 0)
        rc |= own_rig_run(run, "fuse");
    else
        printf("skip: front end fuse: /dev/fuse: %s\n", strerror(errno));
    return rc;
}
