/* hexrig ugt: coordinates of final hidden states, shared by models. */
#include "cmd_ugt.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"build", hx_ugt_cmd_build, "makes a basis of a model's final hidden states"},
    {"refine", hx_ugt_cmd_refine, "turns it so that topics lie farther apart"},
    {"overlap", hx_ugt_cmd_overlap, "compares the spans of two"},
    {"zones", hx_ugt_cmd_zones, "routes texts to topics by their coordinates"},
    {"swap", hx_ugt_cmd_swap, "puts a feed-forward of one model into another"},
};

int hx_cmd_ugt(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "ugt",
        .about = "Works with coordinates of final hidden states that models can share.",
        .example = "hexrig ugt build --k 64 -o tiny.ugt",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
