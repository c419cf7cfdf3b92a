/* Futexes (published names), within one PD.
 *
 * A woken thread's clock goes on to the wake.  A thread that comes too late to wait, because the value has changed already,
 * goes on to the wake that belongs to the change, even if that is still to come; so poll with qurt_futex_wait() and not
 * with loads alone, or the time of the change is lost.  Values that count up tell changes apart best.  The last 64
 * addresses are remembered; a change of which no wake is known within 10 ms (really) carries no time. */
#ifndef QURT_FUTEX_H
#define QURT_FUTEX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Waits while the int at `lock` is `val` until qurt_futex_wake().  0, or -1: it was another value at once. */
int qurt_futex_wait(void *lock, int val);

/* Wakes up to n_to_wake threads, the most urgent first; returns how many. */
int qurt_futex_wake(void *lock, int n_to_wake);

#ifdef __cplusplus
}
#endif

#endif
