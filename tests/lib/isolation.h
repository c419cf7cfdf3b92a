/* Test support for the isolation suite (tests/suites/isolation.sh): the rigs that it attacks, and its counts.
 *
 * An attempt is a row of a table: what is tried, and the error with which it has to be refused.  For each rig and attacker the suite
 * prints one line, which tests/run.sh shows:
 *     | skel | rig of root | fuse | 353 attempts refused, 0 got through |
 * With HXT_ATTEMPTS=1 in the environment a line for each attempt comes before it. */
#ifndef ISOLATION_H
#define ISOLATION_H

/* Runs `run(front_end)`, each time in a process of its own, with "socket" and "fuse": as the user who started the test, and when that is
 * root, as nobody.  There the build and /dev/fuse are made to be for everybody.  `run` is to set own_rig_front_end and to return
 * the exit code of a group of tests; what cannot be run here says "skip:" and why. */
int iso_run(int (*run)(const char *front_end));

/* To be set before iso_run(): as nobody's the process can still change its user, to be another one than the rig's.  What may be looked
 * into, the rig's clients for one, has to do so for good: iso_become(). */
extern int iso_changes_user;

/* Becomes that user, without a way back.  0 or -1. */
int iso_become(unsigned uid);

/* Whose rig it is in this process: "root", "nobody" or "user". */
const char *iso_rig_of(void);

/* One attempt: `expected` and `got` are errno, or AEE codes.  expected 0: not an attempt but the proof that what is right works. */
void iso_attempt(const char *name, int expected, int got);

/* Prints the line of the attempts since the last one, and fails the test when one of them went otherwise than expected, or when there
 * were fewer than `least`: a table that nobody ran shows nothing. */
void iso_end(const char *attacker, unsigned least);

#endif
