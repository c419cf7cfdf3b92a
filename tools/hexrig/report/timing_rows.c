/* Rows of the published measurements on a phone (docs/timing.md; neither bounds, ranges of claims nor QNN) as questions
 * to the cost model.  Where a row gives a range of runs, `measured` is its middle. */
#include "timing.h"

#define DDR SILICON_DDR
#define VTCM SILICON_VTCM
#define DMA SILICON_DMA
#define RELEASE SILICON_RELEASE
#define DEBUG SILICON_DEBUG

/* build, placement, threads, cold */
#define HOW(b, p, t) {b, p, t, 0}
#define COLD(b, p, t) {b, p, t, 1}

/* WGATE of Gemma3-1B: 16 tokens, 1152 in, 6912 out */
#define WGATE {16, 1152, 6912}

const struct hx_timing_row hx_timing_rows[] = {
    {"R02", "modmatmul 8x128x128, call", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), 1, 0, 0, 0},
     HX_TIMING_WALL, 389},
    {"R02", "the same, first call", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), 1, 1, 0, 0},
     HX_TIMING_WALL, 546},
    {"R04", "axpby of 8 KB, heap buffers, call", {"axpby", {4096}, HOW(RELEASE, DDR, 1), 0, 0, 0, 0},
     HX_TIMING_WALL, 314.25},
    {"R05", "axpby of 64 KB, heap buffers, call", {"axpby", {32768}, HOW(RELEASE, DDR, 1), 0, 0, 0, 0},
     HX_TIMING_WALL, 424},
    {"R07", "echo of 1 MB, Debug, heap buffers, call", {"echo", {1 << 20}, HOW(DEBUG, DDR, 1), 0, 0, 0, 0},
     HX_TIMING_WALL, 22999},
    {"R07", "the same in rpcmem", {"echo", {1 << 20}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0},
     HX_TIMING_WALL, 22030},
    {"R10", "ntt_twiddle_init, first call", {"ntt-init", {0}, HOW(RELEASE, DDR, 1), 0, 1, 0, 0},
     HX_TIMING_WALL, 683},
    {"R10", "the same, repeated", {"ntt-init", {0}, HOW(RELEASE, DDR, 1), 0, 0, 0, 0}, HX_TIMING_WALL, 302},
    {"K03", "vrmpy WGATE, two contexts, worker", {"matmul", WGATE, COLD(RELEASE, DDR, 2), 1, 1, 0, 0},
     HX_TIMING_WORKER, 55705021},
    {"K03", "the same, handler", {"matmul", WGATE, COLD(RELEASE, DDR, 2), 1, 1, 0, 0},
     HX_TIMING_HANDLER, 55703965},
    {"K03", "the same, repeated call", {"matmul", WGATE, HOW(RELEASE, DDR, 2), 1, 0, 0, 0},
     HX_TIMING_HANDLER, 56895000},
    {"K05", "vrmpy WGATE, tiles by DMA, outer", {"matmul", WGATE, HOW(RELEASE, DMA, 2), 1, 0, 0, 0},
     HX_TIMING_TOTAL, 16049376},
    {"K05", "the same, compute of the handler", {"matmul", WGATE, HOW(RELEASE, DMA, 2), 1, 0, 0, 0},
     HX_TIMING_HANDLER, 15926974},
    {"K05", "its last tile, 556 rows, worker", {"matmul", {16, 1152, 556}, HOW(RELEASE, VTCM, 2), 1, 0, 0, 0},
     HX_TIMING_WORKER, 1460008},
    {"K10", "modmatmul 8x128x128", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), 1, 0, 0, 0},
     HX_TIMING_HANDLER, 220000},
    {"K11", "modmatmul 1x2048x256", {"modmatmul", {1, 2048, 256}, HOW(RELEASE, DDR, 1), 1, 0, 0, 0},
     HX_TIMING_HANDLER, 2915000},
    {"K11", "the same, first call", {"modmatmul", {1, 2048, 256}, COLD(RELEASE, DDR, 1), 1, 1, 0, 0},
     HX_TIMING_HANDLER, 2924467},
    {"K15", "VHT2 scalar n 64, Debug", {"vht2", {64}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 16540},
    {"K15", "n 128", {"vht2", {128}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 36119},
    {"K15", "n 256", {"vht2", {256}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 79322},
    {"K16", "VHT2 qf32 n 64, Debug", {"vht2-hvx", {64}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 13582},
    {"K16", "n 128", {"vht2-hvx", {128}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 27044},
    {"K16", "n 256", {"vht2-hvx", {256}, HOW(DEBUG, DDR, 1), 1, 0, 0, 0}, HX_TIMING_HANDLER, 54170},
#define NTT(id, kernel, n, q, us) \
    {id, kernel " n " #n " q" #q ", call", {kernel, {n, q}, HOW(RELEASE, DDR, 1), 0, 0, 0, 0}, HX_TIMING_WALL, us}
    NTT("K20", "ntt-scalar", 128, 1, 330.6),
    NTT("K20", "ntt-scalar", 256, 1, 348.3),
    NTT("K20", "ntt-scalar", 512, 1, 457.2),
    NTT("K20", "ntt-scalar", 128, 2, 304.6),
    NTT("K20", "ntt-scalar", 256, 2, 346.4),
    NTT("K20", "ntt-scalar", 512, 2, 480.1),
    NTT("K21", "ntt-hvx", 128, 1, 284.2),
    NTT("K21", "ntt-hvx", 256, 1, 329.3),
    NTT("K21", "ntt-hvx", 512, 1, 432.4),
    NTT("K21", "ntt-hvx", 128, 2, 267.2),
    NTT("K21", "ntt-hvx", 256, 2, 319.0),
    NTT("K21", "ntt-hvx", 512, 2, 420.6),
};
const size_t hx_timing_n_rows = sizeof(hx_timing_rows) / sizeof(hx_timing_rows[0]);

const char *const hx_timing_fitted[] = {
    "dispatch_us",    "wake_us",      "nap_us",      "marshal_us_per_kib", "clock_mhz",
    "packet_pcycles", "load_pcycles", "mpy_pcycles", "hvx_pcycles",        "vtcm_pcycles",
    "l2_pcycles",     "ddr_pcycles",  "vtcm_request_pcycles", "dma_bytes_per_pcycle",
};
const size_t hx_timing_n_fitted = sizeof(hx_timing_fitted) / sizeof(hx_timing_fitted[0]);
