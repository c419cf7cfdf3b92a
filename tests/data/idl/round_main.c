/* The host side of the round trip: calls every method of every.idl and plain.idl with random data.  Usage: round SKEL.so
 *
 * The "device" is here: it copies buffers to exact-size blocks, as the driver does, so that a sanitizer sees any byte
 * too many; and before each call it sends broken ones, which the skel must refuse. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "every.h"
#include "plain.h"

static int (*every_skel)(remote_handle64 h, uint32_t sc, remote_arg *pra);
static int (*plain_skel)(uint32_t sc, remote_arg *pra);
static unsigned long n_calls, n_broken;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* --- the device */

static int to_skel(remote_handle64 h, uint32_t sc, remote_arg *pra, int is_plain)
{
    return is_plain ? plain_skel(sc, pra) : every_skel(h, sc, pra);
}

static void expect_refused(remote_handle64 h, uint32_t sc, remote_arg *pra, int is_plain)
{
    n_broken++;
    CHECK(to_skel(h, sc, pra, is_plain) == AEE_DSP(AEE_EBADPARM));
}

static void send_broken(remote_handle64 h, uint32_t sc, remote_arg *pra, int is_plain)
{
    unsigned n = REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);

    for (unsigned i = 0; i < n; i++) {
        remote_buf was = pra[i].buf;

        if (was.nLen == 0)
            continue;
        pra[i].buf.nLen--;
        expect_refused(h, sc, pra, is_plain);
        pra[i].buf.nLen = 0;
        expect_refused(h, sc, pra, is_plain);
        pra[i].buf = (remote_buf){NULL, was.nLen};
        expect_refused(h, sc, pra, is_plain);
        pra[i].buf = was;
    }
    if (REMOTE_SCALARS_METHOD(sc) != 31)
        expect_refused(h, sc ^ 0x00000200, pra, is_plain);
    expect_refused(h, sc ^ 0x00000010, pra, is_plain);
}

/* Copies in, calls, copies out; also on error, as the driver does. */
static int device(remote_handle64 h, uint32_t sc, remote_arg *pra, int is_plain)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n = n_in + REMOTE_SCALARS_OUTBUFS(sc);
    unsigned all = REMOTE_SCALARS_LENGTH(sc);
    remote_arg *copy = calloc(all + 1, sizeof(*copy));

    for (unsigned i = 0; i < all; i++) {
        copy[i] = pra[i];
        if (i >= n)
            continue;
        copy[i].buf.pv = pra[i].buf.nLen ? malloc(pra[i].buf.nLen) : NULL;
        if (pra[i].buf.nLen)
            i < n_in ? memcpy(copy[i].buf.pv, pra[i].buf.pv, pra[i].buf.nLen)
                     : memset(copy[i].buf.pv, 0xA5, pra[i].buf.nLen);
    }
    send_broken(h, sc, copy, is_plain);
    int rc = to_skel(h, sc, copy, is_plain);
    n_calls++;
    for (unsigned i = 0; i < all; i++) {
        if (i >= n) {
            pra[i] = copy[i];
            continue;
        }
        if (i >= n_in && pra[i].buf.nLen)
            memcpy(pra[i].buf.pv, copy[i].buf.pv, pra[i].buf.nLen);
        free(copy[i].buf.pv);
    }
    free(copy);
    return rc;
}

int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    return device(h, sc, pra, 0);
}

int remote_handle64_open(const char *uri, remote_handle64 *h)
{
    uint32_t bytes = (uint32_t)strlen(uri) + 1;
    remote_arg pra[3] = {{.buf = {&bytes, sizeof(bytes)}}, {.buf = {(void *)(uintptr_t)uri, bytes}},
                         {.h64 = 0}};
    int rc = device(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), pra, 0);

    *h = pra[2].h64;
    return rc;
}

int remote_handle64_close(remote_handle64 h)
{
    remote_arg pra[1] = {{.h64 = h}};

    return device(0, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), pra, 0);
}

int remote_handle_open(const char *uri, remote_handle *h)
{
    CHECK(strcmp(uri, "plain") == 0);
    *h = 77;
    return AEE_SUCCESS;
}

int remote_handle_invoke(remote_handle h, uint32_t sc, remote_arg *pra)
{
    CHECK(h == 77);
    return device(0, sc, pra, 1);
}

/* --- random data */

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void fill_any(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)p)[i] = (unsigned char)rnd();
}

static void fill_bool(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((bool *)p)[i] = rnd() & 1;
}

static void fill_color(void *p, size_t n)
{
    for (size_t i = 0; i < n / sizeof(every_color); i++)
        ((every_color *)p)[i] = (every_color)(rnd() % 3);
}

static void fill_mixed(void *p, size_t n)
{
    for (every_mixed *m = p; (char *)m < (char *)p + n; m++) {
        memset(m, 0, sizeof(*m)); /* the padding too: it is compared */
        m->tag = (unsigned char)rnd();
        fill_any(m->at, sizeof(m->at));
        fill_any(m->grid, sizeof(m->grid));
        m->p = (every_color)(rnd() % 3);
        m->on = rnd() & 1;
        m->last = (int64_t)rnd();
    }
}

enum { MAX = 20 };

/* What round_imp.c promises of (a, b, c, s, d, e). */
static void check_work(size_t size, const void *a, const void *b, const void *c, const void *c_was,
                       size_t item, const char *s, int s_len, const char *d, int d_len,
                       const char *e, const char *e_was, int e_len)
{
    CHECK(memcmp(b, a, size) == 0);
    for (size_t i = 0; i < size; i++)
        CHECK(((const unsigned char *)c)[i] ==
              (((const unsigned char *)c_was)[i] ^ ((const unsigned char *)a)[i]));
    for (int i = 0; i < d_len && s_len > 0; i++)
        CHECK(memcmp(d + (size_t)i * item, s + (size_t)(i % s_len) * item, item) == 0);
    for (int i = 0; i < e_len; i++)
        CHECK(memcmp(e + (size_t)i * item, e_was + (size_t)(e_len - 1 - i) * item, item) == 0);
}

/* A and ARG: the value's type and how it is passed; I: the elements' type. */
#define ROUND(name, A, ARG, OUT, I, fill)                                                          \
    do {                                                                                           \
        A a, b, c, c_was;                                                                          \
        I s[MAX], d[MAX], e[MAX], e_was[MAX];                                                      \
        int sLen = (int)(rnd() % MAX), dLen = (int)(rnd() % MAX), eLen = (int)(rnd() % MAX);       \
                                                                                                   \
        fill(&a, sizeof(a));                                                                       \
        fill(&c, sizeof(c));                                                                       \
        fill(s, sizeof(s));                                                                        \
        fill(e, sizeof(e));                                                                        \
        memcpy(&c_was, &c, sizeof(c));                                                             \
        memcpy(e_was, e, sizeof(e));                                                               \
        CHECK(every_t_##name(h, ARG a, OUT b, OUT c, sLen ? s : NULL, sLen, dLen ? d : NULL, dLen, \
                             eLen ? e : NULL, eLen) == AEE_SUCCESS);                               \
        check_work(sizeof(a), &a, &b, &c, &c_was, sizeof(I), (char *)s, sLen, (char *)d, dLen,     \
                   (char *)e, (char *)e_was, eLen);                                                \
    } while (0)
#define SCALAR(name, T, fill) ROUND(name, T, , &, T, fill)
#define STRUCT(name, T, fill) ROUND(name, T, &, &, T, fill)

static void call_types(remote_handle64 h)
{
    SCALAR(octet, unsigned char, fill_any);
    SCALAR(char, char, fill_any);
    SCALAR(short, short, fill_any);
    SCALAR(ushort, unsigned short, fill_any);
    SCALAR(long, int, fill_any);
    SCALAR(ulong, unsigned int, fill_any);
    SCALAR(llong, int64, fill_any);
    SCALAR(ullong, uint64, fill_any);
    SCALAR(float, float, fill_any);
    SCALAR(double, double, fill_any);
    SCALAR(boolean, bool, fill_bool);
    SCALAR(int8, int8_t, fill_any);
    SCALAR(uint8, uint8_t, fill_any);
    SCALAR(int16, int16_t, fill_any);
    SCALAR(uint16, uint16_t, fill_any);
    SCALAR(int32, int32_t, fill_any);
    SCALAR(uint32, uint32_t, fill_any);
    SCALAR(int64, int64_t, fill_any);
    SCALAR(uint64, uint64_t, fill_any);
    SCALAR(color, every_color, fill_color);
    SCALAR(common, common_id, fill_any);
    STRUCT(point, point, fill_any);
    STRUCT(mixed, every_mixed, fill_mixed);
    ROUND(table, every_table, , , every_row, fill_any);
}

static void call_strings(remote_handle64 h)
{
    char a[MAX + 1] = "", b[MAX] = "", c[MAX + 1] = "";
    int n = (int)(rnd() % MAX), m = (int)(rnd() % MAX), b_len = (int)(rnd() % MAX);

    for (int i = 0; i < n; i++)
        a[i] = (char)('a' + rnd() % 26);
    for (int i = 0; i < m; i++)
        c[i] = (char)('a' + i);
    CHECK(every_t_string(h, a, b_len ? b : NULL, b_len, c, m + 1) == AEE_SUCCESS);
    if (b_len)
        CHECK(strlen(b) == (size_t)(n < b_len ? n : b_len - 1) && strncmp(a, b, strlen(b)) == 0);
    CHECK(strlen(c) == (size_t)m);
    for (int i = 0; i < m; i++)
        CHECK(c[i] == 'a' + m - 1 - i);
}

/* What a stub refuses by itself. */
static void call_wrongly(remote_handle64 h)
{
    unsigned long before = n_calls;
    char unterminated[2] = {'x', 'y'};
    double d;

    CHECK(every_t_string(h, NULL, NULL, 0, unterminated, 2) == AEE_EBADPARM);
    CHECK(every_t_string(h, "", NULL, 0, unterminated, 2) == AEE_EBADPARM);
    CHECK(every_t_string(h, "", NULL, -1, unterminated, 2) == AEE_EBADPARM);
    CHECK(every_only_buffers(h, NULL, -1, NULL, 0) == AEE_EBADPARM);
    CHECK(every_late_rout(h, NULL) == AEE_EBADPARM);
    CHECK(n_calls == before);
    CHECK(every_late_rout(h, &d) == AEE_SUCCESS && d == 0.1);
    CHECK(every_skel(h, REMOTE_SCALARS_MAKE(30, 0, 0), NULL) == AEE_DSP(AEE_EBADPARM));
    /* numbers behind the last method, and small ones in the wrong place */
    for (uint32_t id = 0; id < 100; id++) {
        uint32_t in[8] = {id};
        remote_arg pra[1] = {{.buf = {in, sizeof(in)}}};

        if (id < 31 || id >= every_N_METHODS)
            CHECK(every_skel(h, REMOTE_SCALARS_MAKE(31, 1, 0), pra) == AEE_DSP(AEE_EUNSUPPORTED));
        if (id >= 2 && id < 32)
            CHECK(plain_skel(REMOTE_SCALARS_MAKE(id, 1, 0), pra) == AEE_DSP(AEE_EUNSUPPORTED));
    }
}

static void call_rest(remote_handle64 h)
{
    unsigned char a, c, b;
    int64 v;
    int result = 9, numbers[3] = {'o', 'n', 'e'};
    char text[4];
    point p = {1, 2};
    double s[2] = {10, 20};

    CHECK(every_nothing(h) == AEE_SUCCESS);
    CHECK(every_late_nothing(h) == AEE_SUCCESS);
    CHECK(every_only_in(h, 1, INT64_MIN, 3) == AEE_SUCCESS);
    CHECK(every_only_rout(h, &a, &v, &c) == AEE_SUCCESS && a == 1 && v == INT64_MIN && c == 3);
    CHECK(every_only_buffers(h, numbers, 3, text, 4) == AEE_SUCCESS && strcmp(text, "one") == 0);
    CHECK(every_fails(h, -7, &result) == -7 && result == 9);
    CHECK(every_fails(h, 0, &result) == 0 && result == 5);
    CHECK(every_late_all(h, 200, &b, &p, s, 2, text, 4) == AEE_SUCCESS);
    CHECK(b == 200 && p.x == 2 && p.y == 21 && strcmp(text, "xxx") == 0);
}

static void call_plain(void)
{
    int vec[5] = {1, 2, 3, 4, -20};
    int64 res = 0;

    CHECK(plain_sum(vec, 5, &res) == AEE_SUCCESS && res == -10);
    CHECK(plain_sum(NULL, 0, &res) == AEE_SUCCESS && res == 0);
    CHECK(plain_ping() == AEE_SUCCESS);
}

int main(int argc, char **argv)
{
    void *skel = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    remote_handle64 h;

    CHECK(skel);
    *(void **)&every_skel = dlsym(skel, "every_skel_handle_invoke");
    *(void **)&plain_skel = dlsym(skel, "plain_skel_invoke");
    CHECK(every_skel && plain_skel);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 12345;
    CHECK(every_open("file:///nobody", &h) == AEE_DSP(AEE_EBADITEM));
    CHECK(every_open(every_URI "&_dom=cdsp", &h) == AEE_SUCCESS);
    for (int i = 0; i < 50; i++) {
        call_types(h);
        call_strings(h);
    }
    call_rest(h);
    call_wrongly(h);
    call_plain();
    CHECK(every_close(h) == AEE_SUCCESS);
    CHECK(every_close(h + 1) == AEE_DSP(AEE_EINVHANDLE));
    dlclose(skel);
    printf("calls=%lu refused=%lu\n", n_calls, n_broken);
    return 0;
}
