/* What every test of this project needs: seeded randomness, poisoned and guarded buffers, float comparison that says
 * where and why, scratch folders, skipping with a reason.  Processes: hxt_proc.h.
 *
 * A test file includes this header (cmocka comes with it) and ends with
 *     int main(void) { return HXT_RUN(tests); }
 * HXT_BUILD and HXT_SRC are the build folder and the source root, absolute, set by the Makefile.
 *
 * The seed of a run is printed at its start; HXT_SEED=N in the environment replays it.  Helpers that compare or assert
 * fail the current cmocka test and do not return.  One thread only, except where noted. */
#ifndef HXT_H
#define HXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HXT_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define HXT_POISON 0xA5

/* Runs a group of struct CMUnitTest.  Exit code: 0 all passed, 77 every test was skipped, 1 something failed. */
#define HXT_RUN(tests) hxt_run_group(#tests, tests, HXT_LEN(tests), NULL, NULL)
#define HXT_RUN_FIXTURE(tests, setup, teardown)                                                    \
    hxt_run_group(#tests, tests, HXT_LEN(tests), setup, teardown)
int hxt_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
                  CMFixtureFunction setup, CMFixtureFunction teardown);

/* Prints the reason; _all ends the program with 77, _test ends the current test only.  Neither returns. */
void hxt_skip_all(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void hxt_skip_test(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- randomness (xoshiro256**); every generator is a function of the run's seed and its stream number */
struct hxt_rng {
    uint64_t s[4];
};

uint64_t hxt_seed(void); /* of this run; prints it on first use */
void hxt_rng_init(struct hxt_rng *rng, uint64_t stream);
uint64_t hxt_u64(struct hxt_rng *rng);
uint32_t hxt_u32(struct hxt_rng *rng);
uint64_t hxt_below(struct hxt_rng *rng, uint64_t n); /* 0..n-1, n >= 1 */
double hxt_unit(struct hxt_rng *rng);                /* [0, 1) */
double hxt_normal(struct hxt_rng *rng);              /* N(0, 1) */
void hxt_fill_bytes(struct hxt_rng *rng, void *bytes, size_t n);

enum hxt_fill {
    HXT_NORMAL,   /* N(0, 1) */
    HXT_UNIFORM,  /* [-1, 1) */
    HXT_TINY,     /* about 1e-20 */
    HXT_HUGE,     /* about 1e20 */
    HXT_DENORMAL, /* subnormals of both signs */
    HXT_ZERO,     /* +0 and -0 mixed */
    HXT_CONST,    /* one random value everywhere */
    HXT_SPIKE,    /* zeros and one value */
    HXT_RANGE,    /* exponents from -20 to 20 mixed in one vector */
    HXT_FINITE,   /* so many fills are finite */
    HXT_NAN = HXT_FINITE, /* N(0, 1) with one NaN somewhere */
    HXT_INF,              /* N(0, 1) with one infinity of either sign somewhere */
    HXT_FILLS
};
void hxt_fill_f32(struct hxt_rng *rng, float *x, size_t n, enum hxt_fill kind);
const char *hxt_fill_name(enum hxt_fill kind);

/* --- buffers */

/* `bytes` of HXT_POISON at `align` (a power of two), canaries on both sides; ends the program when memory is out. */
void *hxt_guard_alloc(size_t bytes, size_t align);
void hxt_guard_free(void *p); /* checks the canaries, then frees; accepts NULL */
void hxt_guard_poison(void *p); /* the whole buffer is HXT_POISON again */
#define hxt_guard_intact(p) hxt_guard_check(p, __FILE__, __LINE__)
void hxt_guard_check(const void *p, const char *file, int line);

/* Every byte still HXT_POISON: "nothing was written". */
#define hxt_untouched(p, n) hxt_check_untouched(p, n, __FILE__, __LINE__)
void hxt_check_untouched(const void *p, size_t n, const char *file, int line);

/* --- comparison */

/* Distance in units in the last place; +0 == -0; two NaNs are equal, one NaN is UINT64_MAX away. */
uint64_t hxt_ulp_f32(float a, float b);

#define hxt_near_f32(got, want, n, max_ulp)                                                        \
    hxt_check_near_f32(got, want, n, max_ulp, 0, __FILE__, __LINE__)
/* Passes where either the ulp or the absolute bound holds. */
#define hxt_near_f32_abs(got, want, n, max_ulp, max_abs)                                           \
    hxt_check_near_f32(got, want, n, max_ulp, max_abs, __FILE__, __LINE__)
void hxt_check_near_f32(const float *got, const float *want, size_t n, uint64_t max_ulp,
                        double max_abs, const char *file, int line);

#define hxt_same_bytes(got, want, n) hxt_check_same_bytes(got, want, n, __FILE__, __LINE__)
void hxt_check_same_bytes(const void *got, const void *want, size_t n, const char *file, int line);

/* --- files */

/* A new folder under $TMPDIR, removed with all its content when the program exits.  The string lives until then. */
const char *hxt_tmpdir(void);
void hxt_remove_tree(const char *path); /* no error when it is absent */

/* "A/B/C" in one of eight rotating buffers of PATH_MAX bytes, which each thread has for itself. */
const char *hxt_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whole file, malloc'ed with a 0 byte behind its end; *n (may be NULL) gets the size.  NULL when it cannot be read. */
void *hxt_read_file(const char *path, size_t *n);
void hxt_write_file(const char *path, const void *bytes, size_t n); /* fails the test when it cannot */

#endif
