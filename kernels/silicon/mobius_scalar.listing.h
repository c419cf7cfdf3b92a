/* Made by `hexrig listing` from what clang version 19.1.7 makes of mobius_scalar.c; do not edit.
 * Source and flags: 695c55697276258f.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_mobius_scatter_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_mobius_scatter_release_1[] = {
    {{0x701}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_mobius_scatter_release[] = {
    {hx_mobius_scatter_release_0, 4, 0, 0}, /* 10 words */
    {hx_mobius_scatter_release_1, 2, 1, 0}, /* 4 words */
};
static const struct hx_vliw_packet hx_mobius_scatter_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_mobius_scatter_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_mobius_scatter_debug[] = {
    {hx_mobius_scatter_debug_0, 9, 0, 0}, /* 9 words */
    {hx_mobius_scatter_debug_1, 18, 0, 0}, /* 18 words */
};
static const struct hx_code hx_code_mobius_scatter __attribute__((unused)) = {
    "mobius_scatter", 2, {hx_mobius_scatter_release, hx_mobius_scatter_debug},
};

static const struct hx_vliw_packet hx_mobius_gather_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_mobius_gather_release_1[] = {
    {{0}, 0, 0}, {{0x701}, 0, 0},
};
static const struct hx_code_level hx_mobius_gather_release[] = {
    {hx_mobius_gather_release_0, 3, 0, 0}, /* 4 words */
    {hx_mobius_gather_release_1, 2, 0, 0}, /* 4 words */
};
static const struct hx_vliw_packet hx_mobius_gather_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_mobius_gather_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_mobius_gather_debug[] = {
    {hx_mobius_gather_debug_0, 9, 0, 0}, /* 9 words */
    {hx_mobius_gather_debug_1, 18, 0, 0}, /* 18 words */
};
static const struct hx_code hx_code_mobius_gather __attribute__((unused)) = {
    "mobius_gather", 2, {hx_mobius_gather_release, hx_mobius_gather_debug},
};
#endif
