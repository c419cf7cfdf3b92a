/* Ctrl-C in a conversation ends the reply, not the conversation.
 *
 * While a reply is made the calling thread takes SIGINT between steps only, so that no call to the DSP is interrupted.  A second one
 * before the first was seen ends the program, as without this.  One at a time, in one thread. */
#ifndef HX_RUN_BREAK_H
#define HX_RUN_BREAK_H

/* From now on SIGINT is a wish to end the reply. */
void hx_break_begin(void);

/* Between steps: 1: it was wished. */
int hx_break_wished(void);

/* SIGINT ends the program again. */
void hx_break_end(void);

#endif
