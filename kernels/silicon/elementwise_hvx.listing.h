/* Made by `hexrig listing` from what clang version 19.1.7 makes of elementwise_hvx.c; do not edit.
 * Source and flags: fd9b132e947e410e.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_axpby_release_0[] = {
    {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_axpby_release_1[] = {
    {{0}, 1, 1}, {{0x801}, 1, 0}, {{0x901}, 1, 0}, {{0x902}, 1, 0}, {{0x801}, 1, 0},
};
static const struct hx_code_level hx_axpby_release[] = {
    {hx_axpby_release_0, 3, 0, 0}, /* 6 words */
    {hx_axpby_release_1, 5, 0, 0}, /* 8 words */
};
static const struct hx_vliw_packet hx_axpby_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_axpby_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0x601, 0xb02}, 1, 0},
    {{0x801}, 1, 0}, {{0x801}, 1, 0}, {{0x803}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0}, {{0xc02}, 1, 0},
    {{0}, 1, 0}, {{0xc01, 0x802}, 1, 0}, {{0}, 0, 0}, {{0x902}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0},
    {{0}, 1, 0}, {{0xc02}, 1, 0}, {{0xc02}, 1, 0}, {{0}, 1, 0}, {{0xc01, 0x802}, 1, 0},
    {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0}, {{0xc01}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x804}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_axpby_debug[] = {
    {hx_axpby_debug_0, 14, 0, 0}, /* 14 words */
    {hx_axpby_debug_1, 43, 0, 0}, /* 43 words */
};
static const struct hx_code hx_code_axpby __attribute__((unused)) = {
    "axpby", 2, {hx_axpby_release, hx_axpby_debug},
};

static const struct hx_vliw_packet hx_echo_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_echo_release_1[] = {
    {{0x101}, 0, 0},
};
static const struct hx_code_level hx_echo_release[] = {
    {hx_echo_release_0, 3, 0, 0}, /* 4 words */
    {hx_echo_release_1, 1, 0, 0}, /* 2 words */
};
static const struct hx_vliw_packet hx_echo_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_echo_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_echo_debug[] = {
    {hx_echo_debug_0, 8, 0, 0}, /* 8 words */
    {hx_echo_debug_1, 16, 0, 0}, /* 16 words */
};
static const struct hx_code hx_code_echo __attribute__((unused)) = {
    "echo", 2, {hx_echo_release, hx_echo_debug},
};

static const struct hx_vliw_packet hx_copy_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_release_1[] = {
    {{0x101}, 1, 1},
};
static const struct hx_vliw_packet hx_copy_release_2[] = {
    {{0x101}, 0, 0},
};
static const struct hx_code_level hx_copy_release[] = {
    {hx_copy_release_0, 9, 0, 0}, /* 16 words */
    {hx_copy_release_1, 1, 0, 0}, /* 2 words */
    {hx_copy_release_2, 1, 0, 0}, /* 2 words */
};
static const struct hx_vliw_packet hx_copy_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x602}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x301, 0xa03}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_copy_debug[] = {
    {hx_copy_debug_0, 17, 0, 0}, /* 17 words */
    {hx_copy_debug_1, 18, 0, 0}, /* 18 words */
    {hx_copy_debug_2, 16, 0, 0}, /* 16 words */
};
static const struct hx_code hx_code_copy __attribute__((unused)) = {
    "copy", 3, {hx_copy_release, hx_copy_debug},
};

static const struct hx_vliw_packet hx_copy_unaligned_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_unaligned_release_1[] = {
    {{0}, 2, 1}, {{0xb01}, 2, 0},
};
static const struct hx_vliw_packet hx_copy_unaligned_release_2[] = {
    {{0x101}, 0, 0},
};
static const struct hx_code_level hx_copy_unaligned_release[] = {
    {hx_copy_unaligned_release_0, 9, 0, 0}, /* 15 words */
    {hx_copy_unaligned_release_1, 2, 0, 0}, /* 3 words */
    {hx_copy_unaligned_release_2, 1, 0, 0}, /* 2 words */
};
static const struct hx_vliw_packet hx_copy_unaligned_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_unaligned_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 2, 1}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x301, 0xb03}, 2, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_copy_unaligned_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_copy_unaligned_debug[] = {
    {hx_copy_unaligned_debug_0, 15, 0, 0}, /* 15 words */
    {hx_copy_unaligned_debug_1, 18, 0, 0}, /* 18 words */
    {hx_copy_unaligned_debug_2, 16, 0, 0}, /* 16 words */
};
static const struct hx_code hx_code_copy_unaligned __attribute__((unused)) = {
    "copy_unaligned", 3, {hx_copy_unaligned_release, hx_copy_unaligned_debug},
};

static const struct hx_vliw_packet hx_argmax_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0x801}, 1, 0},
    {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0x901}, 1, 0},
    {{0x801}, 1, 0}, {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0x901}, 1, 0}, {{0x801}, 1, 0},
    {{0xc01}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x302}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_release_1[] = {
    {{0x101, 0x201, 0x601}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_release_2[] = {
    {{0x101, 0x801}, 1, 1},
};
static const struct hx_vliw_packet hx_argmax_release_3[] = {
    {{0x101, 0x201, 0x601}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_release_4[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0},
};
static const struct hx_code_level hx_argmax_release[] = {
    {hx_argmax_release_0, 33, 0, 0}, /* 60 words */
    {hx_argmax_release_1, 1, 1, 0}, /* 2 words */
    {hx_argmax_release_2, 1, 0, 0}, /* 2 words */
    {hx_argmax_release_3, 1, 1, 0}, /* 2 words */
    {hx_argmax_release_4, 2, 0, 0}, /* 3 words */
};
static const struct hx_vliw_packet hx_argmax_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0xc01}, 1, 0}, {{0}, 1, 0},
    {{0}, 0, 0}, {{0xd02}, 1, 0}, {{0x801, 0xc03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x801, 0xc03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x801, 0xc03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x801, 0xc03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0},
    {{0x801, 0xc02}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0x801, 0xc02}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 1, 0}, {{0xc01}, 1, 0}, {{0xc01}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0xa01, 0xc05}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_argmax_debug_4[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_argmax_debug[] = {
    {hx_argmax_debug_0, 86, 0, 0}, /* 86 words */
    {hx_argmax_debug_1, 29, 0, 0}, /* 29 words */
    {hx_argmax_debug_2, 18, 0, 0}, /* 18 words */
    {hx_argmax_debug_3, 29, 0, 0}, /* 29 words */
    {hx_argmax_debug_4, 12, 0, 0}, /* 12 words */
};
static const struct hx_code hx_code_argmax __attribute__((unused)) = {
    "argmax", 5, {hx_argmax_release, hx_argmax_debug},
};
#endif
