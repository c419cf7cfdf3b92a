/* The report of run-with: what the rig has counted since the program began, without clients that were there before. */
#include "program_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "hx_rig.h"

static int read_stats(struct hx_method_stats *s, const char *cmd)
{
    char *text, why[1280] = "";
    int rc = hx_rig_read_why(NULL, "methods", &text, why, sizeof(why));

    if (rc)
        return hx_cmd_fail(cmd, "%s", why);
    rc = hx_method_stats_parse(s, text);
    free(text);
    return rc ? hx_cmd_fail(cmd, "methods: %s", strerror(-rc)) : HX_EXIT_OK;
}

/* Whose sessions are open now, from lines "session=1 pid=2 ...".  Not ourselves: an earlier life of this number is over. */
static int read_others(struct hx_program_report *r, const char *cmd)
{
    char *text, why[1280] = "";
    int rc = hx_rig_read_why(NULL, "sessions", &text, why, sizeof(why));
    size_t lines = 1;

    if (rc)
        return hx_cmd_fail(cmd, "%s", why);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    r->others = calloc(lines, sizeof(*r->others));
    for (const char *p = text; r->others && (p = strstr(p, " pid=")); p++) {
        pid_t pid = (pid_t)strtol(p + 5, NULL, 10);

        if (pid != getpid())
            r->others[r->n_others++] = pid;
    }
    free(text);
    return r->others ? HX_EXIT_OK : hx_cmd_fail(cmd, "out of memory");
}

static int counts(const struct hx_program_report *r)
{
    return r->wanted || r->gate;
}

int hx_program_report_begin(struct hx_program_report *r, const char *cmd)
{
    int rc = counts(r) ? read_stats(&r->before, cmd) : HX_EXIT_OK;

    return rc || !counts(r) ? rc : read_others(r, cmd);
}

static int print(const struct hx_program_report *r, const struct hx_method_stats *s, FILE *f, const char *cmd)
{
    json_t *o;
    int bad;

    if (!r->json) {
        hx_method_stats_print(s, hx_rig_profile(), f);
        return HX_EXIT_OK;
    }
    o = hx_method_stats_json(s, hx_rig_profile(), hx_rig_front_end());
    bad = !o || hx_json_lost() || json_dumpf(o, f, JSON_REAL_PRECISION(12));
    if (o)
        putc('\n', f);
    json_decref(o);
    return bad ? hx_cmd_fail(cmd, "out of memory") : HX_EXIT_OK;
}

static int write_file(const struct hx_program_report *r, const struct hx_method_stats *s, const char *cmd)
{
    FILE *f = fopen(r->file, "we");
    int rc;

    if (!f)
        return hx_cmd_fail(cmd, "--report=%s: %s", r->file, strerror(errno));
    rc = print(r, s, f, cmd);
    if ((ferror(f) | fclose(f)) && !rc)
        rc = hx_cmd_fail(cmd, "--report=%s: cannot write all of it", r->file);
    return rc;
}

/* Of the program alone, by names as far as there are any. */
static int since(struct hx_program_report *r, struct hx_method_stats *s, const char *cmd)
{
    int rc = HX_EXIT_OK;

    hx_method_stats_since(s, &r->before, r->others, r->n_others);
    for (size_t i = 0; i < r->n_idl && !rc; i++)
        rc = hx_method_stats_name(s, cmd, r->idl[i]);
    hx_method_stats_merge(s);
    return rc;
}

int hx_program_report_end(struct hx_program_report *r, const char *cmd)
{
    struct hx_method_stats s = {0};
    int rc = counts(r) ? read_stats(&s, cmd) : HX_EXIT_OK;

    if (counts(r) && !rc)
        rc = since(r, &s, cmd);
    if (r->wanted && !rc)
        rc = r->file ? write_file(r, &s, cmd) : print(r, &s, stderr, cmd);
    if (r->gate && !rc)
        rc = hx_gate_end(r->gate, hx_method_stats_figures(&s));
    hx_method_stats_free(&s);
    hx_method_stats_free(&r->before);
    free(r->others);
    r->others = NULL;
    return rc;
}
