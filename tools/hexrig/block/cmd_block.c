/* hexrig block: the spinor block's tools.  This file lists them. */
#include "cmd_block.h"

#include "cli/action.h"

static const struct hx_action list[] = {
    {"calibrate", hx_block_calibrate, "makes a model's tables from its own K and V"},
    {"encode", hx_block_encode, "vectors (raw f32) to blocks"},
    {"decode", hx_block_decode, "blocks to vectors"},
    {"inspect", hx_block_inspect, "shows the fields of one block"},
    {"validate", hx_block_validate, "checks every block of a file"},
    {"golden", hx_block_golden, "prints the published test vectors, or checks them"},
    {"dump", hx_block_dump, "K, V and their blocks out of a run, by layer, head and position"},
    {"stats", hx_block_stats, "how well blocks hold the K and V of a model, per layer and head"},
};

int hx_cmd_block(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "block",
        .about = "Makes, reads and checks spinor blocks: one K or V vector in 46, 63, 96 or 183 bytes.",
        .example = "hexrig block validate cache.blk",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
