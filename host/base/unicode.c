/* UTF-8 and character classes, see unicode.h. */
#include "unicode.h"

#include "unicode_table.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static int in_table(const struct hx_unicode_range *t, size_t n, uint32_t c)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (c > t[mid].last)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && c >= t[lo].first;
}

/* Unicode property White_Space. */
static int is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

/* Most text is ASCII, and a table of ranges takes ten steps. */
static enum hx_char_class ascii_class(uint32_t c)
{
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return HX_CHAR_LETTER;
    if (c >= '0' && c <= '9')
        return HX_CHAR_NUMBER;
    return c == ' ' || (c >= 0x09 && c <= 0x0d) ? HX_CHAR_SPACE : HX_CHAR_OTHER;
}

enum hx_char_class hx_char_class(uint32_t c)
{
    if (c < 0x80)
        return ascii_class(c);
    if (is_space(c))
        return HX_CHAR_SPACE;
    if (in_table(hx_letters, LEN(hx_letters), c))
        return HX_CHAR_LETTER;
    if (in_table(hx_numbers, LEN(hx_numbers), c))
        return HX_CHAR_NUMBER;
    return HX_CHAR_OTHER;
}

int hx_char_is_punct(uint32_t c)
{
    return in_table(hx_punctuation, LEN(hx_punctuation), c);
}

/* Length that the lead byte promises, 0 when it is none. */
static size_t promised(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Whether byte i of a sequence may be b: the second byte also excludes overlong forms, surrogates, > U+10FFFF. */
static int continues(unsigned char lead, size_t i, unsigned char b)
{
    unsigned char lo = 0x80, hi = 0xbf;

    if (i == 1 && lead == 0xe0)
        lo = 0xa0;
    if (i == 1 && lead == 0xed)
        hi = 0x9f;
    if (i == 1 && lead == 0xf0)
        lo = 0x90;
    if (i == 1 && lead == 0xf4)
        hi = 0x8f;
    return b >= lo && b <= hi;
}

size_t hx_utf8_next(const char *s, size_t n, uint32_t *c)
{
    unsigned char lead = (unsigned char)s[0];
    size_t len = promised(lead);

    *c = 0xfffd;
    if (len == 0 || len > n)
        return 1;
    uint32_t v = len == 1 ? lead : lead & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (!continues(lead, i, (unsigned char)s[i]))
            return 1;
        v = v << 6 | ((unsigned char)s[i] & 0x3f);
    }
    *c = v;
    return len;
}

size_t hx_utf8_whole(const char *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char lead = (unsigned char)s[n - back];
        size_t ok = 1;

        if (promised(lead) <= back)
            continue;
        while (ok < back && continues(lead, ok, (unsigned char)s[n - back + ok]))
            ok++;
        if (ok == back)
            return n - back;
    }
    return n;
}
