/* hexrig bench: measurements on this machine. */
#include "bench.h"
#include "cli/action.h"
#include "cli/cmd.h"

static const struct hx_action list[] = {
    {"compare", hx_bench_compare, "two command lines timed in turns, with the statistics of their ratio"},
    {"engine", hx_bench_engine, "tokens per second of a model, prefill and decode"},
    {"exact", hx_bench_exact, "exact attention step by step, exact matrices beside fp32 and int8"},
    {"prefetch", hx_bench_prefetch, "weights paged from a file, with and without reading ahead"},
};

int hx_cmd_bench(int argc, char **argv)
{
    static const struct hx_actions actions = {
        .cmd = "bench",
        .about = "Measures on this machine; what is modelled says so in its name.",
        .example = "hexrig bench prefetch --passes 8",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };

    return hx_action_run(&actions, argc, argv);
}
