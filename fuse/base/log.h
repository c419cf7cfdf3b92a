/* The rig's log: lines on stderr, which is a file that nobody rotates, or a pipe or terminal that nobody reads: then lines are
 * lost, and the next one that is written says how many.  Control characters are escaped. */
#ifndef HX_LOG_H
#define HX_LOG_H

#include <stddef.h>

enum { HX_LOG_LINE = 960 }; /* bytes, four times as many when all are escaped */

/* Logs one line.  Any thread. */
void hx_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for n bytes, whatever they are, as a line of `program`; what is beyond HX_LOG_LINE is cut off.  0, or negative errno:
 * the line is lost. */
int hx_log_bytes(const char *program, const char *text, size_t n);

/* Bytes that the n would take there, without the name and for n <= HX_LOG_LINE: those that are escaped take four each. */
size_t hx_log_length(const char *text, size_t n);

/* "[4711]", behind the program's name in each line: tells rigs apart that share a log.  Before the first line. */
void hx_log_set_tag(const char *text);

/* hx_log() for what a client can cause as often as it likes: of lines with the same fmt, a string literal, 10 are written
 * in 10 s, then only how many more there were.  The loop's thread. */
void hx_log_client(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes the counts that are due.  Called at the end of each round of the loop. */
void hx_log_tick(void);

#endif
