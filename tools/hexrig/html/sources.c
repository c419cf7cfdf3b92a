/* The command line of each section. */
#include "sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sections.h"

enum { TRACE_POS = 16 }; /* at most: the trace has the calls that fill the cache, too */

static void add(struct hx_html_command *c, const char *word, const char *shown)
{
    if (c->n + 1 == HX_HTML_WORDS)
        return;
    c->argv[c->n] = word;
    c->shown[c->n++] = shown;
}

static void add_words(struct hx_html_command *c, const char *const *words)
{
    for (; *words; words++)
        add(c, *words, *words);
}

/* `--name value`, if there is a value. */
static void add_option(struct hx_html_command *c, const char *name, const char *value)
{
    if (!value)
        return;
    add(c, name, name);
    add(c, value, value);
}

static void add_rig(struct hx_html_command *c, const struct hx_html_asked *asked)
{
    add_option(c, "--profile", asked->profile);
    add_option(c, "--front-end", asked->front_end);
}

static int is_sweep_of(const char *sweep, const char *name)
{
    const size_t n = strlen(name);

    return strncmp(sweep, name, n) == 0 && sweep[n] == '=';
}

/* 1: a sweep says which geometries or models. */
static int subject_is_swept(const struct hx_html_asked *asked)
{
    for (size_t i = 0; i < asked->n_sweep; i++)
        if (is_sweep_of(asked->sweep[i], "geometry") || is_sweep_of(asked->sweep[i], "model"))
            return 1;
    return 0;
}

const char *hx_html_subject(const struct hx_html_asked *asked)
{
    return asked->geometry ? asked->geometry : asked->model ? asked->model : "smollm2-135m";
}

static void add_subject(struct hx_html_command *c, const struct hx_html_asked *asked)
{
    add_option(c, asked->model && !asked->geometry ? "--model" : "--geometry", hx_html_subject(asked));
}

/* --- the sections */

static void ask_density(struct hx_html_command *c, const struct hx_html_asked *asked, const char *file)
{
    (void)file;
    add_words(c, (const char *const[]){"hexrig", "density", NULL});
    if (!subject_is_swept(asked))
        add_subject(c, asked);
    add_option(c, "--density", asked->densities);
    add_option(c, "--pos", asked->positions ? asked->positions : "1,16,128,1024,4096");
    for (size_t i = 0; i < asked->n_sweep; i++)
        add_option(c, "--sweep", asked->sweep[i]);
    add_rig(c, asked);
    add(c, "--json", "--json");
}

static void ask_roofline(struct hx_html_command *c, const struct hx_html_asked *asked, const char *file)
{
    add_words(c, (const char *const[]){"hexrig", "roofline", NULL});
    add_option(c, "--model", asked->model);
    add_rig(c, asked);
    add(c, "--svg", "--svg");
    add(c, file, "roofline.svg");
    add(c, "--json", "--json");
}

/* Batched, if that is among them: a call for each layer's cache is a trace that can be read.  Else the last one. */
static void choose_density(char *name, size_t bytes, const char *list)
{
    const char *at = list;

    snprintf(name, bytes, "batched");
    for (; at && *at; at += strspn(at, ",")) {
        const size_t n = strcspn(at, ",");

        snprintf(name, bytes, "%.*s", (int)n, at);
        if (strcmp(name, "batched") == 0)
            return;
        at += n;
    }
}

/* The least, as it was given; one that is no number is taken as it is, and the command refuses it. */
static void choose_position(char *pos, size_t bytes, const char *list)
{
    unsigned long least = TRACE_POS;

    snprintf(pos, bytes, "%d", TRACE_POS);
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        const int n = (int)strcspn(at, ",");
        char *end;
        const unsigned long p = strtoul(at, &end, 10);

        if (end != at + n || p < least)
            snprintf(pos, bytes, "%.*s", n, at);
        if (end != at + n)
            return;
        least = p < least ? p : least;
        at += n;
    }
}

static void ask_trace(struct hx_html_command *c, const struct hx_html_asked *asked, const char *file)
{
    choose_density(c->density, sizeof(c->density), asked->densities);
    choose_position(c->pos, sizeof(c->pos), asked->positions);
    add_words(c, (const char *const[]){"hexrig", "trace", "-o", NULL});
    add(c, file, "trace.json");
    add_rig(c, asked);
    add_words(c, (const char *const[]){"--", "density", NULL});
    add_subject(c, asked);
    add_option(c, "--density", c->density);
    add_option(c, "--pos", c->pos);
    add(c, "--json", "--json");
}

/* In the profile that its rows were measured for. */
static void ask_timing(struct hx_html_command *c, const struct hx_html_asked *asked, const char *file)
{
    (void)file;
    add_words(c, (const char *const[]){"hexrig", "report", "timing", NULL});
    add_option(c, "--front-end", asked->front_end);
    add(c, "--json", "--json");
}

static int show_density(FILE *f, const json_t *answer, FILE *file)
{
    (void)file;
    return hx_section_density(f, answer);
}

static int show_roofline(FILE *f, const json_t *answer, FILE *file)
{
    char *svg = NULL;
    size_t room = 0;
    int rc;

    errno = 0;
    if (getdelim(&svg, &room, '\0', file) < 0)
        rc = errno ? -errno : -ENODATA;
    else
        rc = hx_section_roofline(f, answer, svg);
    free(svg);
    return rc;
}

static int show_trace(FILE *f, const json_t *answer, FILE *file)
{
    json_t *trace = json_loadf(file, 0, NULL);
    int rc = trace ? hx_section_trace(f, trace) : -EBADMSG;

    (void)answer;
    json_decref(trace);
    return rc;
}

static int show_timing(FILE *f, const json_t *answer, FILE *file)
{
    (void)file;
    return hx_section_timing(f, answer);
}

const struct hx_html_source hx_html_sources[] = {
    {"density", "Dispatch density", NULL, ask_density, show_density},
    {"roofline", "Roofline", "roofline.svg", ask_roofline, show_roofline},
    {"trace", "Trace of a token", "trace.json", ask_trace, show_trace},
    {"timing", "Timing validation", NULL, ask_timing, show_timing},
};
const size_t hx_html_n_sources = sizeof(hx_html_sources) / sizeof(hx_html_sources[0]);
