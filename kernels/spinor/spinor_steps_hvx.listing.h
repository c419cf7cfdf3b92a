/* Made by `hexrig listing` from what clang version 19.1.7 makes of spinor_steps_hvx.c; do not edit.
 * Source and flags: 0faaec6c5be00516.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_steps_wild_release_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_wild_release_1[] = {
    {{0x201}, 0, 0}, {{0x601}, 0, 0},
};
static const struct hx_code_level hx_steps_wild_release[] = {
    {hx_steps_wild_release_0, 4, 0, 0}, /* 14 words */
    {hx_steps_wild_release_1, 2, 1, 0}, /* 6 words */
};
static const struct hx_vliw_packet hx_steps_wild_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_wild_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_wild_debug[] = {
    {hx_steps_wild_debug_0, 10, 0, 0}, /* 10 words */
    {hx_steps_wild_debug_1, 20, 0, 0}, /* 21 words */
};
static const struct hx_code hx_code_steps_wild __attribute__((unused)) = {
    "steps_wild", 2, {hx_steps_wild_release, hx_steps_wild_debug},
};

static const struct hx_vliw_packet hx_steps_project_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 2, 1}, {{0}, 2, 1}, {{0}, 1, 0}, {{0x901}, 1, 0},
    {{0}, 0, 0}, {{0x101}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_release_1[] = {
    {{0xb02}, 2, 1}, {{0}, 2, 1}, {{0x902}, 1, 0},
};
static const struct hx_vliw_packet hx_steps_project_release_2[] = {
    {{0x302}, 2, 1}, {{0xb01}, 1, 0}, {{0}, 0, 0}, {{0x101}, 2, 1}, {{0}, 1, 1},
    {{0x101, 0xb01}, 1, 1}, {{0}, 2, 1}, {{0}, 1, 0}, {{0}, 1, 0}, {{0x901}, 1, 0}, {{0}, 1, 0},
    {{0xc01}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_release_3[] = {
    {{0xb01, 0x902}, 2, 1}, {{0}, 1, 1},
};
static const struct hx_vliw_packet hx_steps_project_release_4[] = {
    {{0x901, 0x202}, 1, 0}, {{0x901}, 1, 0},
};
static const struct hx_code_level hx_steps_project_release[] = {
    {hx_steps_project_release_0, 12, 0, 0}, /* 26 words */
    {hx_steps_project_release_1, 3, 1, 0}, /* 5 words */
    {hx_steps_project_release_2, 12, 0, 0}, /* 27 words */
    {hx_steps_project_release_3, 2, 2, 2}, /* 5 words */
    {hx_steps_project_release_4, 2, 0, 2}, /* 5 words */
};
static const struct hx_vliw_packet hx_steps_project_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 2, 1}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 2, 1},
    {{0xb01}, 1, 0}, {{0x901}, 1, 0}, {{0}, 0, 0}, {{0x609}, 0, 0}, {{0x301, 0x803}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 2, 1}, {{0}, 1, 0}, {{0xd01, 0xb02}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0}, {{0}, 0, 0}, {{0x101, 0x802}, 1, 0},
    {{0}, 0, 0}, {{0x101}, 1, 0}, {{0}, 0, 0}, {{0x101, 0xc02}, 1, 0}, {{0xc01}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 2, 1}, {{0}, 0, 0}, {{0x604}, 0, 0},
    {{0x301}, 1, 1}, {{0xb01}, 1, 0}, {{0x901, 0xd09}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_project_debug_4[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 0, 0},
    {{0x601, 0xd02}, 1, 0}, {{0x901, 0xd03}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_project_debug[] = {
    {hx_steps_project_debug_0, 15, 0, 0}, /* 15 words */
    {hx_steps_project_debug_1, 23, 0, 0}, /* 23 words */
    {hx_steps_project_debug_2, 38, 0, 0}, /* 38 words */
    {hx_steps_project_debug_3, 22, 0, 2}, /* 22 words */
    {hx_steps_project_debug_4, 16, 0, 2}, /* 16 words */
};
static const struct hx_code hx_code_steps_project __attribute__((unused)) = {
    "steps_project", 5, {hx_steps_project_release, hx_steps_project_debug},
};

static const struct hx_vliw_packet hx_steps_combine_release_0[] = {
    {{0}, 0, 0}, {{0}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_combine_release_1[] = {
    {{0}, 1, 0}, {{0}, 1, 0}, {{0x801, 0x902}, 1, 0}, {{0x901}, 1, 0}, {{0x902}, 1, 0},
    {{0x901}, 1, 0}, {{0x901}, 1, 0}, {{0x301, 0x901}, 2, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x301}, 2, 1}, {{0xb01}, 1, 0}, {{0}, 2, 1}, {{0x101}, 0, 0}, {{0x601}, 1, 0}, {{0}, 0, 0},
    {{0x601}, 2, 1}, {{0}, 0, 0}, {{0x904, 0xb06}, 1, 0}, {{0x601}, 2, 1}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_combine_release_2[] = {
    {{0x903}, 1, 0}, {{0x803, 0xa04}, 2, 1}, {{0x602}, 1, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_combine_release[] = {
    {hx_steps_combine_release_0, 4, 0, 0}, /* 9 words */
    {hx_steps_combine_release_1, 21, 0, 0}, /* 44 words */
    {hx_steps_combine_release_2, 4, 0, 1}, /* 9 words */
};
static const struct hx_vliw_packet hx_steps_combine_debug_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_combine_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301}, 2, 1}, {{0}, 1, 0}, {{0x901, 0xb02}, 1, 0},
    {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0}, {{0xd01}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x904}, 2, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_combine_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 1, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601, 0x702}, 0, 0}, {{0x201, 0x604}, 0, 0}, {{0x301}, 2, 1},
    {{0xb01, 0x907}, 1, 0}, {{0x901, 0xd0c}, 1, 0}, {{0x801}, 1, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_combine_debug[] = {
    {hx_steps_combine_debug_0, 12, 0, 0}, /* 12 words */
    {hx_steps_combine_debug_1, 27, 0, 0}, /* 27 words */
    {hx_steps_combine_debug_2, 25, 0, 1}, /* 25 words */
};
static const struct hx_code hx_code_steps_combine __attribute__((unused)) = {
    "steps_combine", 3, {hx_steps_combine_release, hx_steps_combine_debug},
};

static const struct hx_vliw_packet hx_steps_predict_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_predict_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x401}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_predict_release_2[] = {
    {{0x101, 0x401, 0x601}, 0, 0},
};
static const struct hx_code_level hx_steps_predict_release[] = {
    {hx_steps_predict_release_0, 4, 0, 0}, /* 8 words */
    {hx_steps_predict_release_1, 13, 0, 0}, /* 26 words */
    {hx_steps_predict_release_2, 1, 2, 1}, /* 4 words */
};
static const struct hx_vliw_packet hx_steps_predict_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_predict_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_predict_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x703}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x601, 0x702}, 0, 0}, {{0x401}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_predict_debug[] = {
    {hx_steps_predict_debug_0, 10, 0, 0}, /* 10 words */
    {hx_steps_predict_debug_1, 20, 0, 0}, /* 20 words */
    {hx_steps_predict_debug_2, 21, 0, 1}, /* 21 words */
};
static const struct hx_code hx_code_steps_predict __attribute__((unused)) = {
    "steps_predict", 3, {hx_steps_predict_release, hx_steps_predict_debug},
};

static const struct hx_vliw_packet hx_steps_residuals_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_residuals_release_1[] = {
    {{0x101}, 0, 0}, {{0x701}, 0, 0}, {{0x401}, 0, 0}, {{0x402}, 0, 0}, {{0x403}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x406}, 0, 0}, {{0x209}, 0, 0},
};
static const struct hx_code_level hx_steps_residuals_release[] = {
    {hx_steps_residuals_release_0, 4, 0, 0}, /* 9 words */
    {hx_steps_residuals_release_1, 9, 0, 0}, /* 18 words */
};
static const struct hx_vliw_packet hx_steps_residuals_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_residuals_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0}, {{0x401}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0},
    {{0x401}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x604}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x602}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_residuals_debug[] = {
    {hx_steps_residuals_debug_0, 13, 0, 0}, /* 13 words */
    {hx_steps_residuals_debug_1, 109, 0, 0}, /* 109 words */
};
static const struct hx_code hx_code_steps_residuals __attribute__((unused)) = {
    "steps_residuals", 2, {hx_steps_residuals_release, hx_steps_residuals_debug},
};

static const struct hx_vliw_packet hx_steps_lanes_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_lanes_release_1[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x602}, 0, 0}, {{0x101, 0x702}, 0, 0},
};
static const struct hx_code_level hx_steps_lanes_release[] = {
    {hx_steps_lanes_release_0, 3, 0, 0}, /* 4 words */
    {hx_steps_lanes_release_1, 4, 0, 0}, /* 8 words */
};
static const struct hx_vliw_packet hx_steps_lanes_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_lanes_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0}, {{0x401, 0x703}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_lanes_debug[] = {
    {hx_steps_lanes_debug_0, 9, 0, 0}, /* 9 words */
    {hx_steps_lanes_debug_1, 34, 0, 0}, /* 34 words */
};
static const struct hx_code hx_code_steps_lanes __attribute__((unused)) = {
    "steps_lanes", 2, {hx_steps_lanes_release, hx_steps_lanes_debug},
};

static const struct hx_vliw_packet hx_steps_divide_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_divide_release_1[] = {
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x702}, 0, 0}, {{0x703}, 0, 0}, {{0x502}, 0, 0},
    {{0x402}, 0, 0}, {{0x502}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0},
    {{0x501}, 0, 0}, {{0x501}, 0, 0},
};
static const struct hx_code_level hx_steps_divide_release[] = {
    {hx_steps_divide_release_0, 3, 0, 0}, /* 4 words */
    {hx_steps_divide_release_1, 12, 0, 0}, /* 22 words */
};
static const struct hx_vliw_packet hx_steps_divide_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_divide_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0}, {{0x702}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x503}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x402}, 0, 0},
    {{0x101, 0x502}, 0, 0}, {{0x70a}, 0, 0}, {{0x401}, 0, 0}, {{0x502}, 0, 0}, {{0x403}, 0, 0},
    {{0x502}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x501}, 0, 0}, {{0x401, 0x713}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_divide_debug[] = {
    {hx_steps_divide_debug_0, 8, 0, 0}, /* 8 words */
    {hx_steps_divide_debug_1, 34, 0, 0}, /* 36 words */
};
static const struct hx_code hx_code_steps_divide __attribute__((unused)) = {
    "steps_divide", 2, {hx_steps_divide_release, hx_steps_divide_debug},
};

static const struct hx_vliw_packet hx_steps_multiply_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_multiply_release_1[] = {
    {{0x101}, 0, 0}, {{0x701}, 0, 0},
};
static const struct hx_code_level hx_steps_multiply_release[] = {
    {hx_steps_multiply_release_0, 3, 0, 0}, /* 4 words */
    {hx_steps_multiply_release_1, 2, 0, 0}, /* 4 words */
};
static const struct hx_vliw_packet hx_steps_multiply_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_steps_multiply_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x701}, 0, 0},
    {{0x401, 0x703}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_steps_multiply_debug[] = {
    {hx_steps_multiply_debug_0, 8, 0, 0}, /* 8 words */
    {hx_steps_multiply_debug_1, 18, 0, 0}, /* 18 words */
};
static const struct hx_code hx_code_steps_multiply __attribute__((unused)) = {
    "steps_multiply", 2, {hx_steps_multiply_release, hx_steps_multiply_debug},
};
#endif
