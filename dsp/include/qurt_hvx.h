/* HVX contexts (published names).
 *
 * A thread must hold a context while it runs HVX code.  The machine has a profile's number of them (`hvx_contexts`)
 * for all PDs together; a thread waits until one is free. */
#ifndef QURT_HVX_H
#define QURT_HVX_H

#define QURT_HVX_MODE_64B 0
#define QURT_HVX_MODE_128B 1
#define QURT_HVX_LOCK_SUCCESS 0
#define QURT_HVX_LOCK_ERROR (-1)

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or QURT_HVX_LOCK_ERROR: a mode that V69 lacks, or this thread holds a context already. */
int qurt_hvx_lock(int mode);

/* 0, or QURT_HVX_LOCK_ERROR: this thread holds none. */
int qurt_hvx_unlock(void);

#ifdef __cplusplus
}
#endif

#endif
