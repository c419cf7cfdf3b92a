/* The columns of a help text as glibc's argp writes it, put right: its stream loses count of them where its buffer was full in the
 * middle of a line, and pads an option or its description by some 30 columns too many, or not at all. */
#ifndef HX_HELP_COLUMNS_H
#define HX_HELP_COLUMNS_H

#include <stdio.h>

enum { HX_HELP_DOC_COLUMN = 30 }; /* opt-doc-col of ARGP_HELP_FMT, opt.c */

/* Writes the text, line by line, with options where they belong and their descriptions from HX_HELP_DOC_COLUMN on. */
void hx_help_columns(const char *text, FILE *to);

#endif
