/* Pipes (published names): queues of 64-bit values between threads.
 *
 * A receiver goes on to the time at which its value was sent, a sender that found the pipe full to that at which a value was taken. */
#ifndef QURT_PIPE_H
#define QURT_PIPE_H

#include "qurt_mutex.h"
#include "qurt_sem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long int qurt_pipe_data_t;

typedef struct {
    qurt_pipe_data_t *buffer;  /* [elements], the caller's until the pipe goes; NULL: qurt_pipe_create() takes one */
    unsigned int elements;     /* 1..65535 */
    unsigned char mem_partition; /* kept, without effect */
} qurt_pipe_attr_t;

/* Private. */
typedef struct {
    qurt_mutex_t lock; /* protects first and count, and the buffer's contents */
    qurt_sem_t room, filled;
    qurt_pipe_data_t *buffer;
    unsigned int elements, first, count;
    int owns_buffer; /* memory of qurt_pipe_create() */
} qurt_pipe_t;

static inline void qurt_pipe_attr_init(qurt_pipe_attr_t *attr)
{
    attr->buffer = 0;
    attr->elements = 0;
    attr->mem_partition = 0;
}

static inline void qurt_pipe_attr_set_buffer(qurt_pipe_attr_t *attr, qurt_pipe_data_t *buffer)
{
    attr->buffer = buffer;
}

static inline void qurt_pipe_attr_set_elements(qurt_pipe_attr_t *attr, unsigned int elements)
{
    attr->elements = elements;
}

static inline void qurt_pipe_attr_set_buffer_partition(qurt_pipe_attr_t *attr, unsigned char mem_partition)
{
    attr->mem_partition = mem_partition;
}

/* A pipe in memory of the PD's heap, until qurt_pipe_delete().  QURT_EOK, QURT_EINVALID: no elements or too many; QURT_EMEM. */
int qurt_pipe_create(qurt_pipe_t **pipe, qurt_pipe_attr_t *attr);
void qurt_pipe_delete(qurt_pipe_t *pipe);

/* The same in the caller's memory, with the caller's buffer, until qurt_pipe_destroy().  QURT_EOK or QURT_EINVALID. */
int qurt_pipe_init(qurt_pipe_t *pipe, qurt_pipe_attr_t *attr);
void qurt_pipe_destroy(qurt_pipe_t *pipe); /* nobody waits, or the log says so */

/* Wait while the pipe is full, or empty. */
void qurt_pipe_send(qurt_pipe_t *pipe, qurt_pipe_data_t data);
qurt_pipe_data_t qurt_pipe_receive(qurt_pipe_t *pipe);

/* 0, or -1: it is full. */
int qurt_pipe_try_send(qurt_pipe_t *pipe, qurt_pipe_data_t data);

/* *success: 0, or -1: it is empty. */
qurt_pipe_data_t qurt_pipe_try_receive(qurt_pipe_t *pipe, int *success);

/* 1: nothing is in it. */
int qurt_pipe_is_empty(qurt_pipe_t *pipe);

#ifdef __cplusplus
}
#endif

#endif
