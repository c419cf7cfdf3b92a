/* A client by whichever libcdsprpc.so it was linked with: its skel logs by FARF() for two seconds, while the library gets ready to read
 * the DSP's messages; then it closes the session. */
#include <stdio.h>
#include <unistd.h>

#include "hxt_host.h"

enum { TIMES = 40, PAUSE_US = 50000 };

int main(void)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    remote_handle64 h = 0;
    int rc = remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));

    if (!rc)
        rc = hxt_host_open(hxt_host_URI CDSP_DOMAIN, &h);
    for (int i = 0; i < TIMES && !rc; i++) {
        rc = hxt_host_farf(h, "from the skel");
        usleep(PAUSE_US);
    }
    if (!rc)
        rc = hxt_host_close(h);
    if (rc)
        fprintf(stderr, "farf_client: 0x%x\n", (unsigned)rc);
    return rc != 0;
}
