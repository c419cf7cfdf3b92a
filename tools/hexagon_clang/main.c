/* hexagon-clang and hexagon-clang++ of share/hexrig/sdk: take the command lines of the Hexagon's compiler and make skels for the rig with
 * this machine's gcc.  A source is preprocessed, its inline assembly translated (translate.h), and compiled with the flags of
 * lib/pkgconfig/hexrig-skel.pc.  docs/sdk.md is the manual. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "process.h"
#include "skel_flags.h"
#include "translate.h"

struct driver {
    struct hx_args args;
    const char *compiler;
    int is_cxx;
    char prefix[PATH_MAX];
    char scratch[PATH_MAX]; /* folder of objects that are only linked; "" = none yet */
    struct hx_arg_list define; /* what a skel adds when it is preprocessed */
    struct hx_arg_list flags;  /* and in every step up to its object */
    struct hx_arg_list last;   /* of $HEXRIG_CFLAGS, behind all others */
};

__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...)
{
    va_list list;
    char *made = NULL;

    va_start(list, format);
    if (vasprintf(&made, format, list) < 0) {
        fputs("hexagon-clang: no memory\n", stderr);
        exit(1);
    }
    va_end(list);
    return made;
}

/* --- what a skel's compiler adds -------------------------------------------------------------------------------------------------- */

/* This program is PREFIX/libexec/hexrig/hexagon-clang. */
static int find_prefix(char *prefix, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", prefix, bytes - 1);

    prefix[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(prefix, '/');

        if (!slash)
            return -ENOENT;
        *slash = '\0';
    }
    return 0;
}

/* Headers of hexrig are system headers here, as those of the SDK are for its compiler: no warnings from them. */
static void sort_skel_flag(struct driver *d, char *flag)
{
    if (strncmp(flag, "-I", 2) == 0) {
        hx_arg_add(&d->define, "-isystem");
        hx_arg_add(&d->define, flag + 2);
    } else
        hx_arg_add(strncmp(flag, "-D", 2) == 0 ? &d->define : &d->flags, flag);
}

/* gcc warns of what is right on a machine with 32-bit pointers; in C++ some of that would be an error.  A function that nobody has
 * declared is an error for the Hexagon's compiler, too, and here it would be one only when the skel is loaded. */
static void add_tolerance(struct driver *d)
{
    static const char *const of_c[] = {"-Wno-pointer-to-int-cast", "-Werror=implicit-function-declaration", NULL};
    static const char *const of_cxx[] = {"-fpermissive", NULL};
    static const char *const of_both[] = {"-Wno-int-to-pointer-cast", "-Wno-unknown-pragmas", "-Wno-attributes", NULL};

    for (const char *const *flag = d->is_cxx ? of_cxx : of_c; *flag; flag++)
        hx_arg_add(&d->flags, *flag);
    for (const char *const *flag = of_both; *flag; flag++)
        hx_arg_add(&d->flags, *flag);
}

static int skel_flags(struct driver *d)
{
    static const char *const own[] = {"-D__hexagon__=1", "-D__HVX__=1", "-D__HVX_LENGTH__=128"};
    static const char *const of_arch[] = {"HEXRIG_HVX_ARCH", "__HVX_ARCH__", "__HEXAGON_ARCH__"};
    char *line = hx_skel_flags(d->prefix, "Cflags");

    if (!line) {
        fprintf(stderr, "hexagon-clang: error: no flags in %s/lib/pkgconfig/hexrig-skel.pc\n", d->prefix);
        return -ENOENT;
    }
    hx_arg_add(&d->flags, "-march=native");
    hx_arg_add(&d->flags, "-ffp-contract=off");
    for (char *flag = strtok(line, " "); flag; flag = strtok(NULL, " "))
        sort_skel_flag(d, flag);
    add_tolerance(d);
    if (getenv("HEXRIG_CFLAGS"))
        hx_arg_add_words(&d->last, text("%s", getenv("HEXRIG_CFLAGS")));
    for (size_t i = 0; i < sizeof(of_arch) / sizeof(of_arch[0]); i++)
        hx_arg_add(&d->define, text("-D%s=%d", of_arch[i], d->args.arch));
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        hx_arg_add(&d->define, own[i]);
    if (d->args.ieee)
        hx_arg_add(&d->define, "-DHEXRIG_HVX_IEEE");
    hx_arg_add(&d->define, "-include");
    hx_arg_add(&d->define, text("%s/include/hexrig/hexrig_asm.h", d->prefix));
    return 0;
}

/* --- one source ------------------------------------------------------------------------------------------------------------------- */

static int is_cxx_source(const struct driver *d, const char *source)
{
    const char *dot = strrchr(source, '.');

    if (d->args.language)
        return strstr(d->args.language, "++") != NULL;
    return d->is_cxx || (dot && strcmp(dot, ".c") != 0);
}

/* "dir/name.c" -> "name" and `suffix`; with the folder when `keep`. */
static char *with_suffix(const char *path, const char *suffix, int keep)
{
    const char *slash = strrchr(path, '/'), *name = slash && !keep ? slash + 1 : path, *dot = strrchr(name, '.');

    return text("%.*s%s", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name, suffix);
}

/* Dependencies are written where a compiler would that does both steps at once. */
static void add_depend(const struct driver *d, struct hx_arg_list *list, const char *object)
{
    const struct hx_args *args = &d->args;

    if (args->depend.count == 0)
        return;
    hx_arg_add_list(list, &args->depend);
    if (!args->has_depend_file) {
        hx_arg_add(list, "-MF");
        hx_arg_add(list, with_suffix(object, ".d", 1));
    }
    if (!args->has_depend_target) {
        hx_arg_add(list, "-MT");
        hx_arg_add(list, object);
    }
}

static struct hx_arg_list preprocess_line(const struct driver *d, const char *source)
{
    struct hx_arg_list line = {0};

    hx_arg_add(&line, d->compiler);
    hx_arg_add(&line, "-E");
    hx_arg_add_list(&line, &d->args.both);
    hx_arg_add_list(&line, &d->flags);
    hx_arg_add_list(&line, &d->args.preprocess);
    hx_arg_add_list(&line, &d->define);
    hx_arg_add_list(&line, &d->last);
    hx_arg_add(&line, "-x");
    hx_arg_add(&line, is_cxx_source(d, source) ? "c++" : "c");
    hx_arg_add(&line, source);
    return line;
}

static struct hx_arg_list compile_line(const struct driver *d, const char *source, const char *object)
{
    struct hx_arg_list line = {0};

    hx_arg_add(&line, d->compiler);
    hx_arg_add(&line, d->args.stop == HX_STOP_ASSEMBLER ? "-S" : "-c");
    hx_arg_add_list(&line, &d->flags);
    hx_arg_add_list(&line, &d->args.both);
    hx_arg_add_list(&line, &d->last);
    hx_arg_add(&line, "-x");
    hx_arg_add(&line, is_cxx_source(d, source) ? "c++-cpp-output" : "cpp-output");
    hx_arg_add(&line, "-");
    hx_arg_add(&line, "-o");
    hx_arg_add(&line, object);
    return line;
}

static int translate(char *preprocessed, size_t bytes, char **translated, size_t *translated_bytes)
{
    FILE *out = open_memstream(translated, translated_bytes);
    int rc = out ? hx_asm_translate(out, preprocessed, bytes) : -ENOMEM;

    if (out)
        fclose(out);
    return rc == 0 ? 0 : 1;
}

static int compile(struct driver *d, const char *source, const char *object)
{
    struct hx_arg_list line = preprocess_line(d, source);
    char *preprocessed, *translated = NULL;
    size_t bytes, translated_bytes;
    int rc;

    add_depend(d, &line, object);
    rc = hx_process_read(&line, &preprocessed, &bytes);
    if (rc == 0)
        rc = translate(preprocessed, bytes, &translated, &translated_bytes);
    if (rc == 0) {
        line = compile_line(d, source, object);
        rc = hx_process_run(&line, translated, translated_bytes);
    }
    free(preprocessed);
    free(translated);
    return rc;
}

/* --- a library ---------------------------------------------------------------------------------------------------------------------- */

static int make_scratch(struct driver *d)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(d->scratch, sizeof(d->scratch), "%s/hexagon-clang.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(d->scratch))
        return 0;
    fprintf(stderr, "hexagon-clang: error: %s: %s\n", d->scratch, strerror(errno));
    d->scratch[0] = '\0';
    return 1;
}

static void remove_scratch(struct driver *d)
{
    for (size_t i = 0; i < d->args.sources.count; i++) {
        char *object = text("%s/%zu.o", d->scratch, i);

        unlink(object);
        free(object);
    }
    rmdir(d->scratch);
}

/* Programs for the DSP itself do not run here: this machine's linker makes something of them, so that build systems can try whether the
 * compiler works. */
static void add_libraries(struct driver *d, struct hx_arg_list *line)
{
    char *libs = d->args.shared ? hx_skel_flags(d->prefix, "Libs") : NULL;

    if (!libs) {
        hx_arg_add(line, text("%s/libexec/hexrig/libno_trace.a", d->prefix));
        return;
    }
    for (char *word = strtok(libs, " "); word; word = strtok(NULL, " "))
        if (!d->args.has_base || !strstr(word, "-Ttext-segment"))
            hx_arg_add(line, word);
}

static int link_all(struct driver *d)
{
    struct hx_arg_list line = {0};
    size_t source = 0;

    hx_arg_add(&line, d->compiler);
    hx_arg_add_list(&line, &d->args.both);
    for (size_t i = 0; i < d->args.link.count; i++)
        hx_arg_add(&line, strcmp(d->args.link.at[i], HX_ARG_SOURCE) == 0 ? text("%s/%zu.o", d->scratch, source++) : d->args.link.at[i]);
    add_libraries(d, &line);
    if (d->args.output) {
        hx_arg_add(&line, "-o");
        hx_arg_add(&line, d->args.output);
    }
    return hx_process_run(&line, NULL, 0);
}

/* --- all of it ----------------------------------------------------------------------------------------------------------------------- */

/* As the command line has it, without a step of ours: --version, -print-search-dirs. */
static int run_plain(const struct driver *d, int argc, char **argv)
{
    struct hx_arg_list line = {0};

    hx_arg_add(&line, d->compiler);
    for (int i = 1; i < argc; i++)
        hx_arg_add(&line, argv[i]);
    return hx_process_run(&line, NULL, 0);
}

static int preprocess_only(struct driver *d)
{
    struct hx_arg_list line = preprocess_line(d, d->args.sources.at[0]);

    hx_arg_add_list(&line, &d->args.depend);
    if (d->args.output) {
        hx_arg_add(&line, "-o");
        hx_arg_add(&line, d->args.output);
    }
    return hx_process_run(&line, NULL, 0);
}

static int compile_all(struct driver *d)
{
    const struct hx_args *args = &d->args;
    const char *suffix = args->stop == HX_STOP_ASSEMBLER ? ".s" : ".o";
    int rc = 0;

    for (size_t i = 0; i < args->sources.count && rc == 0; i++) {
        const char *source = args->sources.at[i], *object = args->output;

        if (args->stop == HX_STOP_LINK)
            object = text("%s/%zu.o", d->scratch, i);
        rc = compile(d, source, object ? object : with_suffix(source, suffix, 0));
    }
    return rc;
}

static int run(struct driver *d)
{
    int rc;

    if (d->args.stop == HX_STOP_PREPROCESS)
        return preprocess_only(d);
    if (d->args.stop != HX_STOP_LINK)
        return compile_all(d);
    rc = d->args.sources.count ? make_scratch(d) : 0;
    if (rc == 0)
        rc = compile_all(d);
    if (rc == 0)
        rc = link_all(d);
    if (*d->scratch)
        remove_scratch(d);
    return rc;
}

int main(int argc, char **argv)
{
    static struct driver d;
    const char *own;

    own = strrchr(argv[0], '/');
    d.is_cxx = strstr(own ? own : argv[0], "++") != NULL;
    own = getenv(d.is_cxx ? "HEXRIG_CXX" : "HEXRIG_CC");
    d.compiler = own && *own ? own : d.is_cxx ? "g++" : "gcc";
    if (hx_args_read(&d.args, argc, argv) != 0)
        return 1;
    if (d.args.sources.count == 0 && (d.args.link.count == 0 || d.args.stop != HX_STOP_LINK))
        return run_plain(&d, argc, argv);
    if (find_prefix(d.prefix, sizeof(d.prefix)) != 0 || skel_flags(&d) != 0)
        return 1;
    return run(&d);
}
