/* A model to look at, see subject.h. */
#include "subject.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/blas.h"
#include "cli/share.h"
#include "engine/arch/arch.h"

enum { MAX_THREADS = 1024 };

int hx_subject_option(struct hx_subject *s, int key, char *arg)
{
    switch (key) {
    case 'm':
        s->path = arg;
        return 0;
    case 'o':
        s->folder = arg;
        return 0;
    case HX_OPT_JSON:
        s->json = 1;
        return 0;
    case HX_OPT_THREADS:
        return hx_opt_size(s->cmd, "threads", arg, 1, MAX_THREADS, &s->threads);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static size_t cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

/* Those that the architecture has. */
static int list_matrices(struct hx_subject *s)
{
    const size_t n = s->matrices.n_layer * HX_PER_LAYER;

    s->set.at = calloc(n + 1, sizeof(*s->set.at));
    if (!s->set.at)
        return -ENOMEM;
    for (size_t i = 0; i <= n; i++) {
        const enum hx_matrix which = i < n ? (enum hx_matrix)(i % HX_PER_LAYER) : HX_OUT;
        struct hx_linear *w = hx_matrices_at(&s->matrices, i / HX_PER_LAYER, which);

        if (!w->rows)
            continue;
        s->set.at[s->set.n].w = w;
        s->set.at[s->set.n].layer = i < n ? i / HX_PER_LAYER : 0;
        s->set.at[s->set.n++].which = which;
    }
    return 0;
}

int hx_subject_open(struct hx_subject *s)
{
    struct hx_error err = {""};
    int rc;

    if (!s->path)
        s->path = s->shipped = hx_share("hexrig-tiny-q8_0.gguf");
    rc = s->path ? hx_model_open(&s->m, s->path, hx_archs, &err) : -ENOMEM;
    if (!rc)
        rc = hx_matrices_copy(&s->matrices, s->m);
    if (!rc)
        rc = list_matrices(s);
    if (!rc)
        rc = hx_pool_open(&s->pool, s->threads ? s->threads : cpus(), &err);
    if (!rc && !hx_blas(&err))
        rc = -ELIBACC;
    return rc ? hx_cmd_fail(s->cmd, "%s", *err.text ? err.text : "out of memory") : HX_EXIT_OK;
}

void hx_subject_close(struct hx_subject *s)
{
    hx_pool_close(s->pool);
    free(s->set.at);
    hx_matrices_free(&s->matrices);
    hx_model_close(s->m);
    free(s->shipped);
}

/* --- threads */

struct each {
    hx_subject_fn *fn;
    void *arg;
    pthread_mutex_t lock; /* protects rc and *err */
    int rc;
    struct hx_error *err;
};

static void one(void *arg, size_t i, size_t n)
{
    struct each *e = arg;
    struct hx_error err = {""};
    const int rc = e->fn(e->arg, i, &err);

    (void)n;
    pthread_mutex_lock(&e->lock);
    if (rc && !e->rc) {
        e->rc = rc;
        *e->err = err;
    }
    pthread_mutex_unlock(&e->lock);
}

int hx_subject_each(const struct hx_subject *s, size_t n, hx_subject_fn *fn, void *arg, struct hx_error *err)
{
    struct each e = {fn, arg, PTHREAD_MUTEX_INITIALIZER, 0, err};

    hx_pool_run(s->pool, n, one, &e);
    return e.rc;
}

/* --- files */

FILE *hx_subject_create(const struct hx_subject *s, const char *name)
{
    char path[4096];
    FILE *f;

    if (mkdir(s->folder, 0777) && errno != EEXIST) {
        hx_cmd_fail(s->cmd, "%s: %s", s->folder, strerror(errno));
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    f = fopen(path, "we");
    if (!f)
        hx_cmd_fail(s->cmd, "%s: %s", path, strerror(errno));
    return f;
}

int hx_subject_write_json(const struct hx_subject *s, const char *name, const json_t *j)
{
    FILE *f;
    int rc;

    if (!s->folder)
        return HX_EXIT_OK;
    f = hx_subject_create(s, name);
    if (!f)
        return HX_EXIT_FAILED;
    rc = json_dumpf(j, f, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    rc |= fputc('\n', f) == EOF;
    rc |= fclose(f);
    return rc ? hx_cmd_fail(s->cmd, "%s/%s: %s", s->folder, name, strerror(errno)) : HX_EXIT_OK;
}

int hx_subject_write_plan(const struct hx_subject *s, const struct hx_rank_plan *p)
{
    struct hx_error err = {""};
    char path[4096];

    if (!s->folder)
        return HX_EXIT_OK;
    if (mkdir(s->folder, 0777) && errno != EEXIST)
        return hx_cmd_fail(s->cmd, "%s: %s", s->folder, strerror(errno));
    snprintf(path, sizeof(path), "%s/rank_plan.txt", s->folder);
    return hx_rank_plan_write(p, path, &err) ? hx_cmd_fail(s->cmd, "%s", err.text) : HX_EXIT_OK;
}
