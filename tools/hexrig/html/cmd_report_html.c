/* hexrig report html: what several commands say of a geometry and a profile, in one file to hand on. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "hx_version.h"
#include "page.h"
#include "report/cmd_report.h"
#include "report/run_json.h"
#include "sources.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_DENSITY, OPT_POS, OPT_SWEEP, OPT_SECTIONS };
enum { MAX_SECTIONS = 8, MAX_FILES = MAX_SECTIONS + 2 };

static const char cmd[] = "report html";

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "is overwritten (hexrig-report.html)", 0},
    {"sections", OPT_SECTIONS, "LIST", 0, "density,roofline,trace,timing (all)", 0},
    {"geometry", OPT_GEOMETRY, "NAME", 0, "a name, numbers or file as hexrig density has them (smollm2-135m)", 0},
    {"model", 'm', "FILE", 0, "a GGUF model instead", 0},
    {"density", OPT_DENSITY, "LIST", 0, "as hexrig density has it (all that the methods allow)", 0},
    {"pos", OPT_POS, "LIST", 0, "positions of the token, from 0 (1,16,128,1024,4096)", 0},
    {"sweep", OPT_SWEEP, "NAME=LIST", 0, "as hexrig density has it; repeatable", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path, of all sections but timing (s22u-577)", 0},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", 0},
    {0},
};

static const char doc[] =
    "Writes one HTML file that shows what a token costs by dispatch density, the roofline, what a token's trace adds up to, and the "
    "cost model beside silicon, each with the command that says it.  The file needs no network and no script."
    "\vExample: hexrig report html --geometry qwen3-4b --pos 16,128 -o qwen3.html";

struct html {
    struct hx_html_asked asked;
    const char *out;
    int is_chosen[MAX_SECTIONS], chosen; /* chosen 0: all are */
    const char *const *line;             /* the whole command */
};

/* --- files that do not stay */

static char files[MAX_FILES][4096]; /* written before the handler is there, or while it may run; "": none */
static char folder[4096];

static void remove_files(void)
{
    for (size_t i = 0; i < MAX_FILES; i++)
        if (*files[i])
            unlink(files[i]);
    if (*folder)
        rmdir(folder);
}

static void on_signal(int sig)
{
    remove_files();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal}, old;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &a, NULL);
}

/* Where the sections' files go. */
static int make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[sizeof(folder)];

    snprintf(path, sizeof(path), "%s/hexrig-report.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(path))
        return hx_cmd_fail(cmd, "%s: %s", path, strerror(errno));
    memcpy(folder, path, sizeof(folder));
    for (size_t i = 0; i < hx_html_n_sources; i++)
        if (hx_html_sources[i].file && snprintf(files[i], sizeof(files[i]), "%.3900s/%s", folder, hx_html_sources[i].file) < 0)
            *files[i] = '\0';
    return HX_EXIT_OK;
}

/* --- options */

static int choose_sections(struct html *h, const char *arg)
{
    for (const char *at = arg;; at++) {
        const size_t n = strcspn(at, ",");
        size_t i = 0;

        while (i < hx_html_n_sources && (strlen(hx_html_sources[i].id) != n || strncmp(hx_html_sources[i].id, at, n) != 0))
            i++;
        if (i == hx_html_n_sources)
            return hx_cmd_bad_value(cmd, "sections", arg, "a list of density, roofline, trace, timing");
        h->is_chosen[i] = h->chosen = 1;
        at += n;
        if (!*at)
            return 0;
    }
}

static int add_sweep(struct html *h, const char *arg)
{
    if (h->asked.n_sweep == HX_HTML_SWEEPS)
        return hx_cmd_usage(cmd, "--sweep: at most %d", HX_HTML_SWEEPS);
    h->asked.sweep[h->asked.n_sweep++] = arg;
    return 0;
}

static int option(struct html *h, int key, const char *arg)
{
    switch (key) {
    case 'o': h->out = arg; return *arg ? 0 : hx_cmd_usage(cmd, "-o: the name is empty");
    case OPT_SECTIONS: return choose_sections(h, arg);
    case OPT_GEOMETRY: h->asked.geometry = arg; return 0;
    case 'm': h->asked.model = arg; return 0;
    case OPT_DENSITY: h->asked.densities = arg; return 0;
    case OPT_POS: h->asked.positions = arg; return 0;
    case OPT_SWEEP: return add_sweep(h, arg);
    case HX_OPT_PROFILE: h->asked.profile = arg; return 0;
    case HX_OPT_FRONT_END: return hx_opt_front_end(cmd, arg, &h->asked.front_end);
    default: return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int parse(struct html *h, int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, h);

    if (!rc && h->asked.model && h->asked.geometry)
        rc = hx_cmd_usage(cmd, "--model and --geometry exclude each other");
    return rc;
}

static int is_chosen(const struct html *h, size_t i)
{
    return !h->chosen || h->is_chosen[i];
}

/* --- sections */

/* What a command that failed has said. */
static void repeat(FILE *said)
{
    int c;

    rewind(said);
    while ((c = getc(said)) != EOF)
        putc(c, stderr);
}

static json_t *run(const struct hx_html_command *c, int *code)
{
    FILE *said = tmpfile();
    json_t *answer = hx_run_json(cmd, c->argv, said ? fileno(said) : -1, code);

    if (!answer && said)
        repeat(said);
    if (said)
        fclose(said);
    return answer;
}

static int show(FILE *f, const struct hx_html_source *s, const json_t *answer, const char *path)
{
    FILE *file = s->file ? fopen(path, "re") : NULL;
    int rc = s->file && !file ? -errno : s->show(f, answer, file);

    if (file)
        fclose(file);
    return rc ? hx_cmd_fail(cmd, "section %s: %s", s->id, strerror(-rc)) : HX_EXIT_OK;
}

static int section(FILE *f, const struct html *h, size_t i)
{
    const struct hx_html_source *s = &hx_html_sources[i];
    struct hx_html_command c = {.n = 0};
    int rc = HX_EXIT_FAILED;
    json_t *answer;

    s->ask(&c, &h->asked, files[i]);
    fprintf(stderr, "hexrig %s: %s\n", cmd, s->id);
    answer = run(&c, &rc);
    if (!answer)
        return rc;
    hx_page_section_begin(f, s->id, s->heading, c.shown);
    rc = show(f, s, answer, files[i]);
    hx_page_section_end(f);
    json_decref(answer);
    return rc;
}

static void head(FILE *f, const struct html *h)
{
    const char *links[MAX_SECTIONS][2];
    char *title = NULL;
    size_t n = 0;

    if (asprintf(&title, "hexrig report: %s", hx_html_subject(&h->asked)) < 0)
        title = NULL;
    hx_page_begin(f, title ? title : "hexrig report");
    free(title);
    hx_page_command(f, h->line);
    for (size_t i = 0; i < hx_html_n_sources; i++)
        if (is_chosen(h, i)) {
            links[n][0] = hx_html_sources[i].id;
            links[n++][1] = hx_html_sources[i].heading;
        }
    hx_page_links(f, (const char *const(*)[2])links, n);
    hx_page_says(f, "Made by hexrig %s.  Every figure is what the command above it prints.", hx_version);
}

static int write_page(FILE *f, const struct html *h)
{
    int rc = HX_EXIT_OK;

    head(f, h);
    for (size_t i = 0; !rc && i < hx_html_n_sources; i++)
        if (is_chosen(h, i))
            rc = section(f, h, i);
    hx_page_end(f);
    return rc;
}

/* --- the file */

/* Beside its place until it is complete; something that is no file, as /dev/stdout, is written to itself. */
static int write_file(const struct html *h)
{
    char *part = files[MAX_FILES - 1];
    struct stat st;
    const int is_file = stat(h->out, &st) != 0 || S_ISREG(st.st_mode);
    FILE *f;
    int rc, lost;

    if (is_file && snprintf(part, sizeof(files[0]), "%s.part", h->out) >= (int)sizeof(files[0])) {
        *part = '\0';
        return hx_cmd_fail(cmd, "%s: %s", h->out, strerror(ENAMETOOLONG));
    }
    f = fopen(is_file ? part : h->out, "we");
    if (!f) {
        rc = errno;
        *part = '\0';
        return hx_cmd_fail(cmd, "%s: %s", h->out, strerror(rc));
    }
    rc = write_page(f, h);
    errno = 0;
    lost = ferror(f);
    lost |= fclose(f);
    if (!rc && (lost || (is_file && rename(part, h->out))))
        rc = hx_cmd_fail(cmd, "%s: %s", h->out, strerror(errno ? errno : EIO));
    if (!rc)
        fprintf(stderr, "hexrig %s: %s\n", cmd, h->out);
    return rc;
}

/* The command line as it was given.  NULL: out of memory. */
static const char **line_of(int argc, char **argv)
{
    const char **line = calloc((size_t)argc + 3, sizeof(*line));

    if (!line)
        return NULL;
    line[0] = "hexrig";
    line[1] = "report";
    line[2] = "html";
    for (int i = 1; i < argc; i++)
        line[2 + i] = argv[i];
    return line;
}

int hx_cmd_report_html(int argc, char **argv)
{
    struct html h = {.out = "hexrig-report.html"};
    const char **line = line_of(argc, argv); /* before options are put in front of words */
    int rc = line ? parse(&h, argc, argv) : hx_cmd_fail(cmd, "out of memory");

    h.line = line;
    if (!rc) {
        catch_signals();
        rc = make_folder();
        if (!rc)
            rc = write_file(&h);
        remove_files();
    }
    free(line);
    return rc;
}
