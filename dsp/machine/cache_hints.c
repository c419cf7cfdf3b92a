/* Counters of cache hints, see dsp/include/hexrig/hexrig_scalar_mem.h. */
#include "hexrig_scalar_mem.h"

__thread struct hx_cache_hints hx_cache_hints;
