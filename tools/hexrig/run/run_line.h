/* Lines of a conversation.  From a terminal, and with libedit in the build, they can be edited, and those before come back; otherwise
 * they are read as they come.
 *
 * At a prompt of the editor Ctrl-C is a key, which takes the line away, and no signal; the history lasts as long as the conversation. */
#ifndef HX_RUN_LINE_H
#define HX_RUN_LINE_H

#include <stddef.h>
#include <sys/types.h>

struct hx_lines;

/* Of stdin; person: 1 prompts on stdout.  NULL: out of memory. */
struct hx_lines *hx_lines_open(int person);

/* Accepts NULL. */
void hx_lines_close(struct hx_lines *l);

/* The next line without its newline, valid until the next call; its length, or -1: there is none, or stdin cannot be read (errno then, 0
 * otherwise). */
ssize_t hx_lines_next(struct hx_lines *l, const char **line);

#endif
