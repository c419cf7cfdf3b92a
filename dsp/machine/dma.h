/* Ending the calling thread's DMA engine; skels see dsp/include/hexrig/hexrig_dma.h. */
#ifndef HX_DMA_H
#define HX_DMA_H

/* The call or thread ends: transfers that nobody waited for are completed, with a line in the log. */
void hx_dma_end(void);

#endif
