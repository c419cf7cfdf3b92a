/* Ctrl-C in the middle of a sweep: the process that measures ends, and what is done is kept. */
#ifndef HX_DENSITY_STOP_H
#define HX_DENSITY_STOP_H

#include <sys/types.h>

/* From here on SIGINT and SIGTERM end no process, but the child that hx_stop_with() has named. */
void hx_stop_catch(void);

/* From here on they do again. */
void hx_stop_release(void);

/* The child whose end ends the wait for its next row; 0: there is none. */
void hx_stop_with(pid_t child);

/* The signal that came; 0: none did. */
int hx_stop_signal(void);

#endif
