/* A skel of the DSP, opened by a method: finds or starts the rig, asks for an unsigned PD, opens the interface.  What a
 * failed open or call means is said in one line, see dsp_error.h. */
#ifndef HX_SKEL_H
#define HX_SKEL_H

#include "base/error.h"
#include "remote.h"

struct hx_packets;

struct hx_skel {
    remote_handle64 handle; /* for the interface's stub */
    int opened;
    struct hx_packets *packets; /* packets.h; NULL: calls are calls */
    char node[256]; /* the device, for messages */
};

/* Opens an interface by its stub's URI (NAME_URI) on the CDSP.  `who` begins every reason: "kv spinor".  0; what
 * hx_rig_connect() returns when there is no rig; -EIO. */
int hx_skel_open(struct hx_skel *s, const char *who, const char *uri, struct hx_error *err);

/* Also after a failed open, or of a zeroed *s. */
void hx_skel_close(struct hx_skel *s);

#endif
