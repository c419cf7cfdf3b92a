/* The DSP side of the round trip: implements every.idl and plain.idl so that every argument's value decides a result. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "every.h"
#include "plain.h"

#define HANDLE 0x123456789abcdef0u

int every_open(const char *uri, remote_handle64 *h)
{
    if (strcmp(uri, every_URI "&_dom=cdsp"))
        return AEE_DSP(AEE_EBADITEM);
    *h = HANDLE;
    return AEE_SUCCESS;
}

int every_close(remote_handle64 h)
{
    return h == HANDLE ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE);
}

/* b = a; c ^= a; d = s over and over; e turned round. */
static int work(remote_handle64 h, size_t size, const void *a, void *b, unsigned char *c, size_t item,
                const char *s, int s_len, char *d, int d_len, char *e, int e_len)
{
    if (h != HANDLE)
        return AEE_DSP(AEE_EINVHANDLE);
    memcpy(b, a, size);
    for (size_t i = 0; i < size; i++)
        c[i] ^= ((const unsigned char *)a)[i];
    for (int i = 0; i < d_len && s_len > 0; i++)
        memcpy(d + (size_t)i * item, s + (size_t)(i % s_len) * item, item);
    for (int i = 0; i < e_len / 2; i++)
        for (size_t k = 0; k < item; k++) {
            char *p = e + (size_t)i * item + k, *q = e + (size_t)(e_len - 1 - i) * item + k, t = *p;

            *p = *q;
            *q = t;
        }
    return AEE_SUCCESS;
}

#define SCALAR(name, T)                                                                            \
    int every_t_##name(remote_handle64 h, T a, T *b, T *c, const T *s, int sLen, T *d, int dLen,   \
                       T *e, int eLen)                                                             \
    {                                                                                              \
        return work(h, sizeof(a), &a, b, (unsigned char *)c, sizeof(*s), (const char *)s, sLen,    \
                    (char *)d, dLen, (char *)e, eLen);                                             \
    }
#define STRUCT(name, T)                                                                            \
    int every_t_##name(remote_handle64 h, const T *a, T *b, T *c, const T *s, int sLen, T *d,      \
                       int dLen, T *e, int eLen)                                                   \
    {                                                                                              \
        return work(h, sizeof(*a), a, b, (unsigned char *)c, sizeof(*s), (const char *)s, sLen,    \
                    (char *)d, dLen, (char *)e, eLen);                                             \
    }

SCALAR(octet, unsigned char)
SCALAR(char, char)
SCALAR(short, short)
SCALAR(ushort, unsigned short)
SCALAR(long, int)
SCALAR(ulong, unsigned int)
SCALAR(llong, int64_t)
SCALAR(ullong, uint64_t)
SCALAR(float, float)
SCALAR(double, double)
SCALAR(boolean, bool)
SCALAR(int8, int8_t)
SCALAR(uint8, uint8_t)
SCALAR(int16, int16_t)
SCALAR(uint16, uint16_t)
SCALAR(int32, int32_t)
SCALAR(uint32, uint32_t)
SCALAR(int64, int64_t)
SCALAR(uint64, uint64_t)
SCALAR(color, every_color)
SCALAR(common, common_id)
STRUCT(point, point)
STRUCT(mixed, every_mixed)

int every_t_table(remote_handle64 h, const every_table a, every_table b, every_table c,
                  const every_row *s, int sLen, every_row *d, int dLen, every_row *e, int eLen)
{
    return work(h, sizeof(every_table), a, b, (unsigned char *)c, sizeof(*s), (const char *)s, sLen,
                (char *)d, dLen, (char *)e, eLen);
}

int every_t_string(remote_handle64 h, const char *a, char *b, int bLen, char *c, int cLen)
{
    size_t n = strlen(c);

    (void)h;
    if (n >= (size_t)cLen)
        return AEE_DSP(AEE_EBADPARM);
    for (int i = 0; i < bLen; i++)
        b[i] = i < (int)strlen(a) ? a[i] : '\0'; /* without a NUL when a is too long */
    for (size_t i = 0; i < n / 2; i++) {
        char t = c[i];

        c[i] = c[n - 1 - i];
        c[n - 1 - i] = t;
    }
    return AEE_SUCCESS;
}

static int n_nothing;

int every_nothing(remote_handle64 h)
{
    n_nothing++;
    return h == HANDLE ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE);
}

int every_only_in(remote_handle64 h, unsigned char a, int64_t b, unsigned char c)
{
    (void)h;
    return a == 1 && b == INT64_MIN && c == 3 ? AEE_SUCCESS : AEE_DSP(AEE_EBADITEM);
}

int every_only_rout(remote_handle64 h, unsigned char *a, int64_t *b, unsigned char *c)
{
    (void)h;
    *a = 1;
    *b = INT64_MIN;
    *c = 3;
    return AEE_SUCCESS;
}

int every_only_buffers(remote_handle64 h, const int *a, int aLen, char *b, int bLen)
{
    (void)h;
    for (int i = 0; i < bLen; i++)
        b[i] = i < aLen ? (char)a[i] : '\0';
    return AEE_SUCCESS;
}

int every_fails(remote_handle64 h, int code, int *result)
{
    (void)h;
    *result = 5;
    return code;
}

int every_late_nothing(remote_handle64 h)
{
    (void)h;
    return n_nothing == 1 ? AEE_SUCCESS : AEE_DSP(AEE_EBADSTATE);
}

int every_late_rout(remote_handle64 h, double *a)
{
    (void)h;
    *a = 0.1;
    return AEE_SUCCESS;
}

int every_late_all(remote_handle64 h, unsigned char a, unsigned char *b, point *c, const double *s,
                   int sLen, char *d, int dLen)
{
    double t = c->x;

    (void)h;
    *b = a;
    c->x = c->y;
    c->y = sLen ? t + s[sLen - 1] : t;
    for (int i = 0; i < dLen; i++)
        d[i] = 'x';
    return AEE_SUCCESS;
}

int plain_sum(const int *vec, int vecLen, int64_t *res)
{
    *res = 0;
    for (int i = 0; i < vecLen; i++)
        *res += vec[i];
    return AEE_SUCCESS;
}

int plain_ping(void)
{
    return AEE_SUCCESS;
}
