/* Test support: the n-th call of a function fails in a program that has libhxt_fail.so (tests/fail/fail.h) preloaded, and the
 * rows of the table that such a test prints.
 *
 * The numbers tried are a sample, or with HXT_FAIL_ALL=1 every one up to 200, then each about a twentieth more than the last. */
#ifndef NTH_FAILURE_H
#define NTH_FAILURE_H

#include <stdint.h>

#include "fail/fail.h"

extern struct hxt_fail *nth_state;
extern const char *const nth_functions[HXT_FAIL_N]; /* names */

/* Makes the state file in hxt_tmpdir(); fails the test when it cannot. */
void nth_begin(void);

/* Environment of the program that is to fail: HXT_FAIL_..., LD_PRELOAD.  As long as hxt_path() lives; env: room for 3. */
void nth_env(const char **env, const char *program);

void nth_disarm(void); /* from now on every call works, and none is counted */

/* In the program that is to fail, where it is the test's own: finds the state; ends the program when there is none.  nth_rearm()
 * takes an nth_disarm() back, the counters go on. */
void nth_join(void);
void nth_rearm(void);

int nth_everything(void); /* HXT_FAIL_ALL */
extern int nth_sample_only; /* 1: not every number even then, of a program that takes seconds */

struct nth_row {
    const char *program;
    unsigned function;
    int all;
    unsigned tried;   /* numbers at which a call came and failed */
    uint32_t last;    /* the greatest of them */
    unsigned seen[2]; /* what became of them, by the test's own columns */
    unsigned wrong;
};

void nth_print_head(const char *first, const char *second); /* titles of `seen` */

/* Runs the program once with nothing failing, to see which functions it calls; then for each of these, once and from then on,
 * number after number until no call fails any more.  check(arg, row) runs the program, counts in row->seen, and returns NULL
 * or what is wrong.  Prints the rows; returns how often something was wrong. */
unsigned nth_program(const char *program, const char *(*check)(void *arg, struct nth_row *row), void *arg);

#endif
