/* remote_handle_*(): 32-bit handles, in front of the 64-bit ones. */
#include "hx_export.h"

#include <pthread.h>

#include "hx_handle32.h"
#include "hx_pd_names.h"

/* A 32-bit handle names an entry of this table: index + 1, and above that how often the entry was used, so that a closed
 * handle is not taken for its successor. */
enum { HANDLES_MAX = 1024, USES_SHIFT = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the table */
static struct {
    remote_handle64 h; /* 0 = free */
    remote_handle name;
    uint32_t uses;
} table[HANDLES_MAX];

static int find(remote_handle h)
{
    uint32_t i = (h & ((1u << USES_SHIFT) - 1)) - 1;

    return i < HANDLES_MAX && table[i].h && table[i].name == h ? (int)i : -1;
}

remote_handle64 hx_handle64_of(remote_handle h)
{
    remote_handle64 wide = 0;
    int i;

    pthread_mutex_lock(&lock);
    i = find(h);
    if (i >= 0)
        wide = table[i].h;
    pthread_mutex_unlock(&lock);
    return wide;
}

static remote_handle keep(remote_handle64 wide)
{
    remote_handle h = 0;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < HANDLES_MAX && !h; i++) {
        if (table[i].h)
            continue;
        h = ++table[i].uses << USES_SHIFT | (i + 1);
        table[i].h = wide;
        table[i].name = h;
    }
    pthread_mutex_unlock(&lock);
    return h;
}

int remote_handle_open(const char *uri, remote_handle *h)
{
    remote_handle64 wide;
    int rc;

    if (!h)
        return AEE_EBADPARM;
    rc = hx_handle_open(uri, &wide);
    if (rc)
        return rc;
    if (hx_is_pd_name(uri)) { /* the number itself is of use: a descriptor */
        *h = (remote_handle)wide;
        return AEE_SUCCESS;
    }
    *h = keep(wide);
    if (*h)
        return AEE_SUCCESS;
    remote_handle64_close(wide);
    return AEE_ENOMEMORY;
}

int remote_handle_invoke(remote_handle h, uint32_t sc, remote_arg *pra)
{
    return remote_handle64_invoke(hx_handle64_of(h), sc, pra);
}

int remote_handle_close(remote_handle h)
{
    remote_handle64 wide = hx_handle64_of(h);
    int rc, i;

    if (!wide)
        return hx_is_pd_handle(h) ? AEE_SUCCESS : AEE_EINVHANDLE;
    rc = remote_handle64_close(wide);
    if (rc == (int)AEE_DSP(AEE_EITEMBUSY))
        return rc; /* it stays open */
    pthread_mutex_lock(&lock);
    i = find(h);
    if (i >= 0)
        table[i].h = 0;
    pthread_mutex_unlock(&lock);
    return rc;
}
