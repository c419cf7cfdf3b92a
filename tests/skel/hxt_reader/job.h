/* What packets to hxt_reader hold: a request is a struct reader_job, its answer a struct reader_done. */
#ifndef HXT_READER_JOB_H
#define HXT_READER_JOB_H

#include <stdint.h>

enum { READER_THREADS = 8 };

struct reader_job {
    uint32_t rounds;                /* of all that follows */
    uint32_t alone;                 /* units of vector work, before the others are told */
    uint32_t share[READER_THREADS]; /* the same of each thread, side by side */
    uint32_t dma_bytes;             /* fetched into VTCM first, by descriptors whose `next` is a pointer; a multiple of 4096 */
};

struct reader_done {
    uint64_t pcycles;  /* from the begin of the job's work to its end, as the skel reads them from c15:14 */
    uint64_t ticks;    /* of 19.2 MHz, likewise */
    uint64_t units;    /* of vector work that were done */
};

enum { READER_UNIT_OPS = 100 }; /* HVX operations of a unit */

#endif
