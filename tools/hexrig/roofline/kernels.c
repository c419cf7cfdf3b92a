/* Kernels of kernels/silicon below the ceilings: each in a warm call with its buffers in shared memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "hx_aee.h"
#include "hx_rig.h"
#include "report/timing.h"
#include "work.h"

/* Small enough to run in a moment here, large enough to leave L2 where the kernel is meant to. */
static const struct {
    const char *name;
    struct hx_timing_ask ask;
} kernels[] = {
    {"echo", {.kernel = "echo", .shape = {65536}}},
    {"axpby", {.kernel = "axpby", .shape = {65536}}},
    {"axpby vtcm", {.kernel = "axpby", .shape = {65536}, .how = {.placement = SILICON_VTCM}}},
    {"barrett", {.kernel = "barrett", .shape = {16384}}},
    {"barrett vtcm", {.kernel = "barrett", .shape = {16384}, .how = {.placement = SILICON_VTCM}}},
    {"modmatmul", {.kernel = "modmatmul", .shape = {8, 128, 128}}},
    {"modmatmul vtcm", {.kernel = "modmatmul", .shape = {8, 128, 128}, .how = {.placement = SILICON_VTCM}}},
    {"matmul 1 token", {.kernel = "matmul", .shape = {1, 1152, 1152}}},
    {"matmul 16 tokens", {.kernel = "matmul", .shape = {16, 1152, 1152}}},
    {"matmul 16 x2", {.kernel = "matmul", .shape = {16, 1152, 1152}, .how = {.threads = 2}}},
    {"matmul 16 x2 vtcm", {.kernel = "matmul", .shape = {16, 1152, 1152}, .how = {.placement = SILICON_VTCM, .threads = 2}}},
    {"matmul 1 x2 dma", {.kernel = "matmul", .shape = {1, 1152, 6912}, .how = {.placement = SILICON_DMA, .threads = 2}}},
    {"dot", {.kernel = "dot", .shape = {1024, 16}}},
    {"argmax", {.kernel = "argmax", .shape = {151936}}},
    {"ntt", {.kernel = "ntt", .shape = {256, 1}}},
    {"vht2-hvx", {.kernel = "vht2-hvx", .shape = {256}}},
    {"compress", {.kernel = "compress", .shape = {128, 16}}},
    {"rmsnorm-hvx", {.kernel = "rmsnorm-hvx", .shape = {16, 1152}}},
    {"rope-hvx", {.kernel = "rope-hvx", .shape = {16, 256}}},
    {"softmax-hvx", {.kernel = "softmax-hvx", .shape = {16, 256}}},
    {"gelu-hvx", {.kernel = "gelu-hvx", .shape = {4, 6912}}},
    {"silu-hvx", {.kernel = "silu-hvx", .shape = {4, 6912}}},
    {"add-hvx", {.kernel = "add-hvx", .shape = {16, 1152}}},
};

enum { N_KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static int measure(remote_handle64 h, const struct hx_timing_ask *ask, struct hx_session_stats *sum)
{
    struct hx_session_stats before, after;
    silicon_cycles c;
    int rc = hx_timing_run(h, ask, &c); /* the one before finds more to do */

    if (!rc)
        rc = hx_rig_session_stats(&before);
    if (!rc)
        rc = hx_timing_run(h, ask, &c);
    if (!rc)
        rc = hx_rig_session_stats(&after);
    if (!rc)
        *sum = hx_report_diff(&after, &before);
    return rc;
}

static int run(const struct hx_timing_ask *kernel, struct hx_session_stats *sum)
{
    struct hx_timing_ask ask = *kernel;
    remote_handle64 h;
    int rc;

    ask.shared = 1;
    ask.how.threads = ask.how.threads ? ask.how.threads : 1;
    rc = hx_timing_open(&ask, &h);
    if (rc)
        return rc;
    rc = measure(h, &ask, sum);
    silicon_close(h);
    return rc;
}

int hx_roofline_kernels(struct hx_roofline_work **out, size_t *n, struct hx_error *err)
{
    struct hx_roofline_work *w = calloc(N_KERNELS, sizeof(*w));
    char text[80];
    int rc = 0;

    if (!w)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < N_KERNELS && !rc; i++) {
        w[i].name = kernels[i].name;
        rc = run(&kernels[i].ask, &w[i].sum);
        if (rc)
            hx_error_set(err, -EIO, "%s: %s", kernels[i].name, rc < 0 && rc > -4096 ? strerror(-rc) : hx_aee_text(rc, text, sizeof(text)));
    }
    if (rc) {
        free(w);
        return -EIO;
    }
    *out = w;
    *n = N_KERNELS;
    return 0;
}
