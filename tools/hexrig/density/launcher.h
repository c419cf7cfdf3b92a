/* Who started this process, and how many others: mpirun and srun say so in the environment, which needs no library. */
#ifndef HX_DENSITY_LAUNCHER_H
#define HX_DENSITY_LAUNCHER_H

#include <stddef.h>

#include "base/error.h"

enum { HX_LAUNCHER_RANKS = 4096 };

struct hx_launcher {
    size_t rank, ranks; /* 0 of 1: nobody did */
    char job[64];       /* the same for all ranks, and for them alone; letters, digits, '-' and '.' */
};

/* 0, or -EINVAL with a reason: variables that contradict each other. */
int hx_launcher_find(struct hx_launcher *l, struct hx_error *err);

#endif
