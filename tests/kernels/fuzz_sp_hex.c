/* Fuzz target: a whole FastRPC call into the sp_hex skel.  Input: u32 sc; one byte per buffer, its length in units of 4
 * bytes (at least 4 such bytes; 0xff = 1712 bytes, one table); the contents of the in buffers.  Two handles exist, one
 * calibrated and one not; bit 31 of sc chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hx_block.h"
#include "qurt_hvx.h"
#include "sp_hex.h"
#include "sp_hex_machine.h"
#include "sp_hex_platform.h"

enum { MAX_ARGS = 8, ALIGN = 128 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

/* --- platform: the heap serves as VTCM, so that ASan sees its ends */

void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag)
{
    (void)single_page_flag;
    return aligned_alloc(ALIGN, (size + ALIGN - 1) / ALIGN * ALIGN);
}

int HAP_release_VTCM(void *pVA)
{
    free(pVA);
    return 0;
}

int HAP_query_avail_VTCM(unsigned int *block, unsigned int *page, unsigned int *pages)
{
    *block = *page = *pages = 0;
    return 0;
}

int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count)
{
    *page_size = 8 << 20;
    *page_count = 1;
    return 0;
}

int qurt_hvx_lock(int mode)
{
    return mode == QURT_HVX_MODE_128B ? QURT_HVX_LOCK_SUCCESS : QURT_HVX_LOCK_ERROR;
}

int qurt_hvx_unlock(void)
{
    return QURT_HVX_LOCK_SUCCESS;
}

void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
{
    (void)compiled_in, (void)level, (void)file, (void)line, (void)fmt;
}

/* --- target */

static remote_handle64 handles[2];

/* Through the skel only: the host library defines functions of the same names as the implementation. */
static void open_handle(remote_handle64 *h)
{
    char uri[] = "fuzz";
    uint32_t len = sizeof(uri);
    remote_arg pra[3] = {{.buf = {&len, sizeof(len)}}, {.buf = {uri, len}}, {.h64 = 0}};

    if (sp_hex_skel_handle_invoke(0, REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_open, 2, 0, 0, 1), pra))
        abort();
    *h = pra[2].h64;
}

static void close_handle(remote_handle64 h)
{
    remote_arg pra[1] = {{.h64 = h}};

    if (sp_hex_skel_handle_invoke(0, REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_close, 0, 0, 1, 0), pra))
        abort();
}

static void open_handles(void)
{
    struct hx_block_table t = {.skeleton = {0, 1, 2, 4, 5, 6, 9, 10, 12, 13, 14, 16, 18, 20}};
    struct sp_hex_calibrate_primIn in = {HX_BLOCK_DH, HX_BASIS_VHT2, sizeof(t), HX_CODE_SIGN};
    uint32_t crc;
    remote_arg pra[3] = {
        {.buf = {&in, sizeof(in)}}, {.buf = {&t, sizeof(t)}}, {.buf = {&crc, sizeof(crc)}}};

    open_handle(&handles[0]);
    open_handle(&handles[1]);
    const uint32_t sc = REMOTE_SCALARS_MAKE(sp_hex_METHOD_calibrate, 2, 1);
    if (sp_hex_skel_handle_invoke(handles[0], sc, pra))
        abort();
}

struct reader {
    const uint8_t *p;
    size_t n;
};

static void take(struct reader *r, void *to, size_t n)
{
    size_t have = n < r->n ? n : r->n;

    memset(to, 0, n);
    memcpy(to, r->p, have);
    r->p += have;
    r->n -= have;
}

/* Fills the arguments that `sc` counts; false when there are more than this target has room for. */
static int build(remote_arg *pra, uint32_t sc, struct reader *r)
{
    size_t n_buffers = REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);
    uint8_t units[MAX_ARGS];

    if (REMOTE_SCALARS_LENGTH(sc) > MAX_ARGS)
        return 0;
    take(r, units, n_buffers < 4 ? 4 : n_buffers);
    for (size_t i = 0; i < REMOTE_SCALARS_LENGTH(sc); i++) {
        if (i >= n_buffers) {
            pra[i].h64 = 0;
            continue;
        }
        size_t bytes = units[i] == 0xff ? sizeof(struct hx_block_table) : units[i] * 4u;
        pra[i].buf.nLen = bytes;
        if (posix_memalign(&pra[i].buf.pv, ALIGN, bytes))
            abort();
        if (i < REMOTE_SCALARS_INBUFS(sc))
            take(r, pra[i].buf.pv, bytes);
    }
    return 1;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    struct reader r = {data, n};
    remote_arg pra[MAX_ARGS];
    uint32_t sc;

    if (!handles[0])
        open_handles();
    take(&r, &sc, sizeof(sc));
    if (!build(pra, sc, &r))
        return 0;
    int rc = sp_hex_skel_handle_invoke(handles[sc >> 31], sc, pra);
    if (rc == AEE_SUCCESS && REMOTE_SCALARS_METHOD(sc) == sp_hex_METHOD_open)
        close_handle(pra[REMOTE_SCALARS_LENGTH(sc) - 1].h64);
    for (size_t i = 0; i < REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc); i++)
        free(pra[i].buf.pv);
    return 0;
}
