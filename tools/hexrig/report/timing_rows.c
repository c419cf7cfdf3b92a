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

#define CALLS HX_TIMING_CALLS
#define MEMORY HX_TIMING_MEMORY
#define ISSUE HX_TIMING_ISSUE
#define THREADS HX_TIMING_THREADS
#define DMA_RATE HX_TIMING_DMA
#define FORWARD HX_TIMING_FORWARD

/* WGATE of Gemma3-1B: 16 tokens, 1152 in, 6912 out */
#define WGATE {16, 1152, 6912}

/* K and V of a 2000-token prompt, 16 layers, 8 heads of 64, compressed by calls of up to `chunk` vectors between the host's
 * own work.
 * R13: K alone, one vector a call: 256,000 calls took 85.8 s more than none.  E10: the prompt ran at 87.4 tokens/s
 * without calls, at 45.6 with 16,128 (chunk 32) and at 53.2 with 2,048 (chunk 256).  So a call took
 * (2000 / 45.6 - 2000 / 87.4) / 16128 = 1300.6 us for 512000 / 16128 = 31.75 vectors, and 7183.0 us for 250; the slope, 26.95 us a
 * vector (K18), makes up the chunk.  The pause before a call is the host's share, 2000 / 87.4 s divided by the calls: nobody
 * published how the calls were spread.  Half of E10's vectors are V, which is asked as K. */
#define ARCHIVE(id, what, chunk, us, pause_us) \
    {id, CALLS, what, {"compress", {64, chunk}, HOW(DEBUG, DDR, 1), .idle_us = pause_us}, HX_TIMING_WALL, us}

const struct hx_timing_row hx_timing_rows[] = {
    {"R02", CALLS, "modmatmul 8x128x128, call", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), .shared = 1},
     HX_TIMING_WALL, 389},
    {"R02", CALLS, "the same, first call", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), .shared = 1, .first = 1},
     HX_TIMING_WALL, 546},
    {"R04", CALLS, "axpby of 8 KB, heap buffers, call", {"axpby", {4096}, HOW(RELEASE, DDR, 1), .shared = 0},
     HX_TIMING_WALL, 314.25},
    {"R05", CALLS, "axpby of 64 KB, heap buffers, call", {"axpby", {32768}, HOW(RELEASE, DDR, 1), .shared = 0},
     HX_TIMING_WALL, 424},
    {"R07", CALLS, "echo of 1 MB, Debug, heap buffers, call", {"echo", {1 << 20}, HOW(DEBUG, DDR, 1), .shared = 0},
     HX_TIMING_WALL, 22999},
    {"R07", CALLS, "the same in rpcmem", {"echo", {1 << 20}, HOW(DEBUG, DDR, 1), .shared = 1},
     HX_TIMING_WALL, 22030},
    {"R10", CALLS, "ntt_twiddle_init, first call", {"ntt-init", {0}, HOW(RELEASE, DDR, 1), .first = 1},
     HX_TIMING_WALL, 683},
    {"R10", CALLS, "the same, repeated", {"ntt-init", {0}, HOW(RELEASE, DDR, 1), .shared = 0}, HX_TIMING_WALL, 302},
    {"K03", MEMORY, "vrmpy WGATE, two contexts, worker", {"matmul", WGATE, COLD(RELEASE, DDR, 2), .shared = 1, .first = 1},
     HX_TIMING_WORKER, 55705021},
    {"K03", MEMORY, "the same, handler", {"matmul", WGATE, COLD(RELEASE, DDR, 2), .shared = 1, .first = 1},
     HX_TIMING_HANDLER, 55703965},
    /* Published as "repeated", which most probably was another first call: it costs more, not less, than the other, and the
     * log of a second call in one session would show row sums that need not be made again. */
    {"K03", MEMORY, "the same, another run", {"matmul", WGATE, COLD(RELEASE, DDR, 2), .shared = 1, .first = 1},
     HX_TIMING_HANDLER, 56895000},
    {"K05", DMA_RATE, "vrmpy WGATE, tiles by DMA, outer", {"matmul", WGATE, HOW(RELEASE, DMA, 2), .shared = 1},
     HX_TIMING_TOTAL, 16049376},
    {"K06", DMA_RATE, "of that: a tile that nothing hides, hand-offs", {"matmul", WGATE, HOW(RELEASE, DMA, 2), .shared = 1},
     HX_TIMING_REST, 122402},
    {"K05", THREADS, "the same, compute of the handler", {"matmul", WGATE, HOW(RELEASE, DMA, 2), .shared = 1},
     HX_TIMING_HANDLER, 15926974},
    {"K05", THREADS, "its last tile, 556 rows, worker", {"matmul", {16, 1152, 556}, HOW(RELEASE, VTCM, 2), .shared = 1},
     HX_TIMING_WORKER, 1460008},
    {"K10", ISSUE, "modmatmul 8x128x128", {"modmatmul", {8, 128, 128}, HOW(RELEASE, DDR, 1), .shared = 1},
     HX_TIMING_HANDLER, 220000},
    {"K11", MEMORY, "modmatmul 1x2048x256", {"modmatmul", {1, 2048, 256}, HOW(RELEASE, DDR, 1), .shared = 1},
     HX_TIMING_HANDLER, 2915000},
    {"K11", MEMORY, "the same, first call", {"modmatmul", {1, 2048, 256}, COLD(RELEASE, DDR, 1), .shared = 1, .first = 1},
     HX_TIMING_HANDLER, 2924467},
    {"K15", ISSUE, "VHT2 scalar n 64, Debug", {"vht2", {64}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 16540},
    {"K15", ISSUE, "n 128", {"vht2", {128}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 36119},
    {"K15", ISSUE, "n 256", {"vht2", {256}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 79322},
    {"K16", ISSUE, "VHT2 qf32 n 64, Debug", {"vht2-hvx", {64}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 13582},
    {"K16", ISSUE, "n 128", {"vht2-hvx", {128}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 27044},
    {"K16", ISSUE, "n 256", {"vht2-hvx", {256}, HOW(DEBUG, DDR, 1), .shared = 1}, HX_TIMING_HANDLER, 54170},
    {"K18", ISSUE, "compress 256 vectors of 64, Debug, batch", {"compress", {64, 256}, HOW(DEBUG, DDR, 1), .shared = 0},
     HX_TIMING_EXEC, 256 * 27},
    ARCHIVE("R13", "compress 1 vector of 64, Debug, call", 1, 335, 89),
    ARCHIVE("E10", "compress 32 vectors, call", 32, 1307, 1419),
    ARCHIVE("E10", "compress 256 vectors, call", 256, 7345, 11173),
#define NTT(id, kernel, n, q, us) \
    {id, CALLS, kernel " n " #n " q" #q ", call", {kernel, {n, q}, HOW(RELEASE, DDR, 1), .shared = 0}, HX_TIMING_WALL, us}
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
    {"E03", FORWARD, "Gemma3-1B, 16 tokens, hx3b, to the first token", {"forward", {16}, HOW(RELEASE, DDR, 1), .shared = 1},
     HX_TIMING_WALL, 10310500},
    {"E06", FORWARD, "the same, v4, first call", {"forward", {16}, COLD(RELEASE, VTCM, 2), .shared = 1, .first = 1},
     HX_TIMING_WALL, 10793000},
};
const size_t hx_timing_n_rows = sizeof(hx_timing_rows) / sizeof(hx_timing_rows[0]);

const struct hx_timing_group hx_timing_groups[] = {
    [HX_TIMING_CALLS] = {"calls", 0.10, 0.25},
    [HX_TIMING_MEMORY] = {"memory", 0.10, 0.25},
    [HX_TIMING_ISSUE] = {"issue", 0.10, 0.25},
    [HX_TIMING_THREADS] = {"threads", 0.10, 0.25},
    [HX_TIMING_DMA] = {"DMA", 0.10, 0.25},
    [HX_TIMING_FORWARD] = {"forward", 0.10, 0.25},
    [HX_TIMING_ALL] = {"all", 0.05, 0.25},
};

const double hx_timing_without_bar = 0.10;
