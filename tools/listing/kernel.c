/* Makes and checks the table of one kernel's source. */
#include "kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listing.h"

/* clang gives one of a few schedules of the same source (compiler.c): a table is current when one of so many runs gives it. */
enum { TRIES = 8, STILL_TRIES = 2, HASH_CHARS = 17 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* --- folders and files of a run */

struct run {
    const struct hx_kernel *k;
    struct hx_source source;
    char hash[HASH_CHARS];
    const char *names[HX_SOURCE_FUNCTIONS + 1]; /* of its functions, ended by NULL */
    unsigned loops[HX_SOURCE_FUNCTIONS];
    char dir[256], stubs[320], stub[640], listing[HX_CODE_BUILDS][320];
};

static int make_folder(struct run *r)
{
    const char *tmp = getenv("TMPDIR");
    FILE *f;

    snprintf(r->dir, sizeof(r->dir), "%s/hexrig-listing-XXXXXX", tmp && *tmp && strlen(tmp) < 128 ? tmp : "/tmp");
    if (!mkdtemp(r->dir)) {
        fprintf(stderr, "%s: %s\n", r->dir, strerror(errno));
        return -1;
    }
    snprintf(r->stubs, sizeof(r->stubs), "%s/stubs", r->dir);
    snprintf(r->stub, sizeof(r->stub), "%s/%.255s", r->stubs, base_name(r->k->table));
    snprintf(r->listing[HX_BUILD_RELEASE], sizeof(r->listing[0]), "%s/release.s", r->dir);
    snprintf(r->listing[HX_BUILD_DEBUG], sizeof(r->listing[0]), "%s/debug.s", r->dir);
    /* what a source whose table does not exist yet includes */
    f = mkdir(r->stubs, 0700) ? NULL : fopen(r->stub, "we");
    if (f && !fclose(f))
        return 0;
    fprintf(stderr, "%s: %s\n", r->stub, strerror(errno));
    return -1;
}

static void remove_folder(const struct run *r)
{
    for (int b = 0; b < HX_CODE_BUILDS; b++)
        unlink(r->listing[b]);
    unlink(r->stub);
    rmdir(r->stubs);
    rmdir(r->dir);
}

static int write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    int rc = f && fputs(text, f) >= 0 ? 0 : -1;

    if (f && fclose(f))
        rc = -1;
    if (rc)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return rc;
}

/* --- what a table says */

static void hash_of_table(char hash[HASH_CHARS], const char *text)
{
    const char *at = text ? strstr(text, HX_TABLE_HASH) : NULL;

    snprintf(hash, HASH_CHARS, "%.*s", at ? (int)strspn(at + strlen(HX_TABLE_HASH), "0123456789abcdef") : 0,
             at ? at + strlen(HX_TABLE_HASH) : "");
}

/* Whether two tables are the same but for their hashes. */
static bool same_tables(const char *a, const char *b)
{
    const char *in_a = strstr(a, HX_TABLE_HASH), *in_b = strstr(b, HX_TABLE_HASH);

    if (!in_a || !in_b)
        return strcmp(a, b) == 0;
    return in_a - a == in_b - b && memcmp(a, b, (size_t)(in_a - a)) == 0 &&
           strcmp(strchrnul(in_a, '\n'), strchrnul(in_b, '\n')) == 0;
}

/* --- what the source has and the tables have not */

static const struct hx_listing_name *find(const struct hx_listing_name *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i].name, name) == 0)
            return &names[i];
    return NULL;
}

static bool has_table(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->source.functions; i++)
        if (strcmp(r->source.function[i].name, name) == 0)
            return true;
    return false;
}

static void say_missing(const struct run *r, const struct hx_source_function *f, bool in_debug)
{
    fprintf(stderr, "%s:%u: HX_CODE(%s): %s\n", r->k->source, f->line, f->name,
            in_debug ? "the compiler inlines it at -O2: make the function noinline"
                     : "no function of that name is compiled (a static one that nothing calls? C++ without extern \"C\"?)");
}

/* HX_CODE() of functions that a listing lacks, and functions without HX_CODE(). */
static int compare_names(const struct run *r)
{
    struct hx_listing_name *names[HX_CODE_BUILDS] = {0};
    size_t n[HX_CODE_BUILDS] = {0};
    int rc = 0;

    for (int b = 0; b < HX_CODE_BUILDS; b++)
        rc |= hx_listing_names(&names[b], &n[b], r->listing[b]);
    for (size_t i = 0; !rc && i < r->source.functions; i++) {
        const struct hx_source_function *f = &r->source.function[i];
        const bool in_debug = find(names[HX_BUILD_DEBUG], n[HX_BUILD_DEBUG], f->name);
        if (find(names[HX_BUILD_RELEASE], n[HX_BUILD_RELEASE], f->name) && in_debug)
            continue;
        say_missing(r, f, in_debug);
        rc = -2;
    }
    for (size_t i = 0; !r->k->quiet && i < n[HX_BUILD_DEBUG]; i++) {
        const struct hx_listing_name *f = &names[HX_BUILD_DEBUG][i];
        if (!has_table(r, f->name))
            fprintf(stderr, "%s: %s has no table: no HX_CODE(%s) in it\n", *f->where ? f->where : r->k->source, f->name, f->name);
    }
    for (int b = 0; b < HX_CODE_BUILDS; b++)
        free(names[b]);
    return rc;
}

/* HX_TRIPS() of loops that are none, and loops without HX_TRIPS(). */
static int compare_loops(const struct run *r)
{
    int rc = 0;

    for (size_t i = 0; i < r->source.functions; i++) {
        const struct hx_source_function *f = &r->source.function[i];
        for (unsigned level = 1; level < 64; level++) {
            const bool told = f->told >> level & 1;
            if (told && level > r->loops[i]) {
                fprintf(stderr, "%s:%u: %s: HX_TRIPS(%u, ...): the function has %u loop%s\n", r->k->source,
                        f->line_told[level], f->name, level, r->loops[i], r->loops[i] == 1 ? "" : "s");
                rc = -1;
            } else if (!told && level <= r->loops[i] && !r->k->quiet) {
                fprintf(stderr, "%s:%u: %s: loop %u of %u has no HX_TRIPS(%u, ...): it costs nothing\n", r->k->source,
                        f->line, f->name, level, r->loops[i], level);
            }
        }
    }
    return rc;
}

/* "the release build of f calls g, which has no table here" */
static void say_calls(const struct run *r, const char *text)
{
    static const char end[] = " */\n";

    for (const char *at = text; !r->k->quiet && (at = strstr(at, HX_TABLE_WARNING));) {
        at += strlen(HX_TABLE_WARNING);
        const char *to = strstr(at, end);
        fprintf(stderr, "%s: %.*s\n", r->k->source, to ? (int)(to - at) : 0, at);
    }
}

/* --- making it */

static int compile_both(const struct run *r, unsigned try)
{
    struct hx_compile job = {
        .compiler = r->k->compiler,
        .flags = r->k->flags,
        .source = r->k->source,
        .stubs = r->stubs,
        .headers = r->k->headers,
        .libc = r->k->libc,
        .still = try < STILL_TRIES,
    };

    for (int b = 0; b < HX_CODE_BUILDS; b++) {
        job.output = r->listing[b];
        job.debug = b == HX_BUILD_DEBUG;
        if (hx_compile(&job))
            return -1;
    }
    return 0;
}

/* The text of the table that this run of the compiler gives, malloc'ed; NULL after messages. */
static char *make(struct run *r, unsigned try)
{
    const struct hx_tables tables = {
        .listing = {r->listing[HX_BUILD_RELEASE], r->listing[HX_BUILD_DEBUG]},
        .source = base_name(r->k->source),
        .hash = r->hash,
        .function = r->names,
        .loops = r->loops,
    };
    char *text = NULL;
    size_t n = 0;

    if (compile_both(r, try) || (try == 0 && compare_names(r)))
        return NULL;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? hx_tables_print(f, &tables) : -1;
    if (f && fclose(f))
        rc = -1;
    if (!rc && try == 0) {
        rc = compare_loops(r);
        say_calls(r, text);
    }
    if (rc) {
        free(text);
        text = NULL;
    }
    return text;
}

/* The table: what is there already if the compiler gives that in one of its runs, else that of its first. */
static char *settle(struct run *r, const char *old)
{
    char *first = NULL;

    for (unsigned try = 0; try < TRIES; try++) {
        char *text = make(r, try);
        if (!text || !old || same_tables(text, old)) {
            free(first);
            return text;
        }
        if (first)
            free(text);
        else
            first = text;
    }
    return first;
}

static int stale(const struct hx_kernel *k, const char *why)
{
    fprintf(stderr, "%s: %s: hexrig listing %s\n", k->table, why, k->source);
    return 1;
}

static int finish(const struct run *r, const char *text, const char *old)
{
    const struct hx_kernel *k = r->k;
    const bool same = old && strcmp(text, old) == 0;

    if (k->mode == HX_KERNEL_COMPARE && !same)
        return stale(k, old ? "not what the compiler makes of the source" : "there is none yet");
    if (!same && write_file(k->table, text))
        return -1;
    if (!k->quiet || !same)
        fprintf(stderr, "%s: %s\n", k->table, same ? "current" : "written");
    return 0;
}

static int compile_and_finish(struct run *r, const char *old)
{
    char *text = make_folder(r) ? NULL : settle(r, old);
    int rc = text ? finish(r, text, old) : -1;

    remove_folder(r);
    free(text);
    return rc;
}

static int check(const struct run *r, const char *old)
{
    char hash[HASH_CHARS];

    if (!old)
        return stale(r->k, "there is none yet");
    hash_of_table(hash, old);
    if (strcmp(hash, r->hash) != 0)
        return stale(r->k, "stale, the source or what it includes or the flags have changed");
    if (!r->k->quiet)
        fprintf(stderr, "%s: current\n", r->k->table);
    return 0;
}

int hx_kernel(const struct hx_kernel *k)
{
    struct run *r = calloc(1, sizeof(*r));
    uint64_t hash;
    int rc = -1;

    if (!r)
        return -1;
    r->k = k;
    if (!hx_source_read(&r->source, k->source) && !hx_source_hash(&hash, k->source, k->flags)) {
        char *old = hx_source_text(k->table);
        snprintf(r->hash, sizeof(r->hash), "%016" PRIx64, hash);
        for (size_t i = 0; i < r->source.functions; i++)
            r->names[i] = r->source.function[i].name;
        if (!r->source.functions)
            fprintf(stderr, "%s: no HX_CODE() in it, so no function gets a table (hexrig_code.h tells how)\n", k->source);
        else
            rc = k->mode == HX_KERNEL_CHECK ? check(r, old) : compile_and_finish(r, old);
        free(old);
    }
    free(r);
    return rc;
}
