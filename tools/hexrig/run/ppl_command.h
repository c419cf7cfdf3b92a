/* Commands that print the perplexity of a text: one program, cmd_ppl.c, under two names. */
#ifndef HX_PPL_COMMAND_H
#define HX_PPL_COMMAND_H

#include "options/engine_opts.h"

struct hx_ppl_command {
    const char *name, *doc; /* doc as argp has it */
    const char *text; /* name of the shipped text that is read without -f; NULL: -f is needed */
    size_t chunks;    /* without --chunks */
    /* What else there is to say about options that were given, before the plan is resolved, and what there is to refuse
     * afterwards.  0, or HX_EXIT_USAGE after a message.  NULL: nothing. */
    int (*settings)(struct hx_engine_opts *o);
    int (*check)(struct hx_engine_opts *o);
};

/* Returns an enum hx_exit. */
int hx_ppl_command(const struct hx_ppl_command *command, int argc, char **argv);

#endif
