/* Shapes of blocks with other numbers of lanes than the published ones: made when somebody asks for them, then kept. */
#include <pthread.h>
#include <string.h>

#include "hx_block.h"

/* 0: there are no such blocks. */
static int make_shape(struct hx_block_shape *out, const struct hx_block_shape *published, size_t n_skel, size_t n_res)
{
    enum { CRC = 1 };
    const size_t mag = n_skel * sizeof(uint16_t), phase = mag + (3 * n_res + 7) / 8;
    const size_t amax = phase + (n_res + 7) / 8, payload = amax + sizeof(float);
    const size_t slot = (payload + CRC + HX_BLOCK_SLOT - 1) / HX_BLOCK_SLOT * HX_BLOCK_SLOT;

    if (n_skel > HX_BLOCK_MAX_SKEL || n_res > published->n_res || slot > HX_BLOCK_MAX_SLOT)
        return 0;
    *out = (struct hx_block_shape){
        .dh = published->dh,
        .pad = published->pad,
        .n_res = (uint16_t)n_res,
        .off_mag = (uint16_t)mag,
        .off_phase = (uint16_t)phase,
        .off_amax = (uint16_t)amax,
        .payload = (uint16_t)payload,
        .slot = (uint16_t)slot,
        .n_skel = (uint16_t)n_skel,
    };
    return 1;
}

/* Those that were made so far; entries do not change. */
static struct hx_block_shape configured[HX_BLOCK_CONFIGURED];
static size_t n_configured;
static pthread_mutex_t configured_lock = PTHREAD_MUTEX_INITIALIZER; /* of both */

static const struct hx_block_shape *find_or_add(const struct hx_block_shape *s)
{
    for (size_t i = 0; i < n_configured; i++)
        if (memcmp(&configured[i], s, sizeof(*s)) == 0)
            return &configured[i];
    if (n_configured == HX_BLOCK_CONFIGURED)
        return NULL;
    configured[n_configured] = *s;
    return &configured[n_configured++];
}

const struct hx_block_shape *hx_block_shape_of(size_t dh, size_t n_skel, size_t n_res)
{
    const struct hx_block_shape *published = hx_block_shape(dh), *found;
    struct hx_block_shape s;

    if (!published || ((!n_skel || n_skel == published->n_skel) && (!n_res || n_res == published->n_res)))
        return published;
    if (!make_shape(&s, published, n_skel ? n_skel : published->n_skel, n_res ? n_res : published->n_res))
        return NULL;
    pthread_mutex_lock(&configured_lock);
    found = find_or_add(&s);
    pthread_mutex_unlock(&configured_lock);
    return found;
}
