/* hexrig bench: measurements on this machine. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "cli/cmd.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} kinds[] = {
    {"engine", hx_bench_engine, "tokens per second of a model, prefill and decode"},
    {"exact", hx_bench_exact, "exact attention step by step, exact matrices beside fp32 and int8"},
    {"prefetch", hx_bench_prefetch, "weights paged from a file, with and without reading ahead"},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void help(void)
{
    printf("usage: hexrig bench KIND [OPTION]...\n\n"
           "Measures on this machine; what is modelled says so in its name.\n\n");
    for (size_t i = 0; i < N_KINDS; i++)
        printf("  %-10s %s\n", kinds[i].name, kinds[i].what);
    printf("\nhexrig bench KIND --help tells the options.  Example: hexrig bench prefetch --passes 8\n");
}

static int unknown(const char *name)
{
    char legal[128] = "";

    for (size_t i = 0; i < N_KINDS; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 kinds[i].name);
    return name ? hx_cmd_usage("bench", "unknown kind '%s'; legal: %s", name, legal)
                : hx_cmd_usage("bench", "what to measure? legal: %s", legal);
}

int hx_cmd_bench(int argc, char **argv)
{
    char name[64];

    if (argc < 2)
        return unknown(NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help();
        return HX_EXIT_OK;
    }
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            snprintf(name, sizeof(name), "hexrig bench %s", kinds[i].name);
            argv[1] = name; /* getopt speaks in this name */
            return kinds[i].run(argc - 1, argv + 1);
        }
    return unknown(argv[1]);
}
