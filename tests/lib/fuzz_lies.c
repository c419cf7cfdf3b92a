/* How a PD in a fuzz target breaks the rules: see fuzz_ioctls.h. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_ioctls.h"

void fuzz_break_replies(struct fuzz_pd *pd)
{
    pd->broken = true;
    atomic_store(&pd->rings->reply.tail, atomic_load(&pd->rings->reply.head) + 100000);
    fuzz_pd_reply(pd, 0, 0); /* cannot, but a bell may ring */
    (void)!write(pd->fd[HX_FD_REP_BELL], &(uint64_t){1}, sizeof(uint64_t));
}

void fuzz_break_requests(struct fuzz_pd *pd)
{
    pd->broken = true;
    atomic_store(&pd->rings->request.head, atomic_load(&pd->rings->request.tail) + 1 + fuzz_byte());
}

/* DMA handles that it gives back, or never had. */
void fuzz_return_handles(struct fuzz_pd *pd)
{
    struct hx_invoke *head;

    fuzz_pd_take(pd);
    if (!pd->n_held || pd->broken)
        return;
    head = (void *)(pd->arena + pd->held[fuzz_byte() % pd->n_held].addr);
    for (unsigned i = 0, n = fuzz_byte() % (FASTRPC_MAX_FDLIST + 1); i < n; i++)
        head->fdlist[i] = FUZZ_FD + fuzz_byte() % 8 - 1;
}

void fuzz_count_packets(struct fuzz_pd *pd)
{
    _Atomic uint64_t *sum = &pd->rings->packets.packets;

    for (int i = 0; i < 7; i++)
        atomic_store(&sum[i], (uint64_t)fuzz_word() << fuzz_byte() % 48);
}

void fuzz_print(struct fuzz_pd *pd)
{
    char text[300];
    unsigned n = fuzz_word() % sizeof(text);

    memset(text, (int)fuzz_byte(), sizeof(text));
    text[n / 2] = '\n';
    (void)!write(pd->fd[HX_FD_LOG], text, n);
}

/* It has nothing to say there; the driver takes that for its end. */
void fuzz_speak(struct fuzz_pd *pd)
{
    struct hx_ctl ctl = {.op = fuzz_byte() % 9, .seq = fuzz_byte(), .id = (int)fuzz_byte() % 16, .size = fuzz_byte()};

    pd->broken |= pd != &fuzz_dsp.root;
    (void)!send(pd->fd[HX_FD_CTL], &ctl, sizeof(ctl) - (fuzz_byte() & 1), MSG_NOSIGNAL | MSG_DONTWAIT);
}
