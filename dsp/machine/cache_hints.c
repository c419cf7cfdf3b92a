/* The counters behind dcfetch and its kin, which change nothing else here (hexrig_scalar_mem.h). */
#include "hexrig_scalar_mem.h"

__thread struct hx_cache_hints hx_cache_hints;
