/* Clients side by side: threads of this process, each of which computes a token of its own, with a clock of its own.
 *
 * One call is made at a time, that of the client which is furthest behind on its clock, the first one of several, and no sooner than all
 * others wait for their next call or are done.  So figures do not depend on how this machine runs the threads, and what clients
 * compute here takes no time on their clocks. */
#ifndef HX_DENSITY_CLIENTS_H
#define HX_DENSITY_CLIENTS_H

#include "base/error.h"

enum { HX_CLIENTS_MAX = 32 };

/* Computes client i's token, from its own thread.  0 or negative errno with a reason. */
typedef int hx_client_token(void *arg, unsigned i, struct hx_error *err);

/* n: 1 to HX_CLIENTS_MAX; their calls go through hx_invoke().  Returns when all are done: 0, or the first client's error that has one. */
int hx_clients_run(unsigned n, hx_client_token *token, void *arg, struct hx_error *err);

#endif
