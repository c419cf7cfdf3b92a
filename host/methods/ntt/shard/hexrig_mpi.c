/* hexrig-mpi.so: the MPI calls of host/methods/ntt/shard/hx_mpi.h.  Made by `make` where there is an mpicc. */
#include <mpi.h>

#include "hx_mpi.h"

enum { TAG = 163, MOST = 1 << 30 /* bytes of a message: MPI counts in int */ };

static int rank;

static int open_mpi(int *my_rank, int *size)
{
    int level;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    *my_rank = rank;
    return 0;
}

static int swap(const void *mine, void *theirs, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += MOST) {
        const int n = bytes - at < MOST ? (int)(bytes - at) : MOST;

        if (MPI_Sendrecv((const char *)mine + at, n, MPI_BYTE, 1 - rank, TAG, (char *)theirs + at,
                         n, MPI_BYTE,
                         1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static void close_mpi(int lost)
{
    if (lost)
        MPI_Abort(MPI_COMM_WORLD, 1);
    else
        MPI_Finalize();
}

extern const struct hx_mpi_ops hx_mpi_ops;
__attribute__((visibility("default"))) const struct hx_mpi_ops hx_mpi_ops = {open_mpi, swap,
                                                                             close_mpi};
