/* Values of a thread's own: libc's, as every QuRT thread is one of libc's. */
#include "qurt_tls.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/export.h"

_Static_assert(sizeof(pthread_key_t) == sizeof(int), "a key is an int");

HX_EXPORT int qurt_tls_create_key(int *key, void (*destructor)(void *))
{
    pthread_key_t k;

    if (pthread_key_create(&k, destructor))
        return QURT_ETLSAVAIL;
    *key = (int)k;
    return QURT_EOK;
}

HX_EXPORT int qurt_tls_set_specific(int key, const void *value)
{
    return key < 0 || pthread_setspecific((pthread_key_t)key, value) ? QURT_EINVALID : QURT_EOK;
}

HX_EXPORT void *qurt_tls_get_specific(int key)
{
    return key < 0 ? NULL : pthread_getspecific((pthread_key_t)key);
}

HX_EXPORT int qurt_tls_delete_key(int key)
{
    return key < 0 || pthread_key_delete((pthread_key_t)key) ? QURT_EINVALID : QURT_EOK;
}
