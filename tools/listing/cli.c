/* hexrig-listing: the command line. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_version.h"
#include "listing.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, MAX_FUNCTIONS = 64 };

struct options {
    const char *listing[HX_CODE_BUILDS], *source, *output;
    const char *function[MAX_FUNCTIONS + 1]; /* ended by NULL */
    size_t functions;
};

static const struct option long_options[] = {
    {"functions", required_argument, NULL, 'f'}, {"source", required_argument, NULL, 's'},
    {"output", required_argument, NULL, 'o'},    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},         {0},
};

static void help(const char *me)
{
    printf(
        "usage: %s RELEASE.s DEBUG.s -f FUNCTION[,FUNCTION]... -o FILE.h\n\n"
        "Makes the packet tables of hexrig_code.h from two Hexagon listings of one source that lie\n"
        "there already; `hexrig listing` compiles the source, too.\n\n"
        "  -f, --functions LIST  the functions to make tables of, separated by commas\n"
        "  -s, --source NAME     the source's name in the header's head (default: the listing's)\n"
        "  -o, --output FILE     the header; nothing is written when a table cannot be made\n"
        "      --version         print the version\n\n"
        "Exit: 0 done, 1 a listing or function that gives no table, 2 wrong usage.\n"
        "Example: %s axpby.release.s axpby.debug.s -f axpby -o axpby.listing.h\n",
        me, me);
}

static int usage(const char *me, const char *problem)
{
    fprintf(stderr, "%s: %s; see %s --help\n", me, problem, me);
    return EXIT_USAGE;
}

/* In memory first: a failed run leaves the header of before. */
static int run(const struct options *o)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n), *out = NULL;
    const struct hx_tables tables = {
        .listing = {o->listing[HX_BUILD_RELEASE], o->listing[HX_BUILD_DEBUG]},
        .source = o->source ? o->source : o->listing[HX_BUILD_RELEASE],
        .function = o->function,
    };
    int rc = memory ? hx_tables_print(memory, &tables) : -1;

    if (memory && fclose(memory))
        rc = -1;
    if (!rc) {
        out = fopen(o->output, "w");
        rc = out && fwrite(text, 1, n, out) == n ? 0 : -1;
        if (out && fclose(out))
            rc = -1;
        if (rc)
            fprintf(stderr, "%s: %s\n", o->output, strerror(errno));
    }
    free(text);
    return rc ? EXIT_FAILED : EXIT_OK;
}

static int set_functions(struct options *o, char *list)
{
    char *save = NULL;

    for (char *name = strtok_r(list, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
        if (o->functions == MAX_FUNCTIONS)
            return -1;
        o->function[o->functions++] = name;
    }
    return 0;
}

int hx_listing_main(int argc, char **argv)
{
    struct options o = {0};
    int c;

    while ((c = getopt_long(argc, argv, "f:s:o:h", long_options, NULL)) != -1)
        switch (c) {
        case 'f':
            if (set_functions(&o, optarg))
                return usage(argv[0], "more than 64 functions");
            break;
        case 's': o.source = optarg; break;
        case 'o': o.output = optarg; break;
        case 'h': help(argv[0]); return EXIT_OK;
        case 'v': printf("hexrig-listing %s\n", hx_version); return EXIT_OK;
        default: return usage(argv[0], "unknown option");
        }
    if (argc - optind != HX_CODE_BUILDS)
        return usage(argv[0], "two listings are needed, release and debug");
    if (!o.functions)
        return usage(argv[0], "no functions");
    if (!o.output)
        return usage(argv[0], "no output");
    o.listing[HX_BUILD_RELEASE] = argv[optind];
    o.listing[HX_BUILD_DEBUG] = argv[optind + 1];
    return run(&o);
}
