/* A skel that is compiled for V73: a rig whose profile is a V69 does not load it. */
#define HEXRIG_HVX_ARCH 73
#include "hvx_hexagon_protos.h"

#include "AEEStdErr.h"
#include "hexrig_uncosted.h"
#include "remote.h"

HX_UNCOSTED("what a test calls, not a kernel");

static HVX_Vector converted; /* by what a V69 does not have */

__attribute__((visibility("default"))) int hxt_v73_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    (void)h;
    if (REMOTE_SCALARS_METHOD(sc) == 0)
        pra[2].h64 = 1;
    else if (REMOTE_SCALARS_METHOD(sc) > 1)
        converted = Q6_Vsf_equals_Vw(converted);
    return AEE_SUCCESS;
}
