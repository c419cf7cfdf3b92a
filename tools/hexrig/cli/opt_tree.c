/* Walks argp's tables, and says what is wrong with an option: getopt's own message knows nothing of what else there is. */
#include "opt_tree.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "near.h"

int hx_opt_each(const struct argp *argp, hx_opt_visit *visit, void *arg)
{
    const struct argp_option *o = argp->options;
    int rc = 0;

    while (!rc && o && (o->name || o->key || o->doc || o->group))
        rc = visit(arg, argp, o++);
    for (const struct argp_child *c = argp->children; !rc && c && c->argp; c++)
        rc = hx_opt_each(c->argp, visit, arg);
    return rc;
}

int hx_opt_letter(const struct argp_option *o)
{
    return o->key > 0 && o->key <= UCHAR_MAX && isprint(o->key) && !(o->flags & OPTION_DOC) ? o->key : 0;
}

/* --- one word of the line */

struct search {
    const char *name; /* that was written, `length` letters of it; or the letter */
    size_t length;
    int letter;
    const struct argp_option *found, *other; /* the one it is or begins, and another that it could be */
    struct hx_near near;
};

static int is_long(void *arg, const struct argp *argp, const struct argp_option *o)
{
    struct search *s = arg;

    (void)argp;
    if (!o->name || o->flags & OPTION_DOC)
        return 0;
    if (!(o->flags & OPTION_HIDDEN))
        hx_near_try(&s->near, o->name);
    if (strncmp(o->name, s->name, s->length) != 0)
        return 0;
    if (strlen(o->name) == s->length) {
        s->found = o;
        s->other = NULL;
        return 1;
    }
    *(s->found ? &s->other : &s->found) = o;
    return 0;
}

static int is_letter(void *arg, const struct argp *argp, const struct argp_option *o)
{
    struct search *s = arg;

    (void)argp;
    if (hx_opt_letter(o) != s->letter)
        return 0;
    s->found = o;
    return 1;
}

static int wants_value(const struct argp_option *o)
{
    return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

struct line {
    const struct argp *argp;
    int argc, at; /* at: the word that is looked at */
    char **argv;
};

static __attribute__((format(printf, 2, 3))) int say(const struct line *l, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", l->argv[0]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; see %s --help\n", l->argv[0]);
    return 1;
}

/* --NAME or --NAME=VALUE.  1: it was wrong, and that has been said. */
static int long_word(struct line *l)
{
    const char *word = l->argv[l->at], *value = strchr(word, '=');
    char *name = value ? strndup(word, (size_t)(value - word)) : strdup(word);
    struct search s = {.name = word + 2, .length = value ? (size_t)(value - word) - 2 : strlen(word) - 2};
    int rc = 0;

    if (!name)
        return say(l, "out of memory");
    s.near.word = name + 2;
    hx_opt_each(l->argp, is_long, &s);
    if (!s.found && s.near.name)
        rc = say(l, "unrecognized option '%s' (did you mean '--%s'?)", name, s.near.name);
    else if (!s.found)
        rc = say(l, "unrecognized option '%s'", name);
    else if (s.other && s.other->key != s.found->key)
        rc = say(l, "'%s' may be '--%s' or '--%s'", name, s.found->name, s.other->name);
    else if (value && !s.found->arg)
        rc = say(l, "'%s' takes no value", name);
    else if (!value && wants_value(s.found) && ++l->at >= l->argc)
        rc = say(l, "'%s' wants a value, %s", name, s.found->arg);
    free(name);
    return rc;
}

/* -abcVALUE.  1: likewise. */
static int letters(struct line *l)
{
    for (const char *p = l->argv[l->at] + 1; *p; p++) {
        struct search s = {.letter = *p};

        hx_opt_each(l->argp, is_letter, &s);
        if (!s.found)
            return say(l, "unrecognized option '-%c'", *p);
        if (wants_value(s.found) && !p[1] && ++l->at >= l->argc)
            return say(l, "'-%c' wants a value, %s", *p, s.found->arg);
        if (s.found->arg)
            return 0;
    }
    return 0;
}

void hx_opt_complain(const struct argp *argp, int in_order, int argc, char **argv)
{
    struct line l = {argp, argc, 1, argv};

    for (; l.at < argc && strcmp(argv[l.at], "--") != 0; l.at++) {
        const char *word = argv[l.at];

        if (word[0] != '-' || !word[1]) {
            if (in_order)
                break;
        } else if (word[1] == '-' ? long_word(&l) : letters(&l)) {
            return;
        }
    }
    fprintf(stderr, "%s: cannot read the options; see %s --help\n", argv[0], argv[0]);
}
