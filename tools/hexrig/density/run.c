/* Prints rows as they are done. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "plot.h"
#include "stop.h"

static enum hx_rows_form form_of(const struct hx_density_run *d)
{
    return d->s.o.json ? HX_ROWS_JSON : d->csv ? HX_ROWS_CSV : HX_ROWS_TABLE;
}

static int no_memory(const struct hx_density_run *d)
{
    return hx_cmd_fail(d->s.o.cmd, "out of memory");
}

/* Positions, as a measure of work: good enough for a bar. */
static double work_of(const struct hx_density_run *d, size_t i)
{
    return 8 + (double)d->s.pos[hx_sweep_point(&d->s, i).pos];
}

/* --- rows */

static int print_row(struct hx_density_run *d, const struct hx_sweep_point *p, json_t *line)
{
    json_t *row = hx_rows_of_line(&d->s, p, line);

    if (!row)
        return no_memory(d);
    if (!d->first) {
        d->first = json_incref(line);
        hx_rows_head(&d->s, form_of(d), line);
    }
    hx_rows_print(&d->s, form_of(d), row);
    if (json_array_append_new(d->rows, row))
        return no_memory(d);
    return hx_rows_add_uncosted(json_array_get(d->uncosted, p->at), json_object_get(line, "uncosted")) ? no_memory(d) : 0;
}

/* One that could not be measured is no reason not to go on; it is told at the end. */
static int keep_failure(struct hx_density_run *d, const struct hx_sweep_point *p, const char *why)
{
    char *name = hx_rows_name(&d->s, p);
    json_t *names = json_object_get(d->failures, why);
    int rc = name ? 0 : -1;

    if (!rc && !names) {
        names = json_array();
        rc = json_object_set_new(d->failures, why, names);
    }
    if (!rc)
        rc = json_array_append_new(names, hx_json_text(name));
    free(name);
    return rc ? no_memory(d) : 0;
}

/* A line for each reason: the same one often holds for many rows. */
static void tell_failures(const struct hx_density_run *d)
{
    enum { NAMED = 4 };
    json_t *names, *name;
    const char *why;
    size_t i;

    json_object_foreach(d->failures, why, names) {
        const size_t n = json_array_size(names);

        fprintf(stderr, "hexrig %s: ", d->s.o.cmd);
        json_array_foreach(names, i, name)
            if (i < NAMED)
                fprintf(stderr, "%s%s", i ? ", " : "", json_string_value(name));
        if (n > NAMED)
            fprintf(stderr, " and %zu more", n - NAMED);
        fprintf(stderr, ": %s\n", why);
    }
}

static int print(struct hx_density_run *d, size_t i)
{
    const struct hx_sweep_point p = hx_sweep_point(&d->s, i);
    const char *why = json_string_value(json_object_get(d->line[i], "failed"));

    hx_bar_clear(&d->bar);
    return why ? keep_failure(d, &p, why) : print_row(d, &p, d->line[i]);
}

/* Up to the next point that is not there. */
static int print_ready(struct hx_density_run *d)
{
    int rc = 0;

    for (; !rc && d->printed < d->points && d->line[d->printed]; d->printed++)
        rc = print(d, d->printed);
    return rc;
}

/* All that is there, where nothing more will come. */
static int print_rest(struct hx_density_run *d)
{
    int rc = 0;

    for (; !rc && d->printed < d->points; d->printed++)
        if (d->line[d->printed])
            rc = print(d, d->printed);
    return rc;
}

/* --- points */

static int take_kept(struct hx_density_run *d)
{
    double work = 0;

    for (size_t i = 0; i < d->points; i++) {
        const struct hx_sweep_point p = hx_sweep_point(&d->s, i);

        d->line[i] = json_incref(hx_resume_find(&d->kept, &d->s, &p));
        d->there += d->line[i] != NULL;
        work += d->line[i] ? 0 : work_of(d, i);
    }
    hx_bar_begin(&d->bar, work);
    return print_ready(d);
}

int hx_run_begin(struct hx_density_run *d)
{
    int rc = hx_resume_open(&d->kept, &d->s, d->resume);

    if (rc)
        return rc;
    d->points = hx_sweep_points(&d->s);
    d->line = calloc(d->points, sizeof(json_t *));
    d->rows = json_array();
    d->uncosted = json_array();
    d->failures = json_object();
    for (size_t i = 0; i < d->s.n_cases; i++)
        json_array_append_new(d->uncosted, json_array());
    if (!d->line || !d->rows || !d->failures || json_array_size(d->uncosted) < d->s.n_cases)
        return no_memory(d);
    rc = take_kept(d);
    hx_bar_step(&d->bar, 0, d->there, d->points);
    return rc;
}

char *hx_run_wanted(const struct hx_density_run *d)
{
    char *wanted = calloc(d->points, 1);

    for (size_t i = 0; wanted && i < d->points; i++)
        wanted[i] = !d->line[i];
    return wanted;
}

int hx_run_take(struct hx_density_run *d, size_t i, json_t *line)
{
    const struct hx_sweep_point p = hx_sweep_point(&d->s, i);
    int rc = 0;

    json_object_del(line, "point"); /* of this process alone, and of this run */
    json_object_del(line, "seconds");
    if (!json_object_get(line, "failed"))
        rc = hx_resume_add(&d->kept, &d->s, &p, line);
    d->line[i] = json_incref(line);
    d->there++;
    if (!rc)
        rc = print_ready(d);
    hx_bar_step(&d->bar, work_of(d, i), d->there, d->points);
    return rc;
}

/* --- the end */

/* Of all cases, one behind the other. */
static json_t *all_uncosted(const struct hx_density_run *d)
{
    json_t *all = json_array(), *of;
    size_t i;

    json_array_foreach(d->uncosted, i, of)
        json_array_extend(all, of);
    return all;
}

static int print_object(struct hx_density_run *d)
{
    json_t *uncosted = all_uncosted(d);
    int rc = hx_report_print(d->s.o.cmd, hx_rows_report(&d->s, d->rows, d->first, uncosted), 1);

    json_decref(uncosted);
    return rc;
}

static int interrupted(const struct hx_density_run *d)
{
    fprintf(stderr, "hexrig %s: interrupted: %zu of %zu rows%s%s\n", d->s.o.cmd, json_array_size(d->rows), d->points,
            d->resume ? "; the same command goes on from " : "", d->resume ? d->resume : "");
    return 128 + hx_stop_signal();
}

/* All that was asked for has been printed, as far as it came. */
static int finish(struct hx_density_run *d)
{
    int rc = print_rest(d);

    if (!rc && form_of(d) == HX_ROWS_JSON && d->first)
        rc = print_object(d);
    if (!rc && d->plot && d->first)
        rc = hx_plot_rows(&d->s, d->plot, d->rows);
    if (rc)
        return rc;
    if (hx_stop_signal())
        return interrupted(d);
    if (json_array_size(d->rows) < d->points)
        return HX_EXIT_FAILED;
    return hx_gate_is_on(&d->gate) ? hx_gate_end(&d->gate, hx_rows_figures(&d->s, d->rows)) : 0;
}

int hx_run_finish(struct hx_density_run *d, int rc)
{
    hx_bar_clear(&d->bar);
    if (rc)
        return rc;
    rc = finish(d);
    tell_failures(d);
    return rc;
}

void hx_run_free(struct hx_density_run *d)
{
    for (size_t i = 0; d->line && i < d->points; i++)
        json_decref(d->line[i]);
    free(d->line);
    json_decref(d->rows);
    json_decref(d->first);
    json_decref(d->uncosted);
    json_decref(d->failures);
    hx_resume_close(&d->kept);
    hx_gate_free(&d->gate);
    hx_sweep_free(&d->s);
}
