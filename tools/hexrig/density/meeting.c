/* Makes and finds the file at which ranks meet. */
#include "meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "stop.h"

enum { HOST = 0, FIRST_UNIT = 1 }; /* bytes that are locked */

static int begin(struct hx_meeting *m, const struct hx_sweep *s, const char *base)
{
    *m = (struct hx_meeting){.s = s, .fd = -1};
    m->unit = calloc(hx_sweep_points(s), sizeof(*m->unit));
    m->wanted = calloc(hx_sweep_points(s) + 1, 1);
    if (!m->unit || !m->wanted)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    hx_sweep_units(s, m->unit);
    return snprintf(m->path, sizeof(m->path), "%s.ranks", base) < PATH_MAX - 8
               ? 0 : hx_cmd_usage(s->o.cmd, "--resume: the name is longer than %d characters", PATH_MAX - 16);
}

/* A file without a living rank 0 is of an earlier sweep. */
static int find(struct hx_meeting *m)
{
    const int fd = open(m->path, O_RDWR | O_CLOEXEC);

    if (fd >= 0 && hx_lock_is_held(fd, HOST) == 1) {
        m->fd = fd;
        return 1;
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

/* --- rank 0 */

static json_t *task(const struct hx_meeting *m, const struct hx_launcher *l, const char *wanted)
{
    for (size_t i = 0; i < hx_sweep_points(m->s); i++)
        m->wanted[i] = wanted[i] ? '1' : '0';
    return json_pack("{s:I, s:s}", "ranks", (json_int_t)l->ranks, "wanted", m->wanted);
}

/* Locked and complete before it has its name: whoever sees it may rely on that. */
int hx_meeting_host(struct hx_meeting *m, const struct hx_sweep *s, const char *base, const struct hx_launcher *l, const char *wanted)
{
    char made[PATH_MAX + 8];
    int rc = begin(m, s, base);

    if (rc)
        return rc;
    if (find(m))
        return hx_cmd_fail(s->o.cmd, "%s: another sweep is at work with these files; --resume FILE names others", m->path);
    hx_resume_drop_parts(base); /* nobody's: of FILE they have been taken over */
    snprintf(made, sizeof(made), "%s.new", m->path);
    m->fd = open(made, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    rc = m->fd < 0 ? -errno : hx_lock_take(m->fd, HOST);
    if (rc)
        return hx_cmd_fail(s->o.cmd, "%zu ranks cannot meet: %s: %s; --resume FILE names a folder that all of them may write to", l->ranks,
                           made, strerror(-rc));
    rc = hx_resume_write_head(s, m->fd);
    if (!rc)
        rc = hx_resume_write_line(s, m->fd, task(m, l, wanted));
    if (!rc && rename(made, m->path))
        rc = hx_cmd_fail(s->o.cmd, "%s: %s", m->path, strerror(errno));
    return rc;
}

/* --- the others */

static int wait_for_host(struct hx_meeting *m, const struct hx_launcher *l)
{
    static const struct timespec pause = {.tv_nsec = 50000000};

    for (int i = 0; i < 20 * HX_RESUME_WAIT_S; i++) {
        if (hx_stop_signal())
            return 128 + hx_stop_signal();
        if (find(m))
            return 0;
        nanosleep(&pause, NULL);
    }
    return hx_cmd_fail(m->s->o.cmd, "rank %zu of %zu has not found rank 0's %s for %d s: --resume FILE names a folder that all "
                       "ranks share", l->rank, l->ranks, m->path, HX_RESUME_WAIT_S);
}

static int take_task(struct hx_meeting *m, const struct hx_launcher *l, const json_t *task)
{
    const char *wanted = json_string_value(json_object_get(task, "wanted"));
    const json_int_t ranks = json_integer_value(json_object_get(task, "ranks"));

    if (ranks != (json_int_t)l->ranks)
        return hx_cmd_usage(m->s->o.cmd, "%s is that of another sweep at work, of %lld ranks, not %zu", m->path, (long long)ranks,
                            l->ranks);
    if (!wanted || strlen(wanted) != hx_sweep_points(m->s))
        return hx_cmd_usage(m->s->o.cmd, "%s: rank 0 measures %zu rows, rank %zu was asked for %zu", m->path, wanted ? strlen(wanted) : 0,
                            l->rank, hx_sweep_points(m->s));
    for (size_t i = 0; wanted[i]; i++)
        m->wanted[i] = wanted[i] == '1';
    return 0;
}

static int read_task(struct hx_meeting *m, const struct hx_launcher *l)
{
    FILE *f = fopen(m->path, "re");
    json_t *head = f ? json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL) : NULL, *task = head ? json_loadf(f, 0, NULL) : NULL;
    int rc = task ? hx_resume_check_head(m->s, m->path, head) : hx_cmd_fail(m->s->o.cmd, "%s: rank 0 has ended", m->path);

    if (!rc)
        rc = take_task(m, l, task);
    json_decref(head);
    json_decref(task);
    if (f)
        fclose(f);
    return rc;
}

int hx_meeting_join(struct hx_meeting *m, const struct hx_sweep *s, const char *base, const struct hx_launcher *l)
{
    int rc = begin(m, s, base);

    if (!rc)
        rc = wait_for_host(m, l);
    return rc ? rc : read_task(m, l);
}

int hx_meeting_claim(void *arg, size_t point)
{
    const struct hx_meeting *m = arg;

    return hx_lock_take(m->fd, FIRST_UNIT + (off_t)m->unit[point]) == 0;
}

void hx_meeting_close(struct hx_meeting *m)
{
    if (m->fd >= 0)
        close(m->fd);
    free(m->unit);
    free(m->wanted);
}
