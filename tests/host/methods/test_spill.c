/* Protects records of a cache that live in a file (host/pager/spill.h): what is read is what was put last, whatever was read ahead
 * before; a file that cannot be written is named; nothing is left behind. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "hxt_proc.h"
#include "pager/spill.h"
#include "prefetch_readers.h"

enum { LAYERS = 3, CTX = 50, RECORD = 24 };

static const struct hx_pager_how ways[] = {
    {0},
    {.no_oracle = 1},
    {.from_disk = 1},
    {.storage = {.hit_us = 1, .miss_us = 50}},
};

static struct hx_spill *open_spill(size_t positions, struct hx_pager_how how)
{
    const struct hx_spill_cfg cfg = {.n_layer = LAYERS, .n_ctx = CTX, .record = RECORD, .positions = positions, .how = how};
    struct hx_spill *s = NULL;
    struct hx_error err;

    if (hx_spill_open(&s, &cfg, &err))
        fail_msg("%s", err.text);
    return s;
}

/* What a spill should have. */
static uint8_t want[LAYERS][CTX][RECORD];

static void put(struct hx_spill *s, size_t layer, size_t pos, size_t n, unsigned text)
{
    struct hx_error err;

    for (size_t i = pos; i < pos + n; i++)
        for (size_t b = 0; b < RECORD; b++)
            want[layer][i][b] = (uint8_t)(text * 89 + layer * 31 + i * 7 + b);
    if (hx_spill_put(s, layer, pos, n, want[layer][pos], &err))
        fail_msg("%s", err.text);
}

static void read_all(struct hx_spill *s, size_t layer, size_t n)
{
    uint8_t got[CTX][RECORD];
    struct hx_error err;

    memset(got, 0xa5, sizeof(got));
    if (hx_spill_read(s, layer, n, got, &err))
        fail_msg("%s", err.text);
    if (n)
        hxt_same_bytes(got, want[layer], n * RECORD);
    for (size_t i = n * RECORD; i < sizeof(got); i++)
        assert_int_equal(((uint8_t *)got)[i], 0xa5);
}

/* As a forward pass does it: each layer puts the batch, then asks for all that is before its last token. */
static void pass(struct hx_spill *s, size_t pos, size_t n, unsigned text)
{
    for (size_t layer = 0; layer < LAYERS; layer++) {
        put(s, layer, pos, n, text);
        read_all(s, layer, pos + n - 1);
    }
}

static double reported(struct hx_spill *s, const char *key)
{
    json_t *j = hx_spill_report(s);
    double x = json_number_value(json_object_get(j, key));

    assert_non_null(json_object_get(j, key));
    json_decref(j);
    return x;
}

static void test_what_is_read_is_what_was_put(void **state)
{
    static const size_t positions[] = {1, 3, 8, 49, 50, 1000};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(positions); i++) {
        struct hx_spill *s = open_spill(positions[i], ways[i % HXT_LEN(ways)]);

        pass(s, 0, 7, 1); /* a prefill */
        for (size_t pos = 7; pos < 30; pos++)
            pass(s, pos, 1, 1);
        pass(s, 30, 20, 1); /* to the end */
        assert_true(reported(s, "hits") + reported(s, "late") + reported(s, "misses") == reported(s, "fetches"));
        assert_true(reported(s, "failed") == 0);
        if (positions[i] < 49)
            assert_true(reported(s, "fetches") > 0);
        hx_spill_close(s);
    }
}

/* Texts of any length that begin anywhere in the one before: nothing of that one is ever read. */
static void test_a_new_text_replaces_the_old_one(void **state)
{
    static const struct {
        size_t from, to;
    } texts[] = {{0, 40}, {0, 12}, {12, 33}, {5, 50}, {44, 50}, {0, 1}, {1, 50}, {8, 9}, {9, 41}};

    (void)state;
    for (size_t way = 0; way < HXT_LEN(ways); way++) {
        struct hx_spill *s = open_spill(4, ways[way]);

        for (unsigned t = 0; t < HXT_LEN(texts); t++) {
            const size_t batch = t % 3 == 0 ? 1 : t % 3 == 1 ? 6 : 50;

            for (size_t pos = texts[t].from; pos < texts[t].to; pos += batch)
                pass(s, pos, texts[t].to - pos < batch ? texts[t].to - pos : batch, t);
        }
        hx_spill_close(s);
        assert_true(hxt_until(no_readers, NULL, 20));
    }
}

static void test_pages_of_the_past_are_read_ahead(void **state)
{
    struct hx_spill *s = open_spill(4, ways[0]);
    double misses;

    (void)state;
    pass(s, 0, 40, 1);
    pass(s, 40, 1, 1);
    misses = reported(s, "misses");
    assert_true(reported(s, "pages") == 10 * LAYERS);
    for (int again = 0; again < 3; again++)
        for (size_t layer = 0; layer < LAYERS; layer++)
            read_all(s, layer, 40);
    assert_true(reported(s, "misses") == misses);
    assert_true(reported(s, "wrong") == 0);
    assert_int_equal(readers(), 1);
    hx_spill_close(s);
    assert_true(hxt_until(no_readers, NULL, 20));
}

static void test_a_file_that_cannot_be_written_is_named(void **state)
{
    const struct rlimit none = {100, RLIM_INFINITY};
    struct hx_spill *s = open_spill(4, ways[0]);
    uint8_t records[CTX][RECORD] = {{0}};
    struct rlimit before;
    struct hx_error err = {""};
    int rc;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    rc = hx_spill_put(s, 0, 0, CTX, records, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, -EFBIG);
    if (!strstr(err.text, "/hexrig-cache-") || !strstr(err.text, "cannot write a page of the cache"))
        fail_msg("%s", err.text);
    hx_spill_close(s);
}

static void test_no_file_has_a_name(void **state)
{
    const struct hx_spill_cfg cfg = {.n_layer = 1, .n_ctx = CTX, .record = RECORD, .positions = 4};
    char *dir = strdup(hxt_tmpdir()), *before = strdup(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    struct hx_spill *s = NULL;
    struct hx_error err = {""};
    struct dirent *d;
    DIR *in;

    (void)state;
    setenv("TMPDIR", dir, 1);
    assert_int_equal(hx_spill_open(&s, &cfg, &err), 0);
    in = opendir(dir);
    while ((d = readdir(in)))
        assert_null(strstr(d->d_name, "hexrig-cache"));
    closedir(in);
    hx_spill_close(s);
    setenv("TMPDIR", "/nowhere", 1);
    s = NULL;
    assert_int_equal(hx_spill_open(&s, &cfg, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere/hexrig-cache-"));
    assert_null(s);
    setenv("TMPDIR", before, 1);
    free(before);
    free(dir);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_is_read_is_what_was_put),
    cmocka_unit_test(test_a_new_text_replaces_the_old_one),
    cmocka_unit_test(test_pages_of_the_past_are_read_ahead),
    cmocka_unit_test(test_a_file_that_cannot_be_written_is_named),
    cmocka_unit_test(test_no_file_has_a_name),
};

int main(void)
{
    return HXT_RUN(tests);
}
