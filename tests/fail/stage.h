/* What test_fault_matrix, its clients and the preloaded library that waits at stages share: a file that all map. */
#ifndef HXT_STAGE_H
#define HXT_STAGE_H

#include <stdint.h>

#define HXT_STAGE_STATE "HXT_STAGE_STATE" /* environment: the file */

enum hxt_stage_go { HXT_STAGE_WAIT, HXT_STAGE_GO_ON, HXT_STAGE_EXIT };

struct hxt_stage {
    char name[32];            /* where to wait; written while `armed` is 0 */
    uint32_t nth;             /* the how manieth time, from 1 */
    _Atomic uint32_t armed;
    _Atomic uint32_t passed;  /* how often it was passed since */
    _Atomic uint32_t reached; /* futex: 1 when somebody waits there */
    _Atomic int32_t pid;      /* who */
    _Atomic uint32_t go;      /* futex: enum hxt_stage_go, what it is to do then */

    /* written by the client under test: what it has come to */
    _Atomic int32_t step;  /* of enum client_step, the last that it began */
    _Atomic int32_t rc;    /* AEE code of the first that failed, where it ended; 0: all worked */
    _Atomic int32_t wrong; /* 1: a call said 0, and its bytes were not what they had to be */
};

#endif
