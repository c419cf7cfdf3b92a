/* Where the sections of a report come from: commands of hexrig, and the files that they write. */
#ifndef HX_SOURCES_H
#define HX_SOURCES_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

enum { HX_HTML_SWEEPS = 6, HX_HTML_WORDS = 48 };

/* What is asked, as given; NULL: not. */
struct hx_html_asked {
    const char *model, *geometry, *profile, *densities, *positions, *front_end;
    const char *sweep[HX_HTML_SWEEPS];
    size_t n_sweep;
};

/* A command line, [n] words and NULL; shown: the same with names in place of files that do not stay. */
struct hx_html_command {
    const char *argv[HX_HTML_WORDS], *shown[HX_HTML_WORDS];
    size_t n;
    char pos[24], density[64]; /* what some words point into */
};

struct hx_html_source {
    const char *id, *heading, *file; /* file: that it writes, its shown name; NULL: none */
    void (*ask)(struct hx_html_command *c, const struct hx_html_asked *asked, const char *file);
    int (*show)(FILE *f, const json_t *answer, FILE *file); /* 0, or negative errno; file: NULL if there is none */
};

extern const struct hx_html_source hx_html_sources[];
extern const size_t hx_html_n_sources;

/* What the report is about: a geometry, or a model's file. */
const char *hx_html_subject(const struct hx_html_asked *asked);

#endif
