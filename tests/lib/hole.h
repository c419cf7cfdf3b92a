/* Test support: a page that nobody fills (userfaultfd), so that whoever touches it waits. */
#ifndef HOLE_H
#define HOLE_H

#include <stddef.h>
#include <stdint.h>

enum { HOLE_BYTES = 4096 };

struct hole {
    int uffd;
    uint8_t *page; /* [HOLE_BYTES] */
};

/* 0 or a negative errno. */
int hole_try(struct hole *h);

/* Skips the current test where hole_try() fails. */
struct hole hole_make(void);

/* The same; in front of the page are `bytes` that are there, a multiple of HOLE_BYTES. */
struct hole hole_make_behind(size_t bytes);

/* With zeros: who waits goes on.  The page stays. */
void hole_fill(struct hole *h);

#endif
