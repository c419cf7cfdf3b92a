#include "hx_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastrpc_uapi.h"
#include "hx_error.h"
#include "hx_rig_internal.h"
#include "remote.h"

/* remote_handle64 = generation << 48 | domain + 1 << 32 | the DSP's handle.  The generation makes handles of an ended
 * session invalid instead of meaning something else. */
#define HANDLE_DOMAIN (CDSP_DOMAIN_ID + 1u)

struct hx_session {
    struct hx_transport *t;
    uint32_t generation; /* 16 bits */
    unsigned refs;       /* open handles + calls inside */
    uint32_t *handles;   /* [n_handles] DSP handles */
    size_t n_handles, room;
};

static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER; /* one thread creates a session */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* protects all below and every session's fields */
static struct hx_session *current;
static uint32_t last_generation;
static int unsigned_pd;

static void session_free(struct hx_session *s)
{
    if (s->t)
        s->t->ops->close(s->t);
    free(s->handles);
    free(s);
}

/* The secure node first, like the real library. */
static int open_node(struct hx_transport **t)
{
    char node[HX_PATH_BYTES], secure[HX_PATH_BYTES + 8];
    int rc = hx_rig_node(node, sizeof(node));

    if (rc)
        return rc;
    snprintf(secure, sizeof(secure), "%s-secure", node);
    rc = hx_transport_open(secure, t);
    if (rc == -ENOENT || rc == -EACCES)
        rc = hx_transport_open(node, t);
    return rc;
}

static int session_create(struct hx_session **out)
{
    struct hx_session *s = calloc(1, sizeof(*s));
    struct fastrpc_init_create create = {.filefd = -1};
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->refs = 1;
    rc = hx_aee_from_result(open_node(&s->t));
    if (rc)
        goto fail;
    pthread_mutex_lock(&lock);
    last_generation = (last_generation + 1) & 0xffff;
    s->generation = last_generation;
    create.attrs = unsigned_pd ? FASTRPC_MODE_UNSIGNED_MODULE : 0;
    pthread_mutex_unlock(&lock);
    rc = hx_aee_from_result(s->t->ops->ioctl(s->t, FASTRPC_IOCTL_INIT_CREATE, &create));
    if (rc)
        goto fail;
    *out = s;
    return AEE_SUCCESS;
fail:
    session_free(s);
    return rc;
}

int hx_session_get_new(struct hx_session **out)
{
    struct hx_session *s;
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&create_lock);
    s = hx_session_get();
    if (!s) {
        rc = session_create(&s);
        if (rc == AEE_SUCCESS) {
            pthread_mutex_lock(&lock);
            current = s;
            pthread_mutex_unlock(&lock);
        }
    }
    pthread_mutex_unlock(&create_lock);
    if (rc == AEE_SUCCESS)
        *out = s;
    return rc;
}

struct hx_session *hx_session_get(void)
{
    struct hx_session *s;

    pthread_mutex_lock(&lock);
    s = current;
    if (s)
        s->refs++;
    pthread_mutex_unlock(&lock);
    return s;
}

/* Under lock. */
static size_t find_handle(const struct hx_session *s, uint32_t dsp_handle)
{
    size_t i;

    for (i = 0; i < s->n_handles; i++)
        if (s->handles[i] == dsp_handle)
            break;
    return i;
}

struct hx_session *hx_session_get_handle(uint64_t h, uint32_t *dsp_handle)
{
    struct hx_session *s;

    pthread_mutex_lock(&lock);
    s = current;
    if (!s || s->generation != h >> 48 || (h >> 32 & 0xffff) != HANDLE_DOMAIN ||
        find_handle(s, (uint32_t)h) == s->n_handles)
        s = NULL;
    else
        s->refs++;
    pthread_mutex_unlock(&lock);
    *dsp_handle = (uint32_t)h;
    return s;
}

void hx_session_put(struct hx_session *s)
{
    int last;

    if (!s)
        return;
    pthread_mutex_lock(&lock);
    last = --s->refs == 0;
    if (last && current == s)
        current = NULL;
    pthread_mutex_unlock(&lock);
    if (last)
        session_free(s);
}

uint64_t hx_session_add_handle(struct hx_session *s, uint32_t dsp_handle)
{
    uint64_t h = 0;

    pthread_mutex_lock(&lock);
    if (s->n_handles == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        uint32_t *p = realloc(s->handles, room * sizeof(*p));

        if (!p)
            goto out;
        s->handles = p;
        s->room = room;
    }
    s->handles[s->n_handles++] = dsp_handle;
    s->refs++; /* put in hx_session_del_handle() */
    h = (uint64_t)s->generation << 48 | (uint64_t)HANDLE_DOMAIN << 32 | dsp_handle;
out:
    pthread_mutex_unlock(&lock);
    return h;
}

void hx_session_del_handle(struct hx_session *s, uint32_t dsp_handle)
{
    size_t i;
    int found;

    pthread_mutex_lock(&lock);
    i = find_handle(s, dsp_handle);
    found = i < s->n_handles;
    if (found)
        s->handles[i] = s->handles[--s->n_handles];
    pthread_mutex_unlock(&lock);
    if (found)
        hx_session_put(s);
}

int hx_session_ioctl(struct hx_session *s, unsigned long cmd, void *arg)
{
    return s->t->ops->ioctl(s->t, cmd, arg);
}

uint32_t hx_session_generation(const struct hx_session *s)
{
    return s->generation;
}

int hx_session_set_unsigned(int enable)
{
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&lock);
    if (current)
        rc = AEE_EALREADY;
    else
        unsigned_pd = enable;
    pthread_mutex_unlock(&lock);
    return rc;
}

void hx_session_drop(void)
{
    struct hx_session *s = hx_session_get();
    size_t n;

    if (!s)
        return;
    pthread_mutex_lock(&lock);
    n = s->n_handles;
    s->n_handles = 0;
    s->refs -= (unsigned)n;
    if (current == s)
        current = NULL;
    pthread_mutex_unlock(&lock);
    hx_session_put(s);
}
