/* Bytes of any kind as UTF-8, see json_text.h. */
#include "json_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unicode.h"

char *hx_json_utf8(const char *bytes, size_t n)
{
    static const char bad[] = "\xef\xbf\xbd";
    size_t used = 0;
    json_malloc_t alloc; /* jansson's, so that who watches that (cli/report.h) knows of this, too */
    json_free_t release;
    char *out;

    json_get_alloc_funcs(&alloc, &release);
    out = alloc(n * (sizeof(bad) - 1) + 1);
    for (size_t i = 0; out && i < n;) {
        uint32_t c;
        size_t len = hx_utf8_next(bytes + i, n - i, &c);

        /* a lone byte says "not UTF-8"; a NUL is legal but ends strings */
        if ((len == 1 && c == 0xfffd) || c == 0) {
            memcpy(out + used, bad, sizeof(bad) - 1);
            used += sizeof(bad) - 1;
        } else {
            memcpy(out + used, bytes + i, len);
            used += len;
        }
        i += len;
    }
    if (out)
        out[used] = '\0';
    return out;
}

json_t *hx_json_text(const char *text)
{
    char *utf8 = hx_json_utf8(text, strlen(text));
    json_t *j = json_string(utf8);

    free(utf8);
    return j;
}
