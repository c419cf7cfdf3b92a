/* Cache maintenance (published names).
 *
 * Memory is coherent here, so these check their arguments and change nothing, and no figure for their time was published: they
 * cost nothing. */
#ifndef QURT_MEMORY_H
#define QURT_MEMORY_H

#include "qurt_error.h"
#include "qurt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    QURT_MEM_CACHE_FLUSH,
    QURT_MEM_CACHE_INVALIDATE,
    QURT_MEM_CACHE_FLUSH_INVALIDATE,
    QURT_MEM_CACHE_FLUSH_ALL,
    QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL,
    QURT_MEM_CACHE_TABLE_FLUSH_INVALIDATE,
    QURT_MEM_CACHE_FLUSH_INVALIDATE_L2,
} qurt_mem_cache_op_t;

typedef enum { QURT_MEM_ICACHE, QURT_MEM_DCACHE } qurt_mem_cache_type_t;

/* QURT_EOK, or QURT_EVAL: no such operation or cache, or one that this cache does not have (the instruction cache can only be
 * invalidated), or an address range that wraps around. */
int qurt_mem_cache_clean(qurt_addr_t addr, qurt_size_t size, qurt_mem_cache_op_t opcode,
                         qurt_mem_cache_type_t type);

#ifdef __cplusplus
}
#endif

#endif
