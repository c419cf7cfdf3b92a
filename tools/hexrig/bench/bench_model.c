/* The model that the kinds of `hexrig bench` measure by default. */
#include "bench.h"
#include "cli/cmd.h"
#include "cli/share.h"

int hx_bench_model(const char *cmd, const char **path, char **shipped)
{
    *shipped = *path ? NULL : hx_share(HX_BENCH_MODEL);
    if (*shipped)
        *path = *shipped;
    return *path ? HX_EXIT_OK : hx_cmd_fail(cmd, "cannot find this program's share folder");
}
