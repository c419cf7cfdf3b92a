#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ARCH = 69 };

/* --- lists -------------------------------------------------------------------------------------------------------------------- */

void hx_arg_add(struct hx_arg_list *list, const char *arg)
{
    if (list->count + 2 > list->room) {
        list->room = list->room ? list->room * 2 : 32;
        list->at = reallocarray(list->at, list->room, sizeof(*list->at));
        if (!list->at) {
            fputs("hexagon-clang: no memory\n", stderr);
            exit(1);
        }
    }
    list->at[list->count++] = (char *)arg;
    list->at[list->count] = NULL;
}

void hx_arg_add_list(struct hx_arg_list *list, const struct hx_arg_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        hx_arg_add(list, more->at[i]);
}

void hx_arg_add_words(struct hx_arg_list *list, char *text)
{
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        hx_arg_add(list, word);
}

/* --- options -------------------------------------------------------------------------------------------------------------------- */

enum fate { DROP, PREPROCESS, BOTH, DEPEND, LINK };

/* The first entry that fits decides; those that are here for a longer name come first.  What fits none goes to all steps. */
static const struct option {
    const char *name;
    enum { EXACT, PREFIX, ARG, JOINED } shape; /* ARG: the next word is its argument; JOINED: the next word, if nothing follows */
    enum fate fate;
} options[] = {
    /* the Hexagon's compiler */
    {"-mhvx", PREFIX, DROP},
    {"-mhmx", PREFIX, DROP},
    {"-mcpu=", PREFIX, DROP},
    {"-mlong-calls", EXACT, DROP},
    {"-mno-long-calls", EXACT, DROP},
    {"-mllvm", ARG, DROP},
    {"-Xclang", ARG, DROP},
    {"-target", ARG, DROP},
    {"--target", PREFIX, DROP},
    {"-G", JOINED, DROP},
    {"-fvectorize", EXACT, DROP},
    {"-fno-vectorize", EXACT, DROP},
    {"-fslp-vectorize", EXACT, DROP},
    {"-fno-slp-vectorize", EXACT, DROP},
    {"-flto", PREFIX, DROP},
    {"-fcolor-diagnostics", EXACT, DROP},
    {"-Weverything", EXACT, DROP},
    {"-Werror", PREFIX, DROP},
    {"-Qunused-arguments", EXACT, DROP},
    {"-Wl,--no-threads", PREFIX, DROP},
    {"-Wl,--wrap=malloc", EXACT, DROP},
    {"-Wl,--wrap=calloc", EXACT, DROP},
    {"-Wl,--wrap=free", EXACT, DROP},
    {"-Wl,--wrap=realloc", EXACT, DROP},
    {"-Wl,--wrap=memalign", EXACT, DROP},
    /* any compiler */
    {"-D", JOINED, PREPROCESS},
    {"-U", JOINED, PREPROCESS},
    {"-I", JOINED, PREPROCESS},
    {"-include", ARG, PREPROCESS},
    {"-imacros", ARG, PREPROCESS},
    {"-isystem", JOINED, PREPROCESS},
    {"-iquote", JOINED, PREPROCESS},
    {"-idirafter", JOINED, PREPROCESS},
    {"-Wp,", PREFIX, PREPROCESS},
    {"-Xpreprocessor", ARG, PREPROCESS},
    {"-MF", JOINED, DEPEND},
    {"-MT", JOINED, DEPEND},
    {"-MQ", JOINED, DEPEND},
    {"-M", PREFIX, DEPEND},
    {"-l", JOINED, LINK},
    {"-L", JOINED, LINK},
    {"-T", JOINED, LINK},
    {"-u", JOINED, LINK},
    {"-z", JOINED, LINK},
    {"-Wl,", PREFIX, LINK},
    {"-Xlinker", ARG, LINK},
    {"-shared", PREFIX, LINK},
    {"-static", PREFIX, LINK},
    {"-nostartfiles", EXACT, LINK},
    {"-nodefaultlibs", EXACT, LINK},
    {"-rdynamic", EXACT, LINK},
    {"-pie", EXACT, LINK},
    {"--param", ARG, BOTH},
};

static const struct option *option_of(const char *arg)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct option *o = &options[i];
        size_t bytes = strlen(o->name);
        int whole = o->shape == EXACT || o->shape == ARG;

        if (whole ? strcmp(arg, o->name) == 0 : strncmp(arg, o->name, bytes) == 0)
            return o;
    }
    return NULL;
}

static struct hx_arg_list *list_of(struct hx_args *args, enum fate fate)
{
    struct hx_arg_list *lists[] = {NULL, &args->preprocess, &args->both, &args->depend, &args->link};

    return lists[fate];
}

/* What an option says beside where it goes. */
static void note(struct hx_args *args, const char *arg)
{
    const char *digits = strncmp(arg, "-mv", 3) == 0 ? arg + 3 : strncmp(arg, "-mcpu=", 6) == 0 ? strpbrk(arg + 6, "0123456789") : NULL;

    if (digits && isdigit((unsigned char)*digits))
        args->arch = atoi(digits);
    args->ieee |= strcmp(arg, "-mhvx-ieee-fp") == 0;
    args->shared |= strcmp(arg, "-shared") == 0;
    args->has_base |= strstr(arg, "-Ttext-segment") != NULL;
    args->has_depend_file |= strncmp(arg, "-MF", 3) == 0;
    args->has_depend_target |= strncmp(arg, "-MT", 3) == 0 || strncmp(arg, "-MQ", 3) == 0;
    if (strcmp(arg, "-E") == 0 || strcmp(arg, "-M") == 0 || strcmp(arg, "-MM") == 0)
        args->stop = HX_STOP_PREPROCESS;
    else if (strcmp(arg, "-S") == 0)
        args->stop = HX_STOP_ASSEMBLER;
    else if (strcmp(arg, "-c") == 0)
        args->stop = HX_STOP_COMPILE;
}

static int is_stop(const char *arg)
{
    return strcmp(arg, "-c") == 0 || strcmp(arg, "-S") == 0 || strcmp(arg, "-E") == 0;
}

/* --- inputs ---------------------------------------------------------------------------------------------------------------------- */

static int has_suffix(const char *name, const char *const *suffixes)
{
    const char *dot = strrchr(name, '.');

    for (; dot && *suffixes; suffixes++)
        if (strcmp(dot, *suffixes) == 0)
            return 1;
    return 0;
}

static int take_input(struct hx_args *args, const char *name)
{
    static const char *const sources[] = {".c", ".cc", ".cpp", ".cxx", ".C", NULL}, *const assembly[] = {".s", ".S", NULL};

    if (has_suffix(name, assembly)) {
        fprintf(stderr, "%s: error: files of assembly are not translated, only inline assembly\n", name);
        return -EINVAL;
    }
    if (!has_suffix(name, sources) && !args->language) {
        hx_arg_add(&args->link, name);
        return 0;
    }
    hx_arg_add(&args->sources, name);
    hx_arg_add(&args->link, HX_ARG_SOURCE);
    return 0;
}

/* --- all of them ----------------------------------------------------------------------------------------------------------------- */

/* The argument of -o or -x, which may follow at once; NULL when there is none. */
static const char *argument(const char *arg, int *i, int argc, char **argv)
{
    if (arg[2])
        return arg + 2;
    return ++*i < argc ? argv[*i] : NULL;
}

static int take_option(struct hx_args *args, int *i, int argc, char **argv)
{
    const char *arg = argv[*i];
    const struct option *o = option_of(arg);
    int is_arch = strncmp(arg, "-mv", 3) == 0 && isdigit((unsigned char)arg[3]);
    struct hx_arg_list *list = o || is_arch ? list_of(args, o ? o->fate : DROP) : &args->both;

    note(args, arg);
    if (is_stop(arg))
        return 0;
    if (list)
        hx_arg_add(list, arg);
    if (!o || !(o->shape == ARG || (o->shape == JOINED && arg[strlen(o->name)] == '\0')))
        return 0;
    if (++*i == argc) {
        fprintf(stderr, "hexagon-clang: error: %s wants an argument\n", arg);
        return -EINVAL;
    }
    if (list)
        hx_arg_add(list, argv[*i]);
    return 0;
}

int hx_args_read(struct hx_args *args, int argc, char **argv)
{
    int rc = 0;

    *args = (struct hx_args){.arch = DEFAULT_ARCH};
    for (int i = 1; i < argc && rc == 0; i++) {
        const char *arg = argv[i];

        if (strncmp(arg, "-o", 2) == 0)
            args->output = argument(arg, &i, argc, argv);
        else if (strncmp(arg, "-x", 2) == 0)
            args->language = argument(arg, &i, argc, argv);
        else if (arg[0] == '-' && arg[1])
            rc = take_option(args, &i, argc, argv);
        else
            rc = take_input(args, arg);
    }
    return rc;
}
