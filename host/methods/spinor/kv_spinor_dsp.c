/* Interface sp_hex with the calibrated tables, for caches of blocks: see kv_spinor_dsp.h. */
#include "kv_spinor_dsp.h"

#include <errno.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"

int hx_spinor_check_cal(const struct hx_model *m, const struct hx_cal *cal, struct hx_error *err)
{
    if (cal->fingerprint != m->fingerprint || cal->n_slots != m->n_layer * 2 * m->n_kv ||
        cal->format.shape->dh != m->dh)
        return hx_error_set(err, -EINVAL, "kv spinor: the calibration is of another model");
    return 0;
}

/* Takes the tables to the DSP and compares the CRC-32 of what arrived. */
static int push_tables(struct hx_skel *d, const struct hx_cal *cal, struct hx_error *err)
{
    const size_t bytes = cal->n_slots * cal->table_bytes;
    const uint32_t want = hx_crc32(0, cal->tables, bytes);
    uint32_t got = 0;
    int code;

    if (bytes > INT32_MAX)
        return hx_error_set(err, -EINVAL, "kv spinor: the calibration has %zu bytes, %d are the "
                          "limit of one call", bytes, INT32_MAX);
    if (hx_block_is_published(cal->format.shape))
        code = sp_hex_calibrate(d->handle, cal->format.shape->dh, (int32_t)cal->format.basis,
                                cal->tables, (int)bytes, &got, (int32_t)cal->format.code);
    else
        code = sp_hex_calibrate_lanes(d->handle, cal->format.shape->dh, (int32_t)cal->format.basis,
                                      (int32_t)cal->format.code, cal->format.shape->n_skel, cal->format.shape->n_res,
                                      cal->tables, (int)bytes, &got);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->node, code, "kv spinor: calibrate failed");
    if (got != want)
        return hx_error_set(err, -EIO, "kv spinor: calibration damaged on its way to the DSP: CRC-32 "
                          "0x%08x, 0x%08x was sent", got, want);
    return 0;
}

int hx_spinor_dsp_open(struct hx_skel *d, const struct hx_cal *cal, int packets, struct hx_error *err)
{
    int rc = hx_skel_open(d, "kv spinor", sp_hex_URI, err);

    if (!rc)
        rc = push_tables(d, cal, err);
    return rc || !packets ? rc : hx_packets_open(d, "kv spinor", sp_hex_packets_attach, sp_hex_packets_detach, err);
}
