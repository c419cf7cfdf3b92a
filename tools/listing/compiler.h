/* Finds a compiler for Hexagon and has it write listings. */
#ifndef HEXRIG_LISTING_COMPILER_H
#define HEXRIG_LISTING_COMPILER_H

#include <stdbool.h>

#include "source.h"

struct hx_compiler {
    char command[4096]; /* a name to be searched in PATH, or a path */
};

/* $HEXAGON_CLANG if that is set, else the first of clang-19, clang, other clangs and hexagon-clang that makes code for Hexagon.
 * 0; or -1 after one message that says what was tried and why it is none. */
int hx_compiler_find(struct hx_compiler *c);

struct hx_compile {
    const struct hx_compiler *compiler;
    const struct hx_source_flags *flags;
    const char *source, *output;
    const char *stubs;   /* a folder searched for quoted includes when the source's own has none */
    const char *headers; /* hexrig's, searched after the compiler's own */
    const char *libc;    /* declarations for a compiler without a C library, searched last */
    bool debug;          /* -O0 instead of -O2 */
    bool still;          /* without address randomisation, where that is allowed */
};

/* Writes `output`.  0, or -1: the compiler has said why on stderr, or a message says that it could not be run. */
int hx_compile(const struct hx_compile *job);

/* What all listings are compiled with, ended by NULL. */
const char *const *hx_compiler_flags(void);

#endif
