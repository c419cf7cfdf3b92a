/* Goes through the cases of a sweep. */
#include "measure.h"

#include <stdio.h>
#include <string.h>

#include "stop.h"

/* *lost: negative errno when they could not be read. */
static int take_lines(const struct hx_measure *m, struct hx_density_work *w, size_t *left, int *lost)
{
    json_t *line;
    int rc = 0;

    *lost = 0;
    while (!rc && !hx_stop_signal()) {
        *lost = hx_density_work_next(w, &line);
        if (!line)
            break;
        rc = m->take(m->arg, (size_t)json_integer_value(json_object_get(line, "point")), line);
        json_decref(line);
        *left -= *left > 0;
    }
    return rc;
}

static int run_case(const struct hx_measure *m, size_t at, size_t left)
{
    struct hx_density_work w;
    int rc = hx_density_work_begin(&w, m->s, at, m->wanted, m->claims), ended, lost;

    if (rc)
        return hx_cmd_fail(m->s->o.cmd, "cannot start a process: %s", strerror(-rc));
    hx_stop_with(w.pid);
    rc = take_lines(m, &w, &left, &lost);
    hx_stop_with(0);
    ended = hx_density_work_end(&w, rc || lost || hx_stop_signal());
    if (rc || hx_stop_signal())
        return rc;
    if (lost && (ended <= 0 || ended == HX_DENSITY_WORK_LOST)) /* else it has failed, too, and has said why */
        return hx_cmd_fail(m->s->o.cmd, "cannot read what was measured: %s", strerror(-lost));
    if (ended < 0)
        return hx_cmd_fail(m->s->o.cmd, "the process that measures was ended: %s", strsignal(-ended));
    if (ended == HX_DENSITY_WORK_LOST) /* of a stdout that takes nothing either, main tells */
        return fflush(stdout) ? HX_EXIT_FAILED : hx_cmd_fail(m->s->o.cmd, "a row that was measured could not be handed on");
    if (!ended && left && !m->claims)
        return hx_cmd_fail(m->s->o.cmd, "the process that measures has ended too early");
    return ended;
}

static size_t wanted_of(const struct hx_measure *m, size_t at)
{
    size_t n = 0;

    for (size_t i = 0; i < hx_sweep_points(m->s); i++)
        n += m->wanted[i] && hx_sweep_point(m->s, i).at == at;
    return n;
}

int hx_measure(const struct hx_measure *m)
{
    int rc = 0;

    for (size_t at = 0; !rc && !hx_stop_signal() && at < m->s->n_cases; at++) {
        const size_t n = wanted_of(m, at);

        if (n)
            rc = run_case(m, at, n);
    }
    return rc;
}
