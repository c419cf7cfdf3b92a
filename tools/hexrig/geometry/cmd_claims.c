/* hexrig geometry claims: what was published about trajectories, beside what is measured here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"
#include "claims.h"
#include "cli/report.h"
#include "cmd_geometry.h"

enum { OPT_RESUME = HX_MADE_OPT_FREE, OPT_QUESTIONS };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"questions", OPT_QUESTIONS, "N", 0, "states that are asked for, of --held (24)", 0},
    {"resume", OPT_RESUME, NULL, 0, "with -o: go on where a run with these options was ended", 0},
    {0},
};

static const char doc[] =
    "The 18 published claims about geometry and trajectories, and two that are left open (star_shaped, "
    "heat_kernel): what was published, what the number here is, the number, and "
    "whether it `holds` (a gate on the method), is `reproduced` or not, or is `no evidence`, since noise gives the same.  The "
    "same on every run: what the machine's speed decides is told by the commands that it names. With -o also CASE_claims.json, "
    "and line by line as they come CASE_claims.jsonl, which --resume goes on with."
    "\vExample: hexrig geometry claims -o claims --resume";

struct run {
    struct hx_claims c;
    int resume;
    json_t *rows[HX_CLAIMS];
    char name[200]; /* of the file of lines */
};

static int option(struct run *r, int key, char *arg)
{
    struct hx_space *p = &r->c.of;
    int rc;

    switch (key) {
    case OPT_RESUME:
        r->resume = 1;
        return 0;
    case OPT_QUESTIONS:
        return hx_opt_size(p->s.cmd, "questions", arg, 1, 65536, &r->c.questions);
    default:
        rc = hx_made_option(p->s.cmd, &r->c.how, key, arg);
        return rc == HX_OPT_UNKNOWN ? hx_space_option(p, key, arg) : rc;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- lines that are there */

/* What a run's numbers depend on. */
static json_t *head(const struct run *r)
{
    const struct hx_space *p = &r->c.of;

    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "model",
                     hx_json_text(p->s.path ? p->s.path : "hexrig-tiny-q8_0.gguf"), "fit",
                     hx_json_text(p->fit ? p->fit : "the first half of the text"), "text",
                     hx_json_text(p->score ? p->score : "books-holdout.txt"), "points", (json_int_t)p->points,
                     "axes", (json_int_t)p->axes, "held", (json_int_t)p->held, "neighbours", (json_int_t)p->neighbours, "steps",
                     (json_int_t)r->c.how.steps, "step", r->c.how.step, "questions", (json_int_t)r->c.questions, "seed",
                     (json_int_t)p->seed);
}

static void take_row(struct run *r, json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));

    for (size_t i = 0; i < HX_CLAIMS && name; i++)
        if (strcmp(name, hx_claims[i].name) == 0 && !r->rows[i])
            r->rows[i] = json_incref(row);
    json_decref(row);
}

/* Whole lines; the last one of a killed run may be a part. */
static int read_lines(struct run *r, FILE *f)
{
    json_t *want = head(r), *line;
    char text[2048];
    int first = 1, same = 1;

    while (fgets(text, sizeof(text), f) && same) {
        line = json_loads(text, 0, NULL);
        if (first)
            same = json_equal(line, want);
        if (first || !line)
            json_decref(line);
        else
            take_row(r, line);
        first = 0;
    }
    json_decref(want);
    return same ? HX_EXIT_OK : hx_cmd_fail(r->c.of.s.cmd, "%s/%s: the lines are of a run with other options", r->c.of.s.folder, r->name);
}

static int resume(struct run *r)
{
    char path[4096];
    FILE *f;
    int rc = HX_EXIT_OK;

    snprintf(path, sizeof(path), "%s/%s", r->c.of.s.folder, r->name);
    f = fopen(path, "re");
    if (f)
        rc = read_lines(r, f);
    if (f)
        fclose(f);
    return rc;
}

/* --- rows */

static json_t *row_of(const struct hx_claim *c, const struct hx_claim_result *got)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:s, s:s, s:s}", "name", c->name, "published", c->published, "reading", c->reading, "number",
                     got->number, "status", got->status, "note", got->note, "command", c->command);
}

static int write_line(FILE *f, const json_t *j)
{
    return f && (json_dumpf(j, f, JSON_REAL_PRECISION(12)) || fputc('\n', f) == EOF || fflush(f)) ? -EIO : 0;
}

static int find_rows(struct run *r, FILE *lines)
{
    struct hx_space *p = &r->c.of;
    struct hx_error err = {""};
    int rc = 0;

    for (size_t i = 0; i < HX_CLAIMS && !rc; i++) {
        struct hx_claim_result got = {0, "", ""};

        if (!r->rows[i]) {
            rc = hx_claims[i].find(&r->c, &got, &err);
            if (!rc)
                r->rows[i] = row_of(&hx_claims[i], &got);
        }
        if (!rc)
            rc = write_line(lines, r->rows[i]);
        hx_watch_step(&p->watch, "claims", i + 1, HX_CLAIMS);
    }
    if (rc == -ECANCELED)
        return HX_EXIT_FAILED; /* it has been said */
    return rc ? hx_cmd_fail(p->s.cmd, "%s", *err.text ? err.text : strerror(-rc)) : HX_EXIT_OK;
}

static int answer(struct run *r)
{
    json_t *j = head(r), *row;
    char name[200];
    int rc;

    for (size_t i = 0; i < HX_CLAIMS; i++) {
        row = json_copy(r->rows[i]);
        json_object_del(row, "name");
        json_object_set_new(j, hx_claims[i].name, row);
    }
    snprintf(name, sizeof(name), "%.*s.json", (int)(strlen(r->name) - strlen(".jsonl")), r->name);
    rc = hx_subject_write_json(&r->c.of.s, name, j);
    if (!rc)
        return hx_report_print(r->c.of.s.cmd, j, r->c.of.s.json);
    json_decref(j);
    return rc;
}

static void name_lines(struct run *r)
{
    const char *path = r->c.of.s.path ? r->c.of.s.path : "hexrig-tiny-q8_0.gguf", *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *end = strstr(base, ".gguf");

    snprintf(r->name, sizeof(r->name), "%.*s_claims.jsonl", end ? (int)(end - base) : (int)strlen(base), base);
}

static int run(struct run *r)
{
    FILE *lines = NULL;
    json_t *h;
    int rc = HX_EXIT_OK;

    name_lines(r);
    if (r->resume)
        rc = resume(r);
    if (!rc && r->c.of.s.folder) {
        lines = hx_subject_create(&r->c.of.s, r->name);
        rc = lines ? HX_EXIT_OK : HX_EXIT_FAILED;
    }
    h = head(r);
    if (!rc && write_line(lines, h))
        rc = hx_cmd_fail(r->c.of.s.cmd, "%s/%s: cannot be written", r->c.of.s.folder, r->name);
    json_decref(h);
    if (!rc)
        rc = find_rows(r, lines);
    if (lines)
        fclose(lines);
    return rc ? rc : answer(r);
}

int hx_geometry_cmd_claims(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.c = {.of = hx_space_of("geometry claims", 4096), .how = {.05, 16}, .questions = 24}};
    const char *cmd = r.c.of.s.cmd;
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &r);

    if (!rc && r.resume && !r.c.of.s.folder)
        rc = hx_cmd_usage(cmd, "--resume needs -o");
    if (!rc && r.c.of.points < HX_CLAIM_TRAJECTORIES)
        rc = hx_cmd_usage(cmd, "--points %zu; legal: from %d", r.c.of.points, HX_CLAIM_TRAJECTORIES);
    if (!rc)
        rc = run(&r);
    hx_claims_free(&r.c);
    for (size_t i = 0; i < HX_CLAIMS; i++)
        json_decref(r.rows[i]);
    return rc;
}
