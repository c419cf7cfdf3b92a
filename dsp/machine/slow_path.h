/* Whether the call on this thread has taken a slow path (dsp/include/hexrig/hexrig_slow_path.h). */
#ifndef HX_SLOW_PATH_STATE_H
#define HX_SLOW_PATH_STATE_H

/* 1 when the thread has said so since this was asked last, else 0. */
unsigned hx_slow_path_taken(void);

#endif
