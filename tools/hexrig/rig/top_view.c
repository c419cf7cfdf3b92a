/* The lines of a frame: the rig, then its sessions, then methods as far as there is room. */
#include "top_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "node_text.h"

enum { LINE = 512, BAR = 24, SESSIONS_SHOWN = 5, NAME_LEAST = 16 };

struct view {
    const struct hx_top_frame *t;
    FILE *f;
    size_t row; /* lines so far */
};

__attribute__((format(printf, 2, 3))) static void put(struct view *v, const char *fmt, ...)
{
    char line[LINE];
    va_list args;
    size_t n;

    if (v->row++ >= v->t->rows)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    n = strnlen(line, v->t->columns);
    while (n && line[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < n; i++)
        putc(line[i] >= ' ' && line[i] <= '~' ? line[i] : '?', v->f);
    putc('\n', v->f);
}

static size_t left(const struct view *v)
{
    return v->t->rows > v->row ? v->t->rows - v->row : 0;
}

/* Six characters. */
static const char *bytes_text(uint64_t bytes, char text[16])
{
    static const char *const unit[] = {"B", "K", "M", "G", "T", "P"};
    double n = (double)bytes;
    size_t u = 0;

    while (n >= 999.5 && u + 1 < sizeof(unit) / sizeof(unit[0])) {
        n /= 1024;
        u++;
    }
    snprintf(text, 16, u && n < 99.95 ? "%.1f %s" : "%.0f %s", n, unit[u]);
    return text;
}

/* Seven characters, up to hours. */
static const char *ms_text(uint64_t ns, char text[32])
{
    const double ms = (double)ns / 1e6;

    snprintf(text, 32, ms < 999.9995 ? "%.3f" : ms < 99999.95 ? "%.1f" : "%.0f", ms);
    return text;
}

/* A figure of the node `stats`, of all sessions and those that are closed. */
static uint64_t sum(const struct view *v, const char *key)
{
    uint64_t n = 0;

    for (const char *line = v->t->nodes.stats; line; line = hx_node_next(line))
        n += hx_node_number(line, key);
    return n;
}

/* The line of a session in a node; NULL: there is none. */
static const char *line_of(const char *node, uint64_t session)
{
    for (const char *line = node; line; line = hx_node_next(line))
        if (strncmp(line, "session=", 8) == 0 && hx_node_number(line, "session") == session)
            return line;
    return NULL;
}

/* --- the rig */

static void put_rig(struct view *v)
{
    const struct hx_top_nodes *n = &v->t->nodes;
    char state[16], front[16], profile[64], time[16], most[16], restarts[16], mhz[16], taken[16];

    hx_node_value(n->status, "state", state, sizeof(state));
    hx_node_value(n->status, "front_end", front, sizeof(front));
    hx_node_value(n->status, "profile", profile, sizeof(profile));
    hx_node_value(n->status, "time", time, sizeof(time));
    hx_node_value(n->status, "sessions_max", most, sizeof(most));
    hx_node_value(n->status, "dsp_restarts", restarts, sizeof(restarts));
    hx_node_value(n->clock, "clock_mhz", mhz, sizeof(mhz));
    hx_node_value(n->clock, "levels_taken", taken, sizeof(taken));
    put(v, "hexrig top   %s   front end %s   profile %s   time %s", state, front, profile, time);
    put(v, "clock %s MHz, %s levels taken   DSP restarts %s   sessions of %s, closed %llu", mhz, taken, restarts, most,
        (unsigned long long)sum(v, "closed_sessions"));
}

static void put_calls(struct view *v)
{
    char dispatch[32], marshal[32], queue[32], exec[32], total[32];

    put(v, "calls %llu   errors %llu   packets %llu   driver's calls %llu   slow path %llu", (unsigned long long)sum(v, "invokes"),
        (unsigned long long)sum(v, "errors"), (unsigned long long)sum(v, "packets"), (unsigned long long)sum(v, "kernel_calls"),
        (unsigned long long)sum(v, "slow_path_calls"));
    put(v, "model ms  %s: dispatch %s marshal %s queue %s exec %s", ms_text(sum(v, "model_sum_ns"), total),
        ms_text(sum(v, "model_dispatch_ns"), dispatch), ms_text(sum(v, "model_marshal_ns"), marshal),
        ms_text(sum(v, "model_queue_ns"), queue), ms_text(sum(v, "model_exec_ns"), exec));
}

static void put_bytes(struct view *v)
{
    char copied[16], shared[16], ddr[16], dma[16], l2[16], vtcm[16];

    put(v, "bytes     copied %s  shared %s  DDR %s  DMA %s  L2 %s  VTCM %s", bytes_text(sum(v, "bytes_copied"), copied),
        bytes_text(sum(v, "bytes_shared"), shared), bytes_text(sum(v, "ddr_bytes"), ddr), bytes_text(sum(v, "dma_bytes"), dma),
        bytes_text(sum(v, "l2_bytes"), l2), bytes_text(sum(v, "vtcm_bytes"), vtcm));
}

static void put_vtcm(struct view *v)
{
    char total_text[32], free_text[32], bar[BAR + 1];
    unsigned long long total, held;

    hx_node_value(v->t->nodes.vtcm, "total_bytes", total_text, sizeof(total_text));
    hx_node_value(v->t->nodes.vtcm, "free_bytes", free_text, sizeof(free_text));
    total = strtoull(total_text, NULL, 10);
    held = total - strtoull(free_text, NULL, 10);
    for (size_t i = 0; i < BAR; i++)
        bar[i] = total && held * BAR > total * i ? '#' : '.';
    bar[BAR] = '\0';
    put(v, "VTCM      [%s] %llu of %llu KiB held", bar, held >> 10, total >> 10);
}

/* Without a model nothing warms. */
static void put_heat(struct view *v)
{
    const char *thermal = v->t->nodes.thermal;
    char time[16], now[16], peak[16], limit[16], energy[32];

    hx_node_value(v->t->nodes.status, "time", time, sizeof(time));
    if (!thermal || strcmp(time, "off") == 0) {
        put(v, "heat      temperature unknown%s", thermal ? ": time off" : "");
        return;
    }
    hx_node_value(thermal, "temperature_c", now, sizeof(now));
    hx_node_value(thermal, "peak_c", peak, sizeof(peak));
    hx_node_value(thermal, "throttle_c", limit, sizeof(limit));
    hx_node_value(thermal, "energy_j", energy, sizeof(energy));
    put(v, "heat      %s C, peak %s C, throttled above %s C   energy %s J", now, peak, limit, energy);
}

/* --- its sessions */

static uint64_t vtcm_of(const struct view *v, uint64_t session)
{
    uint64_t held = 0;

    for (const char *line = v->t->nodes.vtcm; line; line = hx_node_next(line))
        if (strncmp(line, "session=", 8) == 0 && hx_node_number(line, "session") == session)
            held += hx_node_number(line, "held_bytes");
    return held;
}

static void put_session(struct view *v, const char *line)
{
    const uint64_t session = hx_node_number(line, "session");
    const char *of = line_of(v->t->nodes.stats, session);
    char state[16], pd[16], copied[16], shared[16], ms[32];

    of = of ? of : "";
    hx_node_word(line, "state", state, sizeof(state));
    hx_node_word(line, "pd", pd, sizeof(pd));
    put(v, "%7llu %8llu %-9s %-7s %8llu %6llu %6s %6s %6llu %8s", (unsigned long long)session,
        (unsigned long long)hx_node_number(line, "pid"), state, pd, (unsigned long long)hx_node_number(of, "invokes"),
        (unsigned long long)hx_node_number(of, "errors"), bytes_text(hx_node_number(of, "bytes_copied"), copied),
        bytes_text(hx_node_number(of, "bytes_shared"), shared), (unsigned long long)vtcm_of(v, session) >> 10,
        ms_text(hx_node_number(of, "model_sum_ns"), ms));
}

static void put_sessions(struct view *v)
{
    size_t n = 0;

    put(v, "session      pid state     PD         calls errors copied shared VTCM K model ms");
    for (const char *line = v->t->nodes.sessions; line && *line; line = hx_node_next(line))
        if (n++ < SESSIONS_SHOWN)
            put_session(v, line);
    if (!n)
        put(v, "   none is open");
    else if (n > SESSIONS_SHOWN)
        put(v, "   and %zu more", n - SESSIONS_SHOWN);
}

/* --- methods */

static uint64_t calls_before(const struct hx_method_stats *before, const struct hx_method_stat *l)
{
    for (size_t i = 0; before && i < before->n; i++)
        if (hx_method_stat_is_same(&before->at[i], l))
            return before->at[i].calls;
    return 0;
}

/* What the other columns leave. */
static int name_columns(const struct view *v)
{
    const size_t others = sizeof(" 12345678 123456 1234 123456 1234567 model ms") - 1;

    return v->t->columns > others + NAME_LEAST ? (int)(v->t->columns - others) : NAME_LEAST;
}

static void put_method(struct view *v, const struct hx_method_stat *l)
{
    const uint64_t was = calls_before(v->t->before, l);
    char title[HX_METHOD_STAT_TITLE], news[24] = "", bytes[16], exec[32], total[32];

    hx_method_stat_title(l, title);
    if (v->t->before && l->calls > was)
        snprintf(news, sizeof(news), "+%llu", (unsigned long long)(l->calls - was));
    put(v, "%-*.*s %8llu %6s %4llu %6s %7s %8s", name_columns(v), name_columns(v), title, (unsigned long long)l->calls, news,
        (unsigned long long)l->errors, bytes_text(l->bytes_copied + l->bytes_shared, bytes), ms_text(l->exec_ns, exec),
        ms_text(hx_method_stat_ns(l), total));
}

/* The last line of a frame that is too small for all says so. */
static void put_methods(struct view *v)
{
    const struct hx_method_stats *s = v->t->methods;

    put(v, "%-*s %8s %6s %4s %6s %7s %8s", name_columns(v), "method", "calls", "new", "err", "bytes", "exec", "model ms");
    for (size_t i = 0; i < s->n; i++) {
        if (left(v) == 1 && i + 1 < s->n) {
            put(v, "and %zu more", s->n - i);
            return;
        }
        put_method(v, &s->at[i]);
    }
}

void hx_top_print(const struct hx_top_frame *t, FILE *f)
{
    struct view v = {.t = t, .f = f};

    put_rig(&v);
    put_calls(&v);
    put_bytes(&v);
    put_vtcm(&v);
    put_heat(&v);
    put(&v, "%s", "");
    put_sessions(&v);
    put(&v, "%s", "");
    put_methods(&v);
}
