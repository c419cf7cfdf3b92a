/* Cache maintenance: nothing to do, as client and DSP share coherent memory here. */
#pragma GCC visibility push(default)
#include "qurt_memory.h"
#pragma GCC visibility pop

#include "HAP_farf.h"

int qurt_mem_cache_clean(qurt_addr_t addr, qurt_size_t size, qurt_mem_cache_op_t opcode,
                         qurt_mem_cache_type_t type)
{
    int data = type == QURT_MEM_DCACHE && opcode <= QURT_MEM_CACHE_FLUSH_INVALIDATE_L2;
    int code = type == QURT_MEM_ICACHE && opcode == QURT_MEM_CACHE_INVALIDATE;

    if ((data || code) && size <= UINT32_MAX - addr)
        return QURT_EOK;
    FARF(ERROR, "qurt_mem_cache_clean: operation %u on cache %u, %u bytes at 0x%x", (unsigned)opcode,
         (unsigned)type, size, addr);
    return QURT_EVAL;
}
