/* hexrig native: matrices that live in k dimensions. */
#include "cmd_native.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"fit", hx_native_cmd_fit, "fit matrices in k dimensions by steps, beside the least loss there is"},
    {"expand", hx_native_cmd_expand, "the same while k grows, from 32 on or from a file"},
    {"table", hx_native_cmd_table, "parameters, bytes, losses and perplexity over k; what fits into caches"},
};

int hx_cmd_native(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "native",
        .about = "Makes a model's matrices live in k dimensions, W = B_out C B_in^T, for --linear native.",
        .example = "hexrig native fit --k 64 -o fitted",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
