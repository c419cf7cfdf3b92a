/* Counting semaphores (published names).
 *
 * The n-th down goes on to the time of the n-th up, so a pipeline's times do not depend on which thread was really faster;
 * of ups that nobody has taken the last 16 are told apart. */
#ifndef QURT_SEM_H
#define QURT_SEM_H

#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QURT_SEM_TIMES 16

typedef struct {
    unsigned short val;      /* count */
    unsigned int ups, downs; /* so far; index of `at` modulo QURT_SEM_TIMES */
    unsigned long long at[QURT_SEM_TIMES]; /* pcycle of each up that was not taken yet */
} qurt_sem_t;

void qurt_sem_init(qurt_sem_t *sem); /* count 1 */
void qurt_sem_init_val(qurt_sem_t *sem, unsigned short val);
void qurt_sem_destroy(qurt_sem_t *sem); /* nobody waits, or the log says so */

/* Adds to the count and wakes as many threads.  0, or QURT_EFAILED with a line in the log: more than 65535. */
int qurt_sem_add(qurt_sem_t *sem, unsigned int amt);
static inline int qurt_sem_up(qurt_sem_t *sem)
{
    return qurt_sem_add(sem, 1);
}

int qurt_sem_down(qurt_sem_t *sem);     /* 0 */
int qurt_sem_try_down(qurt_sem_t *sem); /* 0, or -1: the count is 0 */
int qurt_sem_down_timed(qurt_sem_t *sem, unsigned long long int duration); /* us; QURT_EOK, QURT_ETIMEDOUT */
unsigned short qurt_sem_get_val(qurt_sem_t *sem);

#ifdef __cplusplus
}
#endif

#endif
