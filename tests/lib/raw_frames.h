/* Test support: frames to the sockets of the rig that own_rig.h started (on the socket front end, or beside a FUSE mount), as a hostile
 * client sends them: byte by byte, with any descriptors.  All of these fail the current test when something goes wrong. */
#ifndef RAW_FRAMES_H
#define RAW_FRAMES_H

#include <stddef.h>

#include "fastrpc_uapi.h"
#include "hx_frame.h"

enum { RAW_FDS_MAX = 253 }; /* of one message: the kernel's limit */

/* A connection; receiving from it takes a minute at most. */
int raw_connect(void);
void raw_take_greeting(int fd); /* which has to say that there is a session */
int raw_connect_session(void);  /* both */

/* n bytes and n_fds descriptors in one message; to a connection that is over already it goes nowhere. */
void raw_send(int sock, const void *bytes, size_t n, const int *fds, size_t n_fds);

/* MEM_MAP of one descriptor. */
struct raw_map_frame {
    struct hx_frame head;
    struct fastrpc_mem_map arg;
    struct hx_frame_fd fd;
};
_Static_assert(sizeof(struct raw_map_frame) == sizeof(struct hx_frame) + sizeof(struct fastrpc_mem_map) +
               sizeof(struct hx_frame_fd), "no holes");

struct raw_map_frame raw_map_of(int fd);

struct hx_frame raw_ask_status(void); /* behind it go the 6 bytes of the name */

int raw_sessions(void); /* "sessions=" of the rig, asked on a connection of its own */
int raw_no_session(void *unused); /* for hxt_until() */

/* The rig has closed the connection. */
int raw_is_over(int fd);

int raw_rig_fds(void); /* how many descriptors the rig has */

/* No session, and so many descriptors at most, or it waits for that. */
void raw_expect_nothing_left(int fds);

int raw_memory(void); /* a memfd of 4096 bytes */

#endif
