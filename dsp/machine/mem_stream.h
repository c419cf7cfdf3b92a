/* Memory that a function outside of the skel goes through from one end to the other. */
#ifndef HX_MEM_STREAM_H
#define HX_MEM_STREAM_H

#include <stddef.h>

/* Counts and charges loads (or stores) of p[bytes] by double words, as instrumented code's are; see hexrig_hvx_trace.h. */
void hx_mem_stream(const void *p, size_t bytes, int is_store);

#endif
