/* How long one input of a fuzz target may take: what it computes and what it sleeps counts, however busy the machine is.  Time in which
 * others had its CPU does not count, nor that of a machine that stood still. */
#ifndef INPUT_LIMIT_H
#define INPUT_LIMIT_H

enum { INPUT_LIMIT_S = 20 };

/* Begins an input on the main thread.  After `seconds` that count, `expired` is called once, by a signal: SIGALRM, which nobody else
 * may use until input_limit_end(), as no one may alarm(). */
void input_limit_begin(double seconds, void (*expired)(void));
void input_limit_end(void);

#endif
