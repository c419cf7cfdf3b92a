/* Finds and runs a compiler for Hexagon. */
#include "compiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const common[] = {"--target=hexagon", "-mv69", "-mhvx", "-mhvx-length=128B", "-ffreestanding",
                                     "-fno-builtin", "-nostdlibinc", "-gline-tables-only", "-S",
                                     /* HVX_Vector, which our headers of intrinsics have by themselves */
                                     "-include", "hexagon_types.h", NULL};
static const char *const release[] = {"-O2", "-fno-unroll-loops", NULL};
static const char *const debug[] = {"-O0", NULL};

const char *const *hx_compiler_flags(void)
{
    return common;
}

/* --- running it */

struct command {
    const char *argv[256];
    size_t n;
};

static void add(struct command *c, const char *arg)
{
    if (c->n < sizeof(c->argv) / sizeof(c->argv[0]) - 1)
        c->argv[c->n++] = arg;
}

static void add_all(struct command *c, const char *const *args)
{
    for (; *args; args++)
        add(c, *args);
}

static void add_each(struct command *c, const char *option, const char *const *values)
{
    for (; *values; values++) {
        add(c, option);
        add(c, *values);
    }
}

/* In the child.  clang's software pipeliner breaks ties by the addresses of its objects, so with the same input it gives one of a
 * few schedules; with addresses that stay it is nearly always the same. */
static void become(const struct command *c, bool still)
{
    if (still)
        (void)personality(ADDR_NO_RANDOMIZE);
    execvp(c->argv[0], (char *const *)c->argv);
    _exit(errno == ENOENT ? 127 : 126);
}

static int status_of(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Its standard output, malloc'ed, and its exit status; NULL: it could not be run. */
static char *output_of(const struct command *c, int *status)
{
    int pipes[2];
    char *text = NULL;
    size_t n = 0;

    *status = -1;
    if (pipe(pipes))
        return NULL;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        become(c, false);
    }
    close(pipes[1]);
    FILE *f = pid < 0 ? NULL : fdopen(pipes[0], "r");
    if (!f || getdelim(&text, &n, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    else
        close(pipes[0]);
    if (pid > 0)
        *status = status_of(pid);
    return text;
}

/* --- which one */

/* Whether a line of the text is "  hexagon    - Hexagon", or "Target: hexagon-...". */
static bool names_hexagon(const char *text)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        if (strncmp(line, "hexagon ", 8) == 0 || strncmp(line, "Target: hexagon", 15) == 0)
            return true;
    }
    return false;
}

/* "clang version 14.0.6", from what --version prints. */
static void version_of(char *to, size_t n, const char *text)
{
    const char *at = text ? strstr(text, "clang version ") : NULL;

    snprintf(to, n, "%.*s", at ? (int)(14 + strcspn(at + 14, " \n")) : 0, at ? at : "");
}

/* Whether the command makes code for Hexagon; else `why` says why not. */
static bool makes_hexagon(const char *name, char *why, size_t n)
{
    int status;
    char version[64];
    char *targets = output_of(&(struct command){.argv = {name, "--print-targets"}}, &status);
    char *about = status == 127 ? NULL : output_of(&(struct command){.argv = {name, "--version"}}, &status);
    const bool it_does = names_hexagon(targets) || names_hexagon(about);

    version_of(version, sizeof(version), about);
    if (!it_does)
        snprintf(why, n, "%s: %s%s", name, status == 127 ? "not found" : *version ? version : "no clang",
                 *version ? " without Hexagon" : "");
    free(targets);
    free(about);
    return it_does;
}

int hx_compiler_find(struct hx_compiler *c)
{
    static const char *const names[] = {"clang-19", "clang",    "clang-20", "clang-21",
                                        "clang-18", "clang-17", "clang-16", "hexagon-clang", NULL};
    const char *own = getenv("HEXAGON_CLANG");
    const char *const only[] = {own, NULL};
    char tried[1024] = "";

    for (const char *const *name = own && *own ? only : names; *name; name++) {
        char why[192];

        if (makes_hexagon(*name, why, sizeof(why))) {
            snprintf(c->command, sizeof(c->command), "%s", *name);
            return 0;
        }
        snprintf(tried + strlen(tried), sizeof(tried) - strlen(tried), "%s%s", *tried ? "; " : "", why);
    }
    fprintf(stderr, "no compiler for Hexagon (%s); install clang-19, or name one in HEXAGON_CLANG\n", tried);
    return -1;
}

/* --- a listing */

static bool is_c(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcmp(dot, ".c") == 0;
}

int hx_compile(const struct hx_compile *job)
{
    struct command c = {0};

    add(&c, job->compiler->command);
    add_all(&c, common);
    if (is_c(job->source))
        add(&c, "-std=gnu11");
    add(&c, "-iquote");
    add(&c, job->stubs);
    add_each(&c, "-I", job->flags->include);
    add_each(&c, "-D", job->flags->define);
    add(&c, "-idirafter");
    add(&c, job->headers);
    add(&c, "-idirafter");
    add(&c, job->libc);
    add_all(&c, job->debug ? debug : release);
    add(&c, job->source);
    add(&c, "-o");
    add(&c, job->output);

    pid_t pid = fork();
    if (pid == 0)
        become(&c, job->still);
    const int status = pid < 0 ? -1 : status_of(pid);
    if (status == 0)
        return 0;
    if (status < 0 || status > 125)
        fprintf(stderr, "%s could not be run\n", job->compiler->command);
    return -1;
}
