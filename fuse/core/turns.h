/* Turns: while several processes have sessions, in each round of the loop one call of each is begun and one of its replies taken,
 * whatever it has queued, and large buffers are copied in pieces (copies.h).  Calls are begun by the front ends:
 * fuse/front/fuse_turns.h, socket_client.c. */
#ifndef HX_TURNS_H
#define HX_TURNS_H

#include <stdbool.h>

struct hx_driver;
struct hx_session;

/* Several processes have sessions. */
bool hx_turns_are_taken(const struct hx_driver *d);

/* The session may take a reply in this round: no other one of its process has, and none has waited longer for one. */
bool hx_turns_is_next(const struct hx_session *s);

#endif
