/* The frame of a report, its style, and the parts that all its sections are made of. */
#include "page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/xml_text.h"

/* Pictures take their colours from here, those of other commands included: what they say themselves is a default that a rule replaces. */
static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--grid:#d8dee4;--box:#f3f5f7;"
    "--c0:#0a5fb4;--c1:#b4470a;--c2:#1a7234;--c3:#7139c4;--c4:#b3205f;--c5:#0e6b7c}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#12161b;--fg:#e4e8ec;--dim:#a0a9b4;--grid:#323a44;--box:#1d232b;"
    "--c0:#6cb2ff;--c1:#ff9f5e;--c2:#5fd583;--c3:#c3a5ff;--c4:#ff93c0;--c5:#62d6ea}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:16px;max-width:1240px;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem;line-height:1.2;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2rem 0 .5rem}\n"
    "a{color:var(--c0)}nav a{margin-right:1rem}p{color:var(--dim);margin:.5rem 0}\n"
    "pre{background:var(--box);border-radius:6px;padding:10px 12px;margin:.5rem 0;font:13px/1.45 ui-monospace,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre span{display:inline-block;max-width:100%}\n"
    ".wide{overflow-x:auto;margin:.75rem 0}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--dim);padding:2px 0}\n"
    "th,td{padding:3px 10px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}\n"
    "th{color:var(--dim);font-weight:600}td.t,th.t{text-align:left}\n"
    "td i{display:block;height:9px;background:var(--c0);border-radius:2px}td.b{min-width:90px}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:0 24px}\n"
    "figure{margin:.75rem 0;max-width:540px}figcaption{color:var(--dim);font-size:14px}\n"
    "svg{display:block;width:100%;height:auto}\n"
    ".chart text{fill:var(--fg);font:12px system-ui,sans-serif}.chart .grid{stroke:var(--grid)}\n"
    ".chart .line{fill:none;stroke:var(--c);stroke-width:2}.chart circle{fill:var(--c)}\n"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;padding:0;margin:.25rem 0;font-size:14px}\n"
    ".legend svg{display:inline-block;width:26px;height:10px;margin-right:6px}.legend path{fill:none;stroke:var(--c);stroke-width:3}\n"
    ".s0{--c:var(--c0)}.s1{--c:var(--c1)}.s2{--c:var(--c2)}.s3{--c:var(--c3)}.s4{--c:var(--c4)}.s5{--c:var(--c5)}\n"
    ".roof svg{min-width:760px}.roof rect[fill=white]{fill:none}.roof text{fill:var(--fg)}\n"
    ".roof [stroke=\"#333\"]{stroke:var(--fg)}.roof text[stroke=none]{stroke:none}.roof [stroke=\"#ddd\"]{stroke:var(--grid)}\n"
    ".roof [stroke=\"#c60\"]{stroke:var(--c1)}.roof [fill=\"#06c\"]{fill:var(--c0)}.roof text[fill=\"#888\"]{fill:var(--dim)}\n"
    "@media print{.wide{overflow:visible}table{font-size:8px}th,td{padding-right:4px}figure,tr{break-inside:avoid}"
    ".roof svg{min-width:0}}\n";

void hx_page_begin(FILE *f, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n<title>", f);
    hx_xml_text(f, title);
    fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
    hx_xml_text(f, title);
    fputs("</h1>\n", f);
}

void hx_page_end(FILE *f)
{
    fputs("</main>\n</body>\n</html>\n", f);
}

void hx_page_links(FILE *f, const char *const (*sections)[2], size_t n)
{
    fputs("<nav aria-label=\"Sections\">", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "<a href=\"#%s\">%s</a> ", sections[i][0], sections[i][1]);
    fputs("</nav>\n", f);
}

/* A word as a shell has to be told it. */
static void put_word(FILE *f, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";

    if (*word && !word[strspn(word, plain)]) {
        hx_xml_text(f, word);
        return;
    }
    hx_xml_text(f, "'");
    for (const char *at = word; *at;) {
        const size_t n = strcspn(at, "'");

        hx_xml_text_n(f, at, n);
        at += n;
        if (*at) {
            hx_xml_text(f, "'\\''");
            at++;
        }
    }
    hx_xml_text(f, "'");
}

void hx_page_command(FILE *f, const char *const *argv)
{
    fputs("<pre><code>$", f);
    for (; *argv; argv++) {
        fputs(" <span>", f);
        put_word(f, *argv);
        fputs("</span>", f);
    }
    fputs("</code></pre>\n", f);
}

void hx_page_section_begin(FILE *f, const char *id, const char *heading, const char *const *argv)
{
    fprintf(f, "<section id=\"%s\" aria-labelledby=\"%s-heading\">\n<h2 id=\"%s-heading\">%s</h2>\n", id, id, id, heading);
    hx_page_command(f, argv);
}

void hx_page_section_end(FILE *f)
{
    fputs("</section>\n", f);
}

void hx_page_table_begin(FILE *f, const char *caption, const char *const *heads, size_t n)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", f);
    hx_xml_text(f, caption);
    fputs("\"><table>\n<caption>", f);
    hx_xml_text(f, caption);
    fputs("</caption>\n<thead><tr>", f);
    for (size_t i = 0; i < n; i++) {
        const int is_text = *heads[i] == '<';

        fprintf(f, "<th scope=\"col\"%s>", is_text ? " class=\"t\"" : "");
        hx_xml_text(f, heads[i] + is_text);
        fputs("</th>", f);
    }
    fputs("</tr></thead>\n<tbody>\n", f);
}

void hx_page_row_begin(FILE *f)
{
    fputs("<tr>", f);
}

void hx_page_cell_text(FILE *f, const char *text)
{
    fputs("<td class=\"t\">", f);
    hx_xml_text(f, text);
    fputs("</td>", f);
}

void hx_page_cell(FILE *f, const char *fmt, ...)
{
    va_list args;

    fputs("<td>", f);
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
    fputs("</td>", f);
}

void hx_page_cell_bar(FILE *f, double share)
{
    fprintf(f, "<td class=\"b\"><i style=\"width:%.1f%%\"></i></td>", 100 * share);
}

void hx_page_row_end(FILE *f)
{
    fputs("</tr>\n", f);
}

void hx_page_table_end(FILE *f)
{
    fputs("</tbody></table></div>\n", f);
}

void hx_page_says(FILE *f, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    fputs("<p>", f);
    if (n >= 0) {
        hx_xml_text(f, text);
        free(text);
    }
    fputs("</p>\n", f);
}

double hx_page_number(const json_t *j, const char *path)
{
    char key[64];

    while (strchr(path, '.')) {
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
        j = json_object_get(j, key);
        path += strlen(key) + 1;
    }
    return json_number_value(json_object_get(j, path));
}

const char *hx_page_text(const json_t *j, const char *key)
{
    const char *t = json_string_value(json_object_get(j, key));

    return t ? t : "none";
}
