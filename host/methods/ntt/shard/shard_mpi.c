/* The other process as an MPI rank.  MPI is loaded, not linked: few machines have it, and hexrig runs without. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "hx_mpi.h"
#include "shard_impl.h"

enum { RANKS = 2 };

static int load(struct hx_shard *s, const char *libexec, struct hx_error *err)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/hexrig-mpi.so", libexec);
    if (access(path, R_OK))
        return hx_error_set(err, -ENOENT, "crt-shard: started by mpirun, but there is no %s: "
                          "build with MPI (package libopenmpi-dev)", path);
    s->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (s->library)
        s->mpi = dlsym(s->library, HX_MPI_OPS);
    return s->mpi ? 0 : hx_error_set(err, -ELIBACC, "crt-shard: %s", dlerror());
}

static int open_mpi(struct hx_shard *s, const char *libexec, struct hx_error *err)
{
    int rank, size, rc = load(s, libexec, err);

    if (rc)
        return rc;
    if (s->mpi->open(&rank, &size))
        return hx_error_set(err, -EIO, "crt-shard: MPI does not start");
    if (size != RANKS) { /* every rank says so: the first that ends takes the others along */
        s->mpi->close(0);
        return hx_error_set(err, -EINVAL, "crt-shard: mpirun started %d ranks; %d are needed, one for "
                          "each prime", size, RANKS);
    }
    s->prime = rank;
    if (rank)
        hx_shard_silence(s);
    return 0;
}

static int swap(struct hx_shard *s, const void *mine, void *theirs, size_t bytes,
                struct hx_error *err)
{
    return s->mpi->swap(mine, theirs, bytes)
               ? hx_error_set(err, -EIO, "crt-shard: MPI cannot reach rank %d", 1 - s->prime)
               : 0;
}

static void close_mpi(struct hx_shard *s)
{
    fflush(NULL); /* with the other rank lost, this does not return */
    s->mpi->close(s->lost);
}

const struct hx_shard_ops hx_shard_mpi = {"mpi", open_mpi, swap, close_mpi};
