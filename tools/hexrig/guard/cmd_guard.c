/* hexrig guard: directions of final hidden states that tell a topic, looked at and projected out. */
#include "cmd_guard.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"build", hx_guard_cmd_build, "finds the directions of a topic, and a threshold"},
    {"topics", hx_guard_cmd_topics, "the same of every topic, as a table"},
    {"ogd", hx_guard_cmd_ogd, "what a projection guarantees, and for how long"},
    {"mcb", hx_guard_cmd_mcb, "five scores of a batch of texts"},
};

int hx_cmd_guard(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "guard",
        .about = "Monitors and projects a few directions of final hidden states.",
        .example = "hexrig guard build --topic weather -o weather.guard",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
