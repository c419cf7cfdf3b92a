/* The bytes that a token's spelling in the file stands for. */
#include <string.h>

#include "tokenizer_impl.h"
#include "base/unicode.h"

enum { STANDIN_END = 256 + 68 }; /* 68 bytes are not printable Latin-1 */

static int stands_for_itself(uint32_t b)
{
    return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
}

/* The byte that GPT-2 writes as character c: itself when printable Latin-1, else 256 + its number among the others.
 * -1: c is none of them. */
static int byte_of(uint32_t c)
{
    uint32_t number = 256;

    if (stands_for_itself(c))
        return (int)c;
    if (c < 256 || c >= STANDIN_END)
        return -1;
    for (uint32_t b = 0; b < 256; b++)
        if (!stands_for_itself(b) && number++ == c)
            return (int)b;
    return -1;
}

size_t hx_unspell_bytes(char *out, struct hx_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n;) {
        uint32_t c;
        size_t len = hx_utf8_next(s.p + i, s.n - i, &c);
        int b = byte_of(c);

        if (b >= 0) {
            out[n++] = (char)b;
        } else {
            memcpy(out + n, s.p + i, len);
            n += len;
        }
        i += len;
    }
    return n;
}

size_t hx_unspell_spaces(char *out, struct hx_str s)
{
    static const char space[] = "\xe2\x96\x81"; /* U+2581 */
    size_t n = 0;

    for (size_t i = 0; i < s.n;) {
        if (s.n - i >= 3 && memcmp(s.p + i, space, 3) == 0) {
            out[n++] = ' ';
            i += 3;
        } else {
            out[n++] = s.p[i++];
        }
    }
    return n;
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *p = memchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c, 16);

    return p ? (int)(p - digits) : -1;
}

int hx_unspell_hex(char *out, struct hx_str s)
{
    int high, low;

    if (s.n != 6 || memcmp(s.p, "<0x", 3) || s.p[5] != '>')
        return 0;
    high = hex(s.p[3]);
    low = hex(s.p[4]);
    if (high < 0 || low < 0)
        return 0;
    *out = (char)(high << 4 | low);
    return 1;
}
