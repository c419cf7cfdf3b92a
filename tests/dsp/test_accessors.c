/* The macros that take registers apart, and the intrinsics that step through circular and bit-reversed buffers: against the bytes in
 * memory, and, for the latter, against what qemu-hexagon made of clang's own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hexagon_types.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

union pair {
    int64_t d;
    uint64_t ud;
    int32_t w[2];
    uint32_t uw[2];
    int16_t h[4];
    uint16_t uh[4];
    int8_t b[8];
    uint8_t ub[8];
};

static const int64_t values[] = {0, -1, 0x0123456789abcdefll, (int64_t)0x8000000080008080ll, 0x7fff00ff80017f80ll};

static void test_elements_of_a_register_are_its_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(values); i++) {
        const union pair p = {.d = values[i]};

        assert_true(HEXAGON_V64_GET_D(p.d) == p.d && HEXAGON_V64_GET_UD(p.d) == p.ud);
#define SAME(kind, member, n) assert_true(HEXAGON_V64_GET_##kind##n(p.d) == p.member[n])
#define SAME4(kind, member) SAME(kind, member, 0), SAME(kind, member, 1), SAME(kind, member, 2), SAME(kind, member, 3)
        SAME(W, w, 0), SAME(W, w, 1), SAME(UW, uw, 0), SAME(UW, uw, 1);
        SAME4(H, h), SAME4(UH, uh), SAME4(B, b), SAME4(UB, ub);
        SAME(B, b, 4), SAME(B, b, 5), SAME(B, b, 6), SAME(B, b, 7);
        SAME(UB, ub, 4), SAME(UB, ub, 5), SAME(UB, ub, 6), SAME(UB, ub, 7);
#undef SAME
#define SAME(kind, member, n) assert_true(HEXAGON_V32_GET_##kind##n(p.w[0]) == p.member[n])
        SAME(H, h, 0), SAME(H, h, 1), SAME(UH, uh, 0), SAME(UH, uh, 1);
        SAME4(B, b), SAME4(UB, ub);
        assert_true(HEXAGON_V32_GET_W(p.w[0]) == p.w[0] && HEXAGON_V32_GET_UW(p.w[0]) == p.uw[0]);
#undef SAME
        assert_true(HEXAGON_V_GET_H2(p.d) == p.h[2] && Q6V_GET_UB7(p.d) == p.ub[7] && Q6V64_GET_W1(p.d) == p.w[1]);
        assert_true(Q6V32_GET_B3(p.w[0]) == p.b[3]);
    }
}

static void test_a_put_replaces_one_element(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(values); i++) {
        const union pair p = {.d = values[i]};
        union pair q;

#define PUT(kind, member, n, x) \
    q = p, q.member[n] = (__typeof__(q.member[n]))(x), assert_true(HEXAGON_V64_PUT_##kind##n(p.d, x) == q.d)
        PUT(W, w, 0, -5), PUT(W, w, 1, 0x12345678);
        PUT(H, h, 0, -2), PUT(H, h, 1, 0x9234), PUT(H, h, 2, 7), PUT(H, h, 3, 0x18000);
        PUT(B, b, 0, -1), PUT(B, b, 1, 200), PUT(B, b, 2, 0x155), PUT(B, b, 3, 0);
        PUT(B, b, 4, -1), PUT(B, b, 5, 200), PUT(B, b, 6, 0x155), PUT(B, b, 7, 0x80);
#undef PUT
#define PUT(kind, member, n, x) \
    q = p, q.member[n] = (__typeof__(q.member[n]))(x), assert_true(HEXAGON_V32_PUT_##kind##n(p.w[0], x) == q.w[0])
        PUT(H, h, 0, -2), PUT(H, h, 1, 0x9234), PUT(B, b, 0, 0xff), PUT(B, b, 1, -128), PUT(B, b, 2, 3), PUT(B, b, 3, 0x80);
#undef PUT
        assert_true(HEXAGON_V64_PUT_D(p.d, 5) == 5 && HEXAGON_V32_PUT_W(p.w[0], 6) == 6);
    }
}

static void test_a_create_takes_the_highest_element_first(void **state)
{
    static const long long constant = HEXAGON_V64_CREATE_H(-1, 2, -3, 4); /* also where C wants a constant */

    (void)state;
    for (size_t i = 0; i < LEN(values); i++) {
        const union pair p = {.d = values[i]};

        assert_true(HEXAGON_V64_CREATE_D(p.d) == p.d);
        assert_true(HEXAGON_V64_CREATE_W(p.w[1], p.w[0]) == p.d);
        assert_true(HEXAGON_V64_CREATE_H(p.h[3], p.h[2], p.h[1], p.h[0]) == p.d);
        assert_true(HEXAGON_V64_CREATE_H(p.uh[3], p.uh[2], p.uh[1], p.uh[0]) == p.d);
        assert_true(HEXAGON_V64_CREATE_B(p.b[7], p.b[6], p.b[5], p.b[4], p.b[3], p.b[2], p.b[1], p.b[0]) == p.d);
        assert_true(HEXAGON_V32_CREATE_W(p.w[0]) == p.w[0]);
        assert_true(HEXAGON_V32_CREATE_H(p.h[1], p.h[0]) == p.w[0]);
        assert_true(HEXAGON_V32_CREATE_B(p.ub[3], p.ub[2], p.ub[1], p.ub[0]) == p.w[0]);
    }
    assert_true(constant == (long long)0xffff0002fffd0004ull);
}

static void test_the_low_vector_of_a_pair_is_v0(void **state)
{
    const HVX_Vector lo = Q6_V_vsplat_R(1), hi = Q6_V_vsplat_R(2), other = Q6_V_vsplat_R(3);
    const HVX_VectorPair w = HEXAGON_HVX_CREATE_W(hi, lo), put0 = HEXAGON_HVX_PUT_V0(w, other), put1 = HEXAGON_HVX_PUT_V1(w, other);

    (void)state;
    assert_true(w[0] == 1 && w[63] == 2);
    assert_true(HEXAGON_HVX_GET_V0(w)[5] == 1 && HEXAGON_HVX_GET_V1(w)[5] == 2 && HEXAGON_HVX_GET_P(w)[5] == 1);
    assert_true(put0[0] == 3 && put0[32] == 2 && put1[0] == 1 && put1[32] == 3);
}

/* --- steps through a buffer: what they load and where they lead, in one word */

static void fill(uint8_t *base)
{
    for (unsigned i = 0; i < 1 << 16; i++)
        base[i] = (uint8_t)(i * 37 + (i >> 8));
}

static uint32_t mixed(uint32_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (uint8_t)(value >> 8 * i)) * 16777619u;
    return hash;
}

#include "oracle_scalar/circ_brev_cases.h"

static void test_circular_and_bit_reversed_steps_are_those_of_the_instructions(void **state)
{
    FILE *f = fopen(HXT_SRC "/tests/data/circ-brev-oracle.txt", "r");
    uint8_t *base = aligned_alloc(1 << 16, 1 << 16);
    char name[32];
    uint32_t want;

    (void)state;
    assert_non_null(f);
    assert_non_null(base);
    for (int i = 0; i < CIRC_BREV_CASES; i++) {
        assert_int_equal(fscanf(f, "%x %31s", &want, name), 2);
        assert_string_equal(name, circ_brev_name[i]);
        fill(base);
        if (run_circ_brev(i, base) != want)
            fail_msg("%s differs from qemu-hexagon; make check-oracle-scalar has its side", name);
    }
    fclose(f);
    free(base);
}

static void test_a_circular_buffer_goes_round_in_both_directions(void **state)
{
    int16_t *ring = aligned_alloc(128, 128), *p = ring + 5, got;
    const int16_t *at;

    (void)state;
    for (int i = 0; i < 64; i++)
        ring[i] = (int16_t)i;
    for (int i = 0; i < 4; i++) { /* of 6 elements, in a space of 8 */
        Q6_circ_load_update_H(got, p, 1, 6, 3);
        assert_int_equal(got, (5 + i) % 6);
    }
    for (int i = 0; i < 4; i++) {
        Q6_circ_load_update_H(got, p, -2, 6, 3);
        assert_int_equal(got, (9 - 2 * i + 6) % 6);
    }
    at = p;
    Q6_circ_store_update_HH(0x7fff0001, p, 1, 6, 3);
    assert_int_equal(*at, 0x7fff);
    free(ring);
}

static void test_bit_reversed_steps_visit_each_element_once(void **state)
{
    uint8_t *base = aligned_alloc(1 << 16, 1 << 16), *p = base;
    int32_t got;

    (void)state;
    for (int i = 0; i < 16; i++)
        ((int32_t *)(void *)base)[i] = i;
    for (int i = 0; i < 16; i++) {
        int32_t *q = (int32_t *)(void *)p;

        Q6_bitrev_load_update_W(got, q, 4);
        p = (uint8_t *)q;
        assert_int_equal(got, (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3);
    }
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_a_register_are_its_bytes),
        cmocka_unit_test(test_a_put_replaces_one_element),
        cmocka_unit_test(test_a_create_takes_the_highest_element_first),
        cmocka_unit_test(test_the_low_vector_of_a_pair_is_v0),
        cmocka_unit_test(test_circular_and_bit_reversed_steps_are_those_of_the_instructions),
        cmocka_unit_test(test_a_circular_buffer_goes_round_in_both_directions),
        cmocka_unit_test(test_bit_reversed_steps_visit_each_element_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
