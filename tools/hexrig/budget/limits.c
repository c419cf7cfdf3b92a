/* Reads budgets and baselines. */
#include "limits.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

#define LEGAL_SIGNS "<=, <, >=, >, ="
static const char *const signs[] = {"<=", "<", ">=", ">", "="}; /* by enum hx_limit_how; longer ones first */
enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

static const double most_value = 1e18;

const char *hx_limit_sign(enum hx_limit_how how)
{
    return signs[how];
}

int hx_limit_holds(const struct hx_limit *l, double figure)
{
    const double digits = 1e-11 * fabs(l->value);

    switch (l->how) {
    case HX_LIMIT_AT_MOST:
        return figure <= l->value + digits;
    case HX_LIMIT_BELOW:
        return figure < l->value - digits;
    case HX_LIMIT_AT_LEAST:
        return figure >= l->value - digits;
    case HX_LIMIT_ABOVE:
        return figure > l->value + digits;
    default:
        return fabs(figure - l->value) <= fabs(l->value) * l->percent / 100 + digits;
    }
}

int hx_limit_number(const char *text, double most, double *out)
{
    char *end;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return -1;
    *out = strtod(text, &end);
    return *end || !(*out <= most) ? -1 : 0;
}

/* A file that is being read. */
struct reader {
    struct hx_limits *l;
    struct hx_error *err;
    size_t line, version; /* version: line of it, 0: not yet */
    int baseline;
};

static char *trim(char *s)
{
    size_t n;

    s += strspn(s, " \t\r");
    n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

static int refuse_twice(const struct reader *r, const char *key)
{
    return hx_error_set(r->err, -EINVAL, "%s:%zu: %.80s for the second time", r->l->path, r->line, key);
}

/* version and command.  1: it is neither. */
static int take_key(struct reader *r, const char *key, enum hx_limit_how how, const char *value)
{
    double version;

    if (how != HX_LIMIT_EQUAL || (strcmp(key, "version") != 0 && strcmp(key, "command") != 0))
        return 1;
    if (strcmp(key, "command") == 0) {
        if (r->l->command)
            return refuse_twice(r, key);
        r->l->command = value;
        r->l->command_line = r->line;
        return 0;
    }
    if (r->version)
        return refuse_twice(r, key);
    if (hx_limit_number(value, HX_LIMITS_VERSION, &version) || version != HX_LIMITS_VERSION)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: version '%.64s'; legal: %d", r->l->path, r->line, value, HX_LIMITS_VERSION);
    r->version = r->line;
    return 0;
}

/* What stands behind +-; cuts it off. */
static int take_percent(const struct reader *r, char *value, struct hx_limit *limit)
{
    char *at = strstr(value, "+-"), *percent;
    size_t n;

    if (!at)
        return 0;
    *at = '\0';
    percent = trim(at + 2);
    n = strlen(percent);
    if (limit->how != HX_LIMIT_EQUAL)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: %.80s: +- is legal behind = alone", r->l->path, r->line, limit->figure);
    if (!n || percent[n - 1] != '%')
        return hx_error_set(r->err, -EINVAL, "%s:%zu: '+- %.64s' is no +- PERCENT%%", r->l->path, r->line, percent);
    percent[n - 1] = '\0';
    return hx_limit_number(trim(percent), HX_LIMIT_PERCENT_MOST, &limit->percent)
               ? hx_error_set(r->err, -EINVAL, "%s:%zu: %.80s: '+- %.64s%%' is no percentage from 0 to %d", r->l->path, r->line,
                              limit->figure, percent, HX_LIMIT_PERCENT_MOST)
               : 0;
}

static int add(struct reader *r, const struct hx_limit *limit)
{
    struct hx_limits *l = r->l;
    struct hx_limit *at;

    if ((l->n & (l->n - 1)) == 0) {
        at = realloc(l->at, (l->n ? 2 * l->n : 1) * sizeof(*at));
        if (!at)
            return hx_error_set(r->err, -ENOMEM, "%s: out of memory", l->path);
        l->at = at;
    }
    l->at[l->n++] = *limit;
    return 0;
}

static int take_limit(struct reader *r, const char *figure, enum hx_limit_how how, char *value)
{
    struct hx_limit limit = {.figure = figure, .how = how, .line = r->line};
    int rc;

    if (r->baseline && how != HX_LIMIT_EQUAL)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: %.80s: comparison '%s'; legal in a baseline: =", r->l->path, r->line, figure,
                            signs[how]);
    rc = take_percent(r, value, &limit);
    if (rc)
        return rc;
    value = trim(value);
    if (hx_limit_number(value, most_value, &limit.value))
        return hx_error_set(r->err, -EINVAL, "%s:%zu: %.80s: '%.64s' is no number from 0 to %g", r->l->path, r->line, figure, value,
                            most_value);
    return add(r, &limit);
}

static int take_line(struct reader *r, char *line)
{
    char *figure, *sign;
    int how = 0, rc;

    line[strcspn(line, "#")] = '\0';
    figure = trim(line);
    if (!*figure)
        return 0;
    sign = figure + strcspn(figure, "<>=");
    while (how < SIGNS && strncmp(sign, signs[how], strlen(signs[how])) != 0)
        how++;
    if (how == SIGNS || sign == figure)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: '%.80s' is no FIGURE COMPARISON LIMIT; comparisons: " LEGAL_SIGNS, r->l->path,
                            r->line, figure);
    *sign = '\0';
    line = trim(sign + strlen(signs[how]));
    figure = trim(figure);
    rc = take_key(r, figure, (enum hx_limit_how)how, line);
    return rc == 1 ? take_limit(r, figure, (enum hx_limit_how)how, line) : rc;
}

/* Limits of one figure side by side, in the order of the file. */
static int by_figure(const void *a, const void *b)
{
    const struct hx_limit *x = a, *y = b;
    int rc = strcmp(x->figure, y->figure);

    if (!rc)
        rc = (int)x->how - (int)y->how;
    return rc ? rc : (x->line > y->line) - (x->line < y->line);
}

static int refuse_doubles(struct reader *r)
{
    struct hx_limit *sorted = calloc(r->l->n + 1, sizeof(*sorted));
    int rc = sorted ? 0 : hx_error_set(r->err, -ENOMEM, "%s: out of memory", r->l->path);

    if (sorted && r->l->n) {
        memcpy(sorted, r->l->at, r->l->n * sizeof(*sorted));
        qsort(sorted, r->l->n, sizeof(*sorted), by_figure);
    }
    for (size_t i = 1; !rc && i < r->l->n; i++)
        if (sorted[i].how == sorted[i - 1].how && strcmp(sorted[i].figure, sorted[i - 1].figure) == 0) {
            r->line = sorted[i].line;
            rc = refuse_twice(r, sorted[i].figure);
        }
    free(sorted);
    return rc;
}

static int complete(struct reader *r)
{
    if (!r->version)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: version is missing; legal: %d", r->l->path, r->line, HX_LIMITS_VERSION);
    if (!r->l->n)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: no FIGURE COMPARISON LIMIT", r->l->path, r->line);
    return refuse_doubles(r);
}

int hx_limits_read(struct hx_limits *l, const char *path, int baseline, struct hx_error *err)
{
    struct reader r = {.l = l, .err = err, .baseline = baseline};
    char *rest;
    size_t bytes;
    int rc;

    *l = (struct hx_limits){.path = path};
    rc = hx_text_read(path, &l->text, &bytes, err);
    if (rc)
        return rc;
    rest = l->text;
    for (char *line; !rc && (line = strsep(&rest, "\n"));) {
        if (!rest && !*line) /* behind the last line's end */
            break;
        r.line++;
        if (!rest && line + strlen(line) != l->text + bytes)
            return hx_error_set(err, -EINVAL, "%s:%zu: a byte 0; this is no text", path, r.line);
        rc = take_line(&r, line);
    }
    return rc ? rc : complete(&r);
}

void hx_limits_free(struct hx_limits *l)
{
    free(l->at);
    free(l->text);
    *l = (struct hx_limits){.path = NULL};
}
