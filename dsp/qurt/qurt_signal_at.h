/* Setting signals at a given time, for timers. */
#ifndef HX_QURT_SIGNAL_AT_H
#define HX_QURT_SIGNAL_AT_H

#include <stdint.h>

#include "qurt_anysignal.h"

/* qurt_anysignal_set() as if the caller's clock showed `at`. */
void hx_qurt_signal_at(qurt_anysignal_t *signal, unsigned int mask, uint64_t at);

#endif
