/* Choice of the calibration, see cal_choose.h. */
#include "cal_choose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"

#define SHIPPED "hexrig-tiny.cal"

static int read_matching(struct hx_cal **out, const struct hx_model *m, const char *path,
                         struct hx_why *why)
{
    uint64_t have;
    int rc = hx_cal_read(out, path, why);

    if (rc)
        return rc;
    have = (*out)->fingerprint;
    if (have == m->fingerprint)
        return 0;
    hx_cal_free(*out);
    *out = NULL;
    return hx_why_set(why, -EINVAL, "%s: calibration of another model (fingerprint %016" PRIx64
                      ", %s has %016" PRIx64 ")", path, have, hx_gguf_name(m->file),
                      m->fingerprint);
}

/* MODEL.gguf -> MODEL.cal, malloc'ed; NULL when the name does not end so. */
static char *beside(const char *model)
{
    static const char from[] = ".gguf", to[] = ".cal";
    size_t n = strlen(model);
    char *path;

    if (n < sizeof(from) - 1 || strcmp(model + n - (sizeof(from) - 1), from))
        return NULL;
    path = strdup(model);
    if (path)
        memcpy(path + n - (sizeof(from) - 1), to, sizeof(to));
    return path;
}

static int none(const struct hx_model *m, struct hx_why *why)
{
    return hx_why_set(why, -ENOENT, "%s: no calibration for this model; use --cal FILE, or "
                      "--calib TEXT, or make a file with `hexrig block calibrate`, or --kv f32",
                      hx_gguf_name(m->file));
}

static int read_shipped(struct hx_cal **out, const struct hx_model *m, const char *share,
                        struct hx_why *why)
{
    char *path;
    int rc;

    if (asprintf(&path, "%s/" SHIPPED, share) < 0)
        return hx_why_set(why, -ENOMEM, "out of memory");
    if (access(path, F_OK)) {
        free(path);
        return none(m, why);
    }
    rc = hx_cal_read(out, path, why);
    free(path);
    if (rc || (*out)->fingerprint == m->fingerprint)
        return rc;
    hx_cal_free(*out);
    *out = NULL;
    return none(m, why);
}

int hx_cal_choose(struct hx_cal **out, const struct hx_model *m, const struct hx_engine_cfg *cfg,
                  struct hx_why *why)
{
    char *path;
    int rc;

    if (cfg->cal)
        return read_matching(out, m, cfg->cal, why);
    if (cfg->calib)
        return hx_calibrate_text(out, m, cfg->calib, why);
    path = beside(cfg->model);
    if (path && access(path, F_OK) == 0)
        rc = read_matching(out, m, path, why);
    else
        rc = cfg->share ? read_shipped(out, m, cfg->share, why) : none(m, why);
    free(path);
    return rc;
}
