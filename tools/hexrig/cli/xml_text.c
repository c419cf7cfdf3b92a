/* Escapes what XML and HTML take for markup. */
#include "xml_text.h"

#include <stdint.h>
#include <string.h>

#include "base/unicode.h"

enum { REPLACEMENT = 0xfffd };

/* Source: Extensible Markup Language 1.0, 2.2, Char; without DEL and the C1 controls, which HTML refuses. */
static int is_char(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    return c < 0x7f || (c >= 0xa0 && c < 0xd800) || (c >= 0xe000 && c < 0xfdd0) || (c > 0xfdef && c <= 0x10ffff && (c & 0xfffe) != 0xfffe);
}

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void hx_xml_text_n(FILE *f, const char *text, size_t left)
{
    while (left) {
        uint32_t c;
        const size_t n = hx_utf8_next(text, left, &c);

        if (entity(c))
            fputs(entity(c), f);
        else if (!is_char(c) || c == REPLACEMENT) /* the latter stands for a byte that is no UTF-8, too */
            fputs("\xef\xbf\xbd", f);
        else
            fwrite(text, 1, n, f);
        text += n;
        left -= n;
    }
}

void hx_xml_text(FILE *f, const char *text)
{
    hx_xml_text_n(f, text, strlen(text));
}
