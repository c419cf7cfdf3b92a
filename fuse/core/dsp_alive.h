/* Whether the root PD still answers.  It is asked every 250 ms, by a message to which its loop replies when it has answered all
 * requests that came before; the root PD never waits for anybody, so one that does not reply is stopped, hangs, or has lost what
 * it was sent.  That is a crash like any other: a subsystem restart.
 *
 * What counts are checks at which it neither replied nor ran, four in a row, not the time between them: a machine that was
 * suspended, a driver that was stopped, or one that is busy elsewhere asks again first.  A root PD that runs and does not
 * reply has 5 s, one that wants a processor and gets next to nothing of it a minute, and one that a debugger has stopped has all the
 * time there is. */
#ifndef HX_DSP_ALIVE_H
#define HX_DSP_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

struct hx_driver;

struct hx_dsp_alive {
    uint64_t asked, answered; /* numbers of the last HX_CTL_PING and of the last HX_CTL_PONG */
    uint64_t checked_ms;
    unsigned overdue; /* checks since it was asked, without */
    unsigned starved; /* those at which it wanted a processor, and had not been given any to speak of */
    unsigned still;   /* in a row, those at which it had not run, nor wanted to */
    uint64_t ticks;   /* processor time that it had at the last check */
};

/* A new root PD: it has not been asked anything. */
void hx_dsp_alive_begin(struct hx_dsp_alive *a);

/* Checks and asks when it is time.  Called in every round of the loop. */
void hx_dsp_alive_check(struct hx_driver *d);

/* HX_CTL_PONG came.  Requests that were sent before its ping and have no reply are lost: the ring is broken. */
void hx_dsp_alive_pong(struct hx_driver *d, uint64_t number);

#endif
