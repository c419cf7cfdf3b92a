/* adsp_default_listener and adsp_default_listener1, which daemons of the host (cdsprpcd, hexagonrpcd) open to become the listener of
 * what they are attached to.  A client has a PD of its own here, so it becomes that PD's. */
#include "base/export.h"
#include "host_calls.h"

/* Method 0 is register, without arguments. */
HX_EXPORT int adsp_default_listener_skel_invoke(uint32_t sc, remote_arg *pra);
HX_EXPORT int adsp_default_listener1_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra);

enum { REGISTER = 0, OPEN1 = 0, CLOSE1, REGISTER1 };

int adsp_default_listener_skel_invoke(uint32_t sc, remote_arg *pra)
{
    (void)pra;
    return REMOTE_SCALARS_METHOD(sc) == REGISTER ? hx_host_listen() : (int)AEE_DSP(AEE_EUNSUPPORTED);
}

int adsp_default_listener1_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    (void)h;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case OPEN1:
        if (sc != REMOTE_SCALARS_MAKEX(0, OPEN1, 2, 0, 0, 1))
            return (int)AEE_DSP(AEE_EBADPARM);
        pra[2].h64 = 1;
        return AEE_SUCCESS;
    case CLOSE1:
        return AEE_SUCCESS;
    case REGISTER1:
        return hx_host_listen();
    default:
        return (int)AEE_DSP(AEE_EUNSUPPORTED);
    }
}
