/* Test support: a rig of a test program's own, on a front end of its choice, in the program's scratch folder.
 * HEXRIG_DEVICE names its node, so that the client library finds it.
 *
 * HEXRIG_LIBEXEC and DSP_LIBRARY_PATH may name another build's driver and skels: a ThreadSanitizer build of the client
 * works with a plain DSP, whose address space TSan could not bear. */
#ifndef OWN_RIG_H
#define OWN_RIG_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"

/* To be set before the rig starts. */
extern const char *own_rig_front_end; /* "fuse" unless set */
extern const char *own_rig_profile;   /* NULL = default */
extern const char *own_rig_log;       /* file for its log; NULL = its stderr */
extern int own_rig_strict_pd;         /* 1: skels are opened in unsigned PDs only */
extern const char *own_rig_mode;      /* of its nodes, "0666", and its folder is for everybody; NULL = the user's own */
extern double own_rig_seconds;        /* the rig is killed after so many; 600 unless set */
extern struct hxt_child own_rig_child;

/* Fixtures of a group of tests.  The end fails when the driver's exit code is not 0, or when it left its node. */
int own_rig_start(void **state);
int own_rig_stop(void **state);

/* Path of a file of the rig, "status"; as hxt_path(). */
const char *own_rig_path(const char *name);

/* Number behind "key=" in the rig's status, -1 when there is none.  FUSE only. */
int own_rig_status(const char *key);

/* Writes one command to the rig's control file.  0, or -1 and the driver's errno.  FUSE only. */
int own_rig_control(const char *command);

/* 1 when the driver serves and no session is open; for hxt_until(). */
int own_rig_idle(void *unused);

/* Process id of the rig's DSP, a child of its driver beside FUSE's mount helper; 0 when there is none now. */
int own_rig_dsp(void);

/* User PDs that are there now, children of the DSP: their number, ids of at most OWN_RIG_PDS of them. */
enum { OWN_RIG_PDS = 32 };
size_t own_rig_pds(pid_t pds[OWN_RIG_PDS]);

/* The PD that is not among these n; 0 when there is none. */
pid_t own_rig_new_pd(const pid_t *before, size_t n);

/* How many threads its driver has: one more for each that hangs in a client's memory. */
int own_rig_threads(void);

/* Runs `run(mode)` in a process of its own.  The result's exit code; a signal is 1. */
int own_rig_run(int (*run)(const char *mode), const char *mode);

/* own_rig_run() with "socket" and, where /dev/fuse opens, with "fuse". */
int own_rig_run_both(int (*run)(const char *front_end));

#endif
