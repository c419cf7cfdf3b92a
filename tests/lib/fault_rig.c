/* The rig of test_fault_matrix, see fault_rig.h. */
#include "fault_rig.h"

#include <dirent.h>
#include <limits.h>

#include "hx_rig.h"

enum { AS_BEFORE_S = 8, RESTART_S = 8 };

static int is_named(pid_t pid, const char *name)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/comm", pid), NULL);
    int is = text && strncmp(text, name, strlen(name)) == 0 && fault_state(pid) != 'Z';

    free(text);
    return is;
}

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Of all its threads.  Those called `name` but `except`; the last of them in *pid. */
static int children(pid_t parent, const char *name, pid_t except, pid_t *pid)
{
    DIR *d = opendir(hxt_path("/proc/%d/task", parent));
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        char *text = hxt_read_file(hxt_path("/proc/%d/task/%s/children", parent, e->d_name), NULL), *at = text;

        for (long c; at && (c = strtol(at, &at, 10)) > 0;)
            if (c != except && is_named((pid_t)c, name)) {
                n++;
                *pid = (pid_t)c;
            }
        free(text);
    }
    if (d)
        closedir(d);
    return n;
}

pid_t fault_child(pid_t parent, const char *name, pid_t except)
{
    pid_t pid = 0;

    return children(parent, name, except, &pid) ? pid : 0;
}

static int has_root(void *rig)
{
    struct fault_rig *r = rig;
    pid_t root = fault_child(r->driver, "hexrig-dsp", 0);

    if (!root || root == r->root)
        return 0;
    r->root = root;
    return 1;
}

static int has_polite(void *rig)
{
    return polite_start(&((struct fault_rig *)rig)->polite) == 0;
}

/* A socket has its name a moment before somebody listens behind it. */
static int start_polite(struct fault_rig *r)
{
    if (!hxt_until(has_root, r, RESTART_S) || !hxt_until(has_polite, r, RESTART_S))
        return 0;
    r->polite_pd = fault_child(r->root, "hexrig-pd", 0);
    return r->polite_pd != 0;
}

/* The driver has threads that close, so the count is what it comes down to. */
static void count_fds(struct fault_rig *r)
{
    r->driver_fds = INT_MAX;
    for (int i = 0; i < 10; i++) {
        int n = entries(hxt_path("/proc/%d/fd", r->driver));

        r->driver_fds = n < r->driver_fds ? n : r->driver_fds;
        usleep(5000);
    }
    r->root_fds = entries(hxt_path("/proc/%d/fd", r->root));
}

int fault_rig_start(struct fault_rig *r)
{
    int rc;

    *r = (struct fault_rig){0};
    fault_stage_preload(1);
    rc = own_rig_start(NULL);
    fault_stage_preload(0);
    r->driver = own_rig_child.pid;
    if (rc || !start_polite(r))
        return -1;
    r->helper = fault_child(r->driver, "fusermount3", 0);
    count_fds(r);
    return 0;
}

int fault_rig_follow_restart(struct fault_rig *r)
{
    r->root_deaths++;
    polite_stop(&r->polite);
    return start_polite(r);
}

struct look {
    const struct fault_rig *r;
    const char *wrong;
};

static int vtcm_is_free(void)
{
    char *text = NULL;
    int free_bytes = -1;

    if (hx_rig_read(own_rig_path(""), "vtcm", &text) == 0)
        sscanf(text, "total_bytes=%*d free_bytes=%d", &free_bytes);
    free(text);
    return free_bytes == 8 << 20;
}

static int sessions(void)
{
    char *text = NULL, *at;
    int n = -1;

    if (hx_rig_read(own_rig_path(""), "status", &text) == 0 && (at = strstr(text, "\nsessions=")))
        n = atoi(at + 10);
    free(text);
    return n;
}

static int is_as_before(void *look)
{
    struct look *l = look;
    pid_t pid;

    /* descriptors first: the questions after that take some, too */
    l->wrong = entries(hxt_path("/proc/%d/fd", l->r->driver)) > l->r->driver_fds ? "the driver's descriptors"
               : entries(hxt_path("/proc/%d/fd", l->r->root)) > l->r->root_fds   ? "the root PD's descriptors"
               : children(l->r->root, "hexrig-pd", 0, &pid) != 1                 ? "a PD is left"
               : sessions() != 1                                                 ? "a session is left"
               : !vtcm_is_free()                                                 ? "VTCM is held"
                                                                                 : NULL;
    return !l->wrong;
}

const char *fault_rig_as_before(const struct fault_rig *r)
{
    struct look l = {.r = r};

    hxt_until(is_as_before, &l, AS_BEFORE_S);
    return l.wrong;
}

static int is_mounted(void)
{
    char *mounts = hxt_read_file("/proc/self/mounts", NULL), dir[512];
    int is;

    snprintf(dir, sizeof(dir), " %s/rig ", hxt_tmpdir());
    is = mounts && strstr(mounts, dir);
    free(mounts);
    return is;
}

static int is_away(pid_t pid)
{
    int s = pid ? fault_state(pid) : 0;

    return s == 0 || s == 'Z';
}

static int is_gone(void *look)
{
    struct look *l = look;

    l->wrong = !is_away(l->r->root)                              ? "the root PD is left"
               : !is_away(l->r->polite_pd)                       ? "a PD is left"
               : !is_away(l->r->helper)                          ? "the mount helper is left"
               : is_mounted()                                    ? "the mount is left"
               : access(own_rig_path("fastrpc-cdsp"), F_OK) == 0 ? "a node is left"
               : entries(own_rig_path("")) > 2                   ? "a file is left" /* "." and ".." are none */
               : access(hxt_path("%s/rig.socket", hxt_tmpdir()), F_OK) == 0 ? "the sockets beside the mount are left"
                                                                 : NULL;
    return !l->wrong;
}

const char *fault_rig_left(const struct fault_rig *r)
{
    struct look l = {.r = r};

    hxt_until(is_gone, &l, AS_BEFORE_S);
    return l.wrong;
}

/* What `hexrig down` says to a rig that has been killed does not matter, only that it leaves nothing. */
static void clear(void)
{
    const char *argv[] = {HXT_BUILD "/bin/hexrig", "down", "--mount", own_rig_path(""), NULL};
    struct hxt_cmd cmd = {.argv = argv, .timeout_s = 120};
    struct hxt_result res;

    if (hxt_run(&res, &cmd) == 0)
        hxt_result_free(&res);
}

const char *fault_rig_end(struct fault_rig *r, int is_dead)
{
    const char *left;
    struct hxt_result res;

    if (!is_dead) {
        polite_stop(&r->polite);
        if (own_rig_stop(NULL))
            return "the rig's end fails";
    } else if (hxt_wait(&own_rig_child, &res) == 0) {
        hxt_result_free(&res);
        polite_stop(&r->polite);
        clear();
    }
    left = fault_rig_left(r);
    *r = (struct fault_rig){0};
    return left;
}
