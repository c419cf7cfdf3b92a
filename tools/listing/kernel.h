/* A kernel's source and the table beside it: makes it, and says whether it is current.  What `hexrig listing` does for each file. */
#ifndef HEXRIG_LISTING_KERNEL_H
#define HEXRIG_LISTING_KERNEL_H

#include <stdbool.h>

#include "compiler.h"

enum hx_kernel_mode {
    HX_KERNEL_WRITE,   /* writes the table, unless it is current */
    HX_KERNEL_CHECK,   /* compares the hashes, without a compiler */
    HX_KERNEL_COMPARE, /* compiles, and compares the tables */
};

struct hx_kernel {
    const char *source;
    const char *table; /* its path */
    const struct hx_source_flags *flags;
    enum hx_kernel_mode mode;
    bool quiet; /* says nothing of functions without a table, nor of what is current */
    const struct hx_compiler *compiler; /* these are not for HX_KERNEL_CHECK */
    const char *headers, *libc;         /* see compiler.h */
};

/* 0: the table is current, or was written.  1: it is not, and a line on stderr says so.  -1: it cannot be made, and lines say why. */
int hx_kernel(const struct hx_kernel *k);

#endif
