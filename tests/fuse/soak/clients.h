/* The clients of soak_clients: each runs in a process of its own, compares every byte that comes back, and may find its PD or the DSP
 * killed at any time. */
#ifndef SOAK_CLIENTS_H
#define SOAK_CLIENTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of a client. */
enum { SOAK_DONE, SOAK_WRONG, SOAK_LOST }; /* LOST: its PD, or the DSP, ended under it */

/* Counted by all clients; lies in memory that they share with the test. */
struct soak_counts {
    _Atomic unsigned long calls; /* whose result and bytes were as they have to be */
    _Atomic unsigned long refused; /* opens, while all sessions were taken or the DSP was away; each is tried again */
};
extern struct soak_counts *soak_counts;
extern int soak_report; /* descriptor for what went wrong */

extern const struct soak_kind {
    void (*run)(uint64_t seed);
    int is_killed; /* by the test, after a while: it does not end by itself */
} soak_kinds[];
extern const size_t soak_n_kinds;

/* 1 when all of VTCM can be had; 0 when not, or when no session can be opened. */
int soak_vtcm_is_free(void);

#endif
