/* Made by `hexrig listing` from what clang version 19.1.7 makes of vht2_hvx.c; do not edit.
 * Source and flags: 182a7dc881682be4.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_vht2_scalar_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_release_3[] = {
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x501}, 0, 0}, {{0x401}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_scalar_release[] = {
    {hx_vht2_scalar_release_0, 3, 0, 0}, /* 6 words */
    {hx_vht2_scalar_release_1, 3, 0, 0}, /* 9 words */
    {hx_vht2_scalar_release_2, 4, 0, 1}, /* 10 words */
    {hx_vht2_scalar_release_3, 5, 0, 2}, /* 10 words */
};
static const struct hx_vliw_packet hx_vht2_scalar_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_scalar_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x604}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x101, 0x502}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701, 0x403}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x501}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704, 0x405}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_scalar_debug[] = {
    {hx_vht2_scalar_debug_0, 7, 0, 0}, /* 7 words */
    {hx_vht2_scalar_debug_1, 14, 0, 0}, /* 14 words */
    {hx_vht2_scalar_debug_2, 15, 0, 1}, /* 15 words */
    {hx_vht2_scalar_debug_3, 40, 0, 2}, /* 41 words */
};
static const struct hx_code hx_code_vht2_scalar __attribute__((unused)) = {
    "vht2_scalar", 4, {hx_vht2_scalar_release, hx_vht2_scalar_debug},
};

static const struct hx_vliw_packet hx_vht2_hvx_release_0[] = {
    {{0}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0x901}, 1, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_3[] = {
    {{0x101}, 0, 0}, {{0x701}, 0, 0}, {{0x501}, 0, 0}, {{0x401}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_4[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_5[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_release_6[] = {
    {{0}, 1, 1}, {{0xb01}, 1, 1}, {{0x901, 0xb01}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0},
    {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_hvx_release[] = {
    {hx_vht2_hvx_release_0, 7, 0, 0}, /* 14 words */
    {hx_vht2_hvx_release_1, 3, 0, 0}, /* 8 words */
    {hx_vht2_hvx_release_2, 5, 0, 1}, /* 10 words */
    {hx_vht2_hvx_release_3, 4, 0, 2}, /* 9 words */
    {hx_vht2_hvx_release_4, 3, 0, 0}, /* 9 words */
    {hx_vht2_hvx_release_5, 6, 0, 4}, /* 11 words */
    {hx_vht2_hvx_release_6, 6, 0, 5}, /* 11 words */
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 1, 0},
    {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_1[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x604}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x101, 0x502}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701, 0x403}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x501}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704, 0x405}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_4[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_5[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_hvx_debug_6[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x604}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1},
    {{0xa01}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x604}, 0, 0},
    {{0x301}, 1, 1}, {{0xa01}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0x801}, 1, 0},
    {{0}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0},
    {{0xd01}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0x801}, 1, 0},
    {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x804}, 1, 0},
    {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x604}, 0, 0}, {{0x301, 0x806}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_hvx_debug[] = {
    {hx_vht2_hvx_debug_0, 16, 0, 0}, /* 17 words */
    {hx_vht2_hvx_debug_1, 12, 0, 0}, /* 12 words */
    {hx_vht2_hvx_debug_2, 15, 0, 1}, /* 15 words */
    {hx_vht2_hvx_debug_3, 40, 0, 2}, /* 41 words */
    {hx_vht2_hvx_debug_4, 14, 0, 0}, /* 14 words */
    {hx_vht2_hvx_debug_5, 15, 0, 4}, /* 15 words */
    {hx_vht2_hvx_debug_6, 55, 0, 5}, /* 55 words */
};
static const struct hx_code hx_code_vht2_hvx __attribute__((unused)) = {
    "vht2_hvx", 7, {hx_vht2_hvx_release, hx_vht2_hvx_debug},
};
#endif
