/* The command line of hexidl. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_version.h"
#include "idl.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, MAX_DIRS = 64, MAX_NAME = 40 };

struct options {
    const char *me, *file, *out_dir;
    const char *dirs[MAX_DIRS + 1]; /* one more: the folder of our own files */
    size_t n_dirs;
    int layout;
    enum hx_idl_codes codes;
    const char *invoke; /* what stubs call; NULL: remote_handle64_invoke */
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"include", required_argument, NULL, 'I'},
    {"layout", no_argument, NULL, 'l'},
    {"dsp-codes", no_argument, NULL, 'c'},
    {"invoke", required_argument, NULL, 'i'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {0},
};

static void help(const char *me)
{
    printf("usage: %s FILE.idl -o DIR [-I DIR]...\n\n"
           "Compiles a FastRPC interface: writes FILE.h into DIR and, for each interface\n"
           "NAME in it, NAME_stub.c (host) and NAME_skel.c (DSP).\n\n"
           "  -o, --output DIR    where the files go; it must exist\n"
           "  -I, --include DIR   look for included files there, after the including file's\n"
           "                      folder\n"
           "      --dsp-codes     the skel adds the DSP's offset (0x80000400) to plain AEE\n"
           "                      codes that an implementation returns; without, they travel\n"
           "                      untouched\n"
            "      --invoke NAME   stubs of interfaces with handles call NAME, of the same\n"
            "                      prototype, in place of remote_handle64_invoke\n"
           "      --layout        write nothing; print each method's scalars and wire layout\n"
           "      --version       print the version\n\n"
           "Errors: file:line:column: message, exit 1; nothing is written then.\n"
           "Example: %s calculator.idl -o gen\n", me, me);
}

static int usage(const struct options *o, const char *problem, const char *value)
{
    fprintf(stderr, "%s: %s%s; see %s --help\n", o->me, problem, value, o->me);
    return EXIT_USAGE;
}

/* AEEStdDef.idl and remote.idl are installed beside the programs. */
static void add_own_folder(struct options *o)
{
    static char path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

    if (n <= 0)
        return;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return;
    strcpy(slash, "/../share/hexrig/idl");
    o->dirs[o->n_dirs++] = path;
}

/* 1: a C identifier that leaves room for the rest of a line. */
static int is_name(const char *s)
{
    const size_t n = strlen(s);

    return n > 0 && n <= MAX_NAME && (*s < '0' || *s > '9') &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

/* -1: go on; else an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
    int c;

    o->me = argv[0];
    while ((c = getopt_long(argc, argv, "o:I:h", long_options, NULL)) >= 0) {
        switch (c) {
        case 'o': o->out_dir = optarg; break;
        case 'I':
            if (o->n_dirs == MAX_DIRS)
                return usage(o, "more than 64 -I", "");
            o->dirs[o->n_dirs++] = optarg;
            break;
        case 'l': o->layout = 1; break;
        case 'c': o->codes = HX_IDL_CODES_DSP; break;
        case 'i': o->invoke = optarg; break;
        case 'h': help(o->me); return EXIT_OK;
        case 'v': printf("hexidl %s\n", hx_version); return EXIT_OK;
        default: return EXIT_USAGE;
        }
    }
    if (optind == argc)
        return usage(o, "no FILE.idl", "");
    if (optind + 1 < argc)
        return usage(o, "more than one file: ", argv[optind + 1]);
    if (o->invoke && !is_name(o->invoke))
        return usage(o, "--invoke: no C name: ", o->invoke);
    if (!o->out_dir && !o->layout)
        return usage(o, "no -o DIR", "");
    o->file = argv[optind];
    return -1;
}

/* --- writing: all files complete under other names first, then renamed */

struct output {
    char path[PATH_MAX], temp[PATH_MAX + 8];
    char *text; /* malloc'ed */
};

/* Names a file after the interface, or, when that is NULL, after the IDL file.  0: the path is too long. */
static int name_output(struct output *f, const struct options *o, const char *interface,
                       const char *suffix)
{
    const char *slash = strrchr(o->file, '/'), *name = slash ? slash + 1 : o->file;
    const char *dot = strrchr(name, '.');
    int stem = dot && strcmp(dot, ".idl") == 0 ? (int)(dot - name) : (int)strlen(name);

    if (interface) {
        name = interface;
        stem = (int)strlen(name);
    }
    int n = snprintf(f->path, sizeof(f->path), "%s/%.*s%s", o->out_dir, stem, name, suffix);
    snprintf(f->temp, sizeof(f->temp), "%s.tmp", f->path);
    return n < (int)sizeof(f->path);
}

static int write_temp(const struct output *f)
{
    FILE *file = fopen(f->temp, "w");

    if (!file)
        return 0;
    int ok = fputs(f->text, file) >= 0;
    return (fclose(file) == 0) && ok;
}

static int write_all(const struct options *o, struct output *f, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (!write_temp(&f[i]))
            break;
    }
    size_t bad = i;
    for (i = 0; bad == n && i < n; i++)
        if (rename(f[i].temp, f[i].path))
            bad = i;
    if (bad == n)
        return EXIT_OK;
    fprintf(stderr, "%s: cannot write %s: %s\n", o->me, f[bad].path, strerror(errno));
    for (i = 0; i < n; i++)
        unlink(f[i].temp);
    return EXIT_FAILED;
}

static int write_outputs(const struct options *o, const struct hx_idl *idl)
{
    size_t n_interfaces = 0, n = 1;
    const char *name;

    while (hx_idl_interface(idl, n_interfaces))
        n_interfaces++;
    struct output *f = calloc(1 + 2 * n_interfaces, sizeof(*f));
    if (!f) {
        fprintf(stderr, "%s: out of memory\n", o->me);
        return EXIT_FAILED;
    }
    int ok = name_output(&f[0], o, NULL, ".h");
    f[0].text = hx_idl_header(idl);
    for (size_t i = 0; (name = hx_idl_interface(idl, i)); i++) {
        ok &= name_output(&f[n], o, name, "_stub.c") && name_output(&f[n + 1], o, name, "_skel.c");
        f[n++].text = hx_idl_stub(idl, i, o->invoke);
        f[n++].text = hx_idl_skel(idl, i, o->codes);
    }
    int rc = ok ? write_all(o, f, n) : usage(o, "the path is too long: ", o->out_dir);
    for (size_t i = 0; i < n; i++)
        free(f[i].text);
    free(f);
    return rc;
}

int hx_idl_main(int argc, char **argv)
{
    struct options o = {0};
    struct hx_idl *idl;
    int rc = parse(&o, argc, argv);

    if (rc >= 0)
        return rc;
    add_own_folder(&o);
    if (hx_idl_compile(&idl, o.file, hx_idl_read_file, o.dirs, o.n_dirs)) {
        fprintf(stderr, "%s\n", hx_idl_error(idl));
        rc = EXIT_FAILED;
    } else if (o.layout) {
        char *text = hx_idl_layout(idl);

        fputs(text, stdout);
        free(text);
        rc = EXIT_OK;
    } else {
        rc = write_outputs(&o, idl);
    }
    hx_idl_close(idl);
    return rc;
}
