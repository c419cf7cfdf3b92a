/* Makes the cases of a sweep out of the options. */
#include "sweep.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"
#include "geometry_run.h"

enum { MAX_POS = 1 << 20 };

/* --- lists */

/* Cuts `list` at its commas.  0, or HX_EXIT_USAGE after a message: each value has to be there. */
static int split(const struct hx_sweep *s, const char *option, char *list, const char **value, size_t *n)
{
    const int nothing = list[strspn(list, ",")] == '\0';

    if (nothing)
        return hx_cmd_usage(s->o.cmd, "--%s: the list is empty", option);
    *n = 0;
    for (char *word; (word = strsep(&list, ","));) {
        if (!*word)
            return hx_cmd_usage(s->o.cmd, "--%s: value %zu of the list is empty", option, *n + 1);
        if (*n == HX_SWEEP_LIST)
            return hx_cmd_usage(s->o.cmd, "--%s: more than %d values", option, HX_SWEEP_LIST);
        value[(*n)++] = word;
    }
    return 0;
}

/* --density, as the plan has it. */
static const char *const *densities(void)
{
    const struct hx_method *owner;
    const struct hx_option *o;

    for (size_t i = 0; (o = hx_plan_option(i, &owner)); i++)
        if (strcmp(o->name, "density") == 0)
            return o->names;
    return NULL;
}

/* One more than the caches have: a call for a whole layer. */
const char hx_sweep_whole_layers[] = "layer";

static int check_density(const struct hx_sweep *s, const char *word)
{
    const char *legal[HX_SWEEP_LIST + 2] = {NULL};
    size_t n = 0;

    while (n < HX_SWEEP_LIST && densities()[n]) {
        legal[n] = densities()[n];
        n++;
    }
    legal[n] = hx_sweep_whole_layers;
    return hx_opt_name(s->o.cmd, "density", word, legal, NULL);
}

static int read_densities(struct hx_sweep *s)
{
    int rc;

    if (!s->densities)
        return 0;
    s->words = strdup(s->densities);
    if (!s->words)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    rc = split(s, "density", s->words, s->density, &s->n_density);
    for (size_t i = 0; !rc && i < s->n_density; i++)
        rc = check_density(s, s->density[i]);
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static void sort_positions(struct hx_sweep *s)
{
    size_t n = 0;

    qsort(s->pos, s->n_pos, sizeof(s->pos[0]), by_size);
    for (size_t i = 0; i < s->n_pos; i++)
        if (i == 0 || s->pos[i] != s->pos[n - 1])
            s->pos[n++] = s->pos[i];
    s->n_pos = n;
}

static int read_positions(struct hx_sweep *s)
{
    char *list = strdup(s->positions ? s->positions : "16,128");
    const char *word[HX_SWEEP_LIST];
    int rc = list ? split(s, "pos", list, word, &s->n_pos) : hx_cmd_fail(s->o.cmd, "out of memory");

    for (size_t i = 0; !rc && i < s->n_pos; i++)
        rc = hx_opt_size(s->o.cmd, "pos", word[i], 0, MAX_POS, &s->pos[i]);
    free(list);
    if (!rc)
        sort_positions(s);
    return rc;
}

int hx_sweep_add(struct hx_sweep *s, const char *spec)
{
    struct hx_swept *w = &s->swept[s->n_swept];
    char *eq;

    if (s->n_swept == HX_SWEEP_NAMES)
        return hx_cmd_usage(s->o.cmd, "more than %d --sweep", HX_SWEEP_NAMES);
    w->text = strdup(spec);
    if (!w->text)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    s->n_swept++;
    eq = strchr(w->text, '=');
    if (!eq || eq == w->text)
        return hx_cmd_usage(s->o.cmd, "--sweep: '%s' is no NAME=VALUE,...", spec);
    *eq = '\0';
    w->name = w->text;
    for (size_t i = 0; i + 1 < s->n_swept; i++)
        if (strcmp(s->swept[i].name, w->name) == 0)
            return hx_cmd_usage(s->o.cmd, "--sweep: %s twice", w->name);
    return split(s, "sweep", eq + 1, w->value, &w->n);
}

/* What rows say in its column. */
static const char spec_name[] = "spec";

int hx_sweep_add_spec(struct hx_sweep *s, char *pair)
{
    struct hx_swept *w = s->swept;

    while (w < s->swept + s->n_swept && strcmp(w->name, spec_name) != 0)
        w++;
    if (w == s->swept + HX_SWEEP_NAMES)
        return hx_cmd_usage(s->o.cmd, "more than %d of --sweep and --spec", HX_SWEEP_NAMES);
    if (w == s->swept + s->n_swept) {
        *w = (struct hx_swept){.name = spec_name, .value = {"none"}, .n = 1};
        s->n_swept++;
    }
    if (w->n == HX_SWEEP_LIST)
        return hx_cmd_usage(s->o.cmd, "--spec: more than %d", HX_SWEEP_LIST - 1);
    w->value[w->n++] = pair;
    pair[strcspn(pair, ",")] = strchr(pair, ',') ? ':' : '\0';
    return 0;
}

/* --- cases */

static int read_geometry(const struct hx_sweep *s, const char *name, struct hx_geometry *g)
{
    struct hx_error err = {""};

    if (s->o.model || hx_plan_given(s->o.plan, "cal") || hx_plan_given(s->o.plan, "calibrate-on"))
        return hx_cmd_usage(s->o.cmd, "--geometry excludes --model, --cal and --calibrate-on");
    return hx_geometry_find(g, name, &err) ? hx_cmd_usage(s->o.cmd, "--geometry: %s", err.text) : 0;
}

static int read_clients(const struct hx_sweep *s, const char *value, unsigned *n)
{
    size_t number;
    int rc = hx_opt_size(s->o.cmd, "sweep clients", value, 1, HX_CLIENTS_MAX, &number);

    if (!rc)
        *n = (unsigned)number;
    return rc;
}

/* "4:0.8", or "none".  Caches have to know that there will be guesses; who makes them costs nothing here. */
static int read_spec(const struct hx_sweep *s, const char *value, struct hx_sweep_case *c, struct hx_plan *p)
{
    char guesses[32];
    const char *accept = strchr(value, ':');
    struct hx_error err = {""};
    int rc;

    if (strcmp(value, "none") == 0)
        return 0;
    if (!accept || (size_t)(accept - value) >= sizeof(guesses))
        return hx_cmd_usage(s->o.cmd, "--spec: '%s' is no G,A: guesses of a step, and the share of them that is right", value);
    if (hx_plan_given(s->o.plan, "draft"))
        return hx_cmd_usage(s->o.cmd, "--spec stands for a drafter; --draft is of hexrig run");
    snprintf(guesses, sizeof(guesses), "%.*s", (int)(accept - value), value);
    rc = hx_opt_size(s->o.cmd, "spec", guesses, 1, HX_DRAFT_MAX, &c->guesses);
    if (!rc)
        rc = hx_opt_real(s->o.cmd, "spec", accept + 1, 0, 1, &c->accept);
    if (!rc && hx_plan_set(p, "draft", "lookup", &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    return rc;
}

/* One value of something that is swept: of the rig, the subject, who asks, or an option of the plan. */
static int take_value(const struct hx_sweep *s, struct hx_sweep_case *c, struct hx_plan *p, const char *name, const char *value)
{
    struct hx_error err = {""};
    int rc;

    if (strcmp(name, "profile") == 0) {
        c->profile = value;
        return 0;
    }
    if (strcmp(name, "model") == 0) {
        c->model = value;
        return 0;
    }
    if (strcmp(name, "geometry") == 0)
        return read_geometry(s, value, &c->shape);
    if (strcmp(name, "clients") == 0)
        return read_clients(s, value, &c->clients);
    if (strcmp(name, spec_name) == 0)
        return read_spec(s, value, c, p);
    if (strcmp(name, "density") == 0 || strcmp(name, "pos") == 0)
        return hx_cmd_usage(s->o.cmd, "--sweep: --%s is a list of its own", name);
    rc = hx_plan_set(p, name, value, &err);
    return rc ? hx_cmd_refused(s->o.cmd, rc, err.text) : 0;
}

int hx_sweep_plan(const struct hx_plan *base, const char *density, struct hx_plan **out, struct hx_error *err)
{
    const int whole = density && strcmp(density, hx_sweep_whole_layers) == 0;
    int rc = hx_plan_copy(out, base, err);

    if (!rc && density)
        rc = whole ? hx_plan_set(*out, "offload", "layer", err) : hx_plan_set(*out, "density", density, err);
    if (!rc)
        rc = hx_plan_resolve(*out, err);
    if (!rc && density && !whole && !hx_plan_uses_option(*out, "density"))
        rc = hx_error_set(err, -EINVAL, "--kv %s has no --density", hx_plan_method(*out, HX_SEAM_KV)->name);
    if (rc) {
        hx_plan_close(*out);
        *out = NULL;
    }
    return rc;
}

static void add(struct hx_sweep_case *c, const char *density, struct hx_plan *plan)
{
    c->density[c->n_density] = density;
    c->plan[c->n_density++] = plan;
}

/* Packets, which carry no time of who sent them. */
static int makes_packets(const struct hx_plan *p)
{
    const struct hx_shape any = {.n_layer = 1, .n_kv = 1, .n_head = 1, .dh = 64, .width = 64, .ffn = 64, .vocab = 64};

    return hx_plan_calls(p, &any, 1).packets > 0;
}

/* All densities that the methods allow; where the cache has no such option, itself. */
static int all_plans(const struct hx_sweep *s, struct hx_sweep_case *c, const struct hx_plan *base)
{
    struct hx_error err = {""};
    struct hx_plan *p;
    int rc;

    for (size_t i = 0; densities()[i]; i++) {
        rc = hx_sweep_plan(base, densities()[i], &p, &err);
        if (rc == -ENOMEM)
            return hx_cmd_refused(s->o.cmd, rc, err.text);
        if (!rc && c->clients > 1 && makes_packets(p))
            hx_plan_close(p);
        else if (!rc)
            add(c, densities()[i], p);
    }
    if (c->n_density)
        return 0;
    rc = hx_sweep_plan(base, NULL, &p, &err);
    if (rc)
        return hx_cmd_refused(s->o.cmd, rc, err.text);
    add(c, hx_plan_method(p, HX_SEAM_KV)->name, p);
    return 0;
}

static int make_plans(const struct hx_sweep *s, struct hx_sweep_case *c, const struct hx_plan *base)
{
    struct hx_error err = {""};
    struct hx_plan *p;

    if (!s->n_density)
        return all_plans(s, c, base);
    for (size_t i = 0; i < s->n_density; i++) {
        int rc = hx_sweep_plan(base, s->density[i], &p, &err);

        if (rc)
            return hx_cmd_refused(s->o.cmd, rc, err.text);
        add(c, s->density[i], p);
    }
    return 0;
}

/* What was said about parts of an engine that a geometry has not, and whether there is anything to count. */
static int check_case(const struct hx_sweep *s, const struct hx_sweep_case *c)
{
    struct hx_error err = {""};

    if (c->shape.name && c->model)
        return hx_cmd_usage(s->o.cmd, "--sweep: a geometry and a model exclude each other");
    if (c->shape.name && hx_geometry_check(&c->shape, c->plan[0], c->guesses > 0, &err))
        return hx_cmd_usage(s->o.cmd, "%s", err.text);
    for (size_t i = 0; i < c->n_density; i++)
        if (c->clients > 1 && makes_packets(c->plan[i]))
            return hx_cmd_usage(s->o.cmd, "--sweep clients=%u: %s makes packets, which do not say when who sent them; calls do", c->clients,
                                c->density[i]);
    if (!hx_plan_rig(c->plan[0]))
        return hx_cmd_usage(s->o.cmd, "--kv %s makes no calls: there is nothing to measure",
                            hx_plan_method(c->plan[0], HX_SEAM_KV)->name);
    return 0;
}

/* Which value of each swept name: the last one changes fastest. */
static int make_case(const struct hx_sweep *s, size_t index, struct hx_sweep_case *c)
{
    struct hx_error err = {""};
    struct hx_plan *base;
    int rc = hx_plan_copy(&base, s->o.plan, &err) ? hx_cmd_fail(s->o.cmd, "%s", err.text) : 0;

    if (!rc && s->geometry)
        rc = read_geometry(s, s->geometry, &c->shape);
    for (size_t i = s->n_swept; !rc && i-- > 0;) {
        c->value[i] = s->swept[i].value[index % s->swept[i].n];
        index /= s->swept[i].n;
        rc = take_value(s, c, base, s->swept[i].name, c->value[i]);
    }
    if (!rc && c->shape.name)
        hx_plan_without_weights(base);
    if (!rc)
        rc = make_plans(s, c, base);
    if (!rc)
        rc = check_case(s, c);
    hx_plan_close(base);
    return rc;
}

static int make_cases(struct hx_sweep *s)
{
    size_t n = 1;
    int rc = 0;

    for (size_t i = 0; i < s->n_swept && n <= HX_SWEEP_CASES; i++)
        n *= s->swept[i].n;
    if (n > HX_SWEEP_CASES)
        return hx_cmd_usage(s->o.cmd, "--sweep: more than %d combinations", HX_SWEEP_CASES);
    s->cases = calloc(n, sizeof(*s->cases));
    if (!s->cases)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    for (s->n_cases = 0; !rc && s->n_cases < n; s->n_cases++)
        rc = make_case(s, s->n_cases, &s->cases[s->n_cases]);
    return rc;
}

int hx_sweep_check(struct hx_sweep *s)
{
    int rc = read_densities(s);

    if (!rc)
        rc = read_positions(s);
    if (!rc)
        rc = make_cases(s);
    if (!rc && s->cases[0].shape.name)
        hx_plan_without_weights(s->o.plan);
    return rc ? rc : hx_engine_opts_done(&s->o);
}

/* --- points */

size_t hx_sweep_points(const struct hx_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_cases; i++)
        n += s->cases[i].n_density * s->n_pos;
    return n;
}

struct hx_sweep_point hx_sweep_point(const struct hx_sweep *s, size_t i)
{
    size_t at = 0;

    for (; i >= s->cases[at].n_density * s->n_pos; at++)
        i -= s->cases[at].n_density * s->n_pos;
    return (struct hx_sweep_point){at, i / s->n_pos, i % s->n_pos};
}

int hx_sweep_has_clients(const struct hx_sweep *s)
{
    return s->cases[0].clients > 0;
}

struct hx_density_question hx_sweep_question(const struct hx_sweep *s, const struct hx_sweep_point *p)
{
    const struct hx_sweep_case *c = &s->cases[p->at];

    return (struct hx_density_question){
        .plan = c->plan[p->density],
        .geometry = c->shape.name ? &c->shape : NULL,
        .pos = s->pos[p->pos],
        .clients = c->clients,
        .guesses = c->guesses,
        .accept = c->accept,
        .how = s->how,
    };
}

size_t hx_sweep_units(const struct hx_sweep *s, size_t *unit)
{
    size_t n = 0, shared = 0;

    for (size_t i = 0; i < hx_sweep_points(s); i++) {
        const struct hx_sweep_point p = hx_sweep_point(s, i);
        const struct hx_density_question q = hx_sweep_question(s, &p);
        const int far = hx_density_is_analytic(&q);
        size_t u;

        if (p.pos == 0) /* another density: nothing in common with the last one */
            shared = SIZE_MAX;
        if (far && shared == SIZE_MAX)
            shared = n;
        u = far ? shared : n;
        n += u == n;
        if (unit)
            unit[i] = u;
    }
    return n;
}

void hx_sweep_free(struct hx_sweep *s)
{
    for (size_t i = 0; i < s->n_cases; i++)
        for (size_t d = 0; d < s->cases[i].n_density; d++)
            hx_plan_close(s->cases[i].plan[d]);
    for (size_t i = 0; i < s->n_swept; i++)
        free(s->swept[i].text);
    free(s->cases);
    free(s->words);
    hx_engine_opts_free(&s->o);
}
