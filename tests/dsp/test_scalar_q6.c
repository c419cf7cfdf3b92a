/* The scalar intrinsics: bit for bit what qemu-hexagon gave (tests/data/scalar-oracle.txt, made by make
 * check-oracle-scalar), the cache hints' counters, and the builtin spellings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scalar_oracle.h"

static void test_every_intrinsic_gives_the_bits_of_qemu(void **unused)
{
    FILE *f = fopen(HXT_SRC "/tests/data/scalar-oracle.txt", "r");
    char name[64];
    unsigned long long want;
    unsigned int c = 0;

    (void)unused;
    assert_non_null(f);
    for (; c < CASES && fscanf(f, "%llx %63s", &want, name) == 2; c++) {
        assert_string_equal(name, cases[c].name);
        if (run_case(&cases[c], c) != want)
            fail_msg("%s differs from qemu-hexagon; make check-oracle-scalar shows where", name);
    }
    assert_int_equal(c, CASES);
    assert_int_equal(fscanf(f, "%63s", name), EOF);
    fclose(f);
}

static void test_hints_are_counted_and_l2fetch_with_its_bytes(void **unused)
{
    static uint8_t line[64] __attribute__((aligned(64)));

    (void)unused;
    memset(&hx_cache_hints, 0, sizeof(hx_cache_hints));
    memset(line, 0x5a, sizeof(line));
    Q6_dcfetch_A(line);
    Q6_dcfetch_A((uintptr_t)line);
    Q6_l2fetch_AR(line, 128 << 16 | 128 << 8 | 10);
    Q6_l2fetch_AP(line, (int64_t)4096 << 32 | 1024 << 16 | 3);
    assert_int_equal(hx_cache_hints.n[HX_HINT_DCFETCH], 2);
    assert_int_equal(hx_cache_hints.n[HX_HINT_L2FETCH], 2);
    assert_int_equal(hx_cache_hints.l2fetch_bytes, 128 * 10 + 1024 * 3);
    assert_int_equal(line[0], 0x5a);
    Q6_dczeroa_A(line + 40);
    assert_int_equal(hx_cache_hints.n[HX_HINT_DCZERO], 1);
    assert_int_equal(line[31], 0x5a);
    assert_int_equal(line[32], 0);
    assert_int_equal(line[63], 0);
}

static void test_compiler_builtins_are_the_same_functions(void **unused)
{
    (void)unused;
    assert_int_equal(__builtin_HEXAGON_A2_addsat(0x7fffffff, 1), 0x7fffffff);
    assert_int_equal(__builtin_HEXAGON_A2_combinew(1, 2), 1ll << 32 | 2);
    assert_int_equal(__builtin_HEXAGON_S2_vsplatrb(0x12), 0x12121212);
    assert_int_equal(__builtin_HEXAGON_C2_cmpgt(3, 2), 0xff);
    assert_int_equal(__builtin_HEXAGON_M2_mpy_ll_s0(-3, 5), -15);
    assert_true(__builtin_HEXAGON_F2_sfmax(-0.0f, 0.0f) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_intrinsic_gives_the_bits_of_qemu),
        cmocka_unit_test(test_hints_are_counted_and_l2fetch_with_its_bytes),
        cmocka_unit_test(test_compiler_builtins_are_the_same_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
