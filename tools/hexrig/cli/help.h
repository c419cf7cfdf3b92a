/* What --help prints: text for people, a page for man, or words for a shell that completes them.  All from the tables of options. */
#ifndef HX_HELP_H
#define HX_HELP_H

#include <argp.h>

/* HX_HELP_WORDS: a line "COMMAND [ACTION]: WORD..." with each option as --NAME, --NAME= or --NAME=LEGAL|VALUES. */
enum hx_help_form { HX_HELP_TEXT, HX_HELP_MAN, HX_HELP_WORDS };

/* The form that this process prints; HX_HELP_TEXT unless it was set. */
void hx_help_set(enum hx_help_form form);
enum hx_help_form hx_help_form(void);

/* Prints the help of the command or action `name` ("hexrig run", "hexrig block stats"). */
void hx_help_print(const struct argp *root, const char *name);

/* Text of a man page with what is special there escaped. */
void hx_help_man_text(const char *text, size_t bytes);

/* Around tables that a command prints below its help: nothing, or what keeps their columns.  0 from hx_help_table_begins(): this form
 * has no tables. */
int hx_help_table_begins(void);
void hx_help_table_ends(void);

#endif
