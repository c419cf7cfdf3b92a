/* What this process's rig has in memory for its sessions, as the rig's nodes and /proc tell. */
#ifndef HX_DSP_MEMORY_H
#define HX_DSP_MEMORY_H

#include <stdint.h>

struct hx_dsp_memory {
    int64_t vtcm_bytes;    /* of VTCM that is held, by all sessions */
    int64_t buffer_bytes;  /* resident in the user PDs: buffers of clients */
    int64_t heap_bytes;    /* and skels' heaps */
    unsigned pds;          /* user PDs of the rig */
};

/* 0, or negative errno: no rig, or its processes are not to be looked at by this user. */
int hx_dsp_memory(struct hx_dsp_memory *m);

/* Memory that this process has resident now, bytes; 0: not known. */
uint64_t hx_host_rss(void);

#endif
