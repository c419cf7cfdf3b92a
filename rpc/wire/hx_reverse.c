/* Packing and unpacking of the arguments of calls to the host. */
#include "hx_reverse.h"

#include <errno.h>
#include <string.h>

static size_t align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static uint32_t n_in(uint32_t sc)
{
    return REMOTE_SCALARS_INBUFS(sc);
}

static uint32_t n_bufs(uint32_t sc)
{
    return REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);
}

static size_t put_length(uint8_t *to, size_t at, size_t length)
{
    const uint32_t n = (uint32_t)length;

    if (to)
        memcpy(to + at, &n, sizeof(n));
    return at + sizeof(n);
}

/* -EPROTO: it does not lie in the block. */
static int get_length(const uint8_t *from, size_t bytes, size_t *at, size_t *length)
{
    uint32_t n;

    if (*at > bytes || bytes - *at < sizeof(n))
        return -EPROTO;
    memcpy(&n, from + *at, sizeof(n));
    *at += sizeof(n);
    *length = n;
    return 0;
}

/* The same with the bytes behind it: *where they begin. */
static int get_buffer(const uint8_t *from, size_t bytes, size_t *at, size_t *length, size_t *where)
{
    if (get_length(from, bytes, at, length))
        return -EPROTO;
    *where = *length ? align8(*at) : *at;
    if (*where > bytes || *length > bytes - *where)
        return -EPROTO;
    *at = *where + *length;
    return 0;
}

size_t hx_reverse_pack(uint8_t *to, uint32_t sc, const remote_arg *pra)
{
    size_t at = 0;

    for (uint32_t i = 0; i < n_bufs(sc); i++) {
        const size_t length = pra[i].buf.nLen;

        at = put_length(to, at, length);
        if (i >= n_in(sc) || !length)
            continue;
        if (to)
            memset(to + at, 0, align8(at) - at);
        at = align8(at);
        if (to)
            memcpy(to + at, pra[i].buf.pv, length);
        at += length;
    }
    return at;
}

int hx_reverse_unpack(uint8_t *from, size_t bytes, uint32_t sc, remote_arg *pra, size_t *answer)
{
    size_t at = 0, where = 0;

    *answer = 0;
    for (uint32_t i = 0; i < n_bufs(sc); i++) {
        size_t length;

        if (i < n_in(sc) ? get_buffer(from, bytes, &at, &length, &where) : get_length(from, bytes, &at, &length))
            return -EPROTO;
        pra[i].buf = (remote_buf){i < n_in(sc) && length ? from + where : NULL, length};
        if (i >= n_in(sc))
            *answer = (length ? align8(*answer + sizeof(uint32_t)) : *answer + sizeof(uint32_t)) + length;
    }
    return 0;
}

void hx_reverse_place(uint8_t *to, uint32_t sc, remote_arg *pra)
{
    size_t at = 0;

    for (uint32_t i = n_in(sc); i < n_bufs(sc); i++) {
        at = put_length(to, at, pra[i].buf.nLen);
        if (!pra[i].buf.nLen)
            continue;
        at = align8(at);
        pra[i].buf.pv = to + at;
        at += pra[i].buf.nLen;
    }
}

int hx_reverse_take(const uint8_t *from, size_t bytes, uint32_t sc, const remote_arg *pra)
{
    size_t at = 0, length, where;

    for (uint32_t i = n_in(sc); i < n_bufs(sc); i++) {
        if (get_buffer(from, bytes, &at, &length, &where) || length != pra[i].buf.nLen)
            return -EPROTO;
        if (length)
            memcpy(pra[i].buf.pv, from + where, length);
    }
    return 0;
}
