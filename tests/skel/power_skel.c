/* A skel for tests/cases/power.sh: method 2 does what its int32_t input names with one argument, and gives an int32_t back. */
#include <HAP_compute_res.h>
#include <HAP_farf.h>
#include <HAP_power.h>
#include <HAP_vtcm_mgr.h>
#include <hvx_hexagon_protos.h>
#include <qurt_hvx.h>
#include <remote.h>

enum what { VOTE, LATENCY, HVX, WORK, VTCM, SAY, DIE };

static int voter;
static void *vtcm;

static int set_hvx(int up)
{
    HAP_power_request_t r = {.type = HAP_power_set_HVX};

    r.hvx.power_up = (boolean)up;
    return HAP_power_set(&voter, &r);
}

/* n vector additions; -1 without HVX. */
static int work(int n)
{
    HVX_Vector v;
    int sum;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B))
        return -1;
    v = Q6_V_vzero();
    for (int i = 0; i < n; i++)
        v = Q6_Vw_vadd_VwVw(v, Q6_V_vsplat_R(i));
    sum = Q6_R_vextract_VR(v, 0);
    qurt_hvx_unlock();
    return sum != 0;
}

static int hold_vtcm(int bytes)
{
    if (vtcm)
        HAP_release_VTCM(vtcm);
    vtcm = bytes ? HAP_request_VTCM((unsigned)bytes, 1) : NULL;
    return !bytes || vtcm ? 0 : -1;
}

static int say(void)
{
    FARF(RUNTIME_LOW, "a runtime message");
    FARF(MEDIUM, "a compiled-out message");
    return 0;
}

static int serve(enum what what, int arg)
{
    switch (what) {
    case VOTE:
        return HAP_power_set_core_corner(&voter, (uint32)arg, 0, 0);
    case LATENCY:
        return HAP_power_set_sleep_latency(&voter, (uint32)arg);
    case HVX:
        return set_hvx(arg);
    case WORK:
        return work(arg);
    case VTCM:
        return hold_vtcm(arg);
    case SAY:
        return say();
    case DIE:
        __builtin_trap();
    }
    return -1;
}

int power_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra);
int power_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    int32_t in[2], out;

    (void)h;
    if (REMOTE_SCALARS_METHOD(sc) == 0)
        pra[2].h64 = 1;
    if (REMOTE_SCALARS_METHOD(sc) < 2)
        return AEE_SUCCESS;
    if (sc != REMOTE_SCALARS_MAKE(2, 1, 1) || pra[0].buf.nLen != sizeof(in) || pra[1].buf.nLen != sizeof(out))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(in, pra[0].buf.pv, sizeof(in));
    out = serve((enum what)in[0], in[1]);
    memcpy(pra[1].buf.pv, &out, sizeof(out));
    return AEE_SUCCESS;
}
