/* hexrig top: what a rig that runs is doing, looked at again and again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/opt.h"
#include "hx_rig.h"
#include "screen.h"
#include "top_view.h"

enum { OPT_MOUNT = HX_OPT_FREE, OPT_ONCE, OPT_INTERVAL };

static const char cmd[] = "top";

static const struct argp_option options[] = {
    {"mount", OPT_MOUNT, "DIR", 0, "the rig's nodes ($XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID)", 0},
    {"interval", OPT_INTERVAL, "S", 0, "seconds from one look to the next, 0.1 to 3600 (1)", 0},
    {"once", OPT_ONCE, NULL, 0, "print one frame of 80x24 and end; needs no terminal", 0},
    {0},
};

static const char doc[] =
    "Shows live what a rig does: sessions, calls, modelled time, bytes by where they were found, VTCM, heat, and methods, the dearest "
    "first; `new` has the calls since the last look."
    "\vKeys: q quits, any other one looks again.  The figures are those of hexrig stats and of the rig's nodes; looking at them costs "
    "no modelled time.\n\n"
    "Exit status: 1 when the rig does not answer or ends.\n\n"
    "Example: hexrig top --interval 0.5";

struct args {
    const char *mount;
    double interval_s;
    int once;
};

/* One look at the rig; zeroed: none yet. */
struct look {
    char *status, *stats, *sessions, *clock, *thermal, *vtcm, *methods_text; /* owned */
    struct hx_method_stats methods;
};

static void forget(struct look *l)
{
    char *texts[] = {l->status, l->stats, l->sessions, l->clock, l->thermal, l->vtcm, l->methods_text};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
    hx_method_stats_free(&l->methods);
    *l = (struct look){0};
}

/* 0 or negative errno with a reason. */
static int look(const struct args *a, struct look *l, char *why, size_t why_bytes)
{
    const struct {
        const char *node;
        char **text;
    } nodes[] = {{"status", &l->status}, {"stats", &l->stats}, {"sessions", &l->sessions}, {"clock", &l->clock}, {"vtcm", &l->vtcm},
                 {"methods", &l->methods_text}};
    int rc = 0;

    *l = (struct look){0};
    for (size_t i = 0; !rc && i < sizeof(nodes) / sizeof(nodes[0]); i++)
        rc = hx_rig_read_why(a->mount, nodes[i].node, nodes[i].text, why, why_bytes);
    if (rc)
        return rc;
    if (hx_rig_read(a->mount, "thermal", &l->thermal))
        l->thermal = NULL;
    rc = hx_method_stats_parse(&l->methods, l->methods_text);
    if (rc)
        snprintf(why, why_bytes, "methods: %s", strerror(-rc));
    else
        hx_method_stats_merge(&l->methods);
    return rc;
}

static void print(const struct look *l, const struct look *before, size_t rows, size_t columns, FILE *f)
{
    const struct hx_top_frame t = {
        .nodes = {l->status, l->stats, l->sessions, l->clock, l->thermal, l->vtcm},
        .methods = &l->methods,
        .before = before->status ? &before->methods : NULL,
        .rows = rows,
        .columns = columns,
    };

    hx_top_print(&t, f);
}

static int print_once(const struct args *a)
{
    const struct look none = {0};
    char why[1280] = "";
    struct look l;
    int rc = look(a, &l, why, sizeof(why)) ? hx_cmd_fail(cmd, "%s", why) : HX_EXIT_OK;

    if (!rc)
        print(&l, &none, HX_TOP_ROWS, HX_TOP_COLUMNS, stdout);
    forget(&l);
    return rc;
}

static int draw(const struct look *l, const struct look *before)
{
    size_t rows, columns, bytes;
    char *lines = NULL;
    FILE *f = open_memstream(&lines, &bytes);
    int rc;

    if (!f)
        return -ENOMEM;
    hx_screen_size(&rows, &columns);
    print(l, before, rows, columns, f);
    rc = fclose(f) ? -ENOMEM : hx_screen_draw(lines);
    free(lines);
    return rc;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until it is time for another look (0), or the end: 1, *ended_by: the signal or 0. */
static int wait_for_next(const struct args *a, const struct look *l, const struct look *before, int *ended_by)
{
    const int64_t until = now_ms() + (int64_t)(a->interval_s * 1e3);

    for (int64_t left = until - now_ms(); left > 0; left = until - now_ms()) {
        int what = 0;

        switch (hx_screen_wait((int)left, &what)) {
        case HX_SCREEN_KEY:
            return what == 'q' || what == 'Q';
        case HX_SCREEN_RESIZED:
            draw(l, before);
            break;
        case HX_SCREEN_SIGNAL:
            *ended_by = what;
            return 1;
        case HX_SCREEN_ENDED:
            return 1;
        case HX_SCREEN_TIMEOUT:
            break;
        }
    }
    return 0;
}

static int watch(const struct args *a)
{
    struct look now = {0}, before = {0};
    char why[1280] = "";
    int ended_by = 0, rc = hx_screen_open();

    if (rc == -ENOTTY)
        return hx_cmd_usage(cmd, "stdin and stdout are no terminal; --once prints one frame without");
    while (!rc) {
        forget(&before);
        before = now;
        rc = look(a, &now, why, sizeof(why));
        if (!rc)
            rc = draw(&now, &before);
        if (rc || wait_for_next(a, &now, &before, &ended_by))
            break;
    }
    hx_screen_close();
    forget(&now);
    forget(&before);
    if (ended_by) { /* as if we had not looked after it */
        signal(ended_by, SIG_DFL);
        raise(ended_by);
    }
    return rc ? hx_cmd_fail(cmd, "%s", *why ? why : strerror(-rc)) : HX_EXIT_OK;
}

static int option(struct args *a, int key, const char *arg)
{
    switch (key) {
    case OPT_MOUNT:
        a->mount = arg;
        return 0;
    case OPT_INTERVAL:
        return hx_opt_real(cmd, "interval", arg, 0.1, 3600, &a->interval_s);
    case OPT_ONCE:
        a->once = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

int hx_cmd_top(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct args a = {.interval_s = 1};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &a);

    if (rc)
        return rc;
    return a.once ? print_once(&a) : watch(&a);
}
