/* hexrig geometry cloud: states of a text in few coordinates, and how many dimensions they have. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cmd_geometry.h"
#include "methods/geometry/dimension.h"
#include "space.h"
#include "subspace/activations.h"

enum { MOST_TWO_NN = 1024 };

static const struct argp_option options[] = {HX_SPACE_OPTIONS, {0}};

static const char doc[] =
    "Coordinates of a model's last states (before the last norm) over a text: their first principal components, each over its "
    "standard deviation.  Prints how much of the variance these hold, and two estimates of how many dimensions the cloud has, "
    "beside noise: the fewest components that hold 95 % (pca95), and TwoNN of up to 1024 states.  With -o also CASE_cloud.json, "
    "and CASE_cloud.bin: float32 [points][axes], little endian; CASE is the model's name."
    "\vExample: hexrig geometry cloud --points 4096 -o cloud";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(hx_space_option(state->input, key, arg));
}

/* pca95 and TwoNN of rows [n][width], which are doubles. */
static int dimensions(const double *x, size_t n, size_t width, json_t **out, struct hx_error *err)
{
    const size_t m = n < width ? n : width, few = n < MOST_TWO_NN ? n : MOST_TWO_NN;
    double *shares = malloc(m * sizeof(*shares));
    int rc = shares ? hx_principal(x, n, width, shares, NULL, NULL, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        *out = json_pack("{s:I, s:f}", "pca95", (json_int_t)hx_fewest(shares, m, .95), "two_nn", hx_two_nn(x, few, width, err));
    free(shares);
    return rc;
}

static int add_dimensions(const struct hx_space *p, json_t *j, struct hx_error *err)
{
    const size_t width = p->s.m->width;
    const uint64_t key = hx_space_key(p, HX_SPACE_KEY_NOISE);
    double *x = malloc(p->points * width * sizeof(*x));
    json_t *own = NULL, *noise = NULL;
    int rc = x ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->points && !rc; i++)
        for (size_t k = 0; k < width; k++)
            x[i * width + k] = p->fits.rows[2 * i * width + k];
    if (!rc)
        rc = dimensions(x, p->points, width, &own, err);
    for (size_t i = 0; i < p->points * width && !rc; i++)
        x[i] = hx_normal_at(key, i);
    if (!rc)
        rc = dimensions(x, p->points, width, &noise, err);
    json_object_set_new(j, "states", own);
    json_object_set_new(j, "noise", noise);
    free(x);
    return rc;
}

static int write_points(const struct hx_space *p)
{
    char name[200];
    FILE *f;
    int rc = 0;

    if (!p->s.folder)
        return HX_EXIT_OK;
    snprintf(name, sizeof(name), "%s_cloud.bin", p->name);
    f = hx_subject_create(&p->s, name);
    if (!f)
        return HX_EXIT_FAILED;
    for (size_t i = 0; i < p->points * p->axes; i++) {
        const float v = (float)p->cloud.x[i];

        rc |= fwrite(&v, sizeof(v), 1, f) != 1;
    }
    rc |= fclose(f);
    return rc ? hx_cmd_fail(p->s.cmd, "%s/%s: %s", p->s.folder, name, strerror(errno)) : HX_EXIT_OK;
}

static int answer(const struct hx_space *p)
{
    json_t *j = hx_space_json(p), *deviations = json_array();
    struct hx_error err = {""};
    int rc = add_dimensions(p, j, &err) ? hx_cmd_fail(p->s.cmd, "%s", err.text) : write_points(p);

    for (size_t k = 0; k < p->axes; k++)
        json_array_append_new(deviations, json_real(p->w.deviation[k]));
    json_object_set_new(j, "deviations", deviations);
    if (!rc)
        return hx_space_answer(p, "cloud", j);
    json_decref(j);
    return rc;
}

int hx_geometry_cmd_cloud(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct hx_space p = hx_space_of("geometry cloud", 4096);
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_space_open(&p);
    if (!rc)
        rc = answer(&p);
    hx_space_close(&p);
    return rc;
}
