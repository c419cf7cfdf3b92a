/* The host side of the round trip of deep.idl, with random shapes.  Usage: deep SKEL.so [SEED]
 *
 * The "device" is here: it copies every buffer to a block of its exact size, and before each call sends broken ones,
 * which the skel must refuse. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "deep.h"

static int (*deep_skel)(remote_handle64 h, uint32_t sc, remote_arg *pra);
static unsigned long n_calls, n_broken;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* --- the device */

int remote_register_dma_handle(int fd, uint32_t len)
{
    return fd < 0 || len != (uint32_t)fd * 1000;
}

/* Each buffer shorter, each length in a record too large, one buffer less: refused, and nothing is read or written
 * behind an end (ASan).  A changed byte in a record may still make a good call. */
static void send_broken(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n = n_in + REMOTE_SCALARS_OUTBUFS(sc);

    for (unsigned i = 0; i < n; i++) {
        remote_buf was = pra[i].buf;

        if (was.nLen == 0)
            continue;
        pra[i].buf.nLen--;
        CHECK(deep_skel(h, sc, pra) == AEE_DSP(AEE_EBADPARM));
        pra[i].buf = (remote_buf){NULL, was.nLen};
        CHECK(deep_skel(h, sc, pra) == AEE_DSP(AEE_EBADPARM));
        pra[i].buf = was;
        for (size_t at = 0; i < n_in && at + 4 <= was.nLen && at < 64; at += 4) {
            static const uint32_t wild[] = {0, 1, 255, 256, 0x7fffffff, 0xffffffff};
            uint32_t word;

            memcpy(&word, (char *)was.pv + at, 4);
            for (size_t k = 0; k < sizeof(wild) / sizeof(wild[0]); k++) {
                memcpy((char *)was.pv + at, &wild[k], 4);
                deep_skel(h, sc, pra);
            }
            memcpy((char *)was.pv + at, &word, 4);
            n_broken++;
        }
    }
    if (n_in > 1)
        CHECK(deep_skel(h, sc - 0x10000, pra) == AEE_DSP(AEE_EBADPARM));
    CHECK(deep_skel(h, sc + 0x100, pra) == AEE_DSP(AEE_EBADPARM));
    CHECK(deep_skel(h, sc, NULL) == AEE_DSP(AEE_EBADPARM));
}

static remote_arg *copy_args(const remote_arg *pra, uint32_t sc)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n = n_in + REMOTE_SCALARS_OUTBUFS(sc);
    remote_arg *copy = calloc(REMOTE_SCALARS_LENGTH(sc) + 2, sizeof(*copy));

    for (unsigned i = 0; i < REMOTE_SCALARS_LENGTH(sc); i++) {
        copy[i] = pra[i];
        if (i >= n)
            continue;
        copy[i].buf.pv = pra[i].buf.nLen ? malloc(pra[i].buf.nLen) : NULL;
        if (pra[i].buf.nLen && i < n_in)
            memcpy(copy[i].buf.pv, pra[i].buf.pv, pra[i].buf.nLen);
        else if (pra[i].buf.nLen)
            memset(copy[i].buf.pv, 0xA5, pra[i].buf.nLen);
    }
    return copy;
}

static int one_call(remote_handle64 h, uint32_t sc, remote_arg *pra, bool broken)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n = n_in + REMOTE_SCALARS_OUTBUFS(sc);
    remote_arg *copy = copy_args(pra, sc);
    int rc = 0;

    if (broken)
        send_broken(h, sc, copy);
    else
        rc = deep_skel(h, sc, copy);
    for (unsigned i = 0; i < n; i++) {
        if (!broken && i >= n_in && pra[i].buf.nLen)
            memcpy(pra[i].buf.pv, copy[i].buf.pv, pra[i].buf.nLen);
        free(copy[i].buf.pv);
    }
    free(copy);
    return rc;
}

static bool with_broken = true;

int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    if (with_broken && REMOTE_SCALARS_INBUFS(sc))
        one_call(h, sc, pra, true);
    n_calls++;
    return one_call(h, sc, pra, false);
}

int remote_handle64_open(const char *uri, remote_handle64 *h)
{
    uint32_t bytes = (uint32_t)strlen(uri) + 1;
    remote_arg pra[3] = {{.buf = {&bytes, sizeof(bytes)}}, {.buf = {(void *)(uintptr_t)uri, bytes}},
                         {.h64 = 0}};
    int rc = deep_skel(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), pra);

    *h = pra[2].h64;
    return rc;
}

int remote_handle64_close(remote_handle64 h)
{
    remote_arg pra[1] = {{.h64 = h}};

    return deep_skel(0, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), pra);
}

/* --- random values.  Everything is in blocks of exact sizes, which leak until a round ends. */

static void *blocks[20000];
static int n_blocks;

static void *block(size_t bytes)
{
    void *p = bytes ? malloc(bytes) : NULL;

    if (!p)
        return NULL;
    CHECK(n_blocks < 20000);
    blocks[n_blocks++] = p;
    memset(p, 0x5a, bytes);
    return p;
}

static void free_blocks(void)
{
    while (n_blocks)
        free(blocks[--n_blocks]);
}

static uint64_t state;

static int rnd(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

static char *text(int *len)
{
    int n = rnd(6);
    char *s = block((size_t)n + 1);

    for (int i = 0; i < n; i++)
        s[i] = (char)('a' + rnd(26));
    s[n] = 0;
    *len = n + 1;
    return s;
}

static _wchar_t *wide(int *len)
{
    int n = rnd(6);
    _wchar_t *s = block(((size_t)n + 1) * sizeof(*s));

    for (int i = 0; i < n; i++)
        s[i] = (_wchar_t)(1 + rnd(65535));
    s[n] = 0;
    *len = n + 1;
    return s;
}

static void fill_blob(blob *b)
{
    b->dataLen = rnd(5);
    b->data = block((size_t)b->dataLen);
    for (int i = 0; i < b->dataLen; i++)
        b->data[i] = (unsigned char)rnd(256);
}

static void fill_note(note *n)
{
    n->words = text(&n->wordsLen);
    n->mark = (unsigned char)rnd(256);
}

static void fill_page(page *p)
{
    memset(p, 0, sizeof(*p));
    p->number = (unsigned char)rnd(256);
    fill_note(&p->head);
    p->notesLen = rnd(4);
    p->notes = block((size_t)p->notesLen * sizeof(note));
    for (int i = 0; i < p->notesLen; i++)
        fill_note(&p->notes[i]);
    p->pair = (plain_pair){(int64_t)state, (unsigned char)rnd(256)};
    p->pairsLen = rnd(4);
    p->pairs = block((size_t)p->pairsLen * sizeof(plain_pair));
    for (int i = 0; i < p->pairsLen; i++)
        p->pairs[i] = (plain_pair){rnd(1000), (unsigned char)i};
    p->last = rnd(2);
    p->temper = (mood)rnd(2);
    for (int i = 0; i < 6; i++)
        p->grid[i] = (short)rnd(1000);
    p->wide = wide(&p->wideLen);
    p->initial = (_wchar_t)rnd(60000);
    p->restLen = rnd(3);
    p->rest = block((size_t)p->restLen * sizeof(blob));
    for (int i = 0; i < p->restLen; i++)
        fill_blob(&p->rest[i]);
}

/* Room for what comes back, by other random lengths. */
static void room_page(page *p)
{
    fill_page(p);
    p->head.mark = p->number = 0x5a;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* --- what deep_imp.c promises */

static void check_text(const char *got, int room, const char *sent)
{
    int n = (int)strlen(sent);

    if (room)
        CHECK(memcmp(got, sent, (size_t)least(n, room - 1)) == 0 && got[room - 1] == 0);
}

static void check_wide(const _wchar_t *got, int room, const _wchar_t *sent)
{
    for (int i = 0; i < room - 1; i++, sent += *sent != 0)
        CHECK(got[i] == *sent);
    CHECK(room == 0 || got[room - 1] == 0);
}

static void check_note(const note *got, const note *sent)
{
    check_text(got->words, got->wordsLen, sent->words);
    CHECK(got->mark == (unsigned char)(sent->mark + 1));
}

static void check_blob(const blob *got, const blob *sent)
{
    int n = least(got->dataLen, sent->dataLen);

    CHECK(n == 0 || memcmp(got->data, sent->data, (size_t)n) == 0);
    for (int i = n; i < got->dataLen; i++)
        CHECK(got->data[i] == 0x5a);
}

static void check_page(const page *got, const page *sent)
{
    CHECK(got->number + sent->number == 0xff);
    check_note(&got->head, &sent->head);
    for (int i = 0; i < least(got->notesLen, sent->notesLen); i++)
        check_note(&got->notes[i], &sent->notes[i]);
    CHECK(got->pair.a == sent->pair.a && got->pair.b == sent->pair.b);
    for (int i = 0; i < least(got->pairsLen, sent->pairsLen); i++)
        CHECK(got->pairs[i].a == sent->pairs[i].a && got->pairs[i].b == sent->pairs[i].b);
    CHECK(got->last == sent->last && got->temper == sent->temper);
    CHECK(memcmp(got->grid, sent->grid, sizeof(got->grid)) == 0);
    check_wide(got->wide, got->wideLen, sent->wide);
    CHECK(got->initial == (_wchar_t)(sent->initial + 1));
    for (int i = 0; i < least(got->restLen, sent->restLen); i++)
        check_blob(&got->rest[i], &sent->rest[i]);
}

/* --- calls */

static void call_pages(remote_handle64 h)
{
    page p, q, *b, *c;
    unsigned char a1, b1, tail[5] = {1, 2, 3, 4, 5};
    int n = rnd(4), m = rnd(4), n_tail = rnd(6);
    int64 last, want = 9;

    fill_page(&p);
    room_page(&q);
    CHECK(deep_one(h, 7, &p, 8, &a1, &q, &b1) == AEE_SUCCESS && a1 == 7 && b1 == 8);
    check_page(&q, &p);
    b = block((size_t)n * sizeof(*b));
    c = block((size_t)m * sizeof(*c));
    for (int i = 0; i < n; i++)
        fill_page(&b[i]);
    for (int i = 0; i < m; i++)
        room_page(&c[i]);
    CHECK(deep_many(h, 9, b, n, c, m, tail, n_tail, &last) == AEE_SUCCESS);
    for (int i = 0; i < n_tail; i++)
        want = want * 3 + tail[i];
    CHECK(last == want);
    for (int i = 0; i < m && n > 0; i++)
        check_page(&c[i], &b[i % n]);
}

enum { MANY = 6 };

static void call_lists(remote_handle64 h)
{
    _cstring1_t s[MANY], t[MANY];
    _wstring1_t w[MANY], v[MANY];
    blob b[MANY], c[MANY];
    int n = rnd(MANY), m = rnd(MANY);

    for (int i = 0; i < MANY; i++) {
        s[i].data = text(&s[i].dataLen);
        t[i].data = text(&t[i].dataLen);
        w[i].data = wide(&w[i].dataLen);
        v[i].data = wide(&v[i].dataLen);
        fill_blob(&b[i]);
        fill_blob(&c[i]);
    }
    CHECK(deep_lists(h, s, n, t, m, b, n, c, m, w, n, v, m) == AEE_SUCCESS);
    for (int i = 0; i < least(n, m); i++) {
        check_text(t[i].data, t[i].dataLen, s[i].data);
        check_wide(v[i].data, v[i].dataLen, w[i].data);
        check_blob(&c[i], &b[i]);
    }
}

static void call_rest(remote_handle64 h)
{
    char s[8] = "hello", words[4];
    int l[3] = {1, 2, 3}, k = 41, y = 0, first = 0;
    plain_pair f = {100, 11};
    _wchar_t w[3] = {65, 66, 0}, v[5];
    bool on = true;
    note n, m = {words, sizeof(words), 0};
    unsigned char back = 0;

    fill_note(&n);
    CHECK(deep_first(h, 4, &first) == AEE_SUCCESS && first == 5);
    CHECK(deep_both(h, &n, s, 8, l, 3, &f, w, 3, &on, &k) == AEE_SUCCESS);
    CHECK(s[0] == n.words[0] && s[1] == 'e' && l[2] == 3 + n.mark && f.a == 111 && w[0] == 66 && !on && k == 42);
    CHECK(deep_memory(h, 5, 3, 16, 3000, 4, 32, 4000, &y) == AEE_SUCCESS);
    CHECK(y == 5 + 3 + 16 + 3000 + 7 * (4 + 32 + 4000));
    CHECK(deep_wide(h, w, v, 5) == AEE_SUCCESS && memcmp(v, w, sizeof(w)) == 0 && v[4] == 0);
    CHECK(deep_wide(h, w, NULL, 0) == AEE_SUCCESS);
    strcpy(words, "old");
    m.mark = 9;
    CHECK(deep_fails(h, &n, &m) == 5 && m.mark == 9);
    CHECK(deep_f11(h) == 11 && deep_f30(h) == 30);
    CHECK(deep_late(h, 200, &n, &m, &back) == AEE_SUCCESS && back == 200);
    check_note(&m, &n);
}

static void call_memory(remote_handle64 h)
{
    shared s = {{3, 10, 3000}, 5}, v = {{2, 0, 2000}, 0};
    shared t[2] = {{{1, 0, 1000}, 20}, {{2, 4, 2000}, 30}};
    small_shared u[3] = {{{4, 1, 4000}, 0}, {{5, 2, 5000}, 0}, {{6, 3, 6000}, 0}};

    CHECK(deep_more_memory(h, &s, t, 2, u, 3, &v) == AEE_SUCCESS);
    CHECK(v.after == 5 + 3 + 10 + 2000 + (1 + 1000 + 40) + (2 + 2000 + 60) + 401 + 502 + 603);
    CHECK(u[0].tag == 1 && u[2].tag == 3);
}

/* What cannot be sent is refused before the device hears of it. */
static void call_wrongly(remote_handle64 h)
{
    note n = {NULL, 0, 0};
    blob b[300] = {{NULL, 0}};
    shared s = {{-1, 0, 0}, 0};
    shared v = s;
    unsigned long before = n_calls;

    CHECK(deep_fails(h, &n, &n) == AEE_EBADPARM);
    CHECK(deep_fails(h, NULL, &n) == AEE_EBADPARM);
    CHECK(deep_lists(h, NULL, 0, NULL, 0, b, 300, NULL, 0, NULL, 0, NULL, 0) == AEE_EUNSUPPORTED);
    CHECK(deep_lists(h, NULL, 0, NULL, 0, b, 252, NULL, 0, NULL, 0, NULL, 0) == AEE_EUNSUPPORTED);
    CHECK(deep_lists(h, NULL, -1, NULL, 0, b, 1, NULL, 0, NULL, 0, NULL, 0) == AEE_EBADPARM);
    CHECK(deep_lists(h, NULL, 1, NULL, 0, b, 1, NULL, 0, NULL, 0, NULL, 0) == AEE_EBADPARM);
    CHECK(deep_more_memory(h, &s, NULL, 0, NULL, 0, &v) == AEE_EBADPARM);
    CHECK(n_calls == before);
    CHECK(deep_lists(h, NULL, 0, NULL, 0, b, 248, NULL, 0, NULL, 0, NULL, 0) == AEE_SUCCESS);
}

/* IDL_VERSION is 2.10.3: a stub of a later version is refused, and one that does not say. */
static void check_versions(void)
{
    static const char *const good[] = {"2.10.3", "2.10.2", "2.9.999", "1.999.999", "2", "2.10", ""};
    static const char *const bad[] = {"2.10.4", "2.11.0", "3.0.0", "3", "2.x", "2.10.1000", "1.1.1.1"};
    remote_handle64 h;
    char uri[200];

    CHECK(deep_open(deep_URI "&_dom=cdsp", &h) == AEE_SUCCESS);
    CHECK(strstr(deep_URI, "&_modver=1.0&_idlver=2.10.3"));
    CHECK(deep_open("file:///libdeep_skel.so?deep_skel_handle_invoke&_modver=1.0", &h) ==
          AEE_DSP(AEE_ESTUBSKELVERMISMATCH));
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(uri, sizeof(uri), "file:///l?deep_skel_handle_invoke&_idlver=%s&_dom=cdsp", good[i]);
        CHECK(deep_open(uri, &h) == AEE_SUCCESS);
        snprintf(uri, sizeof(uri), "file:///l?deep_skel_handle_invoke&_dom=cdsp&_idlver=%s", bad[i]);
        CHECK(deep_open(uri, &h) == AEE_DSP(AEE_ESTUBSKELVERMISMATCH));
    }
}

int main(int argc, char **argv)
{
    void *skel = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    remote_handle64 h;

    CHECK(skel);
    *(void **)&deep_skel = dlsym(skel, "deep_skel_handle_invoke");
    CHECK(deep_skel);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 12345;
    with_broken = !getenv("DEEP_GOOD_ONLY");
    if (with_broken)
        check_versions();
    CHECK(deep_open(deep_URI, &h) == AEE_SUCCESS);
    for (int i = 0; i < 30; i++) {
        call_pages(h);
        call_lists(h);
        call_rest(h);
        call_memory(h);
        free_blocks();
    }
    if (with_broken)
        call_wrongly(h);
    CHECK(deep_close(h) == AEE_SUCCESS);
    dlclose(skel);
    printf("calls=%lu broken=%lu\n", n_calls, n_broken);
    return 0;
}
