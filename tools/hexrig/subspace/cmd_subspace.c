/* hexrig subspace: what of a model's matrices fits into how few dimensions. */
#include "cmd_subspace.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"spectra", hx_subspace_cmd_spectra, "how many singular values hold a matrix"},
    {"bound", hx_subspace_cmd_bound, "how far matrices of low rank are from the best ones"},
    {"gsi", hx_subspace_cmd_gsi, "what a gate in front of matrices saves on a held-out text"},
    {"gsi-cost", hx_subspace_cmd_gsi_cost, "the same out of shapes, for models that are not here"},
    {"intrinsic", hx_subspace_cmd_intrinsic, "how many dimensions states behind layers have, beside noise"},
    {"mcr", hx_subspace_cmd_mcr, "ranks by phases of layers, accepted where a held-out text says so"},
    {"gauge", hx_subspace_cmd_gauge, "gains of the stream for matrices of low rank, likewise"},
    {"learn", hx_subspace_cmd_learn, "ranks by what each layer's harms and costs, likewise"},
    {"sweep", hx_subspace_cmd_sweep, "perplexity and modelled time over rank, for sizes of VTCM"},
    {"thermal", hx_subspace_cmd_thermal, "a rank that follows the modelled phone's temperature"},
};

int hx_cmd_subspace(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "subspace",
        .about = "Looks at a model's matrices, and at its states, for what low rank would leave of them.",
        .example = "hexrig subspace bound --ranks 64,128",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
