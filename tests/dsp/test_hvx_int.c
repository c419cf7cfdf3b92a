/* Protects: the 402 integer HVX intrinsics give the bits that qemu-hexagon gave (`make
 * check-oracle` made the numbers in tests/data/hvx-oracle.txt), and count themselves in the slot
 * class of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "oracle/oracle.c"

#include "oracle/counted.h"

#include "hvx_cases.inc"

unsigned char *oracle_memory;

static void test_results_match_the_numbers_that_qemu_gave(void **state)
{
    FILE *f = fopen(HXT_SRC "/tests/data/hvx-oracle.txt", "r");
    unsigned int bad = 0;

    (void)state;
    assert_non_null(f);
    for (unsigned int c = 0; c < ORACLE_CASES; c++) {
        const struct oracle_case *t = &oracle_cases[c];
        uint64_t n[ORACLE_BATCHES];
        unsigned long long want;
        char name[64];

        assert_int_equal(fscanf(f, "%llx %63s", &want, name), 2);
        assert_string_equal(name, t->name);
        for (unsigned int b = 0; b < ORACLE_BATCHES; b++)
            n[b] = oracle_batch(t, c, b, NULL);
        if (oracle_digest(n) != want) {
            print_message("case %u: %s differs\n", c, name);
            bad++;
        }
    }
    fclose(f);
    assert_int_equal(bad, 0);
}

static void test_every_intrinsic_counts_once_in_its_class(void **state)
{
    (void)state;
    for (unsigned int c = 0; c < ORACLE_CASES; c++)
        if (!oracle_counted(&oracle_cases[c], c))
            fail_msg("%s does not count as class %d", oracle_cases[c].name, oracle_cases[c].slot);
}

static void test_counts_add_up_and_have_names(void **state)
{
    const HVX_Vector v = Q6_V_vsplat_R(3);

    (void)state;
    hx_hvx_reset();
    assert_int_equal(Q6_Vw_vadd_VwVw(v, v)[7], 6);
    assert_int_equal(Q6_Vqf32_vmpy_VsfVsf(v, v)[0], Q6_Vqf32_vmpy_VsfVsf(v, v)[31]);
    assert_int_equal(hx_hvx_counts.op[HX_SLOT_VA], 1);
    assert_int_equal(hx_hvx_counts.op[HX_SLOT_VX_DV], 2);
    assert_int_equal(hx_hvx_ops(&hx_hvx_counts), 3);
    for (unsigned int i = 0; i < HX_SLOT_CLASSES; i++)
        assert_non_null(hx_slot_class_name(i));
    assert_null(hx_slot_class_name(HX_SLOT_CLASSES));
}

/* The oracle cannot look at this: qemu ignores the region's length. */
static void test_gather_and_scatter_drop_what_leaves_the_region(void **state)
{
    const HVX_Vector ones = Q6_V_vsplat_R(-1);
    HVX_Vector offset = Q6_V_vzero();
    unsigned char *const base = oracle_memory, *const target = oracle_memory + ORACLE_REGION;

    (void)state;
    memset(base, 0x11, ORACLE_REGION);
    memset(target, 0xA5, 128);
    offset[0] = 60; /* the last whole word of 64 bytes */
    offset[1] = 61;
    offset[2] = 64;
    offset[3] = -4;
    for (int i = 4; i < 32; i++)
        offset[i] = 4 * (i % 8);
    Q6_vgather_ARMVw((HVX_Vector *)target, (int32_t)(uintptr_t)base, 63, offset);
    assert_int_equal(target[0], 0x11);
    for (int i = 4; i < 16; i++)
        assert_int_equal(target[i], 0xA5);
    assert_int_equal(target[127], 0x11);
    Q6_vscatter_RMVwV((int32_t)(uintptr_t)base, 63, offset, ones);
    assert_int_equal(base[63], 0xff);
    assert_int_equal(base[64], 0x11);
    assert_int_equal(base[32], 0x11);
    assert_int_equal(base[31], 0xff);
}

static int set_up(void **state)
{
    (void)state;
    oracle_memory = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return oracle_memory == MAP_FAILED;
}

/* Kernels for the real compiler use its name for half precision. */
static void test_fp16_is_a_type_where_the_compiler_has_one(void **state)
{
    (void)state;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    __fp16 h = 0.5;

    assert_int_equal(sizeof(h), 2);
    assert_true(h + h == 1);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp16_is_a_type_where_the_compiler_has_one),
        cmocka_unit_test(test_results_match_the_numbers_that_qemu_gave),
        cmocka_unit_test(test_every_intrinsic_counts_once_in_its_class),
        cmocka_unit_test(test_counts_add_up_and_have_names),
        cmocka_unit_test(test_gather_and_scatter_drop_what_leaves_the_region),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
