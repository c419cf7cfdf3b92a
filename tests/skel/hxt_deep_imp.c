#include <string.h>

#include "AEEStdErr.h"
#include "HAP_mmap.h"
#include "hexrig_uncosted.h"
#include "hxt_deep.h"

HX_UNCOSTED("what a test calls, not a kernel");

int hxt_deep_open(const char *uri, remote_handle64 *h)
{
    *h = strlen(uri);
    return AEE_SUCCESS;
}

int hxt_deep_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

int hxt_deep_turn(remote_handle64 h, const hxt_poem *p, hxt_poem *q)
{
    (void)h;
    if (q->linesLen != p->linesLen)
        return AEE_EBADPARM;
    for (int i = 0; i < p->linesLen; i++) {
        const hxt_line *from = &p->lines[p->linesLen - 1 - i];
        hxt_line *to = &q->lines[i];

        for (int c = 0; c < to->wordsLen; c++)
            to->words[c] = c < from->wordsLen ? from->words[c] : '\0';
        to->colour = (unsigned char)(from->colour + 1);
    }
    q->year = p->year + 1;
    return AEE_SUCCESS;
}

int hxt_deep_lengths(remote_handle64 h, const _cstring1_t *s, int sLen, int *n, int nLen)
{
    (void)h;
    for (int i = 0; i < nLen; i++)
        n[i] = i < sLen ? (int)strlen(s[i].data) : -1;
    return AEE_SUCCESS;
}

int hxt_deep_look(remote_handle64 handle, int h, uint32_t hOffset, uint32_t hLen, unsigned char *first, uint32_t *bytes)
{
    unsigned char *p;
    void *va;

    (void)handle;
    *bytes = hLen;
    if (hOffset >= hLen || HAP_mmap_get(h, &va, NULL))
        return AEE_EBADPARM;
    p = va;
    *first = p[hOffset];
    p[hOffset] = 255;
    return HAP_mmap_put(h);
}
