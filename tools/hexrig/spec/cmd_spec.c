/* hexrig spec: what guesses are worth. */
#include "cmd_spec.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"sweep", hx_spec_cmd_sweep, "tokens per step, DSP calls and time of drafters, by how many guesses a step has"},
    {"table", hx_spec_cmd_table, "drafters beside lookup and bigram, which any other has to beat"},
    {"law", hx_spec_cmd_law, "what a share of right guesses would be worth"},
};

int hx_cmd_spec(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "spec",
        .about = "Measures what drafters are worth (--draft of hexrig run), and holds that against the law.",
        .example = "hexrig spec sweep --draft lookup,bigram --spec-batch 2,4,8",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
