/* A command's options as argp has them: tables in a tree. */
#ifndef HX_OPT_TREE_H
#define HX_OPT_TREE_H

#include <argp.h>

/* Calls `visit` with each row of the tree, headings and hidden options included, parents before their children; `argp` is the table's
 * own.  Ends at the first result that is not 0 and returns it. */
typedef int hx_opt_visit(void *arg, const struct argp *argp, const struct argp_option *o);
int hx_opt_each(const struct argp *argp, hx_opt_visit *visit, void *arg);

/* The option's one-letter name, or 0. */
int hx_opt_letter(const struct argp_option *o);

/* Prints to stderr what is wrong with the first option of argv that the tree does not allow, in one line, and what may have been
 * meant.  `in_order`: options end at the first word.  For argp's EINVAL, with which it has refused the line. */
void hx_opt_complain(const struct argp *argp, int in_order, int argc, char **argv);

#endif
