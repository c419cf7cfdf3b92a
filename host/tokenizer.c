/* Byte-level BPE, see tokenizer.h. */
#include "tokenizer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pretok.h"
#include "unicode.h"

enum { TOKEN_CONTROL = 3, NONE = -1 };

/* A merge rule: the pair (left, right) becomes `made`.  Lower ranks go first. */
struct merge {
    uint32_t left, right, made, rank;
};

struct hx_tokenizer {
    char *bytes;         /* all tokens' bytes, one after the other */
    uint32_t *start;     /* [n_vocab + 1] offsets into bytes */
    uint8_t *control;    /* [n_vocab] 1: has no text */
    size_t n_vocab;
    uint32_t byte_id[256];
    struct merge *merges; /* open addressing, made == UINT32_MAX marks a free place */
    size_t merge_mask;
};

/* Symbols of the word being merged, a doubly linked list in an array. */
struct symbol {
    uint32_t id;
    int prev, next; /* NONE at the ends */
    int alive;
};

/* A candidate merge of the symbols at `at` and its successor, in a binary heap ordered by (rank, at). */
struct candidate {
    uint32_t rank, left, right, made;
    int at;
};

struct work {
    struct symbol *sym;
    struct candidate *heap;
    size_t n_heap, cap; /* cap: symbols; the heap holds 3 * cap: one per neighbour pair, two per merge */
};

/* GPT-2's printable stand-in for a byte: itself when printable Latin-1, else 256 + its number among the others. */
static void byte_to_char(uint32_t map[256])
{
    uint32_t next = 256;

    for (uint32_t b = 0; b < 256; b++) {
        int printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        map[b] = printable ? b : next++;
    }
}

static size_t hash_bytes(const char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

static size_t hash_pair(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;

    return (size_t)(h ^ h >> 32);
}

static size_t table_size(size_t n)
{
    size_t size = 16;

    while (size < 2 * n)
        size *= 2;
    return size;
}

/* Vocabulary by its spelling in the file; lives only while the tokenizer is built. */
struct spelling {
    const struct hx_str *words; /* [n] */
    uint32_t *slots;            /* UINT32_MAX: free */
    size_t mask;
};

static uint32_t *spelling_slot(const struct spelling *sp, struct hx_str s)
{
    size_t i = hash_bytes(s.p, s.n) & sp->mask;

    while (sp->slots[i] != UINT32_MAX) {
        struct hx_str w = sp->words[sp->slots[i]];

        if (w.n == s.n && memcmp(w.p, s.p, s.n) == 0)
            break;
        i = (i + 1) & sp->mask;
    }
    return &sp->slots[i];
}

static const struct merge *find_merge(const struct hx_tokenizer *t, uint32_t left, uint32_t right)
{
    size_t i = hash_pair(left, right) & t->merge_mask;

    while (t->merges[i].made != UINT32_MAX) {
        if (t->merges[i].left == left && t->merges[i].right == right)
            return &t->merges[i];
        i = (i + 1) & t->merge_mask;
    }
    return NULL;
}

static void add_merge(struct hx_tokenizer *t, struct merge m)
{
    size_t i = hash_pair(m.left, m.right) & t->merge_mask;

    while (t->merges[i].made != UINT32_MAX) {
        if (t->merges[i].left == m.left && t->merges[i].right == m.right)
            return; /* the first, lower rank stays */
        i = (i + 1) & t->merge_mask;
    }
    t->merges[i] = m;
}

/* Writes the bytes that a spelling stands for; characters outside the map (special tokens) stay as they are. */
static size_t unmap(char *out, struct hx_str s, const uint32_t map[256])
{
    size_t n = 0;

    for (size_t i = 0; i < s.n;) {
        uint32_t c, b = 0;
        size_t len = hx_utf8_next(s.p + i, s.n - i, &c);

        while (b < 256 && map[b] != c)
            b++;
        if (b < 256) {
            out[n++] = (char)b;
        } else {
            memcpy(out + n, s.p + i, len);
            n += len;
        }
        i += len;
    }
    return n;
}

static int no_memory(struct hx_why *why)
{
    return hx_why_set(why, -ENOMEM, "tokenizer: out of memory");
}

/* Reads the vocabulary into t and into `sp`. */
static int load_vocab(struct hx_tokenizer *t, const struct hx_gguf *g, const struct hx_gguf_kv *kv,
                      struct hx_str *words, struct spelling *sp, struct hx_why *why)
{
    const uint8_t *cursor = kv->data;
    uint64_t total = 0;
    uint32_t map[256];

    for (size_t i = 0; i < t->n_vocab; i++) {
        words[i] = hx_gguf_next_str(&cursor);
        total += words[i].n; /* cannot overflow: the words lie in the mapped file */
    }
    if (total > UINT32_MAX)
        return hx_why_set(why, -EINVAL, "%s: the vocabulary's text is %llu bytes, 4 GiB is the "
                          "limit", hx_gguf_name(g), (unsigned long long)total);
    t->bytes = malloc(total + 1);
    if (!t->bytes)
        return no_memory(why);
    byte_to_char(map);
    for (size_t i = 0; i < t->n_vocab; i++) {
        uint32_t *slot = spelling_slot(sp, words[i]);

        t->start[i + 1] = t->start[i] + (uint32_t)unmap(t->bytes + t->start[i], words[i], map);
        if (*slot == UINT32_MAX)
            *slot = (uint32_t)i;
    }
    for (uint32_t b = 0; b < 256; b++) {
        char utf8[2];
        size_t n = 0;

        if (map[b] >= 0x80)
            utf8[n++] = (char)(0xc0 | map[b] >> 6);
        utf8[n] = (char)(n ? 0x80 | (map[b] & 0x3f) : map[b]);
        t->byte_id[b] = *spelling_slot(sp, (struct hx_str){utf8, n + 1});
        if (t->byte_id[b] == UINT32_MAX)
            return hx_why_set(why, -EINVAL, "%s: the vocabulary has no token for byte 0x%02x",
                              hx_gguf_name(g), b);
    }
    return 0;
}

/* "left right" -> the three ids.  The space that parts them is never the first byte. */
static int parse_merge(const struct spelling *sp, struct hx_str s, struct merge *m, char *joined)
{
    const char *gap = s.n > 1 ? memchr(s.p + 1, ' ', s.n - 1) : NULL;

    if (!gap)
        return -EINVAL;
    size_t n_left = (size_t)(gap - s.p), n_right = s.n - n_left - 1;
    memcpy(joined, s.p, n_left);
    memcpy(joined + n_left, gap + 1, n_right);
    m->left = *spelling_slot(sp, (struct hx_str){s.p, n_left});
    m->right = *spelling_slot(sp, (struct hx_str){gap + 1, n_right});
    m->made = *spelling_slot(sp, (struct hx_str){joined, n_left + n_right});
    if (m->left == UINT32_MAX || m->right == UINT32_MAX || m->made == UINT32_MAX)
        return -EINVAL;
    return 0;
}

static int load_merges(struct hx_tokenizer *t, const struct hx_gguf *g, const struct spelling *sp,
                       struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    const uint8_t *cursor;
    char *joined = NULL;
    size_t longest = 0;
    int rc = hx_gguf_array(g, "tokenizer.ggml.merges", HX_GGUF_STRING, &kv, why);

    if (rc)
        return rc;
    if (kv->n >= UINT32_MAX)
        return hx_why_set(why, -EINVAL, "%s: too many merges", hx_gguf_name(g));
    t->merge_mask = table_size(kv->n) - 1;
    t->merges = malloc((t->merge_mask + 1) * sizeof(*t->merges));
    if (!t->merges)
        return no_memory(why);
    memset(t->merges, 0xff, (t->merge_mask + 1) * sizeof(*t->merges));
    cursor = kv->data;
    for (uint64_t i = 0; i < kv->n; i++) {
        size_t n = hx_gguf_next_str(&cursor).n;
        longest = n > longest ? n : longest;
    }
    joined = malloc(longest + 1);
    if (!joined)
        return no_memory(why);
    cursor = kv->data;
    for (uint64_t i = 0; i < kv->n && !rc; i++) {
        struct merge m = {.rank = (uint32_t)i};

        if (parse_merge(sp, hx_gguf_next_str(&cursor), &m, joined))
            rc = hx_why_set(why, -EINVAL, "%s: merge %llu does not join two tokens into a third",
                            hx_gguf_name(g), (unsigned long long)i);
        else
            add_merge(t, m);
    }
    free(joined);
    return rc;
}

/* Control tokens, when the file has types at all. */
static int load_types(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    int rc;

    if (!hx_gguf_find(g, "tokenizer.ggml.token_type"))
        return 0;
    rc = hx_gguf_array(g, "tokenizer.ggml.token_type", HX_GGUF_I32, &kv, why);
    if (rc)
        return rc;
    if (kv->n != t->n_vocab)
        return hx_why_set(why, -EINVAL, "%s: %llu token types for %zu tokens", hx_gguf_name(g),
                          (unsigned long long)kv->n, t->n_vocab);
    for (size_t i = 0; i < t->n_vocab; i++) {
        int32_t type;

        memcpy(&type, kv->data + 4 * i, sizeof(type));
        t->control[i] = type == TOKEN_CONTROL;
    }
    return 0;
}

static int check_kind(const struct hx_gguf *g, struct hx_why *why)
{
    static const struct {
        const char *key, *value;
    } want[] = {{"tokenizer.ggml.model", "gpt2"}, {"tokenizer.ggml.pre", "gpt-2"}};
    struct hx_str s;

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        int rc = hx_gguf_str(g, want[i].key, &s, why);

        if (rc)
            return rc;
        if (!hx_str_is(s, want[i].value))
            return hx_why_set(why, -EINVAL, "%s: %s is '%.*s'; only '%s' is supported",
                              hx_gguf_name(g), want[i].key, (int)(s.n < 64 ? s.n : 64), s.p,
                              want[i].value);
    }
    return 0;
}

static int load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    struct spelling sp = {0};
    struct hx_str *words;
    int rc = check_kind(g, why);

    if (!rc)
        rc = hx_gguf_array(g, "tokenizer.ggml.tokens", HX_GGUF_STRING, &kv, why);
    if (rc)
        return rc;
    if (kv->n == 0 || kv->n >= INT32_MAX)
        return hx_why_set(why, -EINVAL, "%s: a vocabulary of %llu tokens", hx_gguf_name(g),
                          (unsigned long long)kv->n);
    t->n_vocab = kv->n;
    t->start = calloc(t->n_vocab + 1, sizeof(*t->start));
    t->control = calloc(t->n_vocab, 1);
    words = calloc(t->n_vocab, sizeof(*words));
    sp.words = words;
    sp.mask = table_size(t->n_vocab) - 1;
    sp.slots = malloc((sp.mask + 1) * sizeof(*sp.slots));
    if (!t->start || !t->control || !words || !sp.slots) {
        rc = no_memory(why);
    } else {
        memset(sp.slots, 0xff, (sp.mask + 1) * sizeof(*sp.slots));
        rc = load_vocab(t, g, kv, words, &sp, why);
    }
    if (!rc)
        rc = load_merges(t, g, &sp, why);
    if (!rc)
        rc = load_types(t, g, why);
    free(words);
    free(sp.slots);
    return rc;
}

int hx_tokenizer_open(struct hx_tokenizer **out, const struct hx_gguf *g, struct hx_why *why)
{
    struct hx_tokenizer *t = calloc(1, sizeof(*t));
    int rc;

    if (!t)
        return no_memory(why);
    rc = load(t, g, why);
    if (rc) {
        hx_tokenizer_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void hx_tokenizer_close(struct hx_tokenizer *t)
{
    if (!t)
        return;
    free(t->bytes);
    free(t->start);
    free(t->control);
    free(t->merges);
    free(t);
}

size_t hx_tokenizer_vocab(const struct hx_tokenizer *t)
{
    return t->n_vocab;
}

static int before(const struct candidate *a, const struct candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(struct work *w, struct candidate c)
{
    size_t i = w->n_heap++;

    while (i && before(&c, &w->heap[(i - 1) / 2])) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = c;
}

static struct candidate heap_pop(struct work *w)
{
    struct candidate top = w->heap[0], last = w->heap[--w->n_heap];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < w->n_heap) {
        if (child + 1 < w->n_heap && before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!before(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

static void consider(const struct hx_tokenizer *t, struct work *w, int at)
{
    const struct merge *m;

    if (at == NONE || w->sym[at].next == NONE)
        return;
    m = find_merge(t, w->sym[at].id, w->sym[w->sym[at].next].id);
    if (m)
        heap_push(w, (struct candidate){m->rank, m->left, m->right, m->made, at});
}

/* Makes room for words of n bytes. */
static int work_grow(struct work *w, size_t n)
{
    if (n <= w->cap)
        return 0;
    n = n < 256 ? 256 : n;
    if (n > INT_MAX / 4)
        return -ENOMEM;
    free(w->sym);
    free(w->heap);
    w->cap = 0;
    w->sym = malloc(n * sizeof(*w->sym));
    w->heap = malloc(3 * n * sizeof(*w->heap));
    if (!w->sym || !w->heap)
        return -ENOMEM;
    w->cap = n;
    return 0;
}

static void apply(const struct hx_tokenizer *t, struct work *w, const struct candidate *c)
{
    struct symbol *a = &w->sym[c->at], *b;

    /* a candidate goes stale when one of its symbols has been merged since */
    if (!a->alive || a->id != c->left || a->next == NONE || w->sym[a->next].id != c->right)
        return;
    b = &w->sym[a->next];
    a->id = c->made;
    a->next = b->next;
    b->alive = 0;
    if (a->next != NONE)
        w->sym[a->next].prev = c->at;
    consider(t, w, a->prev);
    consider(t, w, c->at);
}

/* Encodes one word (n bytes) to `out` (room for n ids).  Returns the number of ids, or -ENOMEM. */
static long encode_word(const struct hx_tokenizer *t, struct work *w, const char *s, size_t n,
                        uint32_t *out)
{
    long n_out = 0;

    if (work_grow(w, n))
        return -ENOMEM;
    w->n_heap = 0;
    for (size_t i = 0; i < n; i++)
        w->sym[i] = (struct symbol){t->byte_id[(unsigned char)s[i]], (int)i - 1,
                                    i + 1 < n ? (int)i + 1 : NONE, 1};
    for (size_t i = 0; i + 1 < n; i++)
        consider(t, w, (int)i);
    while (w->n_heap) {
        struct candidate c = heap_pop(w);
        apply(t, w, &c);
    }
    for (int i = 0; i != NONE; i = w->sym[i].next)
        out[n_out++] = w->sym[i].id;
    return n_out;
}

int hx_tokenizer_encode(const struct hx_tokenizer *t, const char *text, size_t n, uint32_t **ids,
                        size_t *n_ids)
{
    struct work w = {0};
    uint32_t *out;
    size_t used = 0;
    long got = 0;

    *ids = NULL;
    *n_ids = 0;
    if (n == 0)
        return 0;
    out = n <= SIZE_MAX / sizeof(*out) ? malloc(n * sizeof(*out)) : NULL;
    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < n && got >= 0;) {
        size_t len = hx_pretok_gpt2(text + i, n - i);

        got = encode_word(t, &w, text + i, len, out + used);
        used += got > 0 ? (size_t)got : 0;
        i += len;
    }
    free(w.sym);
    free(w.heap);
    if (got < 0) {
        free(out);
        return (int)got;
    }
    *ids = out;
    *n_ids = used;
    return 0;
}

struct hx_str hx_tokenizer_piece(const struct hx_tokenizer *t, uint32_t id)
{
    if (t->control[id])
        return (struct hx_str){"", 0};
    return (struct hx_str){t->bytes + t->start[id], t->start[id + 1] - t->start[id]};
}

char *hx_tokenizer_decode(const struct hx_tokenizer *t, const uint32_t *ids, size_t n)
{
    size_t total = 0, used = 0;
    char *text;

    for (size_t i = 0; i < n; i++)
        total += hx_tokenizer_piece(t, ids[i]).n;
    text = malloc(total + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct hx_str piece = hx_tokenizer_piece(t, ids[i]);

        memcpy(text + used, piece.p, piece.n);
        used += piece.n;
    }
    text[used] = '\0';
    return text;
}
