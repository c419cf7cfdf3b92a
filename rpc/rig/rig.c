/* The rig of this process: found or started on the first use, kept until hx_rig_disconnect(). */
#include "hx_export.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_rig_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all of `rig` */
static struct {
    struct hx_rig_cfg cfg; /* strings are ours */
    int connected;
    pid_t owner;              /* process that started `proc` */
    struct hx_rig_proc proc;  /* pidfd -1: somebody else's rig */
    char dir[HX_PATH_BYTES];  /* its folder, cleaned up after it */
    int remove_dir;
    char node[HX_PATH_BYTES]; /* .../fastrpc-cdsp */
    char front_end[HX_NAME_BYTES];
    char profile[HX_NAME_BYTES];
} rig = {.proc = {.pidfd = -1, .lifeline = -1}};

static void cfg_free(struct hx_rig_cfg *c)
{
    free((char *)c->mount);
    free((char *)c->front_end);
    free((char *)c->profile);
    free((char *)c->mode);
    free((char *)c->owner);
    for (size_t i = 0; i < c->n_filters; i++)
        free((char *)c->filters[i]);
    free((void *)c->filters);
    memset(c, 0, sizeof(*c));
}

static int dup_text(const char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? -ENOMEM : 0;
}

static int cfg_copy(struct hx_rig_cfg *to, const struct hx_rig_cfg *from)
{
    char **filters = calloc(from->n_filters + 1, sizeof(*filters));
    int rc = filters ? 0 : -ENOMEM;

    memset(to, 0, sizeof(*to));
    to->force_private = from->force_private;
    to->strict_pd = from->strict_pd;
    to->filters = (const char *const *)filters;
    if (rc == 0)
        rc = dup_text(&to->mount, from->mount);
    if (rc == 0)
        rc = dup_text(&to->front_end, from->front_end);
    if (rc == 0)
        rc = dup_text(&to->profile, from->profile);
    if (rc == 0)
        rc = dup_text(&to->mode, from->mode);
    if (rc == 0)
        rc = dup_text(&to->owner, from->owner);
    for (size_t i = 0; rc == 0 && i < from->n_filters; i++) {
        rc = dup_text((const char **)&filters[i], from->filters[i]);
        if (rc == 0)
            to->n_filters++;
    }
    if (rc)
        cfg_free(to);
    return rc;
}

int hx_rig_configure(const struct hx_rig_cfg *cfg)
{
    struct hx_rig_cfg copy;
    int rc = 0;

    pthread_mutex_lock(&lock);
    if (rig.connected)
        rc = -EBUSY;
    else
        rc = cfg_copy(&copy, cfg);
    if (rc == 0) {
        cfg_free(&rig.cfg);
        rig.cfg = copy;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Why a running rig is not the one that was asked for, in text; 0 when it is. */
static int mismatch(const struct hx_rig_cfg *c, const char *front_end, const char *profile,
                    char *text, size_t bytes)
{
    *text = '\0';
    if (c->n_filters)
        snprintf(text, bytes, "filter %s, and a running rig keeps its own", c->filters[0]);
    else if (c->front_end && strcmp(c->front_end, "auto") && strcmp(c->front_end, front_end))
        snprintf(text, bytes, "front_end=%s", c->front_end);
    else if (c->profile && strcmp(c->profile, profile) != 0)
        snprintf(text, bytes, "profile=%s", c->profile);
    return *text != '\0';
}

static void adopt(const char *node, const char *front_end, const char *profile)
{
    snprintf(rig.node, sizeof(rig.node), "%s", node);
    snprintf(rig.front_end, sizeof(rig.front_end), "%s", front_end);
    snprintf(rig.profile, sizeof(rig.profile), "%s", profile);
    rig.connected = 1;
}

/* Tries a node that may be there.  Returns 0 (adopted) or negative errno: -ENOENT nothing there, -EEXIST not what was
 * asked for, else it does not answer. */
static int try_node(const char *node, char *why, size_t why_bytes)
{
    const char *kind;
    char *status = NULL, profile[HX_NAME_BYTES], bad[HX_NAME_BYTES];
    int rc = hx_rig_ask_settled(node, "status", &kind, &status);

    if (!kind && rc == 0)
        rc = hx_rig_wait_node(node, &kind);
    if (!kind) {
        free(status);
        return hx_rig_why(rc, why, why_bytes, "%s: %s", node, strerror(-rc));
    }
    /* a device node of the kernel has no text beside it */
    if (rc && strcmp(kind, "cuse") != 0)
        return hx_rig_why(rc == -ENOENT ? -EIO : rc, why, why_bytes, "%s: status: %s", node,
                          strerror(-rc));
    hx_rig_value(status, "profile", profile, sizeof(profile));
    free(status);
    if (mismatch(&rig.cfg, kind, profile, bad, sizeof(bad)))
        return hx_rig_why(-EEXIST, why, why_bytes,
                          "%s: front_end=%s profile=%s: not what was asked for: %s", node, kind,
                          profile, bad);
    adopt(node, kind, profile);
    return 0;
}

static int try_default_mount(char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES], node[HX_PATH_BYTES];
    int rc;

    hx_rig_default_mount(dir, sizeof(dir));
    rc = hx_rig_check_owner(dir, why, why_bytes);
    if (rc)
        return rc;
    rc = hx_rig_join(node, sizeof(node), dir, HX_NODE);
    return rc ? hx_rig_why(rc, why, why_bytes, "%s: %s", dir, strerror(-rc)) : try_node(node, why, why_bytes);
}

/* 1: another place is worth a look; why not this one is said where that is news.  What memory is short here is short for a private
 * rig, too. */
static int goes_on(int rc, const char *reason)
{
    if (rc == 0 || rc == -ENOMEM)
        return 0;
    if (rc != -ENOENT && rc != -ENOTDIR && rc != -EEXIST)
        fprintf(stderr, "hexrig: %s; going on without that rig\n", reason);
    return 1;
}

/* A rig that runs already.  *found: the search is over, with the result that is returned. */
static int find_running(int *found, char *why, size_t why_bytes)
{
    const char *env = getenv("HEXRIG_DEVICE");
    int rc;

    *found = 1;
    if (env && *env)
        return try_node(env, why, why_bytes); /* the user named it: no other will do */
    rc = try_default_mount(why, why_bytes);
    if (goes_on(rc, why))
        rc = try_node("/dev/" HX_NODE, why, why_bytes);
    *found = !goes_on(rc, why);
    return *found ? rc : -ENOENT;
}

/* The folder for a private rig.  *claim: to be closed once the rig serves; -1: none.  *dir_lock: of hx_rig_lock(). */
static int private_dir(char *dir, size_t bytes, int *created, int *claim, int *dir_lock, char *why,
                       size_t why_bytes)
{
    char base[HX_PATH_BYTES];
    int rc;

    *claim = -1;
    if (rig.cfg.mount) {
        rc = hx_rig_mount_dir(rig.cfg.mount, dir, bytes, why, why_bytes);
        if (rc == 0)
            rc = hx_rig_lock(dir, dir_lock, why, why_bytes);
        if (rc == 0)
            *claim = rc = hx_rig_claim(dir, created, why, why_bytes);
        return rc < 0 ? rc : 0;
    }
    hx_rig_runtime_dir(base, sizeof(base));
    rc = hx_rig_join(dir, bytes, base, "hexrig-XXXXXX");
    if (rc == 0 && !mkdtemp(dir))
        rc = -errno;
    *created = 1;
    return rc ? hx_rig_why(rc, why, why_bytes, "%s: %s", dir, strerror(-rc)) : 0;
}

static int start_private(char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32], node[HX_PATH_BYTES];
    struct hx_spawn_opts o = {.dir = dir, .lifeline = 1, .log_fd = -1};
    int claim, dir_lock = -1, rc = private_dir(dir, sizeof(dir), &o.remove_dir, &claim, &dir_lock, why, why_bytes);

    if (rc == 0)
        rc = hx_rig_spawn(&rig.cfg, &o, &rig.proc, why, why_bytes);
    else
        o.remove_dir = 0;
    if (claim >= 0)
        close(claim);
    hx_rig_unlock(dir, dir_lock);
    if (rc) {
        if (o.remove_dir)
            rmdir(dir); /* unless the rig has done it */
        return rc;
    }
    rig.owner = getpid();
    rig.remove_dir = o.remove_dir;
    snprintf(rig.dir, sizeof(rig.dir), "%s", dir);
    snprintf(node, sizeof(node), "%s/" HX_NODE, dir);
    adopt(node, rig.proc.front_end, rig.proc.profile);
    return 0;
}

static _Atomic int program_reports;

int hx_rig_program_reports(void)
{
    return program_reports;
}

static int connect_rig(char *why, size_t why_bytes)
{
    int rc = -ENOENT, found = 0;

    pthread_mutex_lock(&lock);
    if (rig.connected) {
        rc = 0;
    } else {
        if (!rig.cfg.force_private)
            rc = find_running(&found, why, why_bytes);
        if (!found)
            rc = start_private(why, why_bytes);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_rig_connect(char *why, size_t why_bytes)
{
    program_reports = 1;
    return connect_rig(why, why_bytes);
}

int hx_rig_connected_node(char *node, size_t bytes)
{
    int rc;

    pthread_mutex_lock(&lock);
    rc = rig.connected ? 0 : -ENOTCONN;
    if (rc == 0)
        snprintf(node, bytes, "%s", rig.node);
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_rig_node(char *node, size_t bytes)
{
    char why[HX_PATH_BYTES + 128];
    int rc = connect_rig(why, sizeof(why));

    if (rc) {
        /* the caller only sees an AEE code: this is the one place where the reason is known */
        fprintf(stderr, "libcdsprpc: %s\n", why);
        return rc;
    }
    return hx_rig_connected_node(node, bytes);
}

/* The strings stay where they are until hx_rig_disconnect(), so that no lock is needed to read them. */
const char *hx_rig_front_end(void)
{
    return rig.connected ? rig.front_end : NULL;
}

const char *hx_rig_profile(void)
{
    return rig.connected ? rig.profile : NULL;
}

const char *hx_rig_device(void)
{
    return rig.connected ? rig.node : NULL;
}

/* Under lock: waits for the private rig, and cleans up after one that was killed. */
static void end_private(void)
{
    struct stat st;

    if (hx_rig_wait_end(rig.proc.pidfd, HX_RIG_END_MS)) {
        fprintf(stderr, "hexrig: private rig %d did not end within %d s\n", (int)rig.proc.pid,
                HX_RIG_END_MS / 1000);
        return;
    }
    if (lstat(rig.dir, &st) && errno == ENOENT)
        return;
    hx_rig_clean_dead(rig.dir);
    if (rig.remove_dir)
        rmdir(rig.dir);
}

void hx_rig_leave(void)
{
    pthread_mutex_lock(&lock);
    rig.connected = 0;
    if (rig.proc.lifeline >= 0)
        close(rig.proc.lifeline);
    rig.proc.lifeline = -1;
    if (rig.proc.pidfd >= 0) {
        if (rig.owner == getpid())
            end_private();
        close(rig.proc.pidfd);
    }
    rig.proc.pidfd = -1;
    pthread_mutex_unlock(&lock);
}

void hx_rig_free_cfg(void)
{
    cfg_free(&rig.cfg);
}

/* A forked child must not keep its parent's rig alive. */
static void forked(void)
{
    if (rig.proc.lifeline >= 0)
        close(rig.proc.lifeline);
    rig.proc.lifeline = -1;
}

__attribute__((constructor)) static void at_load(void)
{
    pthread_atfork(NULL, NULL, forked);
}
