/* Values of a thread's own by key (published names). */
#ifndef QURT_TLS_H
#define QURT_TLS_H

#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *key: a new key, whose value is NULL in every thread.  destructor (may be NULL) is called at the end of each thread with a value that
 * is not NULL.  QURT_EOK, or QURT_ETLSAVAIL: there are no more keys. */
int qurt_tls_create_key(int *key, void (*destructor)(void *));

/* QURT_EOK, or QURT_EINVALID: no such key.  Deleting calls no destructors. */
int qurt_tls_set_specific(int key, const void *value);
int qurt_tls_delete_key(int key);

/* NULL: no such key, or it has no value in this thread. */
void *qurt_tls_get_specific(int key);

#ifdef __cplusplus
}
#endif

#endif
