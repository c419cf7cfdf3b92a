/* hexrig-fuse: the driver of a rig, in the foreground.  `hexrig up` and the client library start it. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "front/front.h"
#include "hx_version.h"

struct options {
    const char *mount, *front_end, *profile, *log, *mode, *owner;
    const char *filter[HX_FILTERS_MAX];
    unsigned n_filters;
    int ready_fd, lifeline_fd;
};

static const struct option long_options[] = {
    {"mount", required_argument, NULL, 'm'},     {"front-end", required_argument, NULL, 'f'},
    {"profile", required_argument, NULL, 'p'},   {"filter", required_argument, NULL, 'F'},
    {"ready-fd", required_argument, NULL, 'r'},  {"lifeline-fd", required_argument, NULL, 'l'},
    {"remove-dir", no_argument, NULL, 'd'},      {"log", required_argument, NULL, 'L'},
    {"mode", required_argument, NULL, 'M'},      {"owner", required_argument, NULL, 'O'},
    {"strict-pd", no_argument, NULL, 'S'},
    {"help", no_argument, NULL, 'h'},            {"version", no_argument, NULL, 'V'},
    {0},
};

static const char help[] =
    "usage: hexrig-fuse --mount DIR [options]\n"
    "Serves a rig's device nodes in DIR until SIGTERM.\n\n"
    "  --front-end F     auto (default: fuse, else socket), fuse, socket, cuse (devices in /dev)\n"
    "  --profile P       name in share/hexrig/profiles, or a path (default s22u-577)\n"
    "  --filter SPEC     add a filter, e.g. error:method=4,nth=3,corrupt=all (repeatable)\n"
    "  --mode MODE       octal mode of the device nodes; opens them to other users (default\n"
    "                    0660 with --owner; without both: for the rig's owner)\n"
    "  --owner UID:GID   owner and group of the device nodes, in numbers; either may be left out\n"
    "  --strict-pd       no skels in signed PDs: whoever opens one in a PD that is not unsigned gets EPERM\n"
    "  --log FILE        append messages to FILE instead of stderr, with the process id in each\n"
    "  --ready-fd N      write `ok ...` or `error: ...` there once it is known\n"
    "  --lifeline-fd N   end when this pipe is closed by its other side\n"
    "  --remove-dir      remove DIR at the end\n"
    "  --help, --version\n\n"
    "example: hexrig-fuse --mount /tmp/rig --front-end socket --profile s22u-sync\n";

static struct hx_driver driver;
static int ready_fd = -1;

/* Reports to whoever started us whether the rig serves; the first call counts.  Negative: whoever it was is gone. */
static int notify_starter(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int notify_starter(const char *fmt, ...)
{
    va_list ap;
    int n;

    if (ready_fd < 0)
        return 0;
    va_start(ap, fmt);
    n = vdprintf(ready_fd, fmt, ap);
    va_end(ap);
    close(ready_fd);
    ready_fd = -1;
    return n;
}

static int fail(int status, const char *why)
{
    if (ready_fd >= 0)
        notify_starter("%s: %s\n", status == 2 ? "refused" : "error", why); /* the starter prints it */
    else
        hx_log("%s", why);
    return status;
}

static int number(const char *text)
{
    char *end;
    long v = strtol(text, &end, 10);

    return end == text || *end || v < 0 || v > 1 << 20 ? -1 : (int)v;
}

/* 0, or the exit status + 1. */
static int parse(int argc, char **argv, struct options *o)
{
    int c;

    *o = (struct options){.front_end = "auto", .profile = "s22u-577", .ready_fd = -1, .lifeline_fd = -1};
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (c) {
        case 'm': o->mount = optarg; break;
        case 'f': o->front_end = optarg; break;
        case 'p': o->profile = optarg; break;
        case 'L': o->log = optarg; break;
        case 'd': driver.remove_dir = true; break;
        case 'S': driver.strict_pd = true; break;
        case 'M': o->mode = optarg; break;
        case 'O': o->owner = optarg; break;
        case 'r': o->ready_fd = number(optarg); break;
        case 'l': o->lifeline_fd = number(optarg); break;
        case 'F':
            if (o->n_filters == HX_FILTERS_MAX)
                return fail(2, "too many --filter options") + 1;
            o->filter[o->n_filters++] = optarg;
            break;
        case 'h': fputs(help, stdout); return 1;
        case 'V': printf("hexrig-fuse %s\n", hx_version); return 1;
        default: return 3;
        }
    }
    if (!o->mount || optind != argc) {
        fputs(help, stderr);
        return 3;
    }
    return 0;
}

/* --- events of the process ------------------------------------------------------------------------------------- */

static struct hx_watch signal_watch, lifeline_watch;
static const struct hx_front *front;

static void signal_ready(void *arg)
{
    struct signalfd_siginfo info;

    (void)arg;
    if (read(signal_watch.fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD)
        hx_dsp_reap_orphans(&driver.dsp);
    else
        driver.loop.stop = 1;
}

static void stop_running(void *arg)
{
    (void)arg;
    driver.loop.stop = 1;
}

static void tick(void *arg)
{
    struct hx_driver *d = arg;

    d->round++;
    d->loop.has_work = false;
    hx_watchdog_collect();
    hx_log_tick();
    hx_pd_log_tick();
    hx_context_expire(d);
    hx_session_release_due(d);
    hx_dsp_alive_check(d);
    hx_dsp_revive(d);
    hx_open_round(d);
    hx_crash_tick(d);
    if (front && front->idle)
        front->idle(d);
    hx_copy_round(d);
}

static int watch_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal_watch = (struct hx_watch){.fd = signalfd(-1, &set, SFD_CLOEXEC), .ready = signal_ready};
    return signal_watch.fd < 0 ? -errno : hx_loop_add(&driver.loop, &signal_watch);
}

static int watch_lifeline(int fd)
{
    if (fd < 0)
        return 0;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    lifeline_watch = (struct hx_watch){.fd = fd, .ready = stop_running};
    return hx_loop_add(&driver.loop, &lifeline_watch);
}

/* --- start ------------------------------------------------------------------------------------------------------ */

static const struct hx_front *const fronts[] = {&hx_front_fuse, &hx_front_socket, &hx_front_cuse};

static const struct hx_front *find_front(const char *name)
{
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
        if (strcmp(name, fronts[i]->name) == 0)
            return fronts[i];
    return NULL;
}

static int check_front(const char *want, char *why, size_t why_bytes)
{
    if (strcmp(want, "auto") == 0 || find_front(want))
        return 0;
    snprintf(why, why_bytes, "unknown front end '%s', there are auto, fuse, socket, cuse", want);
    return -EINVAL;
}

static int start_front(const char *want, char *why, size_t why_bytes)
{
    bool any = strcmp(want, "auto") == 0;
    int rc;

    front = any ? &hx_front_fuse : find_front(want);
    rc = front->start(&driver, why, why_bytes);
    if (rc && any) {
        hx_log("front end socket instead of fuse: %s", why);
        front = &hx_front_socket;
        rc = front->start(&driver, why, why_bytes);
    }
    return rc;
}

static int load_profile(const struct options *o, char *path, size_t path_bytes, char *why,
                        size_t why_bytes)
{
    char own[2048], folder[4096];
    int rc;

    hx_own_folder(own, sizeof(own));
    snprintf(folder, sizeof(folder), "%s/../../share/hexrig/profiles", own);
    rc = hx_profile_load(&driver.profile, folder, o->profile, why, why_bytes);
    if (strchr(o->profile, '/') || strstr(o->profile, ".conf"))
        snprintf(path, path_bytes, "%s", o->profile);
    else
        snprintf(path, path_bytes, "%s/%s.conf", folder, o->profile);
    return rc;
}

static int load_filters(const struct options *o, char *why, size_t why_bytes)
{
    int rc = hx_filter_push(&driver.filters, "count", &driver.profile, why, why_bytes);

    if (!rc)
        rc = hx_filter_push(&driver.filters, "cost", &driver.profile, why, why_bytes);
    for (unsigned i = 0; i < o->n_filters && !rc; i++)
        rc = hx_filter_push(&driver.filters, o->filter[i], &driver.profile, why, why_bytes);
    return rc;
}

/* A file, not a FIFO that nobody reads, nor a link; negative errno. */
static int open_log(const char *log)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat st;
    char tag[32];
    int rc = fd < 0 || fstat(fd, &st) ? -errno : 0;

    if (!rc && (!S_ISREG(st.st_mode) || st.st_uid != geteuid()))
        rc = -EPERM;
    if (!rc && dup2(fd, 2) < 0)
        rc = -errno;
    if (fd >= 0)
        close(fd);
    if (rc)
        return rc;
    /* other rigs may write to the same file */
    snprintf(tag, sizeof(tag), "[%d]", getpid());
    hx_log_set_tag(tag);
    return 0;
}

/* Every buffer of every client is a descriptor here. */
static void raise_descriptors(void)
{
    struct rlimit r;

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    driver.maps_max = hx_buffer_share(r.rlim_cur, driver.profile.sessions);
}

static int start_all(const struct options *o, const char *profile_path, char *why, size_t why_bytes)
{
    struct stat st;
    int rc;

    /* clients read the path in `status` */
    driver.mount = o->mount[0] == '/' ? o->mount : realpath(o->mount, NULL);
    if (!driver.mount || stat(driver.mount, &st) || !S_ISDIR(st.st_mode)) {
        snprintf(why, why_bytes, "--mount %s: no such folder", o->mount);
        return -ENOENT;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_descriptors();
    hx_dsp_configure(&driver.dsp, profile_path, hx_session_ssr_all);
    rc = hx_loop_init(&driver.loop);
    driver.copy_bytes = HX_COPY_BYTES;
    driver.loop.tick = tick;
    driver.loop.tick_arg = &driver;
    driver.loop.tick_ms = 250;
    if (!rc)
        rc = watch_signals();
    if (!rc)
        rc = watch_lifeline(o->lifeline_fd);
    if (!rc)
        rc = hx_dsp_start(&driver);
    if (rc) {
        snprintf(why, why_bytes, "start: %s", strerror(-rc));
        return rc;
    }
    return start_front(o->front_end, why, why_bytes);
}

static int run_loop(void *loop)
{
    return hx_loop_run(loop);
}

int main(int argc, char **argv)
{
    struct options o;
    char why[1024] = "", profile_path[4200];
    int rc = parse(argc, argv, &o);

    if (rc)
        return rc - 1;
    ready_fd = o.ready_fd;
    if (ready_fd >= 0)
        fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
    driver.log = o.log;
    rc = o.log ? open_log(o.log) : 0;
    if (rc) {
        snprintf(why, sizeof(why), "--log %s: %s", o.log,
                 rc == -EPERM || rc == -ENXIO ? "not a file of this user" : strerror(-rc));
        return fail(1, why);
    }
    if (check_front(o.front_end, why, sizeof(why)) ||
        hx_access_parse(&driver.access, o.mode, o.owner, why, sizeof(why)) ||
        load_profile(&o, profile_path, sizeof(profile_path), why, sizeof(why)) ||
        load_filters(&o, why, sizeof(why)))
        return fail(2, why);
    rc = start_all(&o, profile_path, why, sizeof(why));
    if (!rc) {
        driver.front_end = front->name;
        if (notify_starter("ok front_end=%s profile=%s pid=%d\n", front->name, driver.profile.name, getpid()) < 0) {
            hx_log("whoever started the rig has ended, and nobody else knows of it: it ends");
            driver.loop.stop = 1;
        }
        rc = hx_watchdog_run(run_loop, &driver.loop);
        if (rc)
            hx_log("the rig ends: %s", strerror(-rc));
        front->stop(&driver);
    } else {
        rc = fail(1, why);
    }
    hx_dsp_stop(&driver);
    hx_dsp_reap_orphans(&driver.dsp);
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (driver.session[i])
            hx_session_close(driver.session[i]);
    hx_crash_stop(&driver);
    hx_filter_unload(&driver.filters);
    hx_vtcm_view_close(&driver.vtcm);
    hx_loop_close(&driver.loop);
    if (driver.remove_dir)
        rmdir(o.mount);
    if (hx_watchdog_count())
        _exit(rc ? 1 : 0); /* a thread that hangs only ends with the process */
    return rc ? 1 : 0;
}
