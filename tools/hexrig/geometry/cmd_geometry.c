/* hexrig geometry: the space that a model's states lie in. */
#include "cmd_geometry.h"

#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"cloud", hx_geometry_cmd_cloud, "states of a text in few coordinates, and how many dimensions they have"},
    {"metric", hx_geometry_cmd_metric, "the metric of that cloud: how definite, how curved"},
    {"geodesic", hx_geometry_cmd_geodesic, "its geodesics: how well they keep their speed, by step"},
    {"validity", hx_geometry_cmd_validity, "how far from its start a trajectory serves, beside noise"},
    {"star", hx_geometry_cmd_star, "whether geodesics from its middle tell where all of it is, ray by ray"},
    {"coverage", hx_geometry_cmd_coverage, "how many states lie near a few kept ones, beside noise"},
    {"resonance", hx_geometry_cmd_resonance, "what correcting many questions at once is worth here"},
    {"store", hx_geometry_cmd_store, "trajectories of a text in a file"},
    {"lookup", hx_geometry_cmd_lookup, "how long it takes to find one, and whether it is the right one"},
    {"substitute", hx_geometry_cmd_substitute, "whether kept trajectories can stand for others, by density"},
    {"simulate", hx_geometry_cmd_simulate, "how soon a library has what is asked of it, on made-up queries"},
    {"warp", hx_geometry_cmd_warp, "whether bending the metric draws trajectories to a state"},
    {"claims", hx_geometry_cmd_claims, "what was published, and what is measured here, line by line"},
};

int hx_cmd_geometry(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "geometry",
        .about = "Looks at the space of a model's states: metric, geodesics, what trajectories that are kept are worth.",
        .example = "hexrig geometry coverage",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
