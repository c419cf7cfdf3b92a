/* Protects: whoever reads a file that a disk, a copy or a stranger has damaged.  Every byte of its head in turn, and bytes anywhere,
 * are changed, and the file is cut off everywhere: it is read as what it says, or refused with one line that names it.  Nothing
 * crashes, and what has a checksum is never taken for sound. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "e2e.h"
#include "hx_block.h"
#include "hx_profile.h"
#include "methods/capture/capture.h"
#include "methods/spinor/cal_file.h"

#define SHARE HXT_BUILD "/share/hexrig/"

enum { HEAD = 192, ANYWHERE = 150, CUTS = 50 };

static const uint8_t flips[] = {0x01, 0xff};
static unsigned survived;

/* Reads the file: 0, or negative errno and a line in why.  What can be read is used. */
typedef int (*reader_fn)(const char *path, char *why, size_t bytes);

struct kind {
    const char *name;
    reader_fn read;
    int has_sum; /* 1: no change goes unnoticed */
    uint8_t *bytes;
    size_t n;
    char path[300];
};

static void expect(const struct kind *k, const char *damage, size_t at, int must_fail)
{
    char why[1024] = "";
    int rc = k->read(k->path, why, sizeof(why));

    if (rc > 0 || (must_fail && !rc))
        fail_msg("%s, %s %zu: %d", k->name, damage, at, rc);
    if (rc && (!strstr(why, "damaged") || strchr(why, '\n')))
        fail_msg("%s, %s %zu: %d and '%s', which does not name the file", k->name, damage, at, rc, why);
    survived++;
}

static void change(const struct kind *k, int fd, size_t at, uint8_t flip)
{
    const uint8_t bad = k->bytes[at] ^ flip;

    assert_int_equal(pwrite(fd, &bad, 1, (off_t)at), 1);
    expect(k, "byte", at, k->has_sum);
    assert_int_equal(pwrite(fd, &k->bytes[at], 1, (off_t)at), 1);
}

/* From here on it can only become shorter. */
static void cut(const struct kind *k, int fd, size_t n)
{
    assert_int_equal(ftruncate(fd, (off_t)n), 0);
    expect(k, "cut at", n, k->has_sum);
}

static void damage(struct kind *k)
{
    struct hxt_rng rng;
    int fd;

    hxt_rng_init(&rng, (uint64_t)k->n);
    snprintf(k->path, sizeof(k->path), "%s/damaged%s", hxt_tmpdir(), k->name);
    hxt_write_file(k->path, k->bytes, k->n);
    assert_int_equal(k->read(k->path, (char[1024]){0}, 1024), 0); /* sound */
    fd = open(k->path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t at = 0; at < HEAD && at < k->n; at++)
        for (size_t i = 0; i < HXT_LEN(flips); i++)
            change(k, fd, at, flips[i]);
    for (int i = 0; i < ANYWHERE; i++)
        change(k, fd, hxt_below(&rng, k->n), (uint8_t)(1 + hxt_below(&rng, 255)));
    for (size_t n = k->n - 1; n > HEAD; n -= n > HEAD + k->n / CUTS ? 1 + hxt_below(&rng, 1 + k->n / CUTS) : n - HEAD)
        cut(k, fd, n);
    for (size_t n = k->n < HEAD ? k->n : HEAD; n-- > 0;)
        cut(k, fd, n);
    close(fd);
    unlink(k->path);
    free(k->bytes);
}

/* --- calibrations -------------------------------------------------------------------------------------------------- */

static int read_cal(const char *path, char *why, size_t bytes)
{
    struct hx_error err = {""};
    struct hx_cal *cal = NULL;
    int rc = hx_cal_read(&cal, path, &err);

    snprintf(why, bytes, "%s", err.text);
    hx_cal_free(cal);
    return rc;
}

static void test_calibrations(void **state)
{
    struct kind k = {.name = ".cal", .read = read_cal, .has_sum = 1};

    (void)state;
    k.bytes = hxt_read_file(SHARE "hexrig-tiny.cal", &k.n);
    assert_non_null(k.bytes);
    damage(&k);
}

/* --- captures ------------------------------------------------------------------------------------------------------ */

static int read_capture(const char *path, char *why, size_t bytes)
{
    struct hx_capture_reader *r = NULL;
    struct hx_capture_record record;
    const uint32_t *tokens, *positions;
    const float *rows;
    struct hx_error err = {""};
    int rc = hx_capture_read(&r, path, &err);

    if (!rc) {
        while ((rc = hx_capture_next(r, &record, &tokens, &positions, &rows, &err)) > 0)
            /* the last of each is there: for ASan */
            *why = (char)(tokens[record.n - 1] + positions[record.n - 1] + (rows[(size_t)record.n * record.row - 1] > 0));
        hx_capture_read_close(r);
    }
    snprintf(why, bytes, "%s", err.text);
    return rc;
}

static void test_captures(void **state)
{
    struct kind k = {.name = ".capture", .read = read_capture};
    struct hxt_result r;

    (void)state;
    e2e_run(&r, hxt_path("run -p PROMPT -n 2 --kv f32 --capture-points k,after_ffn --capture %s/sound", hxt_tmpdir()));
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    k.bytes = hxt_read_file(hxt_path("%s/sound", hxt_tmpdir()), &k.n);
    assert_non_null(k.bytes);
    damage(&k);
}

/* --- profiles ------------------------------------------------------------------------------------------------------ */

static int read_profile(const char *path, char *why, size_t bytes)
{
    struct hx_profile p;

    return hx_profile_load(&p, SHARE "profiles", path, why, bytes);
}

static void test_profiles(void **state)
{
    struct kind k = {.name = ".conf", .read = read_profile};

    (void)state;
    k.bytes = hxt_read_file(SHARE "profiles/s22u-sync.conf", &k.n);
    assert_non_null(k.bytes);
    damage(&k);
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

static const struct hx_block_shape *shape;

static int read_blocks(const char *path, char *why, size_t bytes)
{
    size_t n;
    uint8_t *records = hxt_read_file(path, &n);
    int rc = records && n && n % shape->slot == 0 ? 0 : -EINVAL;

    for (size_t at = 0; !rc && at < n; at += shape->slot)
        if (hx_block_fault(shape, records + at))
            rc = -EBADMSG;
    if (rc)
        snprintf(why, bytes, "%s", path);
    free(records);
    return rc;
}

static void test_blocks(void **state)
{
    struct hx_cal *cal;
    struct hx_error err;
    struct kind k = {.name = ".blk", .read = read_blocks, .has_sum = 1};
    struct hxt_result r;
    float x[HX_BLOCK_MAX_DH];

    (void)state;
    assert_int_equal(hx_cal_read(&cal, SHARE "hexrig-tiny.cal", &err), 0);
    shape = cal->format.shape; /* lives on */
    hx_cal_free(cal);
    for (uint32_t i = 0; i < shape->dh; i++)
        x[i] = (float)(i * 37 % 64) / 16 - 2;
    hxt_write_file(hxt_path("%s/x", hxt_tmpdir()), x, shape->dh * sizeof(*x));
    e2e_run(&r, hxt_path("block encode --cal " SHARE "hexrig-tiny.cal --slot 0 -o %s/sound.blk %s/x", hxt_tmpdir(), hxt_tmpdir()));
    if (r.exit_code)
        fail_msg("%s", r.err);
    hxt_result_free(&r);
    k.bytes = hxt_read_file(hxt_path("%s/sound.blk", hxt_tmpdir()), &k.n);
    assert_non_null(k.bytes);
    damage(&k);
}

/* The command says of each record where it lies. */
static void test_a_bad_block_is_named_by_file_and_offset(void **state)
{
    uint8_t *bytes;
    size_t n;

    (void)state;
    bytes = hxt_read_file(hxt_path("%s/sound.blk", hxt_tmpdir()), &n);
    assert_non_null(bytes);
    bytes[n / 2] ^= 1;
    hxt_write_file(hxt_path("%s/damaged.blk", hxt_tmpdir()), bytes, n);
    free(bytes);
    e2e_refused(hxt_path("block decode --cal " SHARE "hexrig-tiny.cal -o %s/y %s/damaged.blk", hxt_tmpdir(), hxt_tmpdir()), 1,
                "damaged.blk: record 0, offset 0: ");
    assert_int_equal(access(hxt_path("%s/y", hxt_tmpdir()), F_OK), -1);
    survived++;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrations),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_a_bad_block_is_named_by_file_and_offset),
    };
    int rc = HXT_RUN(tests);

    printf("damaged files: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
