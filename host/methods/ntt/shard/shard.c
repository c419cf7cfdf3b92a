/* The steps of two processes in lockstep, above whichever transport carries them. */
#include "shard_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the last step. */
#define DONE (UINT64_MAX - 1)
#define FAILED UINT64_MAX

/* Set by mpirun of Open MPI, and by launchers that speak PMI. */
static int under_mpi(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
}

int hx_shard_open(struct hx_shard **out, const char *libexec, struct hx_error *err)
{
    struct hx_shard *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return hx_error_set(err, -ENOMEM, "crt-shard: out of memory");
    s->ops = under_mpi() ? &hx_shard_mpi : &hx_shard_fork;
    s->fd = s->held = s->err = -1;
    rc = s->ops->open(s, libexec, err);
    if (rc) {
        free(s);
        return rc;
    }
    *out = s;
    return 0;
}

int hx_shard_prime(const struct hx_shard *s)
{
    return s->prime;
}

const char *hx_shard_transport(const struct hx_shard *s)
{
    return s->ops->name;
}

/* What both must agree about before residues mean anything: processes on two machines may have been told different things. */
struct step {
    uint64_t number, words, of;
};

static int swap_step(struct hx_shard *s, const struct step *mine, struct hx_error *err)
{
    struct step theirs;
    int rc = s->ops->swap(s, mine, &theirs, sizeof(theirs), err);

    s->lost |= rc != 0;
    if (rc)
        return rc;
    s->other_failed = theirs.number == FAILED ||
                      (mine->number != FAILED && memcmp(mine, &theirs, sizeof(theirs)) != 0);
    s->over = s->other_failed || mine->number >= DONE;
    if (theirs.number == FAILED)
        return hx_error_set(err, -EPIPE, "crt-shard: the process with the residues modulo q%d failed",
                          2 - s->prime);
    if (mine->number != theirs.number || mine->words != theirs.words)
        return hx_error_set(err, -EPROTO, "crt-shard: %llu words of step %llu here, %llu of step %llu there: the "
                          "two processes were not told the same", (unsigned long long)mine->words,
                          (unsigned long long)mine->number, (unsigned long long)theirs.words,
                          (unsigned long long)theirs.number);
    if (mine->of != theirs.of)
        return hx_error_set(err, -EPROTO, "crt-shard: step %llu is of other numbers in the other process: another "
                          "model, text or option, or another hexrig", (unsigned long long)mine->number);
    return 0;
}

int hx_shard_swap(struct hx_shard *s, uint64_t of, const uint32_t *mine, uint32_t *theirs, size_t n,
                  struct hx_error *err)
{
    const struct step step = {s->steps, n, of};
    int rc = swap_step(s, &step, err);

    if (rc)
        return rc;
    s->steps++;
    s->words += n;
    rc = n ? s->ops->swap(s, mine, theirs, n * sizeof(*mine), err) : 0;
    s->lost |= rc != 0;
    return rc;
}

uint64_t hx_shard_words(const struct hx_shard *s)
{
    return s->words;
}

/* FNV-1a over 64-bit words, and over bytes at the end. */
uint64_t hx_shard_digest(uint64_t start, const void *bytes, size_t n)
{
    const uint64_t prime = 0x100000001b3u;
    const unsigned char *p = bytes;
    uint64_t h = start ^ 0xcbf29ce484222325u;

    for (; n >= sizeof(h); n -= sizeof(h), p += sizeof(h)) {
        uint64_t word;

        __builtin_memcpy(&word, p, sizeof(word));
        h = (h ^ word) * prime;
        h ^= h >> 32;
    }
    for (; n; n--, p++)
        h = (h ^ *p) * prime;
    return h;
}

int hx_shard_close(struct hx_shard *s, int failed)
{
    const struct step last = {failed ? FAILED : DONE, 0, 0};
    struct step bye;
    int other;

    if (!s)
        return 0;
    if (!s->lost && !s->over)
        swap_step(s, &last, NULL);
    if (!s->lost) /* process 0 comes here when it has said what there is to say: mpirun would end it when the other one ends */
        s->ops->swap(s, &last, &bye, sizeof(bye), NULL);
    other = s->other_failed || s->lost;
    fflush(stderr);
    hx_shard_speak(s, failed && !s->other_failed);
    s->ops->close(s);
    free(s);
    return other;
}
