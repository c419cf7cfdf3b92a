/* Figures with the interval in which about 9 in 10 measured ones will lie: what the parameters leave open after the rows, and the
 * scatter of the rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "timing_identify.h"

struct print {
    const struct hx_timing_fit *fit;
    size_t n;       /* seen so far */
    json_t *into;   /* NULL: text */
};

static const double *slopes_of(const struct print *p, size_t i)
{
    return p->fit->answer_slopes + i * p->fit->params.n_varying;
}

/* "model_us.exec" becomes a member of the object `model_us`. */
static void set_path(json_t *into, const char *path, json_t *value)
{
    const char *dot = strchr(path, '.');
    char key[256];
    json_t *inner;

    if (!dot) {
        json_object_set_new(into, path, value);
        return;
    }
    snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
    inner = json_object_get(into, key);
    if (!inner) {
        json_object_set_new(into, key, json_object());
        inner = json_object_get(into, key);
    }
    set_path(inner, dot + 1, value);
}

static void see(void *to, const char *path, double value)
{
    struct print *p = to;
    const double by = exp(HX_ESTIMATE_90 * hx_timing_sd(p->fit, slopes_of(p, p->n++)));

    if (p->into)
        set_path(p->into, path, json_pack("[f, f]", value / by, value * by));
    else
        printf("%s=%.12g [%.4g .. %.4g]\n", path, value, value / by, value * by);
}

int hx_timing_print_interval(const char *cmd, const struct hx_timing_fit *f, int json)
{
    struct print p = {.fit = f};
    json_t *all;

    if (!json) {
        hx_timing_numbers(f->answer, see, &p);
        return HX_EXIT_OK;
    }
    p.into = json_object();
    hx_timing_numbers(f->answer, see, &p);
    all = json_copy(f->answer);
    if (all) {
        json_object_set_new(p.into, "coverage", json_real(0.9));
        json_object_set_new(p.into, "scatter", json_real(f->estimate.scatter));
        json_object_set_new(all, "interval", p.into);
    } else {
        json_decref(p.into);
    }
    return hx_report_print(cmd, all, 1);
}
