/* Made by `hexrig listing` from what clang version 19.1.7 makes of ntt_scalar.c; do not edit.
 * Source and flags: 83b5773077af56d0.
 * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */
#if !defined(__hexagon__) || defined(__LP64__)
#include "hexrig_code.h"

static const struct hx_vliw_packet hx_ntt_weigh_q1_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_weigh_q1_release_1[] = {
    {{0x101}, 0, 0}, {{0x701}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x304}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_weigh_q1_release[] = {
    {hx_ntt_weigh_q1_release_0, 5, 0, 0}, /* 11 words */
    {hx_ntt_weigh_q1_release_1, 17, 0, 0}, /* 23 words */
};
/* WARNING: the debug build of ntt_weigh_q1 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_weigh_q1_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_weigh_q1_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0x302}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_weigh_q1_debug[] = {
    {hx_ntt_weigh_q1_debug_0, 16, 0, 0}, /* 17 words */
    {hx_ntt_weigh_q1_debug_1, 31, 0, 0}, /* 31 words */
};
static const struct hx_code hx_code_ntt_weigh_q1 __attribute__((unused)) = {
    "ntt_weigh_q1", 2, {hx_ntt_weigh_q1_release, hx_ntt_weigh_q1_debug},
};

static const struct hx_vliw_packet hx_ntt_weigh_q2_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_weigh_q2_release_1[] = {
    {{0x101}, 0, 0}, {{0x701}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x304}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0},
    {{0x201}, 0, 0}, {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_weigh_q2_release[] = {
    {hx_ntt_weigh_q2_release_0, 5, 0, 0}, /* 11 words */
    {hx_ntt_weigh_q2_release_1, 19, 0, 0}, /* 25 words */
};
/* WARNING: the debug build of ntt_weigh_q2 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_weigh_q2_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_weigh_q2_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0x302}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_weigh_q2_debug[] = {
    {hx_ntt_weigh_q2_debug_0, 16, 0, 0}, /* 17 words */
    {hx_ntt_weigh_q2_debug_1, 31, 0, 0}, /* 31 words */
};
static const struct hx_code hx_code_ntt_weigh_q2 __attribute__((unused)) = {
    "ntt_weigh_q2", 2, {hx_ntt_weigh_q2_release, hx_ntt_weigh_q2_debug},
};

static const struct hx_vliw_packet hx_ntt_stages_q1_release_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x202}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_release_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x702}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x304}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0},
    {{0x610}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_stages_q1_release[] = {
    {hx_ntt_stages_q1_release_0, 12, 0, 0}, /* 28 words */
    {hx_ntt_stages_q1_release_1, 6, 0, 0}, /* 14 words */
    {hx_ntt_stages_q1_release_2, 3, 0, 1}, /* 8 words */
    {hx_ntt_stages_q1_release_3, 23, 0, 2}, /* 36 words */
};
/* WARNING: the debug build of ntt_stages_q1 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_stages_q1_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0},
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x201}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q1_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x705}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x301, 0x703}, 0, 0}, {{0}, 0, 0}, {{0x606}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x301, 0x705}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_stages_q1_debug[] = {
    {hx_ntt_stages_q1_debug_0, 22, 0, 0}, /* 23 words */
    {hx_ntt_stages_q1_debug_1, 16, 0, 0}, /* 16 words */
    {hx_ntt_stages_q1_debug_2, 14, 0, 1}, /* 14 words */
    {hx_ntt_stages_q1_debug_3, 85, 0, 2}, /* 85 words */
};
static const struct hx_code hx_code_ntt_stages_q1 __attribute__((unused)) = {
    "ntt_stages_q1", 4, {hx_ntt_stages_q1_release, hx_ntt_stages_q1_debug},
};

static const struct hx_vliw_packet hx_ntt_stages_q2_release_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x202}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_release_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x702}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x304}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0},
    {{0x201}, 0, 0}, {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0},
    {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0x612}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_stages_q2_release[] = {
    {hx_ntt_stages_q2_release_0, 12, 0, 0}, /* 28 words */
    {hx_ntt_stages_q2_release_1, 6, 0, 0}, /* 14 words */
    {hx_ntt_stages_q2_release_2, 3, 0, 1}, /* 8 words */
    {hx_ntt_stages_q2_release_3, 25, 0, 2}, /* 38 words */
};
/* WARNING: the debug build of ntt_stages_q2 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_stages_q2_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0},
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x201}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_stages_q2_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x301, 0x705}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x301, 0x703}, 0, 0}, {{0}, 0, 0}, {{0x606}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x101, 0x704}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0x301, 0x705}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_stages_q2_debug[] = {
    {hx_ntt_stages_q2_debug_0, 22, 0, 0}, /* 23 words */
    {hx_ntt_stages_q2_debug_1, 16, 0, 0}, /* 16 words */
    {hx_ntt_stages_q2_debug_2, 14, 0, 1}, /* 14 words */
    {hx_ntt_stages_q2_debug_3, 85, 0, 2}, /* 85 words */
};
static const struct hx_code hx_code_ntt_stages_q2 __attribute__((unused)) = {
    "ntt_stages_q2", 4, {hx_ntt_stages_q2_release, hx_ntt_stages_q2_debug},
};

static const struct hx_vliw_packet hx_ntt_powers_q1_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_powers_q1_release_1[] = {
    {{0x101}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0},
};
static const struct hx_code_level hx_ntt_powers_q1_release[] = {
    {hx_ntt_powers_q1_release_0, 5, 0, 0}, /* 12 words */
    {hx_ntt_powers_q1_release_1, 15, 0, 0}, /* 21 words */
};
/* WARNING: the debug build of ntt_powers_q1 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_powers_q1_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0},
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_powers_q1_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_powers_q1_debug[] = {
    {hx_ntt_powers_q1_debug_0, 21, 0, 0}, /* 22 words */
    {hx_ntt_powers_q1_debug_1, 27, 0, 0}, /* 27 words */
};
static const struct hx_code hx_code_ntt_powers_q1 __attribute__((unused)) = {
    "ntt_powers_q1", 2, {hx_ntt_powers_q1_release, hx_ntt_powers_q1_debug},
};

static const struct hx_vliw_packet hx_ntt_powers_q2_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_powers_q2_release_1[] = {
    {{0x101}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0},
    {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x301}, 0, 0},
    {{0x201}, 0, 0}, {{0x201}, 0, 0},
};
static const struct hx_code_level hx_ntt_powers_q2_release[] = {
    {hx_ntt_powers_q2_release_0, 5, 0, 0}, /* 12 words */
    {hx_ntt_powers_q2_release_1, 17, 0, 0}, /* 23 words */
};
/* WARNING: the debug build of ntt_powers_q2 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_powers_q2_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0}, {{0x604}, 0, 0},
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_powers_q2_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_powers_q2_debug[] = {
    {hx_ntt_powers_q2_debug_0, 21, 0, 0}, /* 22 words */
    {hx_ntt_powers_q2_debug_1, 27, 0, 0}, /* 27 words */
};
static const struct hx_code hx_code_ntt_powers_q2 __attribute__((unused)) = {
    "ntt_powers_q2", 2, {hx_ntt_powers_q2_release, hx_ntt_powers_q2_debug},
};

static const struct hx_vliw_packet hx_ntt_root_q1_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_release_2[] = {
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0}, {{0x201}, 0, 0},
    {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_release_3[] = {
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_root_q1_release[] = {
    {hx_ntt_root_q1_release_0, 4, 0, 0}, /* 12 words */
    {hx_ntt_root_q1_release_1, 4, 0, 0}, /* 12 words */
    {hx_ntt_root_q1_release_2, 31, 0, 1}, /* 44 words */
    {hx_ntt_root_q1_release_3, 16, 0, 1}, /* 22 words */
};
/* WARNING: the debug build of ntt_root_q1 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_root_q1_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x602}, 0, 0},
    {{0x602}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_debug_1[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_debug_2[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x603}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q1_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_root_q1_debug[] = {
    {hx_ntt_root_q1_debug_0, 14, 0, 0}, /* 15 words */
    {hx_ntt_root_q1_debug_1, 22, 0, 0}, /* 22 words */
    {hx_ntt_root_q1_debug_2, 38, 0, 1}, /* 38 words */
    {hx_ntt_root_q1_debug_3, 22, 0, 1}, /* 22 words */
};
static const struct hx_code hx_code_ntt_root_q1 __attribute__((unused)) = {
    "ntt_root_q1", 4, {hx_ntt_root_q1_release, hx_ntt_root_q1_debug},
};

static const struct hx_vliw_packet hx_ntt_root_q2_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_release_2[] = {
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0},
    {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x301}, 0, 0},
    {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0},
    {{0x202}, 0, 0}, {{0x304}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0},
    {{0x308}, 0, 0}, {{0x201}, 0, 0}, {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0},
    {{0x202}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x201}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_release_3[] = {
    {{0}, 0, 0}, {{0x301}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x304}, 0, 0},
    {{0x201}, 0, 0}, {{0}, 0, 0}, {{0x206}, 0, 0}, {{0x308}, 0, 0}, {{0x201}, 0, 0},
    {{0x20a}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0x202}, 0, 0}, {{0x301}, 0, 0},
    {{0x201}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_root_q2_release[] = {
    {hx_ntt_root_q2_release_0, 4, 0, 0}, /* 12 words */
    {hx_ntt_root_q2_release_1, 4, 0, 0}, /* 12 words */
    {hx_ntt_root_q2_release_2, 35, 0, 1}, /* 48 words */
    {hx_ntt_root_q2_release_3, 18, 0, 1}, /* 24 words */
};
/* WARNING: the debug build of ntt_root_q2 calls __hexagon_umoddi3, which has no table here. */
static const struct hx_vliw_packet hx_ntt_root_q2_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x602}, 0, 0},
    {{0x602}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_debug_1[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_debug_2[] = {
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x603}, 0, 0},
    {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_root_q2_debug_3[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x602}, 0, 0}, {{0x603}, 0, 0}, {{0x603}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x701}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_root_q2_debug[] = {
    {hx_ntt_root_q2_debug_0, 14, 0, 0}, /* 15 words */
    {hx_ntt_root_q2_debug_1, 22, 0, 0}, /* 22 words */
    {hx_ntt_root_q2_debug_2, 38, 0, 1}, /* 38 words */
    {hx_ntt_root_q2_debug_3, 22, 0, 1}, /* 22 words */
};
static const struct hx_code hx_code_ntt_root_q2 __attribute__((unused)) = {
    "ntt_root_q2", 4, {hx_ntt_root_q2_release, hx_ntt_root_q2_debug},
};

static const struct hx_vliw_packet hx_ntt_spread_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_spread_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_spread_release_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_spread_release[] = {
    {hx_ntt_spread_release_0, 3, 0, 0}, /* 5 words */
    {hx_ntt_spread_release_1, 5, 0, 0}, /* 10 words */
    {hx_ntt_spread_release_2, 2, 0, 1}, /* 4 words */
};
static const struct hx_vliw_packet hx_ntt_spread_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_spread_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_spread_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x301, 0x704}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0x603}, 0, 0}, {{0x301, 0x605}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_spread_debug[] = {
    {hx_ntt_spread_debug_0, 11, 0, 0}, /* 11 words */
    {hx_ntt_spread_debug_1, 17, 0, 0}, /* 17 words */
    {hx_ntt_spread_debug_2, 21, 0, 1}, /* 21 words */
};
static const struct hx_code hx_code_ntt_spread __attribute__((unused)) = {
    "ntt_spread", 3, {hx_ntt_spread_release, hx_ntt_spread_debug},
};

static const struct hx_vliw_packet hx_ntt_reverse_release_0[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_reverse_release_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_reverse_release_2[] = {
    {{0}, 0, 0}, {{0x201}, 0, 0},
};
static const struct hx_code_level hx_ntt_reverse_release[] = {
    {hx_ntt_reverse_release_0, 3, 0, 0}, /* 6 words */
    {hx_ntt_reverse_release_1, 6, 0, 0}, /* 12 words */
    {hx_ntt_reverse_release_2, 2, 0, 1}, /* 6 words */
};
static const struct hx_vliw_packet hx_ntt_reverse_debug_0[] = {
    {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_reverse_debug_1[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x101}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0x701}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x701}, 0, 0},
    {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_vliw_packet hx_ntt_reverse_debug_2[] = {
    {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0}, 0, 0}, {{0x601}, 0, 0}, {{0x603}, 0, 0}, {{0x201}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
    {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}, {{0x601}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0},
};
static const struct hx_code_level hx_ntt_reverse_debug[] = {
    {hx_ntt_reverse_debug_0, 7, 0, 0}, /* 7 words */
    {hx_ntt_reverse_debug_1, 38, 0, 0}, /* 38 words */
    {hx_ntt_reverse_debug_2, 19, 0, 1}, /* 19 words */
};
static const struct hx_code hx_code_ntt_reverse __attribute__((unused)) = {
    "ntt_reverse", 3, {hx_ntt_reverse_release, hx_ntt_reverse_debug},
};
#endif
