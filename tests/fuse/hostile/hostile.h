/* Attempts of a hostile client, by subject: who may use the rig's nodes and sockets, and has no skel of his own.  The rig serves another
 * client meanwhile, the target.  Attempts reach the driver as tests/conformance/access.h says, on either front end. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"

enum hostile_process { DRIVER, ROOT_PD, PD, CLIENT, PROCESSES };

/* What the attacker knows of the others: more than anybody would tell. */
struct target {
    pid_t pid[PROCESSES];
    uint32_t skel;     /* handle in its PD */
    int32_t fd;        /* of its buffer, in its process */
    uint64_t vaddr;    /* of its map in its PD */
    uint64_t bytes;    /* of it */
    uint32_t context;  /* its grant of VTCM */
    uint64_t queue;    /* its dspqueue */
    char sockets[300]; /* folder of the rig's sockets */
};

/* One attempt.  0: it got through; else errno, or the AEE code of the DSP. */
struct attempt {
    const char *name;
    int (*run)(const struct target *t, int arg);
    int arg;
    int expected; /* 0: what is right, and has to work */
};

/* Tells of one attempt: `name`, what for ("" = nothing), the expected and the actual refusal. */
void hostile_tell(const char *name, const char *of, int expected, int got);

/* Makes all attempts of a subject. */
void hostile_calls(const struct target *t);       /* addresses, sizes, descriptors, handles, maps, VTCM, queues */
void hostile_modules(const struct target *t);     /* URIs */
void hostile_frames(const struct target *t);      /* what goes over sockets */
void hostile_as_stranger(const struct target *t); /* processes, files and mounts of another user's rig */

/* Opens a module by `bytes` of text, which need not be a string, in the PD of h.  0 and *handle, or as an attempt's. */
int hostile_open(int h, const char *uri, size_t bytes, uint32_t *handle);

/* -1 and errno, or a result, of an ioctl as an attempt's. */
int refusal(int rc);

#endif
