/* Test support: programs whose clocks a test moves while they run (fail/clock.c). */
#ifndef MOVED_CLOCKS_H
#define MOVED_CLOCKS_H

#include "fail/clock.h"

/* From here on what the test starts goes by clocks that it can move: those of the result, which lives as long as the test.  NULL
 * and errno when that cannot be. */
struct hxt_clock *moved_clocks_begin(void);

/* From here on what the test starts has the machine's clocks again. */
void moved_clocks_end(void);

#endif
