/* hexrig dsp: the DSP's interface by hand.  This file lists the actions. */
#include "cmd_dsp.h"

#include "cli/action.h"

static const struct hx_action list[] = {
    {"call", hx_dsp_call, "calls one step of the block codec and compares with the host"},
};

int hx_cmd_dsp(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "dsp",
        .about = "Calls the DSP's interface sp_hex by hand.",
        .example = "hexrig dsp call vht2 --n 154",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
