/* The node `methods`: read, added up, named and printed. */
#include "method_stats.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/share.h"
#include "hexidl/idl.h"

/* The figures of a line, by their names there; in JSON those of times are in ms. */
static const struct {
    const char *key, *json;
    size_t offset;
} figures[] = {
#define FIGURE(key, json, member) {key, json, offsetof(struct hx_method_stat, member)}
    FIGURE("calls", "calls", calls),
    FIGURE("errors", "errors", errors),
    FIGURE("bytes_copied", "bytes_copied", bytes_copied),
    FIGURE("bytes_shared", "bytes_shared", bytes_shared),
    FIGURE("hvx_ops", "hvx_ops", hvx_ops),
    FIGURE("model_dispatch_ns", "dispatch", dispatch_ns),
    FIGURE("model_marshal_ns", "marshal", marshal_ns),
    FIGURE("model_queue_ns", "queue", queue_ns),
    FIGURE("model_exec_ns", "exec", exec_ns),
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]), TIMES_FROM = 5 };

static uint64_t *figure(struct hx_method_stat *l, size_t i)
{
    return (uint64_t *)((char *)l + figures[i].offset);
}

static uint64_t figure_of(const struct hx_method_stat *l, size_t i)
{
    return *(const uint64_t *)((const char *)l + figures[i].offset);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static void set(struct hx_method_stat *l, const char *key, const char *value)
{
    if (strcmp(key, "interface") == 0)
        snprintf(l->interface, sizeof(l->interface), "%s", value);
    else if (strcmp(key, "library") == 0)
        snprintf(l->library, sizeof(l->library), "%s", value);
    else if (strcmp(key, "name") == 0)
        snprintf(l->name, sizeof(l->name), "%s", value);
    else if (strcmp(key, "method") == 0)
        l->method = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(key, "pid") == 0)
        l->pid = (pid_t)strtol(value, NULL, 10);
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(key, figures[i].key) == 0)
            *figure(l, i) = strtoull(value, NULL, 10);
}

static int parse_line(struct hx_method_stat *l, char *line)
{
    char *word;

    *l = (struct hx_method_stat){0};
    while ((word = strsep(&line, " "))) {
        char *eq = strchr(word, '=');

        if (!eq)
            return -EPROTO;
        *eq = '\0';
        set(l, word, eq + 1);
    }
    return l->interface[0] ? 0 : -EPROTO;
}

int hx_method_stats_parse(struct hx_method_stats *s, const char *text)
{
    char *copy = strdup(text), *rest = copy, *line;
    size_t lines = 1;
    int rc = 0;

    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    *s = (struct hx_method_stats){.at = calloc(lines, sizeof(*s->at))};
    if (!copy || !s->at)
        rc = -ENOMEM;
    while (!rc && (line = strsep(&rest, "\n")))
        if (*line) {
            rc = parse_line(&s->at[s->n], line);
            s->n += !rc;
        }
    free(copy);
    return rc;
}

void hx_method_stats_free(struct hx_method_stats *s)
{
    free(s->at);
    *s = (struct hx_method_stats){0};
}

/* --- sums ---------------------------------------------------------------------------------------------------------- */

int hx_method_stat_is_same(const struct hx_method_stat *a, const struct hx_method_stat *b)
{
    return a->method == b->method && strcmp(a->interface, b->interface) == 0 && strcmp(a->library, b->library) == 0 &&
           strcmp(a->name, b->name) == 0;
}

uint64_t hx_method_stat_ns(const struct hx_method_stat *l)
{
    return l->dispatch_ns + l->marshal_ns + l->queue_ns + l->exec_ns;
}

/* The dearest first, then by name, so that the order does not depend on who came first. */
static int by_cost(const void *pa, const void *pb)
{
    const struct hx_method_stat *a = pa, *b = pb;
    int order = strcmp(a->interface, b->interface);

    if (hx_method_stat_ns(a) != hx_method_stat_ns(b))
        return hx_method_stat_ns(a) > hx_method_stat_ns(b) ? -1 : 1;
    return order ? order : a->method < b->method ? -1 : a->method > b->method;
}

static void add(struct hx_method_stat *to, const struct hx_method_stat *l)
{
    for (size_t i = 0; i < FIGURES; i++)
        *figure(to, i) += figure_of(l, i);
}

static void take_away(struct hx_method_stat *from, const struct hx_method_stat *l)
{
    for (size_t i = 0; i < FIGURES; i++)
        *figure(from, i) -= figure_of(l, i) < *figure(from, i) ? figure_of(l, i) : *figure(from, i);
}

/* One line per method, or per process and method; lines without calls go. */
static void merge(struct hx_method_stats *s, int by_process)
{
    size_t n = 0, at;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->at[i].calls)
            continue;
        for (at = 0; at < n; at++)
            if (hx_method_stat_is_same(&s->at[at], &s->at[i]) && (!by_process || s->at[at].pid == s->at[i].pid))
                break;
        if (at < n)
            add(&s->at[at], &s->at[i]);
        else
            s->at[n++] = s->at[i];
    }
    s->n = n;
}

void hx_method_stats_since(struct hx_method_stats *s, const struct hx_method_stats *before, const pid_t *others, size_t n)
{
    merge(s, 1);
    for (size_t i = 0; i < s->n; i++) {
        struct hx_method_stat *l = &s->at[i];
        int is_others = l->pid == 0; /* the rig has forgotten whose it was */

        for (size_t k = 0; k < before->n; k++)
            if (before->at[k].pid == l->pid && hx_method_stat_is_same(&before->at[k], l))
                take_away(l, &before->at[k]);
        for (size_t k = 0; k < n; k++)
            is_others |= others[k] == l->pid;
        if (is_others)
            l->calls = 0;
    }
    merge(s, 1);
}

void hx_method_stats_merge(struct hx_method_stats *s)
{
    merge(s, 0);
    for (size_t i = 0; i < s->n; i++)
        s->at[i].pid = 0;
    if (s->n)
        qsort(s->at, s->n, sizeof(*s->at), by_cost);
}

static struct hx_method_stat total_of(const struct hx_method_stats *s)
{
    struct hx_method_stat total = {0};

    for (size_t i = 0; i < s->n; i++)
        add(&total, &s->at[i]);
    return total;
}

/* --- names from an IDL file ---------------------------------------------------------------------------------------- */

static void name_method(struct hx_method_stats *s, const char *interface, unsigned method, const char *name, int length)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->at[i].name[0] && s->at[i].method == method && strcmp(s->at[i].interface, interface) == 0)
            snprintf(s->at[i].name, sizeof(s->at[i].name), "%.*s", length, name);
}

/* Lines "2 sum sc=..."; interfaces after the first begin with "interface NAME". */
static void name_by_layout(struct hx_method_stats *s, const char *first, char *layout)
{
    const char *interface = first;
    char *line, *name;

    while (interface && (line = strsep(&layout, "\n"))) {
        unsigned method = (unsigned)strtoul(line, &name, 10);

        if (strncmp(line, "interface ", 10) == 0)
            interface = line + 10;
        else if (name != line && *name == ' ')
            name_method(s, interface, method, name + 1, (int)strcspn(name + 1, " "));
    }
}

int hx_method_stats_name(struct hx_method_stats *s, const char *cmd, const char *idl_file)
{
    char *own = hx_share("idl"), *layout;
    const char *folders[] = {own};
    struct hx_idl *idl;
    int rc = HX_EXIT_OK;

    if (hx_idl_compile(&idl, idl_file, hx_idl_read_file, folders, own != NULL)) {
        rc = hx_cmd_fail(cmd, "%s", hx_idl_error(idl));
    } else {
        layout = hx_idl_layout(idl);
        name_by_layout(s, hx_idl_interface(idl, 0), layout);
        free(layout);
    }
    hx_idl_close(idl);
    free(own);
    return rc;
}

/* --- printing ------------------------------------------------------------------------------------------------------ */

void hx_method_stat_title(const struct hx_method_stat *l, char title[HX_METHOD_STAT_TITLE])
{
    if (l->name[0])
        snprintf(title, HX_METHOD_STAT_TITLE, "%s.%s", l->interface, l->name);
    else
        snprintf(title, HX_METHOD_STAT_TITLE, "%s.%u", l->interface, l->method);
}

static void print_line(const struct hx_method_stat *l, const char *title, int width, FILE *f)
{
    fprintf(f, "%-*s %8llu %6llu %12llu %12llu %12llu %9.3f %9.3f %9.3f %9.3f %10.3f\n", width, title,
            (unsigned long long)l->calls, (unsigned long long)l->errors, (unsigned long long)l->bytes_copied,
            (unsigned long long)l->bytes_shared, (unsigned long long)l->hvx_ops, (double)l->dispatch_ns / 1e6,
            (double)l->marshal_ns / 1e6, (double)l->queue_ns / 1e6, (double)l->exec_ns / 1e6, (double)hx_method_stat_ns(l) / 1e6);
}

void hx_method_stats_print(const struct hx_method_stats *s, const char *profile, FILE *f)
{
    const struct hx_method_stat total = total_of(s);
    char title[HX_METHOD_STAT_TITLE];
    int width = 5;

    for (size_t i = 0; i < s->n; i++) {
        hx_method_stat_title(&s->at[i], title);
        width = (int)strlen(title) > width ? (int)strlen(title) : width;
    }
    fprintf(f, "calls by method; model ms are modelled, profile %s\n", profile ? profile : "unknown");
    fprintf(f, "%-*s %8s %6s %12s %12s %12s %9s %9s %9s %9s %10s\n", width, "method", "calls", "errors", "copied B", "shared B",
            "HVX ops", "dispatch", "marshal", "queue", "exec", "model ms");
    for (size_t i = 0; i < s->n; i++) {
        hx_method_stat_title(&s->at[i], title);
        print_line(&s->at[i], title, width, f);
    }
    print_line(&total, "total", width, f);
}

/* What text and JSON have in common, as members of `o`. */
static json_t *figures_json(json_t *o, const struct hx_method_stat *l)
{
    json_t *ms = json_object();

    for (size_t i = 0; i < FIGURES; i++)
        if (i < TIMES_FROM)
            json_object_set_new(o, figures[i].json, json_integer((json_int_t)figure_of(l, i)));
        else
            json_object_set_new(ms, figures[i].json, json_real((double)figure_of(l, i) / 1e6));
    json_object_set_new(ms, "total", json_real((double)hx_method_stat_ns(l) / 1e6));
    json_object_set_new(o, "model_ms", ms);
    return o;
}

static json_t *method_json(const struct hx_method_stat *l)
{
    json_t *o = json_object();

    json_object_set_new(o, "interface", json_string(l->interface));
    json_object_set_new(o, "library", l->library[0] ? json_string(l->library) : json_null());
    json_object_set_new(o, "method", json_integer(l->method));
    json_object_set_new(o, "name", l->name[0] ? json_string(l->name) : json_null());
    return figures_json(o, l);
}

json_t *hx_method_stats_json(const struct hx_method_stats *s, const char *profile, const char *front_end)
{
    const struct hx_method_stat total = total_of(s);
    json_t *methods = json_array();

    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(methods, method_json(&s->at[i]));
    return json_pack("{s:i, s:s?, s:s?, s:o, s:o}", "version", 1, "profile", profile, "front_end", front_end, "methods", methods,
                     "total", figures_json(json_object(), &total));
}

json_t *hx_method_stats_figures(const struct hx_method_stats *s)
{
    const struct hx_method_stat total = total_of(s);
    json_t *groups = json_object();

    for (size_t i = 0; i < s->n; i++) {
        char title[HX_METHOD_STAT_TITLE], again[HX_METHOD_STAT_TITLE + 64];

        hx_method_stat_title(&s->at[i], title);
        snprintf(again, sizeof(again), "%s:%s", s->at[i].library, title); /* two libraries with one interface */
        json_object_set_new(groups, json_object_get(groups, title) ? again : title, figures_json(json_object(), &s->at[i]));
    }
    json_object_set_new(groups, "total", figures_json(json_object(), &total));
    return groups;
}
