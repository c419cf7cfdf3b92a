/* Clients of the driver's core in a fuzz target's own process: memory, files and descriptors, a front end that reaches them, and
 * beside each byte the one that has to be there.  One thread. */
#ifndef FUZZ_CLIENT_H
#define FUZZ_CLIENT_H

#include "fuzz_dsp.h"

enum {
    FUZZ_CLIENTS = 4,
    FUZZ_MEMORY = 8192,        /* bytes of a client, */
    FUZZ_MEMORY_AT = 0x10000,  /* at this address */
    FUZZ_ARGS_AT = 0x8000000,  /* its argument array */
    FUZZ_FILES_AT = 0x20000000, /* where it has mapped file i: FUZZ_FILES_AT + i * FUZZ_FILE_STEP */
    FUZZ_FILE_STEP = 0x100000,
    FUZZ_FD = 100,             /* number of file 0 */
    FUZZ_FDS = 3,
    FUZZ_FILES = 24,           /* that exist at a time, closed ones included */
    FUZZ_BUFS = 12,            /* of a call, handles included */
    FUZZ_FAULT = -14,          /* EFAULT */
};

struct fuzz_file {
    int fd; /* 0 = free entry */
    uint32_t size;
    uint8_t *map, *want; /* [size] */
};

struct fuzz_client {
    _Alignas(4096) uint8_t args[4096]; /* a page: struct fastrpc_invoke_args[] */
    uint8_t memory[FUZZ_MEMORY], want[FUZZ_MEMORY];
    struct fuzz_file *file[FUZZ_FDS];
    struct hx_session *session; /* NULL = no file open */
};

/* A buffer of an INVOKE as the client means it. */
struct fuzz_buf {
    uint64_t ptr, len;
    struct fuzz_file *file; /* NULL = inline */
    uint64_t offset;        /* in the file */
    uint64_t sum;           /* of an inline input when the call was made */
};

struct fuzz_call {
    struct hx_call call;
    struct fuzz_client *client; /* NULL = free entry */
    unsigned answers;
    int result;
    unsigned n_in, n_bufs;
    bool changed; /* the client has changed its memory while inputs were copied */
    bool faulty;  /* one of its inputs is not there, and that is still to be found */
    struct fuzz_buf buf[FUZZ_BUFS];
};

extern struct fuzz_client fuzz_client[FUZZ_CLIENTS];

/* One reads and writes piece by piece, the other in batches and pages. */
extern const struct hx_front_ops fuzz_slow_front, fuzz_fast_front;

/* All clients as at the start: memory filled, no files. */
void fuzz_clients_reset(void);

/* The client's own view of its memory: true when [addr, addr + len) is there. */
bool fuzz_memory_has(uint64_t addr, uint64_t len);

/* File i of the client, made when it is not open.  NULL: there are too many. */
struct fuzz_file *fuzz_file_open(struct fuzz_client *c, unsigned i);
void fuzz_file_close(struct fuzz_client *c, unsigned i);

/* Where in its file the buffer begins: at its mapping, or, by the driver's rule, within the page of an address that is none. */
uint64_t fuzz_offset(const struct fuzz_client *c, const struct fuzz_buf *b);

/* What an honest DSP makes of the call, done to what is wanted; the result of the ioctl when the DSP's is `result`.  FUZZ_FAULT: an
 * output cannot be written, and those behind it need not be; FUZZ_REFUSED: the DSP wrote nothing. */
int fuzz_expect(const struct fuzz_call *fc, int result);

/* The DSP did a call that nobody waits for any more: what files hold now is wanted. */
void fuzz_forgive_files(void);

/* Outputs of the call may be anything now: what is there is wanted. */
void fuzz_forgive(const struct fuzz_call *fc);

/* Every byte of every client is what it has to be. */
void fuzz_clients_check(void);

/* The session's buffers are as many as it counts, and each has the references that it should. */
void fuzz_session_check(const struct hx_session *s);

#endif
