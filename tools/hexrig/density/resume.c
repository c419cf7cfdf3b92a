/* Reads and writes the file of --resume. */
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_text.h"

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

static int write_line(const struct hx_sweep *s, int fd, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    int rc = text ? 0 : hx_cmd_fail(s->o.cmd, "out of memory");

    if (text && dprintf(fd, "%s\n", text) < 0)
        rc = hx_cmd_fail(s->o.cmd, "--resume: cannot write: %s", strerror(errno));
    free(text);
    json_decref(j);
    return rc;
}

static int write_head(const struct hx_sweep *s, int fd)
{
    return write_line(s, fd, json_pack("{s:i, s:o}", "hexrig_density", HX_RESUME_VERSION, "sweep", sweep_json(s)));
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

static int check_head(const struct hx_sweep *s, const char *path, const json_t *j)
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

static int take_row(struct hx_resume *r, const struct hx_sweep *s, const char *path, size_t n, const json_t *j)
{
    json_t *key = json_object_get(j, "key"), *line = json_object_get(j, "line");
    char *text;

    if (!json_is_object(key) || !json_is_object(json_object_get(line, "row")))
        return hx_cmd_usage(s->o.cmd, "--resume: %s:%zu: no \"key\" and \"line\" with a \"row\"", path, n);
    text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text || json_object_set(r->old, text, line)) {
        free(text);
        return hx_cmd_fail(s->o.cmd, "out of memory");
    }
    free(text);
    return 0;
}

static int take_line(struct hx_resume *r, const struct hx_sweep *s, const char *path, size_t n, const char *line, size_t bytes)
{
    json_error_t why;
    json_t *j = json_loadb(line, bytes, 0, &why);
    int rc;

    if (!j)
        return hx_cmd_usage(s->o.cmd, "--resume: %s:%zu: %s", path, n, why.text);
    rc = n == 1 ? check_head(s, path, j) : take_row(r, s, path, n, j);
    json_decref(j);
    return rc;
}

/* All whole lines; *end: behind the last one.  Lines so far: *n. */
static int read_lines(struct hx_resume *r, const struct hx_sweep *s, const char *path, FILE *f, long *end, size_t *n)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes = 0;
    int rc = 0;

    while (!rc && (bytes = getline(&line, &room, f)) > 0 && line[bytes - 1] == '\n') {
        rc = take_line(r, s, path, ++*n, line, (size_t)bytes);
        *end = ftell(f);
    }
    if (!rc && bytes < 0 && !feof(f)) /* also out of memory: what follows is not to be cut off */
        rc = hx_cmd_fail(s->o.cmd, "--resume: %s: %s", path, strerror(errno));
    free(line);
    return rc;
}

int hx_resume_open(struct hx_resume *r, const struct hx_sweep *s, const char *path)
{
    FILE *f;
    long end = 0;
    size_t n = 0;
    int rc;

    *r = (struct hx_resume){.fd = -1, .old = json_object()};
    if (!path)
        return 0;
    r->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    f = r->fd < 0 ? NULL : fopen(path, "re");
    if (!f)
        return hx_cmd_fail(s->o.cmd, "--resume: %s: %s", path, strerror(errno));
    rc = read_lines(r, s, path, f, &end, &n);
    fclose(f);
    if (!rc && ftruncate(r->fd, end))
        rc = hx_cmd_fail(s->o.cmd, "--resume: %s: %s", path, strerror(errno));
    return rc || n ? rc : write_head(s, r->fd);
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
    return write_line(s, r->fd, j);
}

void hx_resume_close(struct hx_resume *r)
{
    if (r->fd >= 0)
        close(r->fd);
    json_decref(r->old);
}
