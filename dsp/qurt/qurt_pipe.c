/* Pipes and all-signals: made of mutexes and semaphores, whose times they have. */
#include "qurt_pipe.h"

#include <stdlib.h>
#include <string.h>

#include "qurt_allsignal.h"
#include "qurt_wait.h"

enum { ELEMENTS_MAX = 65535 }; /* what a semaphore counts */

/* --- pipes */

static int start(qurt_pipe_t *pipe, qurt_pipe_data_t *buffer, unsigned elements)
{
    memset(pipe, 0, sizeof(*pipe));
    if (!buffer || elements == 0 || elements > ELEMENTS_MAX)
        return QURT_EINVALID;
    pipe->buffer = buffer;
    pipe->elements = elements;
    qurt_mutex_init(&pipe->lock);
    qurt_sem_init_val(&pipe->room, (unsigned short)elements);
    qurt_sem_init_val(&pipe->filled, 0);
    return QURT_EOK;
}

HX_EXPORT int qurt_pipe_init(qurt_pipe_t *pipe, qurt_pipe_attr_t *attr)
{
    return start(pipe, attr->buffer, attr->elements);
}

HX_EXPORT void qurt_pipe_destroy(qurt_pipe_t *pipe)
{
    qurt_sem_destroy(&pipe->filled);
    qurt_sem_destroy(&pipe->room);
    qurt_mutex_destroy(&pipe->lock);
}

HX_EXPORT int qurt_pipe_create(qurt_pipe_t **pipe, qurt_pipe_attr_t *attr)
{
    qurt_pipe_data_t *own = NULL;
    qurt_pipe_t *p;

    *pipe = NULL;
    if (attr->elements == 0 || attr->elements > ELEMENTS_MAX)
        return QURT_EINVALID;
    p = malloc(sizeof(*p));
    if (p && !attr->buffer)
        own = calloc(attr->elements, sizeof(*own));
    if (!p || (!attr->buffer && !own)) {
        free(p);
        return QURT_EMEM;
    }
    start(p, own ? own : attr->buffer, attr->elements);
    p->owns_buffer = own != NULL;
    *pipe = p;
    return QURT_EOK;
}

HX_EXPORT void qurt_pipe_delete(qurt_pipe_t *pipe)
{
    if (!pipe)
        return;
    qurt_pipe_destroy(pipe);
    if (pipe->owns_buffer)
        free(pipe->buffer);
    free(pipe);
}

/* There is room. */
static void put(qurt_pipe_t *pipe, qurt_pipe_data_t data)
{
    qurt_mutex_lock(&pipe->lock);
    pipe->buffer[(pipe->first + pipe->count++) % pipe->elements] = data;
    qurt_mutex_unlock(&pipe->lock);
    qurt_sem_up(&pipe->filled);
}

/* There is something. */
static qurt_pipe_data_t take(qurt_pipe_t *pipe)
{
    qurt_pipe_data_t data;

    qurt_mutex_lock(&pipe->lock);
    data = pipe->buffer[pipe->first];
    pipe->first = (pipe->first + 1) % pipe->elements;
    pipe->count--;
    qurt_mutex_unlock(&pipe->lock);
    qurt_sem_up(&pipe->room);
    return data;
}

HX_EXPORT void qurt_pipe_send(qurt_pipe_t *pipe, qurt_pipe_data_t data)
{
    qurt_sem_down(&pipe->room);
    put(pipe, data);
}

HX_EXPORT qurt_pipe_data_t qurt_pipe_receive(qurt_pipe_t *pipe)
{
    qurt_sem_down(&pipe->filled);
    return take(pipe);
}

HX_EXPORT int qurt_pipe_try_send(qurt_pipe_t *pipe, qurt_pipe_data_t data)
{
    if (qurt_sem_try_down(&pipe->room))
        return -1;
    put(pipe, data);
    return 0;
}

HX_EXPORT qurt_pipe_data_t qurt_pipe_try_receive(qurt_pipe_t *pipe, int *success)
{
    *success = qurt_sem_try_down(&pipe->filled) ? -1 : 0;
    return *success ? 0 : take(pipe);
}

HX_EXPORT int qurt_pipe_is_empty(qurt_pipe_t *pipe)
{
    return qurt_sem_get_val(&pipe->filled) == 0;
}

/* --- all-signals */

HX_EXPORT void qurt_allsignal_init(qurt_allsignal_t *signal)
{
    memset(signal, 0, sizeof(*signal));
    qurt_mutex_init(&signal->lock);
    qurt_sem_init_val(&signal->complete, 0);
}

HX_EXPORT void qurt_allsignal_destroy(qurt_allsignal_t *signal)
{
    qurt_sem_destroy(&signal->complete);
    qurt_mutex_destroy(&signal->lock);
}

HX_EXPORT unsigned int qurt_allsignal_get(qurt_allsignal_t *signal)
{
    unsigned int set;

    qurt_mutex_lock(&signal->lock);
    set = signal->signals;
    qurt_mutex_unlock(&signal->lock);
    return set;
}

/* 1: all that `wanted` names was there, and is taken.  Under the lock. */
static int take_all(qurt_allsignal_t *signal, unsigned int wanted)
{
    if ((signal->signals & wanted) != wanted)
        return 0;
    signal->signals &= ~wanted;
    return 1;
}

HX_EXPORT void qurt_allsignal_wait(qurt_allsignal_t *signal, unsigned int mask)
{
    int is_taken, others;

    qurt_mutex_lock(&signal->lock);
    others = signal->wanted != 0;
    is_taken = !others && take_all(signal, mask);
    if (!others && !is_taken)
        signal->wanted = mask;
    qurt_mutex_unlock(&signal->lock);
    if (others)
        hx_qurt_fatal("qurt_allsignal_wait: another thread waits for %p already", (void *)signal);
    if (!is_taken)
        qurt_sem_down(&signal->complete);
}

HX_EXPORT void qurt_allsignal_set(qurt_allsignal_t *signal, unsigned int mask)
{
    int wakes;

    qurt_mutex_lock(&signal->lock);
    signal->signals |= mask;
    wakes = signal->wanted != 0 && take_all(signal, signal->wanted);
    if (wakes)
        signal->wanted = 0;
    qurt_mutex_unlock(&signal->lock);
    if (wakes)
        qurt_sem_up(&signal->complete);
}
