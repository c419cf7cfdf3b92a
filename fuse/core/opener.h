/* Opening a node while every session is taken and one of them is about to be free.
 *
 * The kernel's close() returns when the session is free, so whoever opens a node after a close, or after the end of a process,
 * finds room.  Here a session that is closed keeps its place until its PD has ended.  An opener that finds all places taken, some
 * of them like that, waits, behind those that wait already.  EBUSY is for when all sessions are really open, and after
 * ten seconds, the time limit of a kernel driver's own calls: a debugger may keep a PD from ending. */
#ifndef HX_OPENER_H
#define HX_OPENER_H

#include <stdbool.h>
#include <sys/types.h>

struct hx_driver;
struct hx_session;

struct hx_opener { /* owned by the front end; must not move while it waits */
    struct hx_driver *driver;
    pid_t pid; /* as hx_session_open() takes them */
    uid_t uid;
    bool secure_node;
    /* The answer: rc is 0, or s is NULL and rc what hx_session_open() returned.  It may free the opener. */
    void (*opened)(struct hx_opener *o, struct hx_session *s, int rc);
    unsigned checks_left;           /* the rest is the driver's */
    struct hx_opener *next, **prev; /* prev: NULL = it does not wait */
};

/* Calls o->opened() once, now or later.  Front ends bound how many wait. */
void hx_open(struct hx_opener *o);

bool hx_open_waits(const struct hx_opener *o);

/* The opener has gone: it gets no answer.  No effect when it does not wait. */
void hx_open_cancel(struct hx_opener *o);

/* Answers it now, with an error.  No effect when it does not wait. */
void hx_open_refuse(struct hx_opener *o, int rc);

/* Lets in those for whom there is room by now.  Called in every round of the loop. */
void hx_open_round(struct hx_driver *d);

#endif
