/* Reads and writes the file of --resume. */
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_text.h"
#include "lock.h"
#include "stop.h"

/* --- what rows depend on */

static json_t *shape_json(const struct hx_geometry *g)
{
    return json_pack("[I, I, I, I, I, I, I, i]", (json_int_t)g->n_layer, (json_int_t)g->n_head, (json_int_t)g->n_kv, (json_int_t)g->dh,
                     (json_int_t)g->width, (json_int_t)g->ffn, (json_int_t)g->vocab, g->gated);
}

static json_t *names(const char *const *name, size_t n)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, hx_json_text(name[i]));
    return j;
}

/* Positions, densities and values of what is swept are the rows' own. */
static json_t *sweep_json(const struct hx_sweep *s)
{
    const struct hx_sweep_case *c = &s->cases[0];
    const char *swept[HX_SWEEP_NAMES];
    json_t *j;

    for (size_t i = 0; i < s->n_swept; i++)
        swept[i] = s->swept[i].name;
    j = json_pack("{s:s, s:o, s:o, s:o, s:o}", "rows", hx_density_how_names[s->how], "profile",
                  hx_json_text(s->o.profile ? s->o.profile : "default"), "filters", names(s->o.filters, s->o.n_filters), "swept",
                  names(swept, s->n_swept), c->shape.name ? "geometry" : "model",
                  c->shape.name ? shape_json(&c->shape) : hx_json_text(s->o.model));
    if (j && !hx_plan_report(s->o.plan, SIZE_MAX, j))
        return j;
    json_decref(j);
    return NULL;
}

/* As text, to look up by.  The caller frees. */
static char *key_of(const struct hx_sweep *s, const struct hx_sweep_point *p)
{
    const struct hx_sweep_case *c = &s->cases[p->at];
    json_t *j = json_pack("{s:s, s:I}", "density", c->density[p->density], "pos", (json_int_t)s->pos[p->pos]);
    char *text;

    for (size_t i = 0; i < s->n_swept; i++)
        json_object_set_new(j, s->swept[i].name, hx_json_text(c->value[i]));
    text = j ? json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(j);
    return text;
}

/* --- the file */

int hx_resume_write_line(const struct hx_sweep *s, int fd, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    int rc = text ? 0 : hx_cmd_fail(s->o.cmd, "out of memory");

    if (text && dprintf(fd, "%s\n", text) < 0)
        rc = hx_cmd_fail(s->o.cmd, "--resume: cannot write: %s", strerror(errno));
    free(text);
    json_decref(j);
    return rc;
}

int hx_resume_write_head(const struct hx_sweep *s, int fd)
{
    return hx_resume_write_line(s, fd, json_pack("{s:i, s:o}", "hexrig_density", HX_RESUME_VERSION, "sweep", sweep_json(s)));
}

/* Which key of the file's sweep is another one; NULL: none is. */
static const char *difference(const json_t *file, json_t *here)
{
    const char *key;
    json_t *value;

    json_object_foreach(here, key, value)
        if (!json_equal(json_object_get(file, key), value))
            return key;
    return json_object_size(file) == json_object_size(here) ? NULL : "options";
}

int hx_resume_check_head(const struct hx_sweep *s, const char *path, const json_t *j)
{
    const json_t *version = json_object_get(j, "hexrig_density");
    json_t *here;
    const char *other;
    char *was, *is;

    if (!json_is_integer(version))
        return hx_cmd_usage(s->o.cmd, "--resume: %s:1: no \"hexrig_density\": this is no file of a sweep", path);
    if (json_integer_value(version) != HX_RESUME_VERSION)
        return hx_cmd_usage(s->o.cmd, "--resume: %s:1: version %lld; legal: %d", path, (long long)json_integer_value(version),
                            HX_RESUME_VERSION);
    here = sweep_json(s);
    other = here ? difference(json_object_get(j, "sweep"), here) : NULL;
    if (!other) {
        int rc = here ? 0 : hx_cmd_fail(s->o.cmd, "out of memory");

        json_decref(here);
        return rc;
    }
    was = json_dumps(json_object_get(json_object_get(j, "sweep"), other), JSON_ENCODE_ANY | JSON_COMPACT);
    is = json_dumps(json_object_get(here, other), JSON_ENCODE_ANY | JSON_COMPACT);
    hx_cmd_usage(s->o.cmd, "--resume: %s:1: another sweep: %s is %s, not %s", path, other, was ? was : "missing", is ? is : "missing");
    free(was);
    free(is);
    json_decref(here);
    return HX_EXIT_USAGE;
}

static int take_row(struct hx_resume *r, const struct hx_sweep *s, const struct hx_resume_reader *f, const json_t *j)
{
    json_t *key = json_object_get(j, "key"), *line = json_object_get(j, "line");
    char *text;

    if (!json_is_object(key) || !(json_is_object(json_object_get(line, "row")) || json_is_string(json_object_get(line, "failed"))))
        return hx_cmd_usage(s->o.cmd, "--resume: %s:%zu: no \"key\" and \"line\" with a \"row\"", f->path, f->lines);
    text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text || json_object_set(r->old, text, line)) {
        free(text);
        return hx_cmd_fail(s->o.cmd, "out of memory");
    }
    free(text);
    return 0;
}

static int take_line(struct hx_resume *r, const struct hx_sweep *s, struct hx_resume_reader *f, const char *line, size_t bytes)
{
    json_error_t why;
    json_t *j = json_loadb(line, bytes, 0, &why), *over = json_object_get(j, "over");
    int rc = 0;

    f->lines++;
    if (!j)
        return hx_cmd_usage(s->o.cmd, "--resume: %s:%zu: %s", f->path, f->lines, why.text);
    f->over = json_is_integer(over);
    f->status = (int)json_integer_value(over);
    if (!f->over)
        rc = f->lines == 1 ? hx_resume_check_head(s, f->path, j) : take_row(r, s, f, j);
    json_decref(j);
    return rc;
}

int hx_resume_read(struct hx_resume *r, const struct hx_sweep *s, struct hx_resume_reader *f)
{
    FILE *from = fopen(f->path, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes = 0;
    int rc = 0;

    if (!from)
        return errno == ENOENT ? 0 : hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, strerror(errno));
    if (fseek(from, f->end, SEEK_SET))
        rc = hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, strerror(errno));
    while (!rc && (bytes = getline(&line, &room, from)) > 0 && line[bytes - 1] == '\n') {
        rc = take_line(r, s, f, line, (size_t)bytes);
        f->end += bytes;
    }
    if (!rc && bytes < 0 && !feof(from)) /* also out of memory: what follows is not to be cut off */
        rc = hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, strerror(errno));
    free(line);
    fclose(from);
    return rc;
}

/* --- parts */

int hx_resume_part_path(char out[PATH_MAX], const struct hx_sweep *s, const char *path, size_t rank)
{
    const int n = snprintf(out, PATH_MAX, "%s.rank%zu", path, rank);

    return n < PATH_MAX ? 0 : hx_cmd_usage(s->o.cmd, "--resume: the name is longer than %d characters", PATH_MAX - 16);
}

int hx_resume_is_written(const struct hx_resume_reader *f)
{
    const int fd = open(f->path, O_RDWR | O_CLOEXEC);
    const int held = fd < 0 ? 0 : hx_lock_is_held(fd, 0) == 1;

    if (fd >= 0)
        close(fd);
    return held;
}

/* The parts that are there: FILE.rank and digits.  fn returns not 0 to end it, which is returned. */
static int each_part(const char *path, int (*fn)(void *arg, const char *part), void *arg)
{
    glob_t found = {.gl_pathc = 0};
    char pattern[2 * PATH_MAX];
    size_t n = 0;
    int rc = 0;

    for (; *path && n + 2 < sizeof(pattern) - 16; path++) {
        if (strchr("*?[\\", *path))
            pattern[n++] = '\\';
        pattern[n++] = *path;
    }
    snprintf(pattern + n, sizeof(pattern) - n, ".rank[0-9]*");
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; !rc && i < found.gl_pathc; i++)
            rc = fn(arg, found.gl_pathv[i]);
    globfree(&found);
    return rc;
}

/* A process that was killed may take a moment until it is gone. */
static int wait_for(const struct hx_sweep *s, const struct hx_resume_reader *f)
{
    static const struct timespec pause = {.tv_nsec = 100000000};

    for (int i = 0; i < 10 * HX_RESUME_WAIT_S && !hx_stop_signal(); i++) {
        if (!hx_resume_is_written(f))
            return 0;
        nanosleep(&pause, NULL);
    }
    return hx_stop_signal() ? 128 + hx_stop_signal()
                            : hx_cmd_fail(s->o.cmd, "--resume: %s: another process still writes this part of the sweep", f->path);
}

struct taker {
    struct hx_resume *r;
    const struct hx_sweep *s;
};

/* Rows that are not there yet; those that failed are measured again. */
static int add_rows(struct hx_resume *r, const struct hx_sweep *s, json_t *rows)
{
    const char *key;
    json_t *line;
    int rc = 0;

    json_object_foreach(rows, key, line) {
        if (rc || json_object_get(r->old, key) || !json_object_get(line, "row"))
            continue;
        json_object_del(line, "seconds");
        rc = hx_resume_write_line(s, r->fd, json_pack("{s:o, s:O}", "key", json_loads(key, 0, NULL), "line", line));
        json_object_set(r->old, key, line);
    }
    return rc;
}

static int take_part(void *arg, const char *part)
{
    const struct taker *t = arg;
    struct hx_resume_reader f = {.end = 0};
    struct hx_resume read = {.fd = -1, .old = json_object()};
    int rc;

    snprintf(f.path, sizeof(f.path), "%s", part);
    rc = wait_for(t->s, &f);
    if (!rc)
        rc = hx_resume_read(&read, t->s, &f);
    if (!rc)
        rc = add_rows(t->r, t->s, read.old);
    json_decref(read.old);
    return rc ? rc : unlink(part) && errno != ENOENT ? hx_cmd_fail(t->s->o.cmd, "--resume: %s: %s", part, strerror(errno)) : 0;
}

static int take_parts(struct hx_resume *r, const struct hx_sweep *s, const char *path)
{
    struct taker t = {r, s};
    struct hx_resume_reader meeting = {.end = 0};
    int rc = each_part(path, take_part, &t);

    if (snprintf(meeting.path, sizeof(meeting.path), "%s.ranks", path) < PATH_MAX && !rc && !hx_resume_is_written(&meeting))
        unlink(meeting.path); /* where ranks that were killed have met (meeting.h) */
    return rc;
}

static int drop(void *arg, const char *part)
{
    (void)arg;
    return unlink(part) && 0;
}

void hx_resume_drop_parts(const char *path)
{
    each_part(path, drop, NULL);
}

/* --- opening */

/* Rows of the file, and behind them room for more. */
static int open_file(struct hx_resume *r, const struct hx_sweep *s, struct hx_resume_reader *f, int lock)
{
    int rc;

    r->fd = open(f->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (r->fd < 0)
        return hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, strerror(errno));
    rc = lock ? hx_lock_take(r->fd, 0) : 0;
    if (rc)
        return hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, rc == -EAGAIN ? "another process writes it" : strerror(-rc));
    rc = hx_resume_read(r, s, f);
    if (!rc && ftruncate(r->fd, f->end))
        rc = hx_cmd_fail(s->o.cmd, "--resume: %s: %s", f->path, strerror(errno));
    return rc || f->lines ? rc : hx_resume_write_head(s, r->fd);
}

int hx_resume_open(struct hx_resume *r, const struct hx_sweep *s, const char *path)
{
    struct hx_resume_reader f = {.end = 0};
    int rc;

    *r = (struct hx_resume){.fd = -1, .old = json_object()};
    if (!path)
        return 0;
    snprintf(f.path, sizeof(f.path), "%s", path);
    rc = open_file(r, s, &f, 0);
    return rc ? rc : take_parts(r, s, path);
}

int hx_resume_open_part(struct hx_resume *r, const struct hx_sweep *s, const char *path, size_t rank)
{
    struct hx_resume_reader f = {.end = 0};
    int rc;

    *r = (struct hx_resume){.fd = -1, .old = json_object()};
    rc = hx_resume_part_path(f.path, s, path, rank);
    return rc ? rc : open_file(r, s, &f, 1);
}

json_t *hx_resume_find(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p)
{
    char *key = key_of(s, p);
    json_t *line = key ? json_object_get(r->old, key) : NULL;

    free(key);
    return line;
}

int hx_resume_add(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p, json_t *line)
{
    char *key;
    json_t *j;

    if (r->fd < 0)
        return 0;
    key = key_of(s, p);
    j = key ? json_pack("{s:o, s:O}", "key", json_loads(key, 0, NULL), "line", line) : NULL;
    free(key);
    return hx_resume_write_line(s, r->fd, j);
}

int hx_resume_add_end(const struct hx_resume *r, const struct hx_sweep *s, int status)
{
    return hx_resume_write_line(s, r->fd, json_pack("{s:i}", "over", status));
}

void hx_resume_close(struct hx_resume *r)
{
    if (r->fd >= 0)
        close(r->fd);
    json_decref(r->old);
}
