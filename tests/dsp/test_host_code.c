/* What a basic block of x86-64 code is taken for (dsp/cost/host_code.h). */
#include <string.h>

#include "cost/host_code.h"
#include "hxt.h"

static void block(void)
{
}

static void tool(void)
{
}

static void other(void)
{
}

static enum hx_host_call kind_of(const void *function)
{
    if (function == (void *)block)
        return HX_HOST_CALL_BLOCK;
    return function == (void *)tool ? HX_HOST_CALL_TOOL : HX_HOST_CALL;
}

static uint8_t code[256];
static size_t used;

static void call(void (*function)(void))
{
    const int32_t distance = (int32_t)((uintptr_t)function - (uintptr_t)(code + used + 5));

    code[used] = 0xe8;
    memcpy(code + used + 1, &distance, sizeof(distance));
    used += 5;
}

/* A block of these instructions between two callbacks. */
static struct hx_host_block read_block(const char *bytes, size_t n)
{
    struct hx_host_block b;
    size_t pc;

    used = 0;
    call(block);
    pc = used;
    memcpy(code + used, bytes, n);
    used += n;
    call(block);
    memcpy(code + used, "\x0f\xaf\xc0\xc3", 4); /* imul, ret: of the next block */
    assert_int_equal(hx_host_block_at(code + pc, kind_of, &b), 0);
    return b;
}

#define BLOCK(bytes) read_block(bytes, sizeof(bytes) - 1)

static void test_arithmetic(void **state)
{
    (void)state;
    if (!HX_HOST_CODE_IS_READ)
        hxt_skip_test("blocks are read from x86-64 code only");
    /* add eax,ecx; xor edx,edx (zeroing: nothing); shl eax,3; cmovl eax,ecx; imul eax,ecx; div ecx */
    struct hx_host_block b = BLOCK("\x01\xc8\x31\xd2\xc1\xe0\x03\x0f\x4c\xc1\x0f\xaf\xc1\xf7\xf1");
    assert_int_equal(b.plain, 3);
    assert_int_equal(b.slow, 1);
    assert_int_equal(b.int_div, 1);
    /* addss, mulsd, divss, sqrtss, and their VEX forms with memory: vaddss 4(%rsp),%xmm0,%xmm4; vfmadd231ss -4(%rbp),%xmm1,%xmm0 */
    b = BLOCK("\xf3\x0f\x58\xc1\xf2\x0f\x59\xc1\xf3\x0f\x5e\xc1\xf3\x0f\x51\xc1\xc5\xfa\x58\x64\x24\x04\xc4\xe2\x71\xb9\x45\xfc");
    assert_int_equal(b.slow, 6);
    assert_int_equal(b.float_div, 2);
    assert_int_equal(b.plain, 0);
}

static void test_what_only_the_host_needs(void **state)
{
    (void)state;
    if (!HX_HOST_CODE_IS_READ)
        hxt_skip_test("blocks are read from x86-64 code only");
    /* mov -8(%rbp),%eax; movss %xmm0,4(%rsp); add $4,%rbx; cmp %rax,%rbx; jne -16; vmovdqu64 (%rdi),%zmm0; vpaddd %zmm1,%zmm0,%zmm0 */
    struct hx_host_block b = BLOCK("\x8b\x45\xf8\xf3\x0f\x11\x44\x24\x04\x48\x83\xc3\x04\x48\x39\xc3\x75\xf0"
                                   "\x62\xf1\xfe\x48\x6f\x07\x62\xf1\x7d\x48\xfe\xc1");
    assert_int_equal(b.plain + b.slow + b.int_div + b.float_div + b.calls, 0);
    b = BLOCK("\xff\x03"); /* incl (%rbx): arithmetic on memory is not */
    assert_int_equal(b.plain, 1);
    b = BLOCK("\x75\x10\x0f\x84\x00\x01\x00\x00"); /* forward: two */
    assert_int_equal(b.plain, 2);
}

/* An intrinsic's count (incq %fs:8(%rax)) makes it a vector block, whose scalar instructions share packets. */
static void test_vector_blocks(void **state)
{
    (void)state;
    if (!HX_HOST_CODE_IS_READ)
        hxt_skip_test("blocks are read from x86-64 code only");
    struct hx_host_block b = BLOCK("\x64\x48\xff\x40\x08\x01\xc8\x0f\xaf\xc1");
    assert_int_equal(b.hvx, 1);
    assert_int_equal(b.plain + b.slow, 0);
}

static void test_calls(void **state)
{
    struct hx_host_block b;
    size_t pc;

    (void)state;
    if (!HX_HOST_CODE_IS_READ)
        hxt_skip_test("blocks are read from x86-64 code only");
    used = 0;
    call(block);
    pc = used;
    call(tool);
    call(other);
    code[used++] = 0xc3;
    assert_int_equal(hx_host_block_at(code + pc, kind_of, &b), 0);
    assert_int_equal(b.calls, 1);
    assert_int_equal(hx_host_block_at(code + pc + 10, kind_of, &b), -1); /* behind the call of `other` */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_what_only_the_host_needs),
        cmocka_unit_test(test_vector_blocks),
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
