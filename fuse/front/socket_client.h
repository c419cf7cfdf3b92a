/* Clients of the socket front end.  One connection is one open file (rpc/wire/hx_frame.h).  All functions are the loop's thread's. */
#ifndef HX_SOCKET_CLIENT_H
#define HX_SOCKET_CLIENT_H

#include <stdbool.h>

struct hx_driver;

/* A connection was accepted: opens a session, greets the client, and serves it until either end closes.  Takes fd, whatever comes of
 * it.  secure: by the node fastrpc-cdsp-secure.  0, or -ENOMEM. */
int hx_socket_client_add(struct hx_driver *d, int fd, bool secure);

/* Drops clients whose process has ended behind replies that nobody reads: such a connection is not read, so a descriptor that waits
 * in it, its own other end for one, would hide the end. */
void hx_socket_client_look(void);

/* A client with a session has closed its connection, or ended, and the loop has not served that so far. */
bool hx_socket_client_some_left(void);

/* Ends all connections. */
void hx_socket_client_drop_all(void);

#endif
