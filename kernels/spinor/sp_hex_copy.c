/* Copies on all HVX contexts, see sp_hex_copy.h. */
#include "sp_hex_copy.h"

#include "silicon/elementwise.h"
#include "skel/kernel.h"
#include "skel/parallel.h"

struct copy {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
};

static int copy_part(void *arg, struct hx_part part)
{
    const struct copy *c = arg;
    const struct hx_share s = hx_share_of((c->bytes + HX_VECTOR_BYTES - 1) / HX_VECTOR_BYTES, part);
    const size_t first = s.first * HX_VECTOR_BYTES, most = s.n * HX_VECTOR_BYTES, left = c->bytes - first;

    if (s.n)
        hx_copy_unaligned_hvx(c->to + first, c->from + first, left < most ? left : most);
    return AEE_SUCCESS;
}

int hx_sp_copy(void *to, const void *from, size_t bytes)
{
    enum { LEAST = 64 }; /* vectors that are worth a hand-over */
    struct copy c = {to, from, bytes};

    return hx_parallel(hx_parallel_parts(bytes / HX_VECTOR_BYTES, LEAST), copy_part, &c, NULL, &hx_handover_pool);
}
