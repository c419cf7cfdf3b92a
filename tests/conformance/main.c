/* conformance: is the driver what FastRPC clients expect?  Each point of the list gets a line, the last line is
 * `conformance FRONT-END PASSED/ALL`, with how many more this front end cannot have.  Exit status 0 when all passed.
 *
 *   conformance --front-end fuse|socket|cuse --rig PATH/hexrig-fuse [--point N]
 *   conformance --list      the points as docs/conformance.md has them
 *
 * The skel libhxt_skel.so is found by DSP_LIBRARY_PATH.  Links statically: in the virtual machine there is no libc. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

enum { POINT_S = 300, START_S = 120, STOP_S = 30 };

const struct access *dev;
char mount_dir[64];

static const char *rig_program;
static char own_profile[sizeof(mount_dir) + 8]; /* made for the rig that runs, where it needs one */

/* --- the rig ---------------------------------------------------------------------------------------------------- */

static struct {
    pid_t pid; /* 0 = none runs */
    int lifeline; /* the rig ends when this is closed, however that comes */
} rig;

static bool is_dead(void *unused)
{
    (void)unused;
    if (rig.pid > 1 && waitpid(rig.pid, NULL, WNOHANG) != 0)
        rig.pid = 0;
    return rig.pid == 0;
}

static void stop_rig(void)
{
    double waited = 0;

    if (rig.pid < 2)
        return;
    close(rig.lifeline);
    while (!is_dead(NULL) && waited < STOP_S)
        waited += step_s();
    if (!is_dead(NULL)) {
        fprintf(stderr, "the rig did not end within %d s\n", STOP_S);
        kill(rig.pid, SIGKILL);
        waitpid(rig.pid, NULL, 0);
        rig.pid = 0;
    }
    rmdir(mount_dir);
    unlink(own_profile);
}

static void make_mount(void)
{
    const char *tmp = getenv("TMPDIR");
    char dir[sizeof(mount_dir)];

    /* a socket's path has little room */
    snprintf(dir, sizeof(dir), "%s/conf.XXXXXX", tmp && strlen(tmp) < 48 ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        exit(1);
    }
    memcpy(mount_dir, dir, sizeof(dir));
}

/* The profile s22u-577 with more lines at its end. */
static void write_profile(const char *path, const char *more)
{
    const char *slash = strrchr(rig_program, '/');
    char base[1024], text[8192];
    size_t n;
    FILE *f;

    snprintf(base, sizeof(base), "%.*s/../../share/hexrig/profiles/s22u-577.conf",
             slash ? (int)(slash - rig_program) : 1, slash ? rig_program : ".");
    f = fopen(base, "re");
    n = f ? fread(text, 1, sizeof(text), f) : 0;
    if (f)
        fclose(f);
    f = fopen(path, "we");
    if (!n || !f || fwrite(text, 1, n, f) != n || fputs(more, f) < 0 || fclose(f)) {
        fprintf(stderr, "%s or %s: %s\n", base, path, strerror(errno));
        exit(1);
    }
}

static _Noreturn void exec_rig(int ready, int lifeline, const char *profile)
{
    char ready_text[16], lifeline_text[16];

    snprintf(ready_text, sizeof(ready_text), "%d", ready);
    snprintf(lifeline_text, sizeof(lifeline_text), "%d", lifeline);
    fcntl(ready, F_SETFD, 0);
    fcntl(lifeline, F_SETFD, 0);
    execl(rig_program, "hexrig-fuse", "--mount", mount_dir, "--front-end", dev->name, "--ready-fd",
          ready_text, "--lifeline-fd", lifeline_text, "--profile", profile ? profile : "s22u-577",
          (char *)NULL);
    dprintf(ready, "error: %s: %s\n", rig_program, strerror(errno));
    _exit(127);
}

/* What the rig says when it is up, or why it is not. */
static void read_ready(int fd, char *line, size_t bytes)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = poll(&p, 1, START_S * 1000) > 0 ? read(fd, line, bytes - 1) : 0;

    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* 0, or -1 with the reason in `line`. */
static int start_rig(const char *more, char *line, size_t bytes)
{
    int ready[2], lifeline[2];

    make_mount();
    snprintf(own_profile, sizeof(own_profile), "%s.conf", mount_dir);
    if (more)
        write_profile(own_profile, more);
    if (pipe2(ready, O_CLOEXEC) || pipe2(lifeline, O_CLOEXEC)) {
        perror("pipe");
        exit(1);
    }
    fflush(stdout);
    rig.pid = fork();
    if (rig.pid == 0)
        exec_rig(ready[1], lifeline[0], more ? own_profile : NULL);
    close(ready[1]);
    close(lifeline[0]);
    rig.lifeline = lifeline[1];
    read_ready(ready[0], line, bytes);
    close(ready[0]);
    if (strncmp(line, "ok ", 3) == 0)
        return 0;
    stop_rig();
    return -1;
}

/* --- the points ------------------------------------------------------------------------------------------------- */

static _Noreturn void run_child(const struct point *p, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(POINT_S);
    point_report_to(report);
    p->run();
    _exit(0);
}

static bool run_point(const struct point *p)
{
    char err[600] = "";
    double start = now_s();
    int report[2], status = -1;
    ssize_t n;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC)) {
        perror("pipe");
        exit(1);
    }
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        run_child(p, report[1]);
    close(report[1]);
    if (pid < 2 || waitpid(pid, &status, 0) != pid) {
        perror("fork");
        exit(1);
    }
    n = read(report[0], err, sizeof(err) - 1);
    close(report[0]);
    if (n <= 0 && WIFSIGNALED(status))
        snprintf(err, sizeof(err), WTERMSIG(status) == SIGALRM ? "it hangs" : "signal %d",
                 WTERMSIG(status));
    if (status)
        printf("FAIL %u %s: %s\n", p->number, p->title, err);
    else
        printf("ok %u %s (%.1f s)\n", p->number, p->title, now_s() - start);
    fflush(stdout);
    return status == 0;
}

/* Runs `only`, or all when it is 0.  A rig serves until a point fails or needs another profile. */
static unsigned run_points(unsigned only, unsigned *all, unsigned *lacking)
{
    const char *profile = NULL;
    unsigned passed = 0;
    char line[600];

    for (unsigned i = 0; i < n_points; i++) {
        if (only && points[i].number != only)
            continue;
        if (point_lacks(&points[i], dev->name)) {
            printf("no %u %s: %s\n", points[i].number, points[i].title, points[i].setting->why);
            ++*lacking;
            continue;
        }
        ++*all;
        if (rig.pid && profile != point_profile(&points[i]))
            stop_rig();
        profile = point_profile(&points[i]);
        if (!rig.pid && start_rig(profile, line, sizeof(line))) {
            printf("FAIL %u %s: the rig does not start: %s\n", points[i].number, points[i].title, line);
            continue;
        }
        if (run_point(&points[i]))
            passed++;
        else
            stop_rig();
    }
    stop_rig();
    return passed;
}

static const struct option options[] = {
    {"front-end", required_argument, NULL, 'f'}, {"rig", required_argument, NULL, 'r'},
    {"point", required_argument, NULL, 'p'},     {"list", no_argument, NULL, 'l'},
    {0},
};

static int usage(void)
{
    fputs("usage: conformance --front-end fuse|socket|cuse --rig PATH/hexrig-fuse [--point N], or conformance --list\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct access *const all[] = {&access_fuse, &access_socket, &access_cuse};
    unsigned passed, total = 0, lacking = 0;
    int c, only = 0;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'f':
            for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
                if (strcmp(optarg, all[i]->name) == 0)
                    dev = all[i];
            break;
        case 'r': rig_program = optarg; break;
        case 'p': only = atoi(optarg); break;
        case 'l': points_list(); return 0;
        default: return usage();
        }
    }
    if (!dev || !rig_program || optind != argc || only < 0)
        return usage();
    signal(SIGPIPE, SIG_IGN);
    passed = run_points((unsigned)only, &total, &lacking);
    printf("conformance %s %u/%u", dev->name, passed, total);
    if (lacking)
        printf(", %u not on this front end", lacking);
    printf("\n");
    return total == 0 || passed < total;
}
