/* States, clouds and noise, see space.h. */
#include "space.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cli/report.h"
#include "cli/share.h"
#include "cli/terminal_watch.h"
#include "methods/moments/text_pass.h"
#include "subspace/activations.h"
#include "text/text.h"

enum { MOST_POINTS = 65536, LEAST_OF_FIT = 16, LEAST_OF_SCORE = 4, FROM_A_WINDOW = 16, MOST_SHIFTS = 32, PLACES = HX_SPACE_CTX - 2 };

/* --- options */

struct hx_space hx_space_of(const char *cmd, size_t points)
{
    return (struct hx_space){.s = {.cmd = cmd}, .axes = HX_METRIC_MOST, .points = points, .held = 256,
                             .neighbours = HX_FIELD_NEIGHBOURS, .seed = 1, .watch = hx_terminal_watch(cmd)};
}

int hx_space_option(struct hx_space *p, int key, char *arg)
{
    switch (key) {
    case 'f':
        p->score = arg;
        return 0;
    case HX_SPACE_OPT_FIT:
        p->fit = arg;
        return 0;
    case HX_SPACE_OPT_POINTS:
        return hx_opt_size(p->s.cmd, "points", arg, 2, MOST_POINTS, &p->points);
    case HX_SPACE_OPT_HELD:
        return hx_opt_size(p->s.cmd, "held", arg, 1, MOST_POINTS, &p->held);
    case HX_SPACE_OPT_AXES:
        return hx_opt_size(p->s.cmd, "axes", arg, 2, HX_METRIC_MOST, &p->axes);
    case HX_SPACE_OPT_NEIGHBOURS:
        return hx_opt_size(p->s.cmd, "neighbours", arg, 2, HX_FIELD_NEIGHBOURS_MOST, &p->neighbours);
    case HX_SPACE_OPT_SEED:
        return hx_opt_u64(p->s.cmd, "seed", arg, 0, INT64_MAX, &p->seed);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

/* --- states */

/* A part of a text, and of how many windows states are taken at least. */
struct part {
    const char *path;
    size_t least;
    const uint32_t *ids;
    size_t n;
};

/* The windows that are run: [windows][CTX]. */
struct plan {
    uint32_t *ids;
    size_t windows, shifts;
};

/* Enough windows for so many places, some of each where there are as many: spread over the text, or, where it is too short, all of it
 * from several beginnings. */
static int plan_windows(const struct part *t, size_t places, size_t least, struct plan *to, const char *option,
                        struct hx_error *err)
{
    const size_t all = t->n / HX_SPACE_CTX, need = (places + PLACES - 1) / PLACES;
    size_t wanted = places / FROM_A_WINDOW, most = all;

    to->shifts = 1;
    while (most < need && all > 1 && to->shifts < MOST_SHIFTS)
        most = all + (all - 1) * to->shifts++; /* the others lack a window */
    wanted = wanted < need ? need : wanted;
    wanted = wanted < least ? least : wanted;
    if (most < need)
        return hx_error_set(err, -EINVAL, "--%s %zu: %s gives %zu states", option, places, t->path, most * PLACES);
    wanted = wanted < most ? wanted : most;
    to->windows = to->shifts > 1 ? most : wanted;
    to->ids = malloc(to->windows * HX_SPACE_CTX * sizeof(*to->ids));
    if (!to->ids)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0, at = 0, shift = 0; i < to->windows; i++) {
        if (to->shifts == 1) {
            at = i * all / to->windows * HX_SPACE_CTX;
        } else if (i) {
            at += HX_SPACE_CTX;
            if (at + HX_SPACE_CTX > t->n || at / HX_SPACE_CTX >= all - (shift > 0))
                at = ++shift * HX_SPACE_CTX / to->shifts;
        }
        memcpy(to->ids + i * HX_SPACE_CTX, t->ids + at, HX_SPACE_CTX * sizeof(*to->ids));
    }
    return 0;
}

struct keep {
    struct hx_tap tap; /* first */
    float *to;
    size_t done, width;
};

static int keep_rows(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct keep *k = (struct keep *)t;

    (void)err;
    memcpy(k->to + k->done * k->width, rows, at->n * k->width * sizeof(*rows));
    k->done += at->n;
    return 0;
}

/* All states of the windows: [windows * CTX][width]. */
static int run_windows(const struct hx_space *p, const struct plan *w, float *states, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "geometry", .at = keep_rows};
    struct keep k = {.tap = {&ops, 1u << HX_TAP_BEFORE_NORM}, .to = states, .width = p->s.m->width};
    struct hx_tap *const taps[] = {&k.tap, NULL};
    const struct hx_text_pass pass = {.model = p->s.m, .pool = p->s.pool, .watch = &p->watch, .ids = w->ids, .ctx = HX_SPACE_CTX,
                                      .windows = w->windows};

    return hx_text_pass_run(&pass, taps, err);
}

static void choose(struct hx_states *to, const struct plan *w, const float *states, size_t width, const size_t *at)
{
    for (size_t i = 0; i < to->places; i++) {
        const size_t token = at[i] / PLACES * HX_SPACE_CTX + at[i] % PLACES;

        memcpy(to->rows + i * 2 * width, states + token * width, 2 * width * sizeof(*states));
        to->tokens[i] = w->ids[token];
        to->answers[i] = w->ids[token + 2];
    }
}

static int take_states(const struct hx_space *p, const struct part *t, size_t places, const char *option, uint64_t key,
                       struct hx_states *to, struct hx_error *err)
{
    const size_t width = p->s.m->width;
    struct plan w = {NULL, 0, 0};
    float *states = NULL;
    size_t *at = NULL;
    int rc = plan_windows(t, places, t->least, &w, option, err);

    if (!rc) {
        states = malloc(w.windows * HX_SPACE_CTX * width * sizeof(*states));
        at = malloc(places * sizeof(*at));
        *to = (struct hx_states){.rows = malloc(places * 2 * width * sizeof(float)), .tokens = malloc(places * sizeof(uint32_t)),
                                 .answers = malloc(places * sizeof(uint32_t)), .places = places, .windows = w.windows, .shifts = w.shifts};
        if (!states || !at || !to->rows || !to->tokens || !to->answers || hx_choose(at, places, w.windows * PLACES, key))
            rc = hx_error_set(err, -ENOMEM, "no memory for %zu states", w.windows * HX_SPACE_CTX);
    }
    if (!rc)
        rc = run_windows(p, &w, states, err);
    if (!rc)
        choose(to, &w, states, width, at);
    free(states);
    free(at);
    free(w.ids);
    return rc;
}

static void free_states(struct hx_states *s)
{
    free(s->rows);
    free(s->tokens);
    free(s->answers);
}

static int take_both(struct hx_space *p, struct part fit, struct part score, struct hx_error *err)
{
    int rc = take_states(p, &fit, p->points, "points", hx_keyed(hx_space_key(p, HX_SPACE_KEY_PLACES), 0), &p->fits, err);

    return rc ? rc : take_states(p, &score, p->held, "held", hx_keyed(hx_space_key(p, HX_SPACE_KEY_PLACES), 1), &p->scores, err);
}

static int run_texts(struct hx_space *p, struct hx_error *err)
{
    uint32_t *ids = NULL, *other = NULL;
    size_t n, n_other, half;
    int rc = hx_text_encode(p->s.m->tok, p->score, &ids, &n, err);

    if (!rc && p->fit)
        rc = hx_text_encode(p->s.m->tok, p->fit, &other, &n_other, err);
    if (!rc && other) {
        rc = take_both(p, (struct part){p->fit, LEAST_OF_FIT, other, n_other}, (struct part){p->score, LEAST_OF_SCORE, ids, n}, err);
    } else if (!rc) {
        half = n / 2 / HX_SPACE_CTX * HX_SPACE_CTX;
        rc = take_both(p, (struct part){p->score, LEAST_OF_FIT, ids, half},
                       (struct part){p->score, LEAST_OF_SCORE, ids + half, n - half}, err);
    }
    free(ids);
    free(other);
    return rc;
}

/* --- clouds */

static int make_room(struct hx_cloud *c, const struct hx_space *p, struct hx_error *err)
{
    const size_t most = p->axes * sizeof(double);

    *c = (struct hx_cloud){.n = p->axes, .points = p->points, .held = p->held, .x = malloc(p->points * most),
                           .x_next = malloc(p->points * most), .y = malloc(p->held * most), .y_next = malloc(p->held * most)};
    return c->x && c->x_next && c->y && c->y_next ? 0 : hx_error_set(err, -ENOMEM, "no memory for a cloud of %zu points", p->points);
}

static void free_cloud(struct hx_cloud *c)
{
    free(c->x);
    free(c->x_next);
    free(c->y);
    free(c->y_next);
    hx_cloud_metric_free(&c->metric);
}

/* states [places][2][width] */
static void place(const struct hx_whitening *w, const float *states, size_t places, double *x, double *next)
{
    for (size_t i = 0; i < places; i++) {
        hx_whitening_place(w, states + 2 * i * w->width, 1, x + i * w->n);
        hx_whitening_place(w, states + (2 * i + 1) * w->width, 1, next + i * w->n);
    }
}

static int make_cloud(struct hx_space *p, struct hx_error *err)
{
    const size_t width = p->s.m->width;
    float *first = malloc(p->points * width * sizeof(*first));
    int rc = first ? make_room(&p->cloud, p, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->points && !rc; i++)
        memcpy(first + i * width, p->fits.rows + 2 * i * width, width * sizeof(*first));
    if (!rc)
        rc = hx_whitening_fit(&p->w, first, p->points, width, p->axes, err);
    free(first);
    if (rc)
        return rc;
    place(&p->w, p->fits.rows, p->points, p->cloud.x, p->cloud.x_next);
    place(&p->w, p->scores.rows, p->held, p->cloud.y, p->cloud.y_next);
    return 0;
}

/* Normal numbers as wide as the states, which then go the states' way. */
static int make_noise(struct hx_space *p, struct hx_error *err)
{
    const size_t width = p->s.m->width, rows = p->points + p->held;
    const uint64_t key = hx_space_key(p, HX_SPACE_KEY_NOISE);
    float *states = malloc(2 * rows * width * sizeof(*states));
    struct hx_whitening w = {0};
    int rc = states ? make_room(&p->noise, p, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < 2 * rows * width && !rc; i++)
        states[i] = (float)hx_normal_at(key, i);
    if (!rc)
        rc = hx_whitening_fit(&w, states, p->points, width, p->axes, err);
    if (!rc) {
        hx_whitening_place(&w, states, p->points, p->noise.x);
        hx_whitening_place(&w, states + p->points * width, p->points, p->noise.x_next);
        hx_whitening_place(&w, states + 2 * p->points * width, p->held, p->noise.y);
        hx_whitening_place(&w, states + (2 * p->points + p->held) * width, p->held, p->noise.y_next);
    }
    hx_whitening_free(&w);
    free(states);
    return rc;
}

int hx_space_metric(struct hx_space *p, struct hx_cloud *c)
{
    struct hx_error err = {""};

    c->metric = (struct hx_cloud_metric){.n = c->n, .points = c->points, .neighbours = p->neighbours, .x = c->x};
    return hx_cloud_metric_open(&c->metric, &err) ? hx_cmd_fail(p->s.cmd, "%s", err.text) : HX_EXIT_OK;
}

/* --- all of it */

static void name_case(struct hx_space *p)
{
    const char *slash = strrchr(p->s.path, '/');
    char *end;

    snprintf(p->name, sizeof(p->name), "%s", slash ? slash + 1 : p->s.path);
    end = strstr(p->name, ".gguf");
    if (end)
        *end = '\0';
}

int hx_space_open(struct hx_space *p)
{
    struct hx_error err = {""};
    int rc = HX_EXIT_OK;

    if (!p->score)
        p->score = p->shipped = hx_share("books-holdout.txt");
    if (!p->score)
        rc = hx_cmd_fail(p->s.cmd, "out of memory");
    if (!rc && p->points <= p->neighbours)
        rc = hx_cmd_usage(p->s.cmd, "--points %zu; --neighbours %zu needs more", p->points, p->neighbours);
    if (!rc && p->points <= p->axes)
        rc = hx_cmd_usage(p->s.cmd, "--points %zu; --axes %zu needs more", p->points, p->axes);
    if (!rc && p->fit && strcmp(p->fit, p->score) == 0)
        rc = hx_cmd_usage(p->s.cmd, "--fit %s is scored, too", p->fit);
    if (!rc)
        rc = hx_subject_open(&p->s);
    if (rc)
        return rc;
    name_case(p);
    if (run_texts(p, &err) || make_cloud(p, &err) || make_noise(p, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    return HX_EXIT_OK;
}

void hx_space_close(struct hx_space *p)
{
    free_states(&p->fits);
    free_states(&p->scores);
    hx_whitening_free(&p->w);
    free_cloud(&p->cloud);
    free_cloud(&p->noise);
    hx_subject_close(&p->s);
    free(p->shipped);
}

uint64_t hx_space_key(const struct hx_space *p, int what)
{
    return hx_keyed(p->seed, (uint64_t)what);
}

json_t *hx_space_json(const struct hx_space *p)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "model", hx_json_text(p->s.path), "fit",
                     hx_json_text(p->fit ? p->fit : "the first half of the text"), "text", hx_json_text(p->score), "points",
                     (json_int_t)p->points, "beginnings", (json_int_t)p->fits.shifts, "held", (json_int_t)p->held, "axes",
                     (json_int_t)p->axes, "held_variance", p->w.held, "neighbours", (json_int_t)p->neighbours, "seed", (json_int_t)p->seed);
}

int hx_space_answer(const struct hx_space *p, const char *what, json_t *j)
{
    char name[200];
    int rc;

    snprintf(name, sizeof(name), "%s_%s.json", p->name, what);
    rc = hx_subject_write_json(&p->s, name, j);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}
