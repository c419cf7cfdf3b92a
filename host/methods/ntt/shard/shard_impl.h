/* Between shard.c and its transports. */
#ifndef HX_SHARD_IMPL_H
#define HX_SHARD_IMPL_H

#include "shard.h"

struct hx_shard_ops {
    const char *name;
    int (*open)(struct hx_shard *s, const char *libexec, struct hx_error *err);
    int (*swap)(struct hx_shard *s, const void *mine, void *theirs, size_t bytes,
                struct hx_error *err);
    void (*close)(struct hx_shard *s);
};

struct hx_shard {
    const struct hx_shard_ops *ops;
    int prime;
    uint64_t steps, words;
    int over;          /* 1: no step will follow */
    int lost;          /* 1: nothing can be swapped any more */
    int other_failed;  /* 1: and says so by itself */
    int held, err;     /* of process 1: a memory file as stderr, and the real one; -1: none */
    int fd;            /* fork: a socket to the other one */
    int child;         /* fork: its process, 0 in itself and when it has been waited for */
    void *library;     /* mpi */
    const struct hx_mpi_ops *mpi;
};

extern const struct hx_shard_ops hx_shard_fork, hx_shard_mpi;

/* For process 1: stdout goes nowhere, stderr is held back. */
void hx_shard_silence(struct hx_shard *s);

/* Gives stderr back; show: prints what was held back.  Does nothing in process 0. */
void hx_shard_speak(struct hx_shard *s, int show);

#endif
