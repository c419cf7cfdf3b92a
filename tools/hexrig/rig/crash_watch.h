/* Crashes of a program's user PDs, as the rig's node `crashes` tells of them, for `hexrig run-with`. */
#ifndef HX_CRASH_WATCH_H
#define HX_CRASH_WATCH_H

#include <sys/types.h>

/* Prints on stderr what is told of crashes of sessions that this process has opened for the program (--seccomp), when the rig's log is
 * a file; where it is not, the rig has said it already. */
void hx_crash_watch_tell(void);

/* Keeps looking for user PDs that wait for a debugger (HEXRIG_CRASH=hold), and runs gdb on each, in the foreground, until
 * hx_crash_watch_end().  The debugger continues the PD, so that it stops where the skel crashed.  0 or negative errno. */
int hx_crash_watch_begin(void);
void hx_crash_watch_end(void);

#endif
