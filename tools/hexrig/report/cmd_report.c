/* hexrig report: what the cost model says, and all of it in one file. */
#include "cmd_report.h"

#include <string.h>

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"timing", hx_cmd_report_timing, "predicted against measured, or any case"},
    {"html", hx_cmd_report_html, "densities, roofline, trace and timing as one HTML file"},
};

static const struct hx_actions actions = {
    "report", "Says what the cost model says of calls, kernels and tokens.",
    "hexrig report timing --calls 1000 --in-bytes 256 --out-bytes 42", list, sizeof(list) / sizeof(list[0])};

int hx_cmd_report(int argc, char **argv)
{
    char name[] = "hexrig report timing";
    const int options_first = argc > 2 && *argv[1] == '-' && strcmp(argv[argc - 1], "timing") == 0;

    if (!options_first)
        return hx_action_run(&actions, argc, argv);
    argv[0] = name;
    argv[argc - 1] = NULL;
    return hx_cmd_report_timing(argc - 1, argv);
}
