/* Waiting without giving up the processor (published name). */
#ifndef QURT_BUSYWAIT_H
#define QURT_BUSYWAIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread is busy for so many microseconds of virtual time, which count as execution. */
void qurt_busywait(unsigned int pause_time_us);

#ifdef __cplusplus
}
#endif

#endif
