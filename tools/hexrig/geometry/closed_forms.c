/* Known spaces, see closed_forms.h. */
#include "closed_forms.h"

#include <math.h>
#include <string.h>

#include "methods/geometry/curvature.h"
#include "methods/geometry/space_form.h"
#include "methods/geometry/star.h"
#include "methods/geometry/trajectory.h"
#include "trajectories.h"

enum { MOST = HX_METRIC_MOST, N = 4, STEPS = 24 };

static const double somewhere[MOST] = {.3, -.2, .1, .25, -.1, .2, .05, -.15}, upwards[MOST] = {.2, .5, -.3, .4, .1, -.2, .3, .1};
static const struct hx_space_form sphere = {1, N}, flat = {0, MOST};

/* From stereographic coordinates to the space around the sphere; v: also the velocity, to u. */
static void onto_sphere(const double *x, const double *v, double *p, double *u)
{
    double q = 1, dq = 0;

    for (size_t i = 0; i < N; i++) {
        q += x[i] * x[i];
        dq += v ? 2 * x[i] * v[i] : 0;
    }
    for (size_t i = 0; i < N; i++) {
        p[i] = 2 * x[i] / q;
        if (v)
            u[i] = 2 * v[i] / q - 2 * x[i] * dq / (q * q);
    }
    p[N] = 1 - 2 / q;
    if (v)
        u[N] = 2 * dq / (q * q);
}

static int geodesics(const struct hx_metric *m, struct hx_closed_forms *out, struct hx_error *err)
{
    double p[N + 1], u[N + 1], got[N + 1], path[(STEPS + 1) * N], speed = 0;
    struct hx_geodesic g = {.carried = 0};
    int rc;

    memcpy(g.x, somewhere, sizeof(g.x));
    memcpy(g.v, upwards, sizeof(g.v));
    onto_sphere(g.x, g.v, p, u);
    for (size_t i = 0; i <= N; i++)
        speed += u[i] * u[i];
    speed = sqrt(speed);
    rc = hx_geodesic_run(m, &g, .05, STEPS, path, &out->drift, err);
    for (size_t s = 0; s <= STEPS && !rc; s++) {
        double off = 0;

        onto_sphere(path + s * N, NULL, got, NULL);
        for (size_t i = 0; i <= N; i++)
            off += pow(got[i] - cos(speed * .05 * (double)s) * p[i] - sin(speed * .05 * (double)s) / speed * u[i], 2);
        out->great_circle = fmax(out->great_circle, sqrt(off));
    }
    return rc;
}

static int flatness(struct hx_closed_forms *out, struct hx_error *err)
{
    const struct hx_metric m = hx_space_form_metric(&flat, 1);
    const size_t n = flat.n;
    struct hx_jacobi j;
    int rc = hx_jacobi_run(&m, somewhere, upwards, .05, 16, &j, err);

    for (size_t i = 0; i < 2 * n && !rc; i++)
        for (size_t k = 0; k < 2 * n; k++)
            out->flat = fmax(out->flat, fabs(j.phi[i * 2 * n + k] - (i == k ? 1 : k == i + n ? .05 * 16 : 0)));
    return rc;
}

/* A field across the velocity turns by cos(speed * time). */
static int fields(const struct hx_metric *m, struct hx_closed_forms *out, struct hx_error *err)
{
    double v[MOST] = {.45}, speed2, a, b, sum;
    struct hx_jacobi j;
    int rc = hx_jacobi_run(m, somewhere, v, .05, 20, &j, err);

    if (!rc)
        rc = hx_metric_product(m, somewhere, v, v, &speed2, err);
    for (size_t i = 1; i < N && !rc; i++)
        out->sphere_field = fmax(out->sphere_field, fabs(j.phi[i * 2 * N + i] - cos(sqrt(speed2))));
    for (size_t i = 0; i < 2 * N && !rc; i++) {
        a = b = sum = 0;
        for (size_t k = 0; k < 2 * N; k++) {
            const double one = sin((double)k + 1), other = cos(3 * (double)k);

            a += j.phi[i * 2 * N + k] * one;
            b += j.phi[i * 2 * N + k] * other;
            sum += j.phi[i * 2 * N + k] * (2 * one + other);
        }
        out->linearity = fmax(out->linearity, fabs(sum - 2 * a - b) / fmax(fabs(sum), 1));
    }
    return rc;
}

static int corrections(const struct hx_metric *m, struct hx_closed_forms *out, struct hx_error *err)
{
    static const double direction[N] = {.5, -.5, .5, .5}, eps[] = {.05, .1, .2};
    double absolute[3] = {0};
    struct hx_trajectory t;
    int rc = hx_trajectory_make(m, somewhere, upwards, .05, 16, &t, err);

    for (size_t e = 0; e < 3 && !rc; e++)
        rc = hx_trajectory_error(m, &t, .05, 16, direction, eps[e], &out->error[e], &absolute[e], err);
    out->ratio[0] = absolute[1] / absolute[0];
    out->ratio[1] = absolute[2] / absolute[1];
    return rc;
}

/* --- regions */

enum { RAYS = 64 };

/* Between two distances from a point; on the sphere along it. */
struct shell {
    const double *from;
    double least, most;
    int on_sphere;
};

static int in_shell(const void *arg, const double *x)
{
    const struct shell *s = arg;
    double p[N + 1], q[N + 1], along = 0, square = 0, far;

    onto_sphere(x, NULL, p, NULL);
    onto_sphere(s->from, NULL, q, NULL);
    for (size_t i = 0; i <= N; i++)
        along += p[i] * q[i];
    for (size_t i = 0; i < N; i++)
        square += (x[i] - s->from[i]) * (x[i] - s->from[i]);
    far = s->on_sphere ? acos(fmax(fmin(along, 1), -1)) : sqrt(square);
    return far >= s->least && far <= s->most;
}

static int share_of_rays(const struct hx_metric *m, const struct shell *s, const double *p, double *out, struct hx_error *err)
{
    const struct hx_star_region region = {in_shell, s};
    int rc = 0;

    for (size_t i = 0; i < RAYS && !rc; i++) {
        struct hx_star_ray ray;
        double v[MOST];

        hx_direction(i, N, v);
        rc = hx_star_follow(m, &region, p, v, .05, 130, &ray, err);
        *out += (ray.verdict == HX_STAR_LEFT) / (double)RAYS;
    }
    return rc;
}

static int regions(struct hx_closed_forms *out, struct hx_error *err)
{
    static const double zero[MOST] = {0}, aside[MOST] = {1.2};
    static const struct hx_space_form plane = {0, N};
    const struct hx_metric round = hx_space_form_metric(&sphere, 1), even = hx_space_form_metric(&plane, 1);
    const struct {
        const struct hx_metric *m;
        struct shell shell;
        const double *p;
        double *to;
    } all[] = {
        {&even, {zero, 0, 1, 0}, zero, &out->star.ball},
        {&even, {zero, 1, 3, 0}, aside, &out->star.ring},
        {&round, {somewhere, 0, 3, 1}, somewhere, &out->star.cap},
        {&round, {somewhere, 0, 3.3, 1}, somewhere, &out->star.beyond},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !rc; i++)
        rc = share_of_rays(all[i].m, &all[i].shell, all[i].p, all[i].to, err);
    return rc;
}

/* --- heat kernels, as sums over eigenfunctions */

static const double pi = 3.14159265358979323846;

static double heat_on_circle(double d, double t)
{
    double sum = 1 / (2 * pi);

    for (int k = 1; exp(-k * k * t) > 1e-18; k++)
        sum += exp(-k * k * t) * cos(k * d) / pi;
    return sum;
}

/* Legendre's polynomials of cos d by their recursion. */
static double heat_on_sphere(double d, double t)
{
    double sum = 1 / (4 * pi), last = 1, p = cos(d);

    for (int l = 1; exp(-l * (l + 1) * t) > 1e-18; l++) {
        const double next = ((2 * l + 1) * cos(d) * p - l * last) / (l + 1);

        sum += (2 * l + 1) / (4 * pi) * exp(-l * (l + 1) * t) * p;
        last = p;
        p = next;
    }
    return sum;
}

static double heat_error(double (*kernel)(double d, double t), double n, double t)
{
    static const double far[] = {.25, .5, 1};
    double most = 0;

    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        const double d2 = -4 * t * log(pow(4 * pi * t, n / 2) * kernel(far[i], t));

        most = fmax(most, fabs(d2 / (far[i] * far[i]) - 1));
    }
    return most;
}

static void heat(struct hx_closed_forms *out)
{
    out->heat.circle = heat_error(heat_on_circle, 1, .02);
    out->heat.sphere[0] = heat_error(heat_on_sphere, 2, .02);
    out->heat.sphere[1] = heat_error(heat_on_sphere, 2, .01);
}

int hx_closed_forms(struct hx_closed_forms *out, struct hx_error *err)
{
    const struct hx_metric m = hx_space_form_metric(&sphere, 1);
    double section;
    int rc;

    *out = (struct hx_closed_forms){0};
    heat(out);
    rc = geodesics(&m, out, err);
    if (!rc)
        rc = hx_curved_section(&m, somewhere, upwards, somewhere, &section, err);
    if (!rc)
        out->curvature = fabs(section - 1);
    if (!rc)
        rc = flatness(out, err);
    if (!rc)
        rc = fields(&m, out, err);
    if (!rc)
        rc = corrections(&m, out, err);
    return rc ? rc : regions(out, err);
}
