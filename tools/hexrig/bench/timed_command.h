/* Runs commands one after the other and times them; a signal ends the one that runs, with all that it started. */
#ifndef HX_TIMED_COMMAND_H
#define HX_TIMED_COMMAND_H

#include <signal.h>

enum { HX_TIMED_STDERR = 4096 }; /* bytes of a command's stderr that are kept: its last ones */

struct hx_timed {
    sigset_t caught, before; /* SIGCHLD and what interrupts; the mask that commands get */
    int interrupted;         /* the signal that came, or 0 */
};

struct hx_timed_run {
    double wall_s; /* from before its process was made until it had ended */
    int status;    /* as wait() gives it */
    char err[HX_TIMED_STDERR + 1]; /* the end of what it wrote to stderr */
};

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM are met in the functions below.  To be called in the first thread, before others
 * are made. */
void hx_timed_begin(struct hx_timed *t);

/* Runs argv, found by PATH, to its end: stdin and stdout are /dev/null.  0 when it ran, whatever its status; -EINTR: a signal came, the
 * command got it as well, and it and its process group are gone, by SIGKILL where they took longer than 10 s; another negative
 * errno: it could not be started. */
int hx_timed_run(struct hx_timed *t, char *const *argv, struct hx_timed_run *run);

/* Does nothing for so long.  0, or -EINTR when a signal came. */
int hx_timed_pause(struct hx_timed *t, double seconds);

#endif
