/* The calling thread's DMA engine, dsp/include/hexrig/hexrig_dma.h. */
#ifndef HX_DMA_H
#define HX_DMA_H

/* The call or thread ends: what nobody waited for is completed, and the log says so. */
void hx_dma_end(void);

#endif
