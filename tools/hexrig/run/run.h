/* One `hexrig run`: what was asked, what came out.  cmd_run.c has the options, run_complete.c one completion, run_chat.c
 * conversations, run_line.c what is said in them, run_break.c their Ctrl-C, run_report.c what is printed. */
#ifndef HX_RUN_H
#define HX_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "text/chat.h"
#include "budget/gate.h"
#include "generate/completion.h"
#include "options/engine_opts.h"
#include "cli/report.h"

enum { HX_RUN_STOPS = 16 };

struct hx_run {
    struct hx_engine_opts o;
    struct hx_sampler_cfg sampling;
    int sampler_given;         /* 1: options chose it */
    const char *prompt;        /* -p, or NULL */
    const char *file;          /* -f, or NULL */
    char *text;                /* [text_bytes] the prompt, wherever it came from; NULL in a conversation */
    size_t text_bytes;
    size_t n;                  /* tokens, 0: as many as the context holds */
    const char *stops[HX_RUN_STOPS];
    size_t n_stops;
    int chat;                  /* 1: prompts are turns of a chat ... */
    const char *family;        /* ... of this family; NULL: the model's own */
    const char *system;        /* message, or NULL */
    int ignore_eos;
    int stream;                /* 1: text goes out as it is made */
    int quiet;                 /* 1: stdout gets the text alone, the figures go to stderr */
    struct hx_gate gate;

    struct hx_engine *e;
    struct hx_chat template;   /* with `chat` */
    struct hx_completion c;    /* the last one */
    size_t shown;              /* bytes of its text that were printed */
    int broken_off;            /* 1: by Ctrl-C, which a conversation goes on behind */
    struct hx_phase_report prefill, decode;
    struct hx_pager_sums paged; /* during decode */
};

/* Opens r->c for `n` prompt ids, the first n_cached of which the engine has run.  Returns an enum hx_exit. */
int hx_run_open(struct hx_run *r, const uint32_t *ids, size_t n, size_t n_cached);

/* Runs r->c to its end; the text is printed meanwhile when r->stream is set.  Returns an enum hx_exit. */
int hx_run_complete(struct hx_run *r);

/* Ids of a conversation, ready for the assistant's turn; *ids is malloc'ed.  Returns an enum hx_exit. */
int hx_run_render(const struct hx_run *r, const struct hx_chat_message *messages, size_t n,
                  uint32_t **ids, size_t *n_ids);

/* One line of stdin is one turn, until its end.  Returns an enum hx_exit. */
int hx_run_conversation(struct hx_run *r);

/* Prints what the run was, and holds it against budgets.  Returns an enum hx_exit. */
int hx_run_report(struct hx_run *r);

#endif
