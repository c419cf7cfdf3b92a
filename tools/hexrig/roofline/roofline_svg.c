/* The picture of a roofline: an SVG with logarithmic axes, written by hand. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/xml_text.h"
#include "roofline.h"

enum { WIDTH = 960, HEIGHT = 600, LEFT = 80, RIGHT = 220, TOP = 50, BOTTOM = 70 };

/* Powers of two at the ends of the axes. */
struct axes {
    int x_from, x_to, y_from, y_to;
};

static double x_of(const struct axes *a, double v)
{
    return LEFT + (log2(v) - a->x_from) / (a->x_to - a->x_from) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *a, double v)
{
    return HEIGHT - BOTTOM - (log2(v) - a->y_from) / (a->y_to - a->y_from) * (HEIGHT - TOP - BOTTOM);
}

static int is_shown(const struct hx_roofline_point *p)
{
    return p->ops_per_byte > 0 && p->ops_per_pcycle > 0;
}

static void widen(int *from, int *to, double v)
{
    const int below = (int)floor(log2(v)), above = (int)ceil(log2(v));

    *from = below < *from ? below : *from;
    *to = above > *to ? above : *to;
}

static struct axes axes_of(const struct hx_ceilings *c, const struct hx_roofline_mark *marks, size_t n)
{
    const double ridge = c->hvx_ops / c->ddr_bytes;
    struct axes a = {(int)floor(log2(ridge)) - 4, (int)ceil(log2(ridge)) + 4, (int)floor(log2(c->hvx_ops)) - 4,
                     (int)ceil(log2(c->hvx_ops)) + 1};

    for (size_t i = 0; i < n; i++)
        if (is_shown(&marks[i].point)) {
            widen(&a.x_from, &a.x_to, marks[i].point.ops_per_byte);
            widen(&a.y_from, &a.y_to, marks[i].point.ops_per_pcycle);
        }
    return a;
}

static void put_tick(FILE *f, double x, double y, const char *anchor, int power)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    if (power < 0)
        fprintf(f, "1/%.0f</text>\n", exp2(-power));
    else
        fprintf(f, "%.0f</text>\n", exp2(power));
}

static void put_axes(FILE *f, const struct axes *a)
{
    const double bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;

    fprintf(f, "<g stroke=\"#ddd\">\n");
    for (int i = a->x_from; i <= a->x_to; i++)
        fprintf(f, "<path d=\"M%.1f %d V%.1f\"/>\n", x_of(a, exp2(i)), TOP, bottom);
    for (int i = a->y_from; i <= a->y_to; i++)
        fprintf(f, "<path d=\"M%d %.1f H%.1f\"/>\n", LEFT, y_of(a, exp2(i)), right);
    fprintf(f, "</g>\n<g fill=\"#444\">\n");
    for (int i = a->x_from; i <= a->x_to; i++)
        put_tick(f, x_of(a, exp2(i)), bottom + 18, "middle", i);
    for (int i = a->y_from; i <= a->y_to; i++)
        put_tick(f, LEFT - 8, y_of(a, exp2(i)) + 4, "end", i);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">HVX operations per byte of DDR</text>\n", (LEFT + right) / 2,
            bottom + 44);
    fprintf(f, "<text transform=\"translate(24 %.1f) rotate(-90)\" text-anchor=\"middle\">", (TOP + bottom) / 2);
    fprintf(f, "HVX operations per pcycle (model)</text>\n</g>\n");
}

/* A way to memory as a slope up to the HVX ceiling; what lies below the axes is cut off by the clip. */
static void put_slope(FILE *f, const struct axes *a, double bytes, double ops, const char *dash, const char *name)
{
    const double from = exp2(a->x_from), ridge = ops / bytes;

    fprintf(f, "<path d=\"M%.1f %.1f L%.1f %.1f\" stroke-dasharray=\"%s\"/>\n", x_of(a, from), y_of(a, from * bytes), x_of(a, ridge),
            y_of(a, ops), dash);
    /* along the slope, since slopes may lie closer to each other than a name is long */
    fprintf(f, "<text transform=\"translate(%.1f %.1f) rotate(%.2f)\" x=\"-14\" y=\"-5\" stroke=\"none\" fill=\"#333\" "
               "text-anchor=\"end\">%s %.2f B/pcycle</text>\n", x_of(a, ridge), y_of(a, ops),
            atan2(y_of(a, 2) - y_of(a, 1), x_of(a, 2) - x_of(a, 1)) * 180 / M_PI, name, bytes);
}

static void put_ceilings(FILE *f, const struct axes *a, const struct hx_ceilings *c)
{
    fprintf(f, "<g fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\" clip-path=\"url(#plot)\">\n");
    fprintf(f, "<path d=\"M%d %.1f H%d\"/>\n", LEFT, y_of(a, c->hvx_ops), WIDTH - RIGHT);
    fprintf(f, "<text x=\"%d\" y=\"%.1f\" stroke=\"none\" fill=\"#333\">HVX %.2f operations/pcycle</text>\n", LEFT + 6,
            y_of(a, c->hvx_ops) - 6, c->hvx_ops);
    put_slope(f, a, c->ddr_bytes, c->hvx_ops, "none", "DDR");
    put_slope(f, a, c->ddr_load_bytes, c->hvx_ops, "6 4", "DDR by loads");
    put_slope(f, a, c->vtcm_bytes, c->hvx_ops, "2 3", "VTCM");
    fprintf(f, "</g>\n");
}

/* A point where execution stands, and a line down to where dispatch leaves it; its number stands in the list on the right. */
static void put_mark(FILE *f, const struct axes *a, const struct hx_roofline_mark *m, unsigned number)
{
    const struct hx_roofline_point *p = &m->point;
    const double x = x_of(a, p->ops_per_byte), y = y_of(a, p->ops_per_pcycle);
    const double low = p->n.all_pcycles > 0 ? p->n.hvx_ops / p->n.all_pcycles : p->ops_per_pcycle, least = exp2(a->y_from);

    fprintf(f, "<path d=\"M%.1f %.1f V%.1f\" stroke=\"#c60\" stroke-dasharray=\"1 3\"/>\n", x, y, y_of(a, low > least ? low : least));
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#06c\"><title>", x, y);
    hx_xml_text(f, m->name);
    fprintf(f, "</title></circle>\n");
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#06c\">%u</text>\n", x + 6, y - 4, number);
}

static void put_marks(FILE *f, const struct axes *a, const struct hx_roofline_mark *marks, size_t n)
{
    enum { LINE = 15 };
    int y = TOP + 10;

    for (size_t i = 0; i < n; i++) {
        const struct hx_roofline_point *p = &marks[i].point;

        if (is_shown(p))
            put_mark(f, a, &marks[i], (unsigned)i + 1);
        fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%zu ", WIDTH - RIGHT + 12, y, is_shown(p) ? "#06c" : "#888", i + 1);
        hx_xml_text(f, marks[i].name);
        fprintf(f, ": %s %.0f %%</text>\n", hx_roof_names[p->exec_roof], 100 * p->exec_share);
        y += LINE;
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"#888\">grey: no HVX operations or no</text>\n", WIDTH - RIGHT + 12, y + LINE / 2);
    fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"#888\">bytes of DDR.  dotted: with dispatch</text>\n", WIDTH - RIGHT + 12,
            y + LINE / 2 + LINE);
}

int hx_roofline_svg(const char *path, const char *title, const struct hx_ceilings *c, const struct hx_roofline_mark *marks,
                    size_t n)
{
    const struct axes a = axes_of(c, marks, n);
    FILE *f = fopen(path, "we");
    int rc;

    if (!f)
        return -errno;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n", WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(f, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    fprintf(f, "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT, TOP,
            WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    fprintf(f, "<text x=\"%d\" y=\"24\" font-size=\"15\">", LEFT);
    hx_xml_text(f, title);
    fprintf(f, "</text>\n");
    put_axes(f, &a);
    put_ceilings(f, &a, c);
    put_marks(f, &a, marks, n);
    fprintf(f, "</svg>\n");
    errno = 0;
    rc = ferror(f) ? -EIO : 0;
    if (fclose(f) && !rc)
        rc = errno ? -errno : -EIO;
    return rc;
}
