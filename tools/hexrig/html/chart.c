/* Draws charts; their colours are those of the page. */
#include "chart.h"

#include <math.h>

#include "cli/xml_text.h"

/* Small, since a phone shows it at three quarters of this. */
enum { WIDTH = 480, HEIGHT = 320, LEFT = 58, RIGHT = 20, TOP = 14, BOTTOM = 46, COLOURS = 6, MOST_TICKS = 8, MOST_POWERS = 10 };

/* Ticks are at from, from + step, ..., to: powers of `base`, or where that is 0 the values themselves. */
struct axis {
    double base, from, to, step;
    double at, length; /* in the picture */
};

static void widen(double range[2], double v)
{
    range[0] = fmin(range[0], v);
    range[1] = fmax(range[1], v);
}

/* 0: there is no point. */
static int range_of(const struct hx_chart *c, int which, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->line[i].n; k++)
            widen(range, c->line[i].at[k][which]);
    return range[0] <= range[1];
}

static void logarithmic(struct axis *a, const double range[2], double least_base)
{
    static const double bases[] = {2, 4, 10, 100, 1000, 1e6};

    a->step = 1;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        if (bases[i] < least_base)
            continue;
        a->base = bases[i];
        a->from = floor(log(range[0]) / log(a->base) + 1e-9);
        a->to = ceil(log(range[1]) / log(a->base) - 1e-9);
        if (a->to - a->from < MOST_POWERS)
            return;
    }
}

/* From 0, by a step of 1, 2 or 5. */
static void linear(struct axis *a, const double range[2])
{
    static const double steps[] = {1, 2, 5, 10};
    const double most = range[1] > 0 ? range[1] : 1, unit = pow(10, floor(log10(most / MOST_TICKS)));

    a->base = 0;
    a->from = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        a->step = steps[i] * unit;
        if (most <= MOST_TICKS * a->step)
            break;
    }
    a->to = ceil(most / a->step - 1e-9) * a->step;
}

static struct axis axis_of(const double range[2], double least_base, double at, double length)
{
    struct axis a = {.at = at, .length = length};

    if (range[0] > 0 && range[1] >= 8 * range[0])
        logarithmic(&a, range, least_base);
    else
        linear(&a, range);
    return a;
}

static double place(const struct axis *a, double v)
{
    const double u = a->base > 0 ? log(v) / log(a->base) : v;

    return a->at + (u - a->from) / (a->to - a->from) * a->length;
}

/* 4096 as 4096, 100000 as 100k. */
static void put_number(FILE *f, double v)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t i = 0;

    for (; v >= (i ? 1e3 : 1e4) && i + 1 < sizeof(units) / sizeof(units[0]); i++)
        v /= 1000;
    fprintf(f, "%g%s", v, units[i]);
}

static void put_axis(FILE *f, const struct axis *a, int is_y)
{
    for (double t = a->from; t <= a->to + a->step / 2; t += a->step) {
        const double p = a->at + (t - a->from) / (a->to - a->from) * a->length;

        if (is_y)
            fprintf(f, "<path class=\"grid\" d=\"M%d %.1f H%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT, p, WIDTH - RIGHT,
                    LEFT - 6, p + 4);
        else
            fprintf(f, "<path class=\"grid\" d=\"M%.1f %d V%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", p, TOP,
                    HEIGHT - BOTTOM, p, HEIGHT - BOTTOM + 16);
        put_number(f, a->base > 0 ? pow(a->base, t) : t);
        fputs("</text>\n", f);
    }
}

static const char *dash_of(size_t line)
{
    static const char *const dashes[] = {"none", "7 4", "2 3", "9 3 2 3"};

    return dashes[line / COLOURS % (sizeof(dashes) / sizeof(dashes[0]))];
}

static void put_line(FILE *f, const struct hx_chart_line *l, size_t number, const struct axis *x, const struct axis *y)
{
    fprintf(f, "<g class=\"s%zu\">", number % COLOURS);
    if (!l->is_dots && l->n) {
        fprintf(f, "<path class=\"line\" stroke-dasharray=\"%s\" d=\"", dash_of(number));
        for (size_t i = 0; i < l->n; i++)
            fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', place(x, l->at[i][0]), place(y, l->at[i][1]));
        fputs("\"/>\n", f);
    }
    for (size_t i = 0; i < l->n; i++) {
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>", place(x, l->at[i][0]), place(y, l->at[i][1]));
        hx_xml_text(f, l->name);
        fprintf(f, ": %.10g, %.10g</title></circle>\n", l->at[i][0], l->at[i][1]);
    }
    fputs("</g>\n", f);
}

static void put_legend(FILE *f, const struct hx_chart *c)
{
    fputs("<ul class=\"legend\">", f);
    for (size_t i = 0; i < c->n; i++) {
        const struct hx_chart_line *l = &c->line[i];

        fprintf(f, "<li class=\"s%zu\"><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\">"
                   "<path d=\"M%d 5 H%d\" stroke-dasharray=\"%s\"/></svg>", i % COLOURS,
                l->is_dots ? 10 : 0, l->is_dots ? 16 : 26, l->is_dots ? "none" : dash_of(i));
        hx_xml_text(f, l->name);
        fputs("</li>\n", f);
    }
    fputs("</ul>", f);
}

void hx_chart(FILE *f, const struct hx_chart *c)
{
    const double width = WIDTH - LEFT - RIGHT, height = HEIGHT - TOP - BOTTOM;
    double xs[2], ys[2];
    struct axis x, y;

    if (!range_of(c, 0, xs) || !range_of(c, 1, ys))
        return;
    x = axis_of(xs, 2, LEFT, width);
    y = axis_of(ys, 10, HEIGHT - BOTTOM, -height);
    fputs("<figure class=\"chart\"><figcaption>", f);
    hx_xml_text(f, c->caption);
    fprintf(f, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    hx_xml_text(f, c->caption);
    fputs("\">\n", f);
    put_axis(f, &x, 0);
    put_axis(f, &y, 1);
    fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", LEFT + width / 2, HEIGHT - 8);
    hx_xml_text(f, c->x);
    fprintf(f, "</text>\n<text transform=\"translate(12 %.1f) rotate(-90)\" text-anchor=\"middle\">", TOP + height / 2);
    hx_xml_text(f, c->y);
    fputs("</text>\n", f);
    for (size_t i = 0; i < c->n; i++)
        put_line(f, &c->line[i], i, &x, &y);
    fputs("</svg>\n", f);
    put_legend(f, c);
    fputs("</figure>\n", f);
}
