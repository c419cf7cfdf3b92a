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
        const struct hx_vliw_packet *p = &got->packet[i];
        if (memcmp(p, &want[i], sizeof(*want)) != 0)
            fail_msg("packet %zu: waits %#x %#x %#x, context cycles %u, vector loads %u", i, p->wait[0],
                     p->wait[1], p->wait[2], p->hvx, p->vector_loads);
    }
}

#define CHECK_LEVEL(code, build, n, peeled, ...)                              \
    do {                                                                      \
        static const struct hx_vliw_packet want_[] = {__VA_ARGS__};                \
        check_level(level(&(code), build, n), want_, HXT_LEN(want_), peeled); \
    } while (0)

/* What a packet waits for, and how many packets it stands behind it; _E: it needs that early. */
#define ALU_E(d) HX_WAIT(HX_UNIT_ALU, 1, d)
#define MPY(d) HX_WAIT(HX_UNIT_MPY, 0, d)
#define FLT(d) HX_WAIT(HX_UNIT_FLOAT, 0, d)
#define FLT_E(d) HX_WAIT(HX_UNIT_FLOAT, 1, d)
#define LD(d) HX_WAIT(HX_UNIT_LOAD, 0, d)
#define LD_E(d) HX_WAIT(HX_UNIT_LOAD, 1, d)
#define V(d) HX_WAIT(HX_UNIT_HVX, 0, d)
#define V_E(d) HX_WAIT(HX_UNIT_HVX, 1, d)
#define VLD(d) HX_WAIT(HX_UNIT_VLOAD, 0, d)
#define VLD_E(d) HX_WAIT(HX_UNIT_VLOAD, 1, d)
#define SPILL(d) HX_WAIT(HX_UNIT_SPILL, 0, d)
#define SPILL_E(d) HX_WAIT(HX_UNIT_SPILL, 1, d)

#define SCALAR(...) {{__VA_ARGS__}, 0, 0}
#define VECTOR(...) {{__VA_ARGS__}, 1, 0}
#define VMEM(...) {{__VA_ARGS__}, 1, 1}
#define NONE SCALAR(0)

/* --- what the compiler really writes */

/* As published for rows K10 and K11 of docs/timing.md: ten packets; the code around the loop does two of the trips. */
static void test_modular_product_has_the_published_ten_packets(void **state)
{
    (void)state;
    CHECK_LEVEL(hx_code_modmac, HX_BUILD_RELEASE, 1, 2, VMEM(V(1), V_E(3)), VECTOR(LD(1), V(1)),
                VECTOR(V(1), V_E(2)), VECTOR(V(1), V_E(3)), VECTOR(V(1), V_E(3), VLD_E(4)),
                VECTOR(V(1), V_E(2), VLD_E(5)), VECTOR(V(1), V_E(3)), VECTOR(V(1), V_E(2)),
                VECTOR(V(1), V_E(3)), VECTOR(V_E(2)));
    assert_int_equal(hx_code_modmac.levels, 2);
    assert_string_equal(hx_code_modmac.name, "modmac");
}

/* The same place: 23 packets, not pipelined. */
static void test_butterfly_has_the_published_23_packets(void **state)
{
    (void)state;
    CHECK_LEVEL(hx_code_stage, HX_BUILD_RELEASE, 1, 0, VMEM(ALU_E(1)), VMEM(VLD_E(1)), VMEM(0),
                VECTOR(V(2), VLD_E(2)), VECTOR(V_E(1)), VECTOR(V_E(2)), VECTOR(V(1)), VECTOR(V_E(1)),
                VECTOR(V(1), V_E(2)), VECTOR(V_E(1)), VECTOR(V_E(2)), VECTOR(V(1)), VECTOR(V_E(1)),
                VECTOR(V(1), V_E(2)), VECTOR(V(1)), VECTOR(V(1)), VECTOR(V(1)), VECTOR(V(1)),
                VECTOR(V(1)), VECTOR(V(1), VLD(17)), VECTOR(V(1)), VECTOR(V(1)), VECTOR(V(1)));
    CHECK_LEVEL(hx_code_stage, HX_BUILD_RELEASE, 0, 0, NONE, VECTOR(0), VECTOR(0), NONE, NONE, NONE);
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
    check_header("sample", "{hx_modmac_release_1, 10, 2, 0}, /* 29 words */", NULL);
    check_header("sample", "from what clang version 19.1.7 makes of", NULL);
    /* ##table is two */
    check_header("corners", "{hx_operands_release_0, 20, 0, 0}, /* 31 words */", NULL);
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
                VECTOR(0),                             /* vextract */
                SCALAR(LD(1), SPILL_E(1)),             /* r1 of the pair r1:0; r2, an address, from a vector */
                SCALAR(LD_E(1)),                       /* r0 two packets away, r4 one */
                SCALAR(MPY(1)),                        /* r6.new is of this packet, r2++ is newer */
                SCALAR(ALU_E(1), MPY(2)),              /* a factor early; r5 += reads r5, late */
                SCALAR(FLT_E(1)), SCALAR(FLT(1)),      /* both results of sfrecipa, one a condition */
                VMEM(LD(6)),                           /* v0.cur is of this packet */
                VMEM(ALU_E(1), V_E(1), VLD_E(1)),      /* ... but in the next one a load's result */
                VECTOR(V(1)),                          /* v6.tmp is gone */
                VECTOR(V(1)),                          /* the carry in q0 */
                VECTOR(LD(10)), VECTOR(V(1)), VECTOR(V(2)), /* vshuff changes both of its vectors */
                NONE, VECTOR(0),                       /* a callee ran in between */
                NONE, SCALAR(LD(1)),                   /* insert reads its destination */
                SCALAR(MPY(1)),                        /* and takes a packet more */
                NONE);                                 /* scalar ALU results are not listed */
}

/* --- loops: see corners.release.s */

static void test_moved_loops_are_numbered_as_in_the_source(void **state)
{
    (void)state;
    assert_int_equal(hx_code_nest.levels, 4);
    assert_int_equal(level(&hx_code_nest, HX_BUILD_RELEASE, 2)->around, 1);
    assert_int_equal(level(&hx_code_nest, HX_BUILD_RELEASE, 3)->around, 0);
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 0, 0, NONE, NONE, VMEM(0),
                VMEM(ALU_E(1), VLD(1)), VECTOR(0), VECTOR(V(1)), NONE);
    /* the loop inside lies between r7's definition and its use in the next trip */
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 1, 0, NONE, NONE, SCALAR(LD_E(1)), SCALAR(MPY(1)), NONE);
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 2, 0, NONE, SCALAR(LD_E(1), MPY(2)));
    CHECK_LEVEL(hx_code_nest, HX_BUILD_RELEASE, 3, 2, VMEM(ALU_E(1), V(1), VLD(1)));
    CHECK_LEVEL(hx_code_nest, HX_BUILD_DEBUG, 2, 0, NONE, SCALAR(LD(1)), NONE);
    /* a vector of the stack is no load of the source */
    CHECK_LEVEL(hx_code_nest, HX_BUILD_DEBUG, 3, 0, VECTOR(0), VECTOR(SPILL(1)), NONE, NONE);
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
        assert_int_equal(strstr(header, "{{0x63f}, 0, 0}") != NULL, gap == 63);
        assert_null(strstr(header, "{{0x640"));
        free(header);
        free(text);
    }
}

/* One packet per line of `packets`, between the head and the end of a function. */
static char *one_release_packet_each(const char *const *packets, char *header, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fputs("f:\n// %bb.0:\n", f);
    for (; *packets; packets++)
        fprintf(f, "\t{\n\t\t%s\n\t}\n", *packets);
    fputs(".Lfunc_end0:\n", f);
    fclose(f);
    run(listing("f", text), listing("f0", text), "f", 0, NULL);
    free(text);
    text = hxt_read_file(out_file(), NULL);
    const char *row = strstr(text, "[] = {\n    ");
    assert_non_null(row);
    snprintf(header, n, "%.*s", (int)strcspn(row + 11, "\n"), row + 11);
    free(text);
    return header;
}

static void test_vectors_read_again_from_the_stack_are_waited_for(void **state)
{
    (void)state;
    static const char *const lane[] = {"vmem(r29+#1) = v0", "r1 = memw(r29+#132)", "r2 = memw(r29+#256)", "r3 = add(r1,#1)", NULL};
    static const char *const moved[] = {"r0 = add(r30,#-256)", "vmem(r0+#0) = v0", "r1 = memw(r30+#-252)", "r0 = add(r5,#4)",
                                        "vmem(r0+#0) = v0", "r1 = memw(r0+#0)", NULL};
    char row[512];

    /* the second load is of another vector */
    assert_string_equal(one_release_packet_each(lane, row, sizeof(row)),
                        "{{0}, 1, 0}, {{0xc01}, 0, 0}, {{0}, 0, 0}, {{0x602}, 0, 0},");
    /* an address in the frame is known through a register, until that becomes another */
    assert_string_equal(one_release_packet_each(moved, row, sizeof(row)),
                        "{{0}, 0, 0}, {{0x101}, 1, 0}, {{0xc01}, 0, 0}, {{0}, 0, 0}, {{0x101}, 1, 0}, {{0}, 0, 0},");
}

static void test_unaligned_access_takes_two_context_cycles(void **state)
{
    (void)state;
    static const char *const text[] = {"v0 = vmemu(r0+#0)", "v1.w = vadd(v0.w,v0.w)", "vmemu(r1+#0) = v1", NULL};
    char row[512];

    /* what an unaligned store stores is rotated first */
    assert_string_equal(one_release_packet_each(text, row, sizeof(row)),
                        "{{0}, 2, 1}, {{0xa01}, 1, 0}, {{0x901}, 2, 0},");
}

/* "Vxx32.w+=vmpy(Vu32.h,Rt32.h)" with registers: "v21:20.w += vmpy(v1.h,r1.h)"; sources are v1 and v3:2. */
static void with_registers(char *to, size_t n, const char *syntax)
{
    static const struct {
        const char *operand, *reg;
    } names[] = {{"Vdd32", "v21:20"}, {"Vxx32", "v21:20"}, {"Vd32", "v20"}, {"Vx32", "v20"}, {"Vy32", "v22"}, {"Vuu32", "v3:2"},
                 {"Vvv32", "v3:2"},   {"Vu32", "v1"},      {"Vv32", "v1"},  {"Rtt32", "r3:2"}, {"Rt32", "r1"}, {"Rt8", "r1"},
                 {"Qd4", "q0"},       {"Qe4", "q0"},       {"Qx4", "q0"},   {"Qs4", "q1"},     {"Qt4", "q1"},  {"Qu4", "q1"},
                 {"Qv4", "q1"}};
    size_t at = 0;

    while (*syntax && at + 8 < n) {
        size_t k = 0;
        while (k < HXT_LEN(names) && strncmp(syntax, names[k].operand, strlen(names[k].operand)) != 0)
            k++;
        if (k < HXT_LEN(names)) {
            at += (size_t)sprintf(to + at, "%s", names[k].reg);
            syntax += strlen(names[k].operand);
        } else if (*syntax == '=') { /* "a=b", "a+=b" */
            char sign = at && strchr("+-|&^", to[at - 1]) ? to[--at] : ' ';
            at += (size_t)sprintf(to + at, sign == ' ' ? " = " : " %c= ", sign);
            syntax++;
        } else {
            to[at++] = *syntax++;
        }
    }
    to[at] = '\0';
}

/* 1 early, 0 late, -1: an operation without a vector source, or none that the table of classes tells */
static int expected_early(const char *class, const char *instruction)
{
    static const char *const early[] = {"CVI_VX", "CVI_VX_DV", "CVI_VS", "CVI_VP", "CVI_VP_VS"};
    const char *right = strstr(instruction, "= ");

    if (!right || !(strstr(right, "v1") || strstr(right, "v3:2")) || strstr(class, "SCATTER") || strstr(class, "GATHER") ||
        !strncmp(class, "CVI_VM", 6) || strncmp(class, "CVI_", 4) != 0)
        return -1;
    for (size_t i = 0; i < HXT_LEN(early); i++)
        if (strcmp(class, early[i]) == 0)
            return 1;
    return 0;
}

struct early_case {
    char name[64], text[160];
    int early;
};

static size_t early_cases(struct early_case *to, size_t max)
{
    char *table = hxt_read_file(HXT_SRC "/tests/oracle/hvx-v69-intrinsics.txt", NULL), *save = NULL;
    size_t n = 0;

    assert_non_null(table);
    for (char *line = strtok_r(table, "\n", &save); line && n < max; line = strtok_r(NULL, "\n", &save)) {
        char *field[10] = {line};
        int fields = 1;
        for (char *bar; fields < 10 && (bar = strstr(field[fields - 1], " | ")); fields++) {
            *bar = '\0';
            field[fields] = bar + 3;
        }
        if (*line == '#' || fields < 7)
            continue;
        snprintf(to[n].name, sizeof(to[n].name), "%s", field[0]);
        with_registers(to[n].text, sizeof(to[n].text), field[6]);
        to[n].early = expected_early(field[4], to[n].text);
        n += to[n].early >= 0;
    }
    free(table);
    return n;
}

/* The class of each HVX instruction says whether its sources are needed early: those of multipliers, shifters and the
 * permute network are.  The classes are clang's. */
static void test_early_sources_are_those_of_the_instruction_classes(void **state)
{
    (void)state;
    static struct early_case c[512];
    const size_t n = early_cases(c, HXT_LEN(c));
    size_t size, wrong = 0;
    char *text = NULL, *header, *row;
    FILE *f = open_memstream(&text, &size);

    assert_true(n > 400);
    fputs("f:\n// %bb.0:\n", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "\t{\n\t\tv1 = vor(v9,v9)\n\t\tv3:2 = vcombine(v9,v9)\n\t}\n\t{\n\t\t%s\n\t}\n", c[i].text);
    fputs(".Lfunc_end0:\n", f);
    fclose(f);
    run(listing("f", text), listing("f0", text), "f", 0, NULL);
    header = hxt_read_file(out_file(), NULL);
    row = strstr(header, "{{");             /* in the head's comment */
    for (size_t i = 0; i < 2 * n; i++) {
        row = strstr(row + 2, "{{");
        assert_non_null(row);
        if (i % 2 == 0)
            continue;
        const char *end = strchr(row, '}'), *early = strstr(row, "0x901"), *late = strstr(row, "0x801");
        if (c[i / 2].early ? !early || early > end : !late || late > end || (early && early < end)) {
            print_error("%s: %s: %.*s\n", c[i / 2].name, c[i / 2].text, (int)(end - row), row);
            wrong++;
        }
    }
    free(header);
    free(text);
    assert_int_equal(wrong, 0);
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
        cmocka_unit_test(test_vectors_read_again_from_the_stack_are_waited_for),
        cmocka_unit_test(test_unaligned_access_takes_two_context_cycles),
        cmocka_unit_test(test_early_sources_are_those_of_the_instruction_classes),
        cmocka_unit_test(test_wrong_usage_exits_2),
    };

    return HXT_RUN(tests);
}
