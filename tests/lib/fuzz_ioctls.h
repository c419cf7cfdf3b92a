/* What clients of the driver's core do in a fuzz target, and PDs that break the rules: operations that an input names; those of
 * clients check what they give. */
#ifndef FUZZ_IOCTLS_H
#define FUZZ_IOCTLS_H

#include "fuzz_client.h"

enum { FUZZ_CALLS = 48, FUZZ_MAPPED = 16, FUZZ_SESSIONS = 3 };

extern struct hx_driver fuzz_driver;
extern struct fuzz_dsp fuzz_dsp;
extern struct fuzz_call fuzz_calls[FUZZ_CALLS];
extern const struct hx_front_ops *fuzz_front;

/* MEM_MAPs and MMAPs that were answered. */
struct fuzz_mapped {
    struct fuzz_client *client; /* NULL = free entry */
    uint32_t number;            /* its session's */
    int fd;                     /* -1: MMAP */
    uint64_t vaddr, size;
    bool is_stranded; /* by an INVOKE that was interrupted, if it is an MMAP */
};
extern struct fuzz_mapped fuzz_mapped[FUZZ_MAPPED];

/* The input; bytes behind its end are 0. */
void fuzz_input(const uint8_t *data, size_t n);
bool fuzz_input_ends(void);
unsigned fuzz_byte(void);
unsigned fuzz_word(void);

/* An INVOKE of the client is interrupted. */
void fuzz_strand(const struct fuzz_client *c);

/* One operation of a client, which takes its own bytes of the input. */
typedef void fuzz_op(struct fuzz_client *c);
fuzz_op fuzz_open, fuzz_close, fuzz_create, fuzz_invoke, fuzz_map_memory, fuzz_unmap_memory, fuzz_other_ioctl, fuzz_interrupt,
    fuzz_write_memory, fuzz_close_file;

/* What a PD that lives may do: break a ring, give back DMA handles (which it has or not), count what it likes, print, and send control
 * messages, which are the root PD's alone. */
typedef void fuzz_pd_op(struct fuzz_pd *pd);
fuzz_pd_op fuzz_break_replies, fuzz_break_requests, fuzz_return_handles, fuzz_count_packets, fuzz_print, fuzz_speak;

/* Calls that were answered are over. */
void fuzz_forget_answered(void);

/* Maps of the session that are no longer what they were. */
void fuzz_forget_maps(uint32_t number);

#endif
