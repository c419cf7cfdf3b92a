/* What hexrig-mpi.so offers under the name HX_MPI_OPS: the few MPI calls that shards need, compiled where MPI is there. */
#ifndef HX_MPI_H
#define HX_MPI_H

#include <stddef.h>

#define HX_MPI_OPS "hx_mpi_ops"

struct hx_mpi_ops {
    /* 0, or -1.  Once in a process. */
    int (*open)(int *rank, int *size);
    /* With the other of two ranks.  0, or -1; MPI itself ends both when one has gone. */
    int (*swap)(const void *mine, void *theirs, size_t bytes);
    /* lost: ends this process and what is left of the other one, with exit status 1. */
    void (*close)(int lost);
};

#endif
