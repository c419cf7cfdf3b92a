/* The rig's log: lines on stderr, which is a file that nobody rotates. */
#ifndef HX_LOG_H
#define HX_LOG_H

/* Logs one line.  Any thread. */
void hx_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for what a client can cause as often as it likes: of lines with the same fmt, a string literal, 10 are written
 * in 10 s, then only how many more there were.  The loop's thread. */
void hx_log_client(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes the counts that are due.  Called at the end of each round of the loop. */
void hx_log_tick(void);

#endif
