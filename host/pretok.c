/* GPT-2's expression by hand, see pretok.h. */
#include "pretok.h"

#include <string.h>

#include "unicode.h"

static size_t contraction(const char *s, size_t n)
{
    static const char *const tails[] = {"s", "t", "re", "ve", "m", "ll", "d"};

    if (s[0] != '\'')
        return 0;
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        size_t len = strlen(tails[i]);

        if (n > len && memcmp(s + 1, tails[i], len) == 0)
            return 1 + len;
    }
    return 0;
}

/* Bytes at the start of s whose characters are of class `want`. */
static size_t run_of(const char *s, size_t n, enum hx_char_class want)
{
    size_t used = 0;

    while (used < n) {
        uint32_t c;
        size_t len = hx_utf8_next(s + used, n - used, &c);

        if (hx_char_class(c) != want)
            break;
        used += len;
    }
    return used;
}

/* \s+(?!\S)|\s+: a run of spaces leaves its last one to the word that follows, unless it is the only one. */
static size_t spaces(const char *s, size_t n)
{
    size_t used = 0, before_last = 0;
    uint32_t c;

    while (used < n) {
        size_t len = hx_utf8_next(s + used, n - used, &c);

        if (hx_char_class(c) != HX_CHAR_SPACE)
            return before_last ? before_last : used;
        before_last = used;
        used += len;
    }
    return used;
}

size_t hx_pretok_gpt2(const char *s, size_t n)
{
    size_t len = contraction(s, n), lead = s[0] == ' ' && n > 1;
    uint32_t c;

    if (len)
        return len;
    hx_utf8_next(s + lead, n - lead, &c);
    enum hx_char_class class = hx_char_class(c);
    if (class == HX_CHAR_SPACE)
        return spaces(s, n);
    return lead + run_of(s + lead, n - lead, class);
}
