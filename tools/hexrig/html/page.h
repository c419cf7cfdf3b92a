/* A report as one HTML file that asks for nothing else: no script, no picture, no font from elsewhere.  It is well-formed XML, too.  What
 * is written to f can be checked by ferror(). */
#ifndef HX_PAGE_H
#define HX_PAGE_H

#include <jansson.h>
#include <stdio.h>

void hx_page_begin(FILE *f, const char *title);
void hx_page_end(FILE *f);

/* A line of links to the sections that have been chosen, [n] of their ids and headings. */
void hx_page_links(FILE *f, const char *const (*sections)[2], size_t n);

/* A command line, NULL-terminated, quoted so that a shell gives the same words. */
void hx_page_command(FILE *f, const char *const *argv);

/* argv: the command whose answer the section shows, NULL-terminated. */
void hx_page_section_begin(FILE *f, const char *id, const char *heading, const char *const *argv);
void hx_page_section_end(FILE *f);

/* --- tables, which scroll by themselves where the screen is narrow */

/* heads: [n], of columns of numbers; with a < in front, which is not printed, of columns of text. */
void hx_page_table_begin(FILE *f, const char *caption, const char *const *heads, size_t n);
void hx_page_row_begin(FILE *f);
void hx_page_cell_text(FILE *f, const char *text);
void hx_page_cell(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* a number */
void hx_page_cell_bar(FILE *f, double share); /* 0 to 1 */
void hx_page_row_end(FILE *f);
void hx_page_table_end(FILE *f);

/* A paragraph of text. */
void hx_page_says(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- what answers are made of */

/* path: keys with dots between.  0 and "none" where there is no such value. */
double hx_page_number(const json_t *j, const char *path);
const char *hx_page_text(const json_t *j, const char *key);

#endif
