/* HVX contexts (published names).
 *
 * A thread must hold a context while it runs HVX code.  The machine has a profile's number of them (`hvx_contexts`)
 * for all PDs together; a thread waits until one is free.  What it then still holds when its call or the thread ends is
 * taken back with a line in the log. */
#ifndef QURT_HVX_H
#define QURT_HVX_H

#define QURT_HVX_LOCK_SUCCESS 0
#define QURT_HVX_LOCK_ERROR (-1)
#define QURT_HVX_UNLOCKED 0
#define QURT_HVX_LOCKED 1
#define QURT_HVX_ERROR (-1)
#define QURT_HVX_RESERVE_ALL 4
#define QURT_HVX_RESERVE_ALL_AVAILABLE 0xff
#define QURT_HVX_RESERVE_NOT_SUPPORTED (-1)
#define QURT_HVX_RESERVE_NOT_SUCCESSFUL (-2)
#define QURT_HVX_RESERVE_ALREADY_MADE (-3)
#define QURT_HVX_RESERVE_CANCEL_ERR (-4)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { QURT_HVX_MODE_64B = 0, QURT_HVX_MODE_128B = 1 } qurt_hvx_mode_t;

/* lock_mode: a qurt_hvx_mode_t.  0, or QURT_HVX_LOCK_ERROR: a mode that V69 lacks, or this thread holds a context already. */
int qurt_hvx_lock(int lock_mode);

/* The same without waiting; QURT_HVX_LOCK_ERROR also when no context is free. */
int qurt_hvx_try_lock(int lock_mode);

/* 0, or QURT_HVX_LOCK_ERROR: this thread holds none. */
int qurt_hvx_unlock(void);

int qurt_hvx_get_mode(void);     /* QURT_HVX_MODE_128B */
int qurt_hvx_get_units(void);    /* bits 15..8: contexts of 128 bytes; bits 7..0: of 64 bytes, 0 */
int qurt_hvx_get_lock_val(void); /* QURT_HVX_LOCKED: the calling thread holds a context; else QURT_HVX_UNLOCKED */

/* As on the device since V65 these only check: contexts are shared at qurt_hvx_lock().  num_units counts 64-byte units, two
 * per context.  Returns the units there are, or one of QURT_HVX_RESERVE_*. */
int qurt_hvx_reserve(int num_units);
int qurt_hvx_cancel_reserve(void); /* 0, or QURT_HVX_RESERVE_CANCEL_ERR: nothing is reserved */

#ifdef __cplusplus
}
#endif

#endif
