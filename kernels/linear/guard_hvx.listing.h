/* Made by `hexrig listing` from what clang version 19.1.7 makes of guard_hvx.c; do not edit.
 * Source and flags: aa8b222610ecc347.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_hx_guard_product_hvx_release_0[] = {
    {{0}, 1, 0}, {{0}, 0, 0}, {{0}, 1, 1}, {{0}, 1, 1}, {{0xb01}, 1, 1}, {{0}, 1, 1}, {{0}, 1, 0},
    {{0}, 1, 0}, {{0x901}, 1, 0}, {{0}, 0, 0}, {{0x902}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0},
    {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0},
    {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0xc01}, 0, 0},
};
static const struct hx_vliw_packet hx_hx_guard_product_hvx_release_1[] = {
    {{0xb01, 0x902}, 1, 1}, {{0}, 1, 1},
};
static const struct hx_code_level hx_hx_guard_product_hvx_release[] = {
    {hx_hx_guard_product_hvx_release_0, 22, 0, 0}, /* 37 words */
    {hx_hx_guard_product_hvx_release_1, 2, 2, 0}, /* 5 words */
};
static const struct hx_vliw_packet hx_hx_guard_product_hvx_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0xc01}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x901, 0xd03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x901, 0xd03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x901, 0xd03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0xd02}, 1, 0}, {{0x901, 0xd03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0},
    {{0x901, 0xd02}, 1, 0}, {{0x901}, 1, 0}, {{0x801}, 1, 0}, {{0}, 1, 0}, {{0xc01}, 1, 0},
    {{0xc01}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_hx_guard_product_hvx_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x301}, 1, 1}, {{0xb01}, 1, 0}, {{0x901, 0xd09}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_hx_guard_product_hvx_debug[] = {
    {hx_hx_guard_product_hvx_debug_0, 47, 0, 0}, /* 47 words */
    {hx_hx_guard_product_hvx_debug_1, 22, 0, 0}, /* 22 words */
};
static const struct hx_code hx_code_hx_guard_product_hvx __attribute__((unused)) = {
    "hx_guard_product_hvx", 2, {hx_hx_guard_product_hvx_release, hx_hx_guard_product_hvx_debug},
};

static const struct hx_vliw_packet hx_hx_guard_take_hvx_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_hx_guard_take_hvx_release_1[] = {
    {{0}, 1, 1}, {{0xb01}, 1, 1}, {{0x901, 0xb01}, 1, 0}, {{0x901}, 1, 0},
};
static const struct hx_code_level hx_hx_guard_take_hvx_release[] = {
    {hx_hx_guard_take_hvx_release_0, 4, 0, 0}, /* 6 words */
    {hx_hx_guard_take_hvx_release_1, 4, 0, 0}, /* 6 words */
};
static const struct hx_vliw_packet hx_hx_guard_take_hvx_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_hx_guard_take_hvx_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0}, 1, 0}, {{0xd01, 0xb02}, 1, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0x301}, 1, 1}, {{0xb01, 0x904}, 1, 0}, {{0x901}, 1, 0},
    {{0x801, 0x304}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_hx_guard_take_hvx_debug[] = {
    {hx_hx_guard_take_hvx_debug_0, 20, 0, 0}, /* 20 words */
    {hx_hx_guard_take_hvx_debug_1, 23, 0, 0}, /* 23 words */
};
static const struct hx_code hx_code_hx_guard_take_hvx __attribute__((unused)) = {
    "hx_guard_take_hvx", 2, {hx_hx_guard_take_hvx_release, hx_hx_guard_take_hvx_debug},
};
#endif
