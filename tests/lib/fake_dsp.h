/* The other end of a driver's channels in the driver's own thread: a DSP for tests that step the driver's loop themselves.
 *
 * Every PD answers an INVOKE by filling its out buffers with fake_dsp_byte() of its first in buffer, if it is told to. */
#ifndef FAKE_DSP_H
#define FAKE_DSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/driver.h"

enum fake_dsp_mood {
    FAKE_DSP_ANSWERS,
    FAKE_DSP_SLEEPS,     /* takes requests and answers none of them */
    FAKE_DSP_REPEATS,    /* answers twice */
    FAKE_DSP_FORGES,     /* answers calls that nobody has made, then the right one */
    FAKE_DSP_DIES,       /* the PD ends in the middle of its first call */
    FAKE_DSP_BREAKS,     /* leaves indices in its reply ring that cannot be */
    FAKE_DSP_REFUSES,    /* the root PD makes no PDs; those that are there answer */
    FAKE_DSP_MOODS
};

/* Gives d a channel to a root PD that is here.  d->dsp then counts as up.  Ends the program on failure. */
void fake_dsp_open(struct hx_driver *d);

/* Ends it; sessions should be closed before. */
void fake_dsp_close(struct hx_driver *d);

/* A subsystem restart. */
void fake_dsp_restart(struct hx_driver *d);

/* Serves what root PD and user PDs have been sent.  PDs of sessions with an odd number end after the answer to their release.  True:
 * there was something. */
bool fake_dsp_serve(struct hx_driver *d, enum fake_dsp_mood mood);

/* Whether a session or a context is left. */
bool fake_dsp_is_busy(const struct hx_driver *d);

/* Ends the PD of session `slot`, if it is there. */
void fake_dsp_end_pd(unsigned slot);

/* What byte k of out buffer `out` is, given the first in buffer [n]. */
static inline uint8_t fake_dsp_byte(const uint8_t *in, size_t n, unsigned out, size_t k)
{
    return (uint8_t)((n ? in[k % n] ^ 0x5a : 0) + out);
}

#endif
