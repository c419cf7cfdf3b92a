/* Measures a sweep of ranks: its costs by `hexrig density`, its perplexities by the engine. */
#include "rank_sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/share.h"
#include "density/measure.h"
#include "density/stop.h"
#include "engine/engine.h"
#include "generate/ppl.h"
#include "text/text.h"

#define POSITION "6" /* the tokens before it have brought what stays */

/* --- profiles with so much VTCM, as files */

enum { FOLDER_BYTES = 1024, PATH_BYTES = FOLDER_BYTES + 32 };

struct profiles {
    char folder[FOLDER_BYTES];
    size_t n;
};

static void profile_path(const struct profiles *f, size_t i, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%zu.conf", f->folder, i);
}

static int write_profile(const struct profiles *f, size_t i, const char *base, size_t kib)
{
    char path[PATH_BYTES];
    FILE *out;
    int rc;

    profile_path(f, i, path);
    out = fopen(path, "we");
    if (!out)
        return -errno;
    rc = fprintf(out, "%s\nvtcm_kib = %zu\n", base, kib) < 0;
    rc |= fclose(out);
    return rc ? -EIO : 0;
}

static void remove_profiles(const struct profiles *f)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < f->n; i++) {
        profile_path(f, i, path);
        unlink(path);
    }
    rmdir(f->folder);
}

/* Text of a profile by its name or path. */
static int read_base(const struct hx_rank_sweep *p, char **text)
{
    char name[128], *path;
    struct hx_error err = {""};
    size_t n;
    int rc;

    snprintf(name, sizeof(name), "profiles/%.100s.conf", p->profile);
    path = strchr(p->profile, '/') ? strdup(p->profile) : hx_share(name);
    rc = path ? hx_text_read(path, text, &n, &err) : hx_error_set(&err, -ENOMEM, "out of memory");
    free(path);
    return rc ? hx_cmd_usage(p->s.cmd, "--profile: %s", err.text) : 0;
}

static int make_profiles(const struct hx_rank_sweep *p, struct profiles *f)
{
    const char *tmp = getenv("TMPDIR");
    char *base = NULL;
    int rc = read_base(p, &base), failed;

    if (rc)
        return rc;
    failed = snprintf(f->folder, sizeof(f->folder), "%s/hexrig-XXXXXX", tmp && *tmp ? tmp : "/tmp") < FOLDER_BYTES ? 0 : -ENAMETOOLONG;
    if (!failed && !mkdtemp(f->folder))
        failed = -errno;
    for (f->n = 0; f->n < p->n_kib && !failed; f->n++)
        failed = write_profile(f, f->n, base, p->kib[f->n]);
    free(base);
    return failed ? hx_cmd_fail(p->s.cmd, "%s: %s", f->folder, strerror(-failed)) : 0;
}

/* --- costs */

/* One sweep of density: of whole matrices, or of all ranks. */
struct costing {
    struct hx_rank_sweep *p;
    struct hx_sweep s;
    size_t n_rank, first; /* ranks that it has, and where they go */
};

/* Cases are profiles times ranks, the latter fastest. */
static int take(void *arg, size_t point, json_t *line)
{
    const struct costing *c = arg;
    const json_t *row = json_object_get(line, "row"), *bytes = json_object_get(row, "dsp_bytes_per_token");
    const json_t *resident = json_object_get(row, "dsp_resident_bytes_per_token"), *us = json_object_get(row, "model_us_per_token");

    if (!row)
        return hx_cmd_fail(c->p->s.cmd, "%s", json_string_value(json_object_get(line, "failed")));
    c->p->cost[point / c->n_rank][c->first + point % c->n_rank] = (struct hx_rank_cost){
        .exec_us = json_number_value(json_object_get(us, "exec")),
        .hit = json_number_value(json_object_get(resident, "hit")),
        .miss = json_number_value(json_object_get(resident, "miss")),
        .ddr = json_number_value(json_object_get(bytes, "ddr")),
        .dma = json_number_value(json_object_get(bytes, "dma")),
    };
    return 0;
}

static int set_all(struct costing *c, const char *const (*settings)[2])
{
    struct hx_error err = {""};

    for (; (*settings)[0]; settings++)
        if (hx_plan_set(c->s.o.plan, (*settings)[0], (*settings)[1], &err))
            return hx_cmd_fail(c->p->s.cmd, "%s", err.text);
    return 0;
}

static int sweep_profiles(struct costing *c, const struct profiles *f)
{
    char spec[HX_RANK_SWEEP_MOST * PATH_BYTES + 16] = "profile=", path[PATH_BYTES];

    for (size_t i = 0; i < f->n; i++) {
        profile_path(f, i, path);
        snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "%s%s", i ? "," : "", path);
    }
    return hx_sweep_add(&c->s, spec);
}

static int sweep_ranks(struct costing *c)
{
    char spec[HX_RANK_SWEEP_MOST * 8 + 32] = "axex-compress-rank=";

    for (size_t i = 0; i < c->n_rank; i++)
        snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "%s%zu", i ? "," : "", c->p->rank[i]);
    return hx_sweep_add(&c->s, spec);
}

/* What the command ends with after a signal; 0: none came. */
static int stopped(void)
{
    return hx_stop_signal() ? 128 + hx_stop_signal() : 0;
}

static int measure(struct costing *c)
{
    const size_t n = hx_sweep_points(&c->s);
    char *wanted = malloc(n);
    const struct hx_measure m = {.s = &c->s, .wanted = wanted, .take = take, .arg = c};
    int rc;

    if (!wanted)
        return hx_cmd_fail(c->p->s.cmd, "out of memory");
    memset(wanted, 1, n);
    rc = hx_measure(&m);
    free(wanted);
    return rc ? rc : stopped();
}

/* thin 0: of whole matrices. */
static int cost_of(struct hx_rank_sweep *p, const struct profiles *f, int thin)
{
    static const char *const common[][2] = {{"kv", "f32"}, {"offload", "linear=wq,wk,wv"}, {"placement", "resident"}, {NULL, NULL}};
    static const char *const of_thin[][2] = {{"axex-compress", NULL}, {"wproj-format", "q8_0"}, {"wproj-cache", "none"}, {NULL, NULL}};
    struct costing c = {.p = p, .s = {.positions = POSITION}, .n_rank = thin ? p->n_rank : 1, .first = (size_t)thin};
    int rc = hx_engine_opts_init(&c.s.o, p->s.cmd, 0);

    c.s.o.model = p->s.path;
    if (!rc)
        rc = set_all(&c, common);
    if (!rc && thin)
        rc = set_all(&c, of_thin);
    if (!rc)
        rc = sweep_profiles(&c, f);
    if (!rc && thin)
        rc = sweep_ranks(&c);
    if (!rc)
        rc = hx_sweep_check(&c.s);
    if (!rc)
        rc = measure(&c);
    hx_sweep_free(&c.s);
    return rc;
}

int hx_rank_sweep_cost(struct hx_rank_sweep *p)
{
    struct profiles f = {.n = 0};
    int rc;

    hx_stop_catch(); /* so that the files go */
    rc = make_profiles(p, &f);
    if (!rc)
        rc = cost_of(p, &f, 0);
    if (!rc)
        rc = cost_of(p, &f, 1);
    if (*f.folder)
        remove_profiles(&f);
    hx_stop_release();
    return rc ? rc : stopped();
}

double hx_rank_sweep_bytes(const struct hx_rank_sweep *p)
{
    const struct hx_rank_cost *c = &p->cost[0][1];

    return (c->hit + c->miss) / (double)p->rank[0];
}

size_t hx_rank_sweep_fit(const struct hx_rank_sweep *p, size_t kib)
{
    return (size_t)((double)(kib << 10) / hx_rank_sweep_bytes(p)) / HX_RANK_SWEEP_STEP * HX_RANK_SWEEP_STEP;
}

/* --- perplexities */

static int ppl_of(const struct hx_rank_sweep *p, size_t rank, double *out, struct hx_error *err)
{
    char setting[64];
    const char *const thin[] = {"kv=f32", "axex-compress", setting, "wproj-format=q8_0", "wproj-cache=none", NULL};
    const char *const whole[] = {"kv=f32", NULL};
    const struct hx_engine_cfg cfg = {.settings = rank ? thin : whole, .model = p->s.path, .threads = p->s.threads, .n_ctx = p->ctx + 1,
                                      .max_batch = p->ctx};
    const struct hx_ppl_cfg windows = {.ctx = p->ctx, .chunks = p->chunks, .bos = HX_NO_TOKEN};
    struct hx_engine *e = NULL;
    struct hx_ppl got = {0};
    uint32_t *ids = NULL;
    size_t n;
    int rc;

    snprintf(setting, sizeof(setting), "axex-compress-rank=%zu", rank);
    rc = hx_engine_open(&e, &cfg, err);
    if (!rc)
        rc = hx_text_encode(e->model->tok, p->text, &ids, &n, err);
    if (!rc)
        rc = hx_ppl_windows(e->model, e->forward, ids, n, &windows, &got, err);
    *out = got.ppl;
    free(ids);
    hx_engine_close(e);
    return rc;
}

int hx_rank_sweep_ppl(struct hx_rank_sweep *p)
{
    struct hx_error err = {""};

    for (size_t i = 0; i <= p->n_rank; i++)
        if (ppl_of(p, i ? p->rank[i - 1] : 0, &p->ppl[i], &err))
            return hx_cmd_fail(p->s.cmd, "%s", err.text);
    return HX_EXIT_OK;
}
