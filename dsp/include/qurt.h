/* All of QuRT that hexrig has (published name). */
#ifndef QURT_H
#define QURT_H

#include "qurt_alloc.h"
#include "qurt_allsignal.h"
#include "qurt_anysignal.h"
#include "qurt_atomic_ops.h"
#include "qurt_barrier.h"
#include "qurt_busywait.h"
#include "qurt_cond.h"
#include "qurt_cycles.h"
#include "qurt_error.h"
#include "qurt_futex.h"
#include "qurt_hvx.h"
#include "qurt_memory.h"
#include "qurt_mutex.h"
#include "qurt_pimutex.h"
#include "qurt_pipe.h"
#include "qurt_pmu.h"
#include "qurt_rmutex.h"
#include "qurt_sem.h"
#include "qurt_signal.h"
#include "qurt_sysenv.h"
#include "qurt_thread.h"
#include "qurt_timer.h"
#include "qurt_tls.h"
#include "qurt_types.h"

#endif
