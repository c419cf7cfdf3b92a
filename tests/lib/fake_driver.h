/* A driver behind a socket, in this very process: speaks hx_frame.h by itself (none of the library's code), so that the
 * client side is tested against a second reading of the protocol.  One handler serves every request. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "hx_frame.h"
#include "hxt.h"

#define FAKE_MAX_CONNECTIONS 16

struct fake_request {
    struct hx_frame head;
    char *arg;
    struct hx_frame_seg *segs;
    struct hx_frame_fd *fds;
    char *bytes; /* IN segments, in order */
    int rx[HX_FRAME_MAX_FDS]; /* descriptors that came along */
    size_t n_rx;
    int sock;
    char *body;
};

struct fake_driver {
    char node[96];
    int listener;
    int greeting; /* result of the greeting */
    void (*handle)(struct fake_driver *f, struct fake_request *r);
    pthread_t acceptor;
    pthread_t worker[FAKE_MAX_CONNECTIONS];
    int sock[FAKE_MAX_CONNECTIONS];
    int n_workers;
    _Atomic int requests, interrupts;
    pthread_mutex_t lock; /* protects held */
    struct fake_request *held[8];
    int n_held;
};

/* Ends a request: every one that handle() gets, at some time. */
void fake_free(struct fake_request *r);

/* Client bytes at addr, as far as the request brought them. */
void *fake_in(struct fake_request *r, uint64_t addr);

/* Replies with the request's struct as it is now, and n segments whose bytes are given. */
void fake_reply(struct fake_request *r, int result, uint32_t n, const struct hx_frame_seg *segs,
                const void *const *bytes);

/* Replies to a READ with a text. */
void fake_reply_text(struct fake_request *r, const char *text);

/* Serves at DIR/name; the caller sets greeting and handle before clients come. */
void fake_start(struct fake_driver *f, const char *name);

/* Ends connections, threads and the requests that are held. */
void fake_stop(struct fake_driver *f);

#endif
