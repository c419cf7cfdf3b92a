/* Test support: groups, skipping, buffers, comparison, files.  See hxt.h. */
#include "hxt.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, CANARY_BYTES = 256, CANARY = 0xC9 };

static size_t n_skipped;

int hxt_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
                  CMFixtureFunction setup, CMFixtureFunction teardown)
{
    hxt_seed();
    n_skipped = 0;
    int failed = _cmocka_run_group_tests(name, tests, n, setup, teardown);

    if (failed)
        return 1;
    return n_skipped == n ? EXIT_SKIP : 0;
}

static void say_skip(const char *fmt, va_list ap)
{
    printf("SKIP: ");
    vprintf(fmt, ap);
    printf("\n");
}

void hxt_skip_all(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_skip(fmt, ap);
    va_end(ap);
    exit(EXIT_SKIP);
}

void hxt_skip_test(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_skip(fmt, ap);
    va_end(ap);
    n_skipped++;
    skip();
}

/* --- buffers: [struct guard][canary][user bytes][canary], the user part aligned */

struct guard {
    void *base;   /* what free() wants */
    size_t bytes; /* of the user part */
};

static struct guard *guard_of(const void *p)
{
    return (struct guard *)((uintptr_t)p - CANARY_BYTES - sizeof(struct guard));
}

void *hxt_guard_alloc(size_t bytes, size_t align)
{
    size_t lead = sizeof(struct guard) + CANARY_BYTES;
    void *base = malloc(lead + align + bytes + CANARY_BYTES);

    if (!base) {
        fprintf(stderr, "hxt: no memory for a guarded buffer of %zu bytes\n", bytes);
        exit(1);
    }
    uint8_t *p = (uint8_t *)(((uintptr_t)base + lead + align - 1) & ~(uintptr_t)(align - 1));
    struct guard g = {base, bytes};

    memcpy(guard_of(p), &g, sizeof(g));
    memset(p - CANARY_BYTES, CANARY, CANARY_BYTES);
    memset(p, HXT_POISON, bytes);
    memset(p + bytes, CANARY, CANARY_BYTES);
    return p;
}

void hxt_guard_check(const void *p, const char *file, int line)
{
    const uint8_t *u = p;
    struct guard g;

    memcpy(&g, guard_of(p), sizeof(g));
    for (size_t i = 0; i < CANARY_BYTES; i++) {
        int before = u[(ptrdiff_t)i - CANARY_BYTES] != CANARY;

        if (before || u[g.bytes + i] != CANARY) {
            print_error("guarded buffer of %zu bytes: byte %td was overwritten, seed %llu\n",
                        g.bytes, before ? (ptrdiff_t)i - CANARY_BYTES : (ptrdiff_t)(g.bytes + i),
                        (unsigned long long)hxt_seed());
            _fail(file, line);
        }
    }
}

void hxt_guard_poison(void *p)
{
    struct guard g;

    memcpy(&g, guard_of(p), sizeof(g));
    memset(p, HXT_POISON, g.bytes);
}

void hxt_guard_free(void *p)
{
    struct guard g;

    if (!p)
        return;
    hxt_guard_check(p, __FILE__, __LINE__);
    memcpy(&g, guard_of(p), sizeof(g));
    free(g.base);
}

void hxt_check_untouched(const void *p, size_t n, const char *file, int line)
{
    const uint8_t *u = p;

    for (size_t i = 0; i < n; i++) {
        if (u[i] != HXT_POISON) {
            print_error("byte %zu of %zu was written (0x%02x), seed %llu\n", i, n, u[i],
                        (unsigned long long)hxt_seed());
            _fail(file, line);
        }
    }
}

/* --- comparison */

/* Maps floats to integers in their numeric order, both zeros to 0. */
static int64_t ordered(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return (u & 0x80000000u) ? -(int64_t)(u & 0x7fffffffu) : (int64_t)u;
}

uint64_t hxt_ulp_f32(float a, float b)
{
    int nan_a = a != a, nan_b = b != b;

    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    int64_t d = ordered(a) - ordered(b);
    return (uint64_t)(d < 0 ? -d : d);
}

void hxt_check_near_f32(const float *got, const float *want, size_t n, uint64_t max_ulp,
                        double max_abs, const char *file, int line)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t ulp = hxt_ulp_f32(got[i], want[i]);
        double diff = (double)got[i] - want[i];

        if (ulp <= max_ulp || (max_abs > 0 && diff <= max_abs && diff >= -max_abs))
            continue;
        print_error("[%zu of %zu] got %.9g (%a) want %.9g (%a): %llu ulp, allowed %llu; "
                    "difference %.3g, allowed %.3g; seed %llu\n",
                    i, n, got[i], got[i], want[i], want[i], (unsigned long long)ulp,
                    (unsigned long long)max_ulp, diff, max_abs, (unsigned long long)hxt_seed());
        _fail(file, line);
    }
}

void hxt_check_same_bytes(const void *got, const void *want, size_t n, const char *file, int line)
{
    const uint8_t *g = got, *w = want;

    for (size_t i = 0; i < n; i++) {
        if (g[i] != w[i]) {
            print_error("byte %zu of %zu: got 0x%02x want 0x%02x, seed %llu\n", i, n, g[i], w[i],
                        (unsigned long long)hxt_seed());
            _fail(file, line);
        }
    }
}

/* --- files */

static char tmpdir[PATH_MAX];
static pid_t tmpdir_owner; /* a forked child must not remove its parent's folder */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void hxt_remove_tree(const char *path)
{
    /* FTW_MOUNT: a rig that is still mounted below is somebody else's file system */
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) && errno != ENOENT)
        fprintf(stderr, "hxt: could not remove %s: %s\n", path, strerror(errno));
}

static void remove_tmpdir(void)
{
    if (tmpdir_owner == getpid())
        hxt_remove_tree(tmpdir);
}

const char *hxt_tmpdir(void)
{
    const char *parent = getenv("TMPDIR");

    if (tmpdir_owner)
        return tmpdir;
    snprintf(tmpdir, sizeof(tmpdir), "%s/hxt-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(tmpdir)) {
        fprintf(stderr, "hxt: mkdtemp %s: %s\n", tmpdir, strerror(errno));
        exit(1);
    }
    tmpdir_owner = getpid();
    atexit(remove_tmpdir);
    return tmpdir;
}

const char *hxt_path(const char *fmt, ...)
{
    static __thread char ring[8][PATH_MAX];
    static __thread unsigned next;
    char *s = ring[next++ % HXT_LEN(ring)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(s, PATH_MAX, fmt, ap);
    va_end(ap);
    return s;
}

void *hxt_read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    size_t len = 0, room = 0, got = 1;

    if (!f)
        return NULL;
    while (got) { /* not by its size: a rig's text nodes say 0 */
        if (len + 1 >= room) {
            char *more = realloc(bytes, room = room ? room * 2 : 4096);
            if (!more)
                break;
            bytes = more;
        }
        got = fread(bytes + len, 1, room - len - 1, f);
        len += got;
    }
    fclose(f);
    if (bytes)
        bytes[len] = 0;
    if (n)
        *n = len;
    return bytes;
}

void hxt_write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
        fail_msg("cannot write %s: %s", path, strerror(errno));
}
