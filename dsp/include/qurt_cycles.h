/* Pcycles (published names), on the virtual clock. */
#ifndef QURT_CYCLES_H
#define QURT_CYCLES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's pcycle counter; it never goes back, and goes on from call to call. */
unsigned long long int qurt_get_core_pcycles(void);

#ifdef __cplusplus
}
#endif

#endif
