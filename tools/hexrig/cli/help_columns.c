/* Options and their descriptions in a help text, where argp padded them too far, or not. */
#include "help_columns.h"

#include <string.h>

enum { LONG_OPTION_COLUMN = 6, SHORT_OPTION_COLUMN = 2 };

/* Bytes up to the first two spaces in a row, or all. */
static size_t option_bytes(const char *line, size_t n)
{
    size_t i = 0;

    while (i < n && !(line[i] == ' ' && (i + 1 == n || line[i + 1] == ' ')))
        i++;
    return i;
}

/* A line that begins with an option: how far it is indented, and what follows the option. */
static void write_option(size_t indent, const char *line, size_t n, FILE *to)
{
    const size_t option = option_bytes(line, n), rest = option + strspn(line + option, " ");
    const size_t gap = indent + option + 3 <= HX_HELP_DOC_COLUMN ? HX_HELP_DOC_COLUMN - indent - option : 3;

    fprintf(to, "%*s%.*s", (int)indent, "", (int)option, line);
    if (rest < n)
        fprintf(to, "%*s%.*s", (int)gap, "", (int)(n - rest), line + rest);
    putc('\n', to);
}

void hx_help_columns(const char *text, FILE *to)
{
    int described = 0; /* 1: the line before was an option, or of its description */

    while (*text) {
        const size_t n = strcspn(text, "\n"), spaces = strspn(text, " "), indent = spaces < n ? spaces : n;
        const int dash = indent < n && text[indent] == '-';
        const int option = dash && (indent == SHORT_OPTION_COLUMN || indent == LONG_OPTION_COLUMN || indent > HX_HELP_DOC_COLUMN);

        described = n > 0 && (option || described);
        if (option)
            write_option(indent > HX_HELP_DOC_COLUMN ? LONG_OPTION_COLUMN : indent, text + indent, n - indent, to);
        else if (described && indent < n)
            fprintf(to, "%*s%.*s\n", HX_HELP_DOC_COLUMN, "", (int)(n - indent), text + indent);
        else if (!n || indent < n)
            fprintf(to, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}
