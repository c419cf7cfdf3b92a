/* A command's help in three forms, from argp's tables. */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help_columns.h"
#include "opt_tree.h"

static enum hx_help_form chosen = HX_HELP_TEXT;

void hx_help_set(enum hx_help_form form)
{
    chosen = form;
}

enum hx_help_form hx_help_form(void)
{
    return chosen;
}

/* --- man */

/* A dash is one to copy; a dot or an apostrophe in front of a line would be a request to troff. */
void hx_help_man_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];

        if ((i == 0 || text[i - 1] == '\n') && (c == '.' || c == '\''))
            fputs("\\&", stdout);
        if (c == '-')
            fputs("\\-", stdout);
        else if (c == '\\')
            fputs("\\e", stdout);
        else
            putchar(c);
    }
}

static void man(const char *text)
{
    hx_help_man_text(text, strlen(text));
}

/* An action is a section of its command's page. */
static int is_action(const char *name)
{
    const char *first = strchr(name, ' ');

    return first && strchr(first + 1, ' ');
}

static void man_synopsis(const char *name, const char *words)
{
    do {
        const size_t n = words ? strcspn(words, "\n") : 0;

        printf(".br\n.B ");
        man(name);
        printf("\n[\\fIOPTION\\fR]... ");
        hx_help_man_text(words ? words : "", n);
        putchar('\n');
        words = words && words[n] ? words + n + 1 : NULL;
    } while (words);
}

static void man_name(const struct argp_option *o)
{
    const int letter = hx_opt_letter(o), optional = o->flags & OPTION_ARG_OPTIONAL;

    if (letter)
        printf("\\fB\\-%c\\fR%s", letter, o->name ? ", " : "");
    if (o->name) {
        printf("\\fB\\-\\-");
        man(o->name);
        printf("\\fR");
    }
    if (o->arg) {
        printf("%s%s\\fI", optional ? "[" : "", o->name ? "=" : " ");
        man(o->arg);
        printf("\\fR%s", optional ? "]" : "");
    }
}

static int man_row(void *arg, const struct argp *argp, const struct argp_option *o)
{
    const char *heading = arg, *doc = o->doc;
    char *made = NULL;

    if (o->flags & OPTION_HIDDEN)
        return 0;
    if (!o->name && !o->key) {
        if (doc) {
            printf("%s \"", heading);
            hx_help_man_text(doc, strlen(doc) - (doc[strlen(doc) - 1] == ':'));
            printf("\"\n");
        }
        return 0;
    }
    if (argp->help_filter) {
        made = argp->help_filter(o->key, doc, NULL);
        doc = made;
    }
    printf(".TP\n");
    man_name(o);
    putchar('\n');
    man(doc ? doc : "");
    putchar('\n');
    if (made != o->doc)
        free(made);
    return 0;
}

static const struct argp *command_of(const struct argp *root)
{
    return root->children && root->children->argp ? root->children->argp : root;
}

static void man_page(const struct argp *root, const char *name)
{
    const struct argp *argp = command_of(root);
    const char *doc = argp->doc ? argp->doc : "", *after = strchr(doc, '\v');
    const int action = is_action(name);
    char options[] = ".SS", action_options[] = ".PP\n.B";

    if (action)
        printf(".SH \"%s\"\n", name);
    else
        printf(".SH SYNOPSIS\n");
    man_synopsis(name, argp->args_doc);
    printf(action ? ".PP\n" : ".SH DESCRIPTION\n");
    hx_help_man_text(doc, after ? (size_t)(after - doc) : strlen(doc));
    printf(action ? "\n" : "\n.SH OPTIONS\n");
    if (root != argp)
        man_row(NULL, root, root->options); /* --help */
    hx_opt_each(argp, man_row, action ? action_options : options);
    if (after) {
        printf(action ? ".PP\n" : ".SH EXAMPLE\n");
        man(after + 1);
        putchar('\n');
    }
}

/* --- words */

/* --NAME, --NAME= or, where the argument lists what is legal, --NAME=A|B. */
static int print_word(void *arg, const struct argp *argp, const struct argp_option *o)
{
    (void)arg, (void)argp;
    if (o->flags & (OPTION_HIDDEN | OPTION_DOC) || !o->name)
        return 0;
    printf(" --%s", o->name);
    if (o->arg && !(o->flags & OPTION_ARG_OPTIONAL))
        printf("=%s", strchr(o->arg, '|') && !strpbrk(o->arg, "[]{}., ") ? o->arg : "");
    return 0;
}

static void words(const struct argp *root, const char *name)
{
    printf("%s:", name + strlen("hexrig "));
    hx_opt_each(root, print_word, NULL);
    putchar('\n');
}

static void text(const struct argp *root, const char *name)
{
    char *all = NULL;
    size_t bytes;
    FILE *f = open_memstream(&all, &bytes);

    if (f)
        argp_help(root, f, ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG, (char *)name);
    if (f && fclose(f) == 0)
        hx_help_columns(all, stdout);
    free(all);
}

void hx_help_print(const struct argp *root, const char *name)
{
    if (chosen == HX_HELP_MAN)
        man_page(root, name);
    else if (chosen == HX_HELP_WORDS)
        words(root, name);
    else
        text(root, name);
}

int hx_help_table_begins(void)
{
    if (chosen == HX_HELP_MAN)
        printf(".PP\n.nf\n");
    return chosen != HX_HELP_WORDS;
}

void hx_help_table_ends(void)
{
    if (chosen == HX_HELP_MAN)
        printf(".fi\n");
}
