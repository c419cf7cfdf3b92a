/* Closing what clients had a hand in: descriptors that they passed and their connections.
 *
 * Any such close() may wait for as long as a client likes: for the server of a file, for a TCP socket that lingers, and, since closing
 * a connection or an epoll closes what lies in it unread, for one of those however deep it lies.  So threads of their own close,
 * never the loop.  What a signal can interrupt (sockets) waits for a second at most, the rest for as long as it takes. */
#ifndef HX_CLOSER_H
#define HX_CLOSER_H

#include <stdbool.h>
#include <sys/types.h>

/* Threads of one user's that close descriptors at a time, each one, and as many that close connections; what comes beyond that stays
 * open until one is free.  With so many descriptors in wait as the backlog nothing more is read from the user's connections, so that
 * further ones stay with whoever sent them. */
enum { HX_CLOSING_OF_USER = 8, HX_CLOSING_BACKLOG = 256 };

/* Takes n descriptors that came from a client of `uid`.  They are closed soon, or when they can be. */
void hx_close_later(uid_t uid, const int *fd, unsigned n);

/* The same for a connection.  Nothing that lies in it unread can hold up its close() for longer than a signal takes: what waits for a
 * file's server is the close() of a descriptor that was received. */
void hx_close_connection_later(uid_t uid, int fd);

/* Whether a further descriptor of that user's is wanted at all: not while all of the user's threads hang, nor beyond the backlog. */
bool hx_closer_may_take(uid_t uid);

/* Whether the user's backlog is full. */
bool hx_closer_is_behind(uid_t uid);

/* Interrupts waits of a second; to be called every now and then, in any thread. */
void hx_closer_prod(void);

#endif
