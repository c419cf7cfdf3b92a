/* The DSP side of deep.idl: every value that comes in decides what goes back. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "deep.h"

#define HANDLE 77u

int deep_open(const char *uri, remote_handle64 *h)
{
    *h = HANDLE;
    return strstr(uri, "_skel_handle_invoke") ? AEE_SUCCESS : AEE_DSP(AEE_EBADITEM);
}

int deep_close(remote_handle64 h)
{
    return h == HANDLE ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE);
}

int adsp_mmap_fd_getinfo(int fd, uint32_t *bytes)
{
    *bytes = (uint32_t)fd * 1000;
    return fd < 0;
}

int deep_first(remote_handle64 h, int a, int *b)
{
    *b = a + 1;
    return h == HANDLE ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void copy_blob(blob *to, const blob *from)
{
    for (int i = 0; i < to->dataLen; i++)
        to->data[i] = i < from->dataLen ? from->data[i] : 0x5a;
}

static void copy_text(char *to, int to_len, const char *from, int from_len)
{
    if (to_len)
        memcpy(to, from, (size_t)smaller(to_len, from_len));
}

static void copy_wide(_wchar_t *to, int to_len, const _wchar_t *from)
{
    for (int i = 0; i < to_len; i++) {
        to[i] = *from;
        from += *from != 0;
    }
}

static void copy_note(note *to, const note *from)
{
    copy_text(to->words, to->wordsLen, from->words, from->wordsLen);
    to->mark = (unsigned char)(from->mark + 1);
}

/* The lengths of what comes back are the caller's: as much is copied as there is room for. */
static void copy_page(page *to, const page *from)
{
    to->number = (unsigned char)(from->number ^ 0xff);
    copy_note(&to->head, &from->head);
    for (int i = 0; i < smaller(to->notesLen, from->notesLen); i++)
        copy_note(&to->notes[i], &from->notes[i]);
    to->pair = from->pair;
    for (int i = 0; i < smaller(to->pairsLen, from->pairsLen); i++)
        to->pairs[i] = from->pairs[i];
    to->last = from->last;
    to->temper = from->temper;
    memcpy(to->grid, from->grid, sizeof(to->grid));
    copy_wide(to->wide, to->wideLen, from->wide);
    to->initial = (_wchar_t)(from->initial + 1);
    for (int i = 0; i < smaller(to->restLen, from->restLen); i++)
        copy_blob(&to->rest[i], &from->rest[i]);
}

int deep_one(remote_handle64 h, unsigned char before, const page *p, unsigned char after, unsigned char *a, page *q,
             unsigned char *b)
{
    copy_page(q, p);
    *a = before;
    *b = after;
    return h == HANDLE ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE);
}

int deep_many(remote_handle64 h, unsigned char x, const page *b, int bLen, page *c, int cLen, const unsigned char *tail,
              int tailLen, int64_t *last)
{
    (void)h;
    *last = x;
    for (int i = 0; i < tailLen; i++)
        *last = *last * 3 + tail[i];
    for (int i = 0; i < cLen && bLen > 0; i++)
        copy_page(&c[i], &b[i % bLen]);
    return AEE_SUCCESS;
}

int deep_lists(remote_handle64 h, const _cstring1_t *s, int sLen, _cstring1_t *t, int tLen, const blob *b, int bLen,
               blob *c, int cLen, const _wstring1_t *w, int wLen, _wstring1_t *v, int vLen)
{
    (void)h;
    for (int i = 0; i < smaller(sLen, tLen); i++)
        copy_text(t[i].data, t[i].dataLen, s[i].data, s[i].dataLen);
    for (int i = 0; i < smaller(bLen, cLen); i++)
        copy_blob(&c[i], &b[i]);
    for (int i = 0; i < smaller(wLen, vLen); i++)
        copy_wide(v[i].data, v[i].dataLen, w[i].data);
    return AEE_SUCCESS;
}

int deep_both(remote_handle64 h, const note *n, char *s, int sLen, int *l, int lLen, plain_pair *f, _wchar_t *w, int wLen,
              bool *on, int *k)
{
    (void)h;
    (void)sLen;
    (void)wLen;
    s[0] = n->words[0];
    for (int i = 0; i < lLen; i++)
        l[i] += n->mark;
    f->a += f->b;
    w[0]++;
    *on = !*on;
    ++*k;
    return AEE_SUCCESS;
}

int deep_memory(remote_handle64 h, int x, int in, uint32_t inOffset, uint32_t inLen, int g, uint32_t gOffset, uint32_t gLen,
                int *y)
{
    (void)h;
    *y = x + in + (int)inOffset + (int)inLen + 7 * (g + (int)gOffset + (int)gLen);
    return AEE_SUCCESS;
}

int deep_more_memory(remote_handle64 h, const shared *s, const shared *t, int tLen, small_shared *u, int uLen, shared *v)
{
    (void)h;
    v->after = s->after + s->memory.fd + (int)s->memory.offset + (int)v->memory.len;
    for (int i = 0; i < tLen; i++)
        v->after += t[i].memory.fd + (int)t[i].memory.len + 2 * t[i].after;
    for (int i = 0; i < uLen; i++) {
        u[i].tag = (unsigned char)(i + 1);
        v->after += u[i].memory.fd * 100 + (int)u[i].memory.offset;
    }
    return AEE_SUCCESS;
}

int deep_wide(remote_handle64 h, const _wchar_t *w, _wchar_t *v, int vLen)
{
    (void)h;
    copy_wide(v, vLen, w);
    return AEE_SUCCESS;
}

int deep_fails(remote_handle64 h, const note *n, note *m)
{
    (void)h;
    copy_note(m, n);
    return 5;
}

#define FILLER(n) int deep_f##n(remote_handle64 h) { return h == HANDLE ? n : -1; }
FILLER(11) FILLER(12) FILLER(13) FILLER(14) FILLER(15) FILLER(16) FILLER(17) FILLER(18) FILLER(19) FILLER(20)
FILLER(21) FILLER(22) FILLER(23) FILLER(24) FILLER(25) FILLER(26) FILLER(27) FILLER(28) FILLER(29) FILLER(30)

int deep_late(remote_handle64 h, unsigned char a, const note *n, note *m, unsigned char *b)
{
    (void)h;
    copy_note(m, n);
    *b = a;
    return AEE_SUCCESS;
}
