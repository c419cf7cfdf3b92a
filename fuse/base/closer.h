/* Closing what clients had a hand in: descriptors that they passed and their connections.
 *
 * Any such close() may wait for as long as a client likes: for the server of a file, for a TCP socket that lingers, and, since closing
 * a connection or an epoll closes what lies in it unread, for one of those however deep it lies.  So threads of their own close,
 * never the loop.  What a signal can interrupt (sockets) waits for a second at most, the rest for as long as it takes. */
#ifndef HX_CLOSER_H
#define HX_CLOSER_H

#include <stdbool.h>
#include <sys/types.h>

/* Threads of one user's that close at a time, each one descriptor; what comes beyond that stays open until one is free. */
enum { HX_CLOSING_OF_USER = 8 };

/* Takes n descriptors that came from a client of `uid`.  They are closed soon, or when they can be. */
void hx_close_later(uid_t uid, const int *fd, unsigned n);

/* Whether a further descriptor of that user's is wanted at all: not while all of the user's threads hang. */
bool hx_closer_may_take(uid_t uid);

/* Interrupts waits of a second; to be called every now and then, in any thread. */
void hx_closer_prod(void);

#endif
