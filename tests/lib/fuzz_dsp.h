/* The DSP's end of the driver's channels, held in the fuzz target's own process: a root PD and user PDs that take what they are
 * sent and answer when they are told to.  Methods are one known function of the buffers, so that who calls can tell what has to
 * come back.  One thread. */
#ifndef FUZZ_DSP_H
#define FUZZ_DSP_H

#include "core/driver.h"

enum { FUZZ_HELD = FASTRPC_CTX_MAX, FUZZ_MAPS = 64, FUZZ_REFUSED = 0x4e };

/* Ends the process, which is a finding: `what` says what is not as it must be. */
void fuzz_must(bool is_so, const char *what);

struct fuzz_map {
    int32_t id;
    int fd; /* owned; -1 = free entry */
    uint64_t size;
};

struct fuzz_pd {
    struct hx_rings *rings; /* NULL = there is no such PD */
    uint8_t *arena;
    int fd[HX_PD_FDS];
    uint32_t number;  /* session's */
    uint32_t ctl_seq; /* of the last control message */
    bool broken;      /* it broke a ring: nothing that it sends has to arrive */
    struct fuzz_map map[FUZZ_MAPS];
    struct hx_msg held[FUZZ_HELD]; /* requests without a reply */
    unsigned n_held;
};

struct fuzz_dsp {
    struct fuzz_pd root, pd[FASTRPC_MAX_SESSIONS]; /* pd: index = client_id - 1 */
};

/* Starts the DSP of a driver that has none, without hexrig-dsp: d->dsp.pid is a process that has ended already. */
void fuzz_dsp_up(struct fuzz_dsp *dsp, struct hx_driver *d);

/* Closes every end. */
void fuzz_dsp_forget(struct fuzz_dsp *dsp);

/* Reads all control messages, of all PDs. */
void fuzz_dsp_control(struct fuzz_dsp *dsp);

/* Takes requests from the ring as long as there is room for them. */
void fuzz_pd_take(struct fuzz_pd *pd);

/* What held request `which` gives: its outputs are written.  0, or FUZZ_REFUSED: a buffer lies outside, nothing is written. */
int fuzz_pd_execute(struct fuzz_pd *pd, unsigned which);

/* Replies to held request `which`, and forgets it. */
void fuzz_pd_answer(struct fuzz_pd *pd, unsigned which, int32_t result);

/* Replies to whatever it likes. */
void fuzz_pd_reply(struct fuzz_pd *pd, uint64_t ctx, int32_t result);

/* Its process ends. */
void fuzz_pd_die(struct fuzz_pd *pd);

/* The root PD handles held request `which` as it should: result 0 or an AEE code for creations; RELEASE ends the PD, at once or
 * (slow) later, by fuzz_root_exit(). */
void fuzz_root_serve(struct fuzz_dsp *dsp, unsigned which, int32_t result, bool slow);
void fuzz_root_exit(struct fuzz_dsp *dsp, int32_t client_id, uint32_t number);

/* The function: the sums of the inputs in their order, chained from handle ^ sc on, and byte j of argument i, an output. */
uint64_t fuzz_sum(const uint8_t *bytes, size_t n);
static inline uint64_t fuzz_chain(uint64_t sum, uint64_t of_input)
{
    return (sum ^ of_input) * UINT64_C(0x9e3779b97f4a7c15);
}
static inline uint8_t fuzz_out(uint64_t sum, unsigned i, size_t j)
{
    return (uint8_t)((sum >> (i + j) % 8 * 8) + j * 31 + i);
}

#endif
