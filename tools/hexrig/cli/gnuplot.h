/* Pictures by gnuplot: a script with its data, fed to the program. */
#ifndef HX_GNUPLOT_H
#define HX_GNUPLOT_H

#include <stdio.h>

struct hx_gnuplot {
    const char *cmd, *path; /* for messages; FILE.svg or FILE.png.  Both borrowed until the picture is drawn */
    FILE *script;           /* for axes, lines and data */
};

/* --plot FILE, before anything is measured: the name's end, and whether gnuplot is there.  Returns an enum hx_exit after a message. */
int hx_gnuplot_check(const char *cmd, const char *path);

/* Opens g->script, and says there where the picture goes to, and its title.  Returns an enum hx_exit after a message. */
int hx_gnuplot_begin(struct hx_gnuplot *g, const char *title);

/* A text in quotes, as gnuplot has them. */
void hx_gnuplot_text(const struct hx_gnuplot *g, const char *text);

/* Draws, and closes the script.  Returns an enum hx_exit after a message. */
int hx_gnuplot_draw(struct hx_gnuplot *g);

#endif
