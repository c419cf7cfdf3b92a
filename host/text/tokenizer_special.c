/* Special tokens in a text.
 *
 * The rule is llama.cpp's: longer special tokens are found first, each from left to right, in what the ones
 * before left over.  Tokens of one length form a group, and each group that can occur is one walk over the text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"

struct match {
    size_t at;
    uint32_t id;
};

struct matches {
    struct match *p;
    size_t n, cap;
    uint8_t *taken; /* [bytes of the text] 1: part of a match */
};

static int is_special(uint8_t type)
{
    return type == HX_TOKEN_CONTROL || type == HX_TOKEN_UNKNOWN || type == HX_TOKEN_USER_DEFINED;
}

static int by_length_then_bytes(const void *a, const void *b, void *arg)
{
    const struct hx_tokenizer *t = arg;
    struct hx_str x = hx_token_bytes(t, *(const uint32_t *)a);
    struct hx_str y = hx_token_bytes(t, *(const uint32_t *)b);
    int order;

    if (x.n != y.n)
        return x.n > y.n ? -1 : 1;
    order = memcmp(x.p, y.p, x.n);
    return order ? order : *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int has(const uint64_t set[4], unsigned char c)
{
    return (int)(set[c / 64] >> c % 64 & 1);
}

static void add(uint64_t set[4], unsigned char c)
{
    set[c / 64] |= (uint64_t)1 << c % 64;
}

static void make_groups(struct hx_tokenizer *t)
{
    struct hx_special_group *g = NULL;

    for (size_t i = 0; i < t->n_special; i++) {
        struct hx_str s = hx_token_bytes(t, t->special[i]);

        if (!g || g->bytes != s.n) {
            g = &t->group[t->n_group++];
            *g = (struct hx_special_group){.from = (uint32_t)i, .bytes = s.n};
        }
        g->n++;
        g->user |= t->type[t->special[i]] == HX_TOKEN_USER_DEFINED;
        add(g->first, (unsigned char)s.p[0]);
        add(g->last, (unsigned char)s.p[s.n - 1]);
    }
}

int hx_special_load(struct hx_tokenizer *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_vocab; i++)
        n += is_special(t->type[i]) && hx_token_bytes(t, (uint32_t)i).n > 0;
    t->special = calloc(n + 1, sizeof(*t->special));
    t->group = calloc(n + 1, sizeof(*t->group));
    if (!t->special || !t->group)
        return -ENOMEM;
    for (size_t i = 0; i < t->n_vocab; i++)
        if (is_special(t->type[i]) && hx_token_bytes(t, (uint32_t)i).n > 0)
            t->special[t->n_special++] = (uint32_t)i;
    qsort_r(t->special, n, sizeof(*t->special), by_length_then_bytes, t);
    make_groups(t);
    return 0;
}

/* The lowest id of the group with these bytes, or HX_NO_TOKEN. */
static uint32_t find_in(const struct hx_tokenizer *t, const struct hx_special_group *g,
                        const char *s)
{
    uint32_t lo = g->from, hi = g->from + g->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (memcmp(hx_token_bytes(t, t->special[mid]).p, s, g->bytes) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == g->from + g->n || memcmp(hx_token_bytes(t, t->special[lo]).p, s, g->bytes))
        return HX_NO_TOKEN;
    return t->special[lo];
}

uint32_t hx_tokenizer_special(const struct hx_tokenizer *t, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i < t->n_group; i++)
        if (t->group[i].bytes == n) {
            uint32_t id = find_in(t, &t->group[i], text);

            return id != HX_NO_TOKEN && t->type[id] == HX_TOKEN_UNKNOWN ? HX_NO_TOKEN : id;
        }
    return HX_NO_TOKEN;
}

static int add_match(struct matches *m, size_t at, size_t bytes, uint32_t id)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 64;
        struct match *p = realloc(m->p, cap * sizeof(*p));

        if (!p)
            return -ENOMEM;
        m->p = p;
        m->cap = cap;
    }
    m->p[m->n++] = (struct match){at, id};
    memset(m->taken + at, 1, bytes);
    return 0;
}

/* All matches of one group.  What is taken already is at least as long as the group's tokens, so it cannot
 * hide between the ends of a window. */
static int find_group(const struct hx_tokenizer *t, const struct hx_special_group *g, const char *s,
                      size_t n, int any, struct matches *m)
{
    for (size_t i = 0; i + g->bytes <= n; i++) {
        const size_t last = i + g->bytes - 1;
        uint32_t id;

        if (!has(g->first, (unsigned char)s[i]) || !has(g->last, (unsigned char)s[last]) ||
            m->taken[i] || m->taken[last])
            continue;
        id = find_in(t, g, s + i);
        if (id == HX_NO_TOKEN || (!any && t->type[id] != HX_TOKEN_USER_DEFINED))
            continue;
        if (add_match(m, i, g->bytes, id))
            return -ENOMEM;
        i = last;
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* Which of the 256 bytes occur at all. */
static void bytes_of(const char *s, size_t n, uint64_t set[4])
{
    memset(set, 0, 4 * sizeof(set[0]));
    for (size_t i = 0; i < n; i++)
        add(set, (unsigned char)s[i]);
}

static int can_occur(const struct hx_special_group *g, const uint64_t set[4], int any)
{
    return (any || g->user) && ((g->first[0] & set[0]) || (g->first[1] & set[1]) ||
                                (g->first[2] & set[2]) || (g->first[3] & set[3]));
}

static int find_all(const struct hx_tokenizer *t, const char *s, size_t n, int any,
                    struct matches *m)
{
    uint64_t set[4];

    bytes_of(s, n, set);
    for (size_t i = 0; i < t->n_group; i++) {
        if (!can_occur(&t->group[i], set, any))
            continue;
        if (!m->taken)
            m->taken = calloc(n, 1);
        if (!m->taken || find_group(t, &t->group[i], s, n, any, m))
            return -ENOMEM;
    }
    if (m->n)
        qsort(m->p, m->n, sizeof(*m->p), by_place);
    return 0;
}

static int encode_matches(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                          size_t n, const struct matches *m, int *fresh)
{
    size_t at = 0;

    for (size_t i = 0; i <= m->n; i++) {
        const size_t end = i < m->n ? m->p[i].at : n;
        int rc = end > at ? t->kind->encode(t, w, s + at, end - at, *fresh) : 0;

        if (rc)
            return rc;
        *fresh = i < m->n ? 1 : end > at ? 0 : *fresh;
        if (i == m->n)
            break;
        if (hx_ids_reserve(&w->out, 1))
            return -ENOMEM;
        w->out.p[w->out.n++] = m->p[i].id;
        at = end + hx_token_bytes(t, m->p[i].id).n;
    }
    return 0;
}

int hx_special_encode(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                      size_t n, unsigned flags, int *fresh)
{
    struct matches m = {0};
    int rc = n ? find_all(t, s, n, (flags & HX_ENCODE_SPECIAL) != 0, &m) : 0;

    if (!rc)
        rc = encode_matches(t, w, s, n, &m, fresh);
    free(m.p);
    free(m.taken);
    return rc;
}
