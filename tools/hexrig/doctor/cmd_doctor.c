/* hexrig doctor: looks at what hexrig needs of this machine, and says what to do. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "cli/opt.h"
#include "cli/report.h"

static const char cmd[] = "doctor";

static const struct {
    const char *name;
    void (*look)(struct hx_finding *f);
} checks[] = {
    {"programs", hx_check_programs}, {"processor", hx_check_processor},   {"cpus", hx_check_cpus},
    {"limits", hx_check_limits},     {"sandbox", hx_check_sandbox},       {"fuse", hx_check_fuse},
    {"fusermount", hx_check_unmounting}, {"folder", hx_check_folder},     {"mounts", hx_check_mounts},
    {"device", hx_check_device},     {"rig", hx_check_rig},
};
enum { N_CHECKS = sizeof(checks) / sizeof(checks[0]) };

static const char *const states[HX_DOCTOR_STATES] = {"ok", "note", "FAIL"};

static const struct argp_option options[] = {
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Looks at what hexrig needs of this machine, a line each, and says what to do where something is not as it could be: note, it works "
    "otherwise; FAIL, it does not, and the exit status is 1.  Starts a private rig for a moment."
    "\vExample: hexrig doctor";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    int *json = state->input;

    (void)arg;
    if (key != HX_OPT_JSON)
        return ARGP_ERR_UNKNOWN;
    *json = 1;
    return 0;
}

static void print(const char *name, const struct hx_finding *f)
{
    printf("%-4s  %-10s  %s\n", states[f->state], name, f->found);
    if (*f->to_do)
        printf("      %-10s  to do: %s\n", "", f->to_do);
    fflush(stdout);
}

int hx_cmd_doctor(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    int json = 0, failed = 0, rc = hx_opt_parse(cmd, &argp, argc, argv, &json);
    json_t *all = rc ? NULL : json_array();

    if (rc)
        return rc;
    for (size_t i = 0; i < N_CHECKS; i++) {
        struct hx_finding f = {.state = HX_DOCTOR_OK};

        checks[i].look(&f);
        failed |= f.state == HX_DOCTOR_FAIL;
        if (!json)
            print(checks[i].name, &f);
        json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:o}", "name", checks[i].name, "state",
                                             f.state == HX_DOCTOR_FAIL ? "fail" : states[f.state], "found", hx_json_text(f.found),
                                             "to_do", hx_json_text(f.to_do)));
    }
    if (json)
        rc = hx_report_print(cmd, json_pack("{s:b, s:o}", "ok", !failed, "checks", json_incref(all)), 1);
    json_decref(all);
    return failed ? HX_EXIT_FAILED : rc;
}
