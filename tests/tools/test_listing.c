/* Protects the listing generator: the tables that a kernel gets say what stands in the compiler's listing.  All expected
 * rows were read off the listings in tests/data/listing by hand.  That the committed tables are those of the compiler:
 * tests/cases/listing.sh. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hxt.h"
#include "hxt_proc.h"

#include "corners.listing.h"
#include "sample.listing.h"

#define GENERATOR HXT_BUILD "/tools/hexrig-listing"
#define DATA HXT_SRC "/tests/data/listing/"

static const struct hx_code_level *level(const struct hx_code *code, enum hx_code_build build,
                                         unsigned n)
{
    assert_in_range(n, 0, code->levels - 1);
    return &code->build[build][n];
}

static void check_level(const struct hx_code_level *got, const struct hx_vliw_packet *want, size_t n,
                        unsigned peeled)
{
    assert_int_equal(got->packets, n);
    assert_int_equal(got->peeled, peeled);
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&got->packet[i], &want[i], sizeof(*want)) != 0) {
            const uint8_t *a = got->packet[i].after;
            fail_msg("packet %zu: load %u mpy %u hvx %u vload %u, vector loads %u", i, a[0], a[1],
                     a[2], a[3], got->packet[i].vector_loads);
        }
    }
}

#define CHECK_LEVEL(code, build, n, peeled, ...)                              \
    do {                                                                      \
        static const struct hx_vliw_packet want_[] = {__VA_ARGS__};                \
        check_level(level(&(code), build, n), want_, HXT_LEN(want_), peeled); \
    } while (0)

/* after[] by unit, then the vector loads */
#define NONE {{0, 0, 0, 0}, 0}
#define HVX(d) {{0, 0, d, 0}, 0}

/* --- what the compiler really writes */

/* As published for rows K10 and K11 of docs/timing.md: ten packets; the code around the loop does two of the trips. */
static void test_modular_product_has_the_published_ten_packets(void **state)
{
    (void)state;
    CHECK_LEVEL(hx_code_modmac, HX_BUILD_RELEASE, 1, 2, {{0, 0, 1, 0}, 1}, {{1, 0, 1, 0}, 0},
                HVX(1), HVX(1), {{0, 0, 1, 4}, 0}, {{0, 0, 1, 5}, 0}, HVX(1), HVX(1), HVX(1),
                HVX(2));
    assert_int_equal(hx_code_modmac.levels, 2);
    assert_string_equal(hx_code_modmac.name, "modmac");
}

/* The same place: 23 packets, not pipelined. */
static void test_butterfly_has_the_published_23_packets(void **state)
{
    (void)state;
    CHECK_LEVEL(hx_code_stage, HX_BUILD_RELEASE, 1, 0, {{0, 0, 0, 0}, 1}, {{0, 0, 0, 1}, 1},
                {{0, 0, 0, 0}, 1}, {{0, 0, 2, 2}, 0}, HVX(1), HVX(2), HVX(1), HVX(1), HVX(1),
                HVX(1), HVX(2), HVX(1), HVX(1), HVX(1), HVX(1), HVX(1), HVX(1), HVX(1), HVX(1),
                {{0, 0, 1, 17}, 0}, HVX(1), HVX(1), HVX(1));
    CHECK_LEVEL(hx_code_stage, HX_BUILD_RELEASE, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE);
}

static void check_header(const char *name, const char *want, const char *not_there)
{
    char *text = hxt_read_file(hxt_path(HXT_BUILD "/obj/tests/listing/%s.listing.h", name), NULL);

    assert_non_null(text);
    if (!strstr(text, want))
        fail_msg("'%s' is not in %s.listing.h", want, name);
    assert_null(not_there ? strstr(text, not_there) : NULL);
    free(text);
}

static void test_words_of_the_published_loop_are_29(void **state)
{
    (void)state;
    check_header("sample", "{hx_modmac_release_1, 10, 2}, /* 29 words, in level 0 */", NULL);
    check_header("sample", "from what clang version 19.1.7 makes of", NULL);
    /* ##table is two */
    check_header("corners", "{hx_operands_release_0, 20, 0}, /* 31 words */", NULL);
}

/* At -O0 every value passes through the stack: one instruction per packet, nothing peeled. */
static void test_debug_tables_are_those_of_the_debug_listing(void **state)
{
    (void)state;
    assert_int_equal(level(&hx_code_modmac, HX_BUILD_DEBUG, 0)->packets, 25);
    assert_int_equal(level(&hx_code_modmac, HX_BUILD_DEBUG, 1)->packets, 175);
    assert_int_equal(level(&hx_code_modmac, HX_BUILD_DEBUG, 1)->peeled, 0);
    assert_int_equal(level(&hx_code_stage, HX_BUILD_DEBUG, 1)->packets, 217);
}

/* --- every kind of operand, one packet each: see corners.release.s */

static void test_operands_find_their_producers(void **state)
{
    (void)state;
    CHECK_LEVEL(hx_code_operands, HX_BUILD_RELEASE, 0, 0,
                NONE,                                  /* the first load */
                {{1, 0, 1, 0}, 0},                     /* r1 of the pair r1:0, r2 from a vector */
                {{1, 0, 0, 0}, 0},                     /* r0 two packets away, r4 one */
                {{0, 1, 0, 0}, 0},                     /* r6.new is of this packet, r2++ is newer */
                {{0, 2, 0, 0}, 0},                     /* r5 += reads r5 */
                {{0, 1, 0, 0}, 0}, {{0, 1, 0, 0}, 0},  /* both results of sfrecipa, one a condition */
                {{6, 0, 0, 0}, 1},                     /* v0.cur is of this packet */
                {{0, 0, 1, 1}, 1},                     /* ... but in the next one a load's result */
                HVX(1),                                /* v6.tmp is gone */
                HVX(1),                                /* the carry in q0 */
                {{10, 0, 0, 0}, 0}, HVX(1), HVX(2),    /* vshuff changes both of its vectors */
                NONE, NONE,                            /* a callee ran in between */
                NONE, {{1, 0, 0, 0}, 0},               /* insert reads its destination */
                NONE, NONE);                           /* scalar ALU results are not listed */
}

/* --- loops: see corners.release.s */

static void test_moved_loops_are_numbered_as_in_the_source(void **state)
{
    (void)state;
    assert_int_equal(hx_code_nest.levels, 4);
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 0, 0, NONE, NONE, {{0, 0, 0, 0}, 1},
                {{0, 0, 0, 1}, 1}, NONE, HVX(1), NONE);
    /* the loop inside lies between r7's definition and its use in the next trip */
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 1, 0, NONE, NONE, {{1, 0, 0, 0}, 0},
                {{0, 1, 0, 0}, 0}, NONE);
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 2, 0, NONE, {{1, 2, 0, 0}, 0});
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 3, 2, {{0, 0, 1, 1}, 1});
    CHECK_LEVEL(hx_code_nest, HX_BUILD_DEBUG, 2, 0, NONE, {{1, 0, 0, 0}, 0}, NONE);
    CHECK_LEVEL(hx_code_nest, HX_BUILD_DEBUG, 3, 0, {{0, 0, 0, 0}, 1}, {{0, 0, 0, 1}, 0}, NONE,
                NONE);
}

static void test_calls_without_a_table_get_a_warning(void **state)
{
    (void)state;
    /* nest calls itself, and it has a table */
    check_header("corners", "WARNING: the release build of operands calls helper,", "calls nest");
}

/* --- the generator as a program */

static const char *out_file(void)
{
    return hxt_path("%s/out.h", hxt_tmpdir());
}

/* Runs it and wants that exit status, and each of the texts (ended by NULL) on stderr. */
static void run(const char *release, const char *debug, const char *functions, int status, ...)
{
    const char *argv[] = {GENERATOR, release, debug, "-f", functions, "-o", out_file(), NULL};
    struct hxt_cmd cmd = {.argv = argv};
    struct hxt_result r = {0};
    va_list texts;

    assert_int_equal(hxt_run(&r, &cmd), 0);
    if (r.exit_code != status)
        fail_msg("exit %d, not %d: %s", r.exit_code, status, r.err);
    va_start(texts, status);
    for (const char *want; (want = va_arg(texts, const char *));)
        if (!strstr(r.err, want))
            fail_msg("'%s' is not in: %s", want, r.err);
    va_end(texts);
    hxt_result_free(&r);
}

static const char *listing(const char *name, const char *text)
{
    const char *path = hxt_path("%s/%s.s", hxt_tmpdir(), name);

    hxt_write_file(path, text, strlen(text));
    return path;
}

static const char corners_release[] = DATA "corners.release.s",
                  corners_debug[] = DATA "corners.debug.s";

static void test_missing_function_and_file_are_named(void **state)
{
    (void)state;
    run(corners_release, corners_debug, "operands,nowhere", 1,
        "corners.release.s: no function 'nowhere'", NULL);
    run("/nowhere.s", corners_debug, "nest", 1, "/nowhere.s: No such file", NULL);
}

static void test_listing_of_another_machine_is_refused(void **state)
{
    (void)state;
    static const char x86[] =
        "nest:                                   # @nest\n# %bb.0:\n\tpushq\t%rbp\n.Lfunc_end0:\n";
    static const char arm[] =
        "nest:                                   // @nest\n// %bb.0:\n\tret\n.Lfunc_end0:\n";
    static const char junk[] =
        "nest:                                   // @nest\n// %bb.0:\n\t{\n\t\t%rax\n";

    run(listing("x86", x86), corners_debug, "nest", 1, "x86.s:3: nest: ", "clang for Hexagon?",
        NULL);
    run(listing("arm", arm), corners_debug, "nest", 1,
        "arm.s:3: nest: not in a Hexagon packet: ret", NULL);
    run(listing("junk", junk), corners_debug, "nest", 1, "not a Hexagon instruction: %rax", NULL);
}

static void test_damaged_listing_is_refused(void **state)
{
    (void)state;
    static const char start[] =
        "nest:                                   // @nest\n// %bb.0:\n\t{\n\t\tnop\n";
    char text[512];

    run(listing("cut", start), corners_debug, "nest", 1, "the listing ends inside the function",
        NULL);
    snprintf(text, sizeof(text), "%s.Lfunc_end0:\n", start);
    run(listing("open", text), corners_debug, "nest", 1, "the function ends inside a packet", NULL);
    snprintf(text, sizeof(text), "%s\t{\n", start);
    run(listing("twice", text), corners_debug, "nest", 1, "a packet inside a packet", NULL);
    snprintf(text, sizeof(text), "%s\t}\n.LBB0_1: // in Loop: Header=BB0_9 Depth=1\n.Lfunc_end0:\n",
             start);
    run(listing("header", text), corners_debug, "nest", 1, "no header of loop BB0_9", NULL);
    run(listing("empty", "nest:\n.Lfunc_end0:\n"), corners_debug, "nest", 1, "no packets", NULL);
}

static void test_different_loops_are_refused_and_listed(void **state)
{
    (void)state;
    static const char one_loop[] =
        "nest: // @nest\n// %bb.0:\n.LBB0_1: // =>This Inner Loop Header: Depth=1\n"
        "\t.loc\t1 30 5\n\t{\n\t\tnop\n\t}\n.Lfunc_end0:\n";

    hxt_write_file(out_file(), "before", 6);
    run(listing("one", one_loop), corners_debug, "nest", 1,
        "nest: the release and the debug build do not have the same",
        "release: 1 loops: line 30 depth 1",
        "debug: 3 loops: line 22 depth 1, line 23 depth 2, line 30 depth 1", NULL);
    char *text = hxt_read_file(out_file(), NULL);
    assert_string_equal(text, "before"); /* a failed run writes nothing */
    free(text);
}

/* A load, `gap` - 1 empty packets, and the use of its result. */
static char *far_text(int gap)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fputs("far:\n// %bb.0:\n\t{\n\t\tr0 = memw(r1+#0)\n\t}\n", f);
    for (int i = 1; i < gap; i++)
        fputs("\t{\n\t\tnop\n\t}\n", f);
    fputs("\t{\n\t\tr2 = add(r0,#1)\n\t}\n.Lfunc_end0:\n", f);
    fclose(f);
    return text;
}

static void test_distances_end_at_63(void **state)
{
    (void)state;
    for (int gap = 63; gap <= 64; gap++) {
        char *text = far_text(gap), *header;

        run(listing("far", text), listing("far0", text), "far", 0, NULL);
        header = hxt_read_file(out_file(), NULL);
        assert_int_equal(strstr(header, "{{63, 0, 0, 0}, 0}") != NULL, gap == 63);
        assert_null(strstr(header, "{{64,"));
        free(header);
        free(text);
    }
}

static void test_wrong_usage_exits_2(void **state)
{
    (void)state;
    const char *argv[] = {GENERATOR, "only-one.s", "-f", "nest", "-o", "x.h", NULL};
    struct hxt_cmd cmd = {.argv = argv};
    struct hxt_result r = {0};

    assert_int_equal(hxt_run(&r, &cmd), 0);
    assert_int_equal(r.exit_code, 2);
    assert_non_null(strstr(r.err, "two listings are needed"));
    hxt_result_free(&r);
    run(corners_release, corners_debug, ", ,", 2, "no functions", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modular_product_has_the_published_ten_packets),
        cmocka_unit_test(test_butterfly_has_the_published_23_packets),
        cmocka_unit_test(test_words_of_the_published_loop_are_29),
        cmocka_unit_test(test_debug_tables_are_those_of_the_debug_listing),
        cmocka_unit_test(test_operands_find_their_producers),
        cmocka_unit_test(test_moved_loops_are_numbered_as_in_the_source),
        cmocka_unit_test(test_calls_without_a_table_get_a_warning),
        cmocka_unit_test(test_missing_function_and_file_are_named),
        cmocka_unit_test(test_listing_of_another_machine_is_refused),
        cmocka_unit_test(test_damaged_listing_is_refused),
        cmocka_unit_test(test_different_loops_are_refused_and_listed),
        cmocka_unit_test(test_distances_end_at_63),
        cmocka_unit_test(test_wrong_usage_exits_2),
    };

    return HXT_RUN(tests);
}
