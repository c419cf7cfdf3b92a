/* Made by `hexrig listing` from what clang version 19.1.7 makes of vht2_pad_hvx.c; do not edit.
 * Source and flags: a16fd61edae341f1.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_vht2_pad_fill_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x501}, 0, 0}, {{0}, 0, 0}, {{0x101, 0x502}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x502}, 0, 0},
    {{0x503}, 0, 0}, {{0x502}, 0, 0}, {{0x402}, 0, 0}, {{0x502}, 0, 0}, {{0x201, 0x501}, 0, 0},
    {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_fill_release_1[] = {
    {{0x101, 0x501, 0x601}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_fill_release_2[] = {
    {{0x101}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_fill_release[] = {
    {hx_vht2_pad_fill_release_0, 24, 0, 0}, /* 44 words */
    {hx_vht2_pad_fill_release_1, 1, 2, 0}, /* 3 words */
    {hx_vht2_pad_fill_release_2, 1, 0, 0}, /* 2 words */
};
static const struct hx_vliw_packet hx_vht2_pad_fill_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0x501, 0x703}, 0, 0}, {{0x502, 0x704}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x503}, 0, 0},
    {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x402}, 0, 0}, {{0x101, 0x502}, 0, 0},
    {{0x50a, 0x70c}, 0, 0}, {{0x401}, 0, 0}, {{0x502}, 0, 0}, {{0x403}, 0, 0}, {{0x502}, 0, 0},
    {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x401}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_fill_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x401}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_fill_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_fill_debug[] = {
    {hx_vht2_pad_fill_debug_0, 34, 0, 0}, /* 36 words */
    {hx_vht2_pad_fill_debug_1, 17, 0, 0}, /* 17 words */
    {hx_vht2_pad_fill_debug_2, 15, 0, 0}, /* 15 words */
};
static const struct hx_code hx_code_vht2_pad_fill __attribute__((unused)) = {
    "vht2_pad_fill", 3, {hx_vht2_pad_fill_release, hx_vht2_pad_fill_debug},
};

static const struct hx_vliw_packet hx_vht2_pad_low_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_low_release_1[] = {
    {{0}, 1, 0}, {{0}, 1, 0}, {{0x801, 0x902}, 1, 0}, {{0x901}, 1, 0}, {{0x902}, 1, 0},
    {{0x901}, 1, 0}, {{0}, 0, 0}, {{0x301, 0x902}, 1, 0}, {{0}, 0, 0}, {{0x303}, 1, 1},
    {{0x601}, 1, 0}, {{0x901, 0xb02}, 1, 0}, {{0}, 0, 0}, {{0x101}, 1, 1}, {{0x601}, 1, 0},
    {{0}, 1, 1}, {{0x601}, 1, 0}, {{0x903, 0xb04}, 1, 0}, {{0x601}, 1, 1},
};
static const struct hx_vliw_packet hx_vht2_pad_low_release_2[] = {
    {{0x902}, 1, 0}, {{0x601, 0xa03}, 1, 1}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_low_release[] = {
    {hx_vht2_pad_low_release_0, 4, 0, 0}, /* 11 words */
    {hx_vht2_pad_low_release_1, 19, 0, 0}, /* 43 words */
    {hx_vht2_pad_low_release_2, 3, 0, 1}, /* 8 words */
};
static const struct hx_vliw_packet hx_vht2_pad_low_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_low_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 0, 0}, {{0x601}, 1, 0}, {{0}, 0, 0}, {{0x701}, 1, 1}, {{0xb01, 0x903}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x804}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x201}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_low_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 1, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1},
    {{0xb01, 0x904}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_low_debug[] = {
    {hx_vht2_pad_low_debug_0, 11, 0, 0}, /* 11 words */
    {hx_vht2_pad_low_debug_1, 31, 0, 0}, /* 31 words */
    {hx_vht2_pad_low_debug_2, 24, 0, 1}, /* 24 words */
};
static const struct hx_code hx_code_vht2_pad_low __attribute__((unused)) = {
    "vht2_pad_low", 3, {hx_vht2_pad_low_release, hx_vht2_pad_low_debug},
};

static const struct hx_vliw_packet hx_vht2_pad_stage_release_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x203}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 1}, {{0x301}, 1, 1}, {{0xb01}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_release_3[] = {
    {{0}, 1, 1}, {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x301, 0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0}, 1, 0}, {{0}, 1, 1}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_release_4[] = {
    {{0x302}, 1, 1}, {{0xb01}, 1, 1}, {{0x901}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_release_5[] = {
    {{0}, 1, 1}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_stage_release[] = {
    {hx_vht2_pad_stage_release_0, 9, 0, 0}, /* 25 words */
    {hx_vht2_pad_stage_release_1, 4, 0, 0}, /* 11 words */
    {hx_vht2_pad_stage_release_2, 7, 0, 1}, /* 16 words */
    {hx_vht2_pad_stage_release_3, 11, 0, 2}, /* 24 words */
    {hx_vht2_pad_stage_release_4, 6, 0, 3}, /* 12 words */
    {hx_vht2_pad_stage_release_5, 2, 0, 2}, /* 4 words */
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601, 0x702}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x604}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0x701}, 1, 1}, {{0xb01}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0xd01}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x602}, 0, 0}, {{0x301, 0x804}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_4[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x201, 0x605}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0xb01}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0},
    {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_stage_debug_5[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x602}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 0, 0}, {{0x201, 0x604}, 0, 0}, {{0x301, 0xa06}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_stage_debug[] = {
    {hx_vht2_pad_stage_debug_0, 11, 0, 0}, /* 11 words */
    {hx_vht2_pad_stage_debug_1, 16, 0, 0}, /* 16 words */
    {hx_vht2_pad_stage_debug_2, 19, 0, 1}, /* 19 words */
    {hx_vht2_pad_stage_debug_3, 30, 0, 2}, /* 30 words */
    {hx_vht2_pad_stage_debug_4, 47, 0, 3}, /* 47 words */
    {hx_vht2_pad_stage_debug_5, 21, 0, 2}, /* 21 words */
};
static const struct hx_code hx_code_vht2_pad_stage __attribute__((unused)) = {
    "vht2_pad_stage", 6, {hx_vht2_pad_stage_release, hx_vht2_pad_stage_debug},
};

static const struct hx_vliw_packet hx_vht2_pad_store_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_store_release_1[] = {
    {{0}, 1, 1}, {{0xb01}, 2, 0},
};
static const struct hx_code_level hx_vht2_pad_store_release[] = {
    {hx_vht2_pad_store_release_0, 3, 0, 0}, /* 5 words */
    {hx_vht2_pad_store_release_1, 2, 0, 0}, /* 3 words */
};
static const struct hx_vliw_packet hx_vht2_pad_store_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_vht2_pad_store_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0x701, 0xb02}, 2, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_vht2_pad_store_debug[] = {
    {hx_vht2_pad_store_debug_0, 9, 0, 0}, /* 9 words */
    {hx_vht2_pad_store_debug_1, 21, 0, 0}, /* 21 words */
};
static const struct hx_code hx_code_vht2_pad_store __attribute__((unused)) = {
    "vht2_pad_store", 2, {hx_vht2_pad_store_release, hx_vht2_pad_store_debug},
};
#endif
