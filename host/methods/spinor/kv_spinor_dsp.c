/* See kv_spinor_dsp.h. */
#include "kv_spinor_dsp.h"

#include <errno.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "hx_rig.h"
#include "remote.h"

#define URI sp_hex_URI "&_dom=cdsp"

int hx_spinor_check_cal(const struct hx_model *m, const struct hx_cal *cal, struct hx_error *err)
{
    if (cal->fingerprint != m->fingerprint || cal->n_slots != m->n_layer * 2 * m->n_kv ||
        cal->format.shape->dh != m->dh)
        return hx_error_set(err, -EINVAL, "kv spinor: the calibration is of another model");
    return 0;
}

/* Takes the tables to the DSP and compares the CRC-32 of what arrived. */
static int push_tables(struct hx_spinor_dsp *d, const struct hx_cal *cal, struct hx_error *err)
{
    const size_t bytes = cal->n_slots * cal->table_bytes;
    const uint32_t want = hx_crc32(0, cal->tables, bytes);
    uint32_t got = 0;
    int code;

    if (bytes > INT32_MAX)
        return hx_error_set(err, -EINVAL, "kv spinor: the calibration has %zu bytes, %d are the "
                          "limit of one call", bytes, INT32_MAX);
    code = sp_hex_calibrate(d->handle, cal->format.shape->dh, (int32_t)cal->format.basis,
                            cal->tables, (int)bytes, &got, (int32_t)cal->format.code);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->node, code, "kv spinor: calibrate failed");
    if (got != want)
        return hx_error_set(err, -EIO, "kv spinor: calibration damaged on its way to the DSP: CRC-32 "
                          "0x%08x, 0x%08x was sent", got, want);
    return 0;
}

int hx_spinor_dsp_open(struct hx_spinor_dsp *d, const struct hx_cal *cal, struct hx_error *err)
{
    struct remote_rpc_control_unsigned_module unsigned_pd = {CDSP_DOMAIN_ID, 1};
    char reason[sizeof(err->text)] = "";
    int code = hx_rig_connect(reason, sizeof(reason)); /* first, for its reason in words */

    if (code)
        return hx_error_set(err, code, "kv spinor: no rig: %s", *reason ? reason : strerror(-code));
    hx_dsp_node(d->node, sizeof(d->node));
    code = remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &unsigned_pd,
                                  sizeof(unsigned_pd));
    if (code && code != AEE_EALREADY) /* this process has a session already */
        return hx_dsp_error(err, HX_DSP_OPEN, d->node, code,
                          "kv spinor: cannot ask for an unsigned PD");
    code = sp_hex_open(URI, &d->handle);
    if (code)
        return hx_dsp_error(err, HX_DSP_OPEN, d->node, code, "kv spinor: cannot open %s", URI);
    d->opened = 1;
    return push_tables(d, cal, err);
}

void hx_spinor_dsp_close(struct hx_spinor_dsp *d)
{
    if (d->opened)
        sp_hex_close(d->handle);
    d->opened = 0;
}
