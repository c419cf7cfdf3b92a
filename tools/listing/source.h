/* What a kernel's C source says about its tables: which functions are charged, which loops they tell, and a hash by which a
 * table knows the text that it was made of.  It is read without a compiler. */
#ifndef HEXRIG_LISTING_SOURCE_H
#define HEXRIG_LISTING_SOURCE_H

#include <stddef.h>
#include <stdint.h>

enum { HX_SOURCE_FUNCTIONS = 64, HX_SOURCE_NAME = 96 };

/* A function with HX_CODE(name). */
struct hx_source_function {
    char name[HX_SOURCE_NAME];
    unsigned line;           /* of its HX_CODE() */
    uint64_t told;           /* bit per level with an HX_TRIPS() behind that, whose number is a literal */
    unsigned line_told[64];  /* where the first of each stands */
};

struct hx_source {
    const char *path; /* borrowed */
    struct hx_source_function function[HX_SOURCE_FUNCTIONS];
    size_t functions;
};

/* How a source is compiled beside the fixed flags: -I and -D of the command line, borrowed; each list is ended by NULL. */
struct hx_source_flags {
    const char *const *include;
    const char *const *define;
};

/* The text of a file, malloc'ed; NULL: it cannot be read (errno). */
char *hx_source_text(const char *path);

/* 0; or -1 after a message on stderr that begins with the file: it cannot be read, or has more than 64 functions or a number
 * of a loop above 63. */
int hx_source_read(struct hx_source *s, const char *path);

/* Hash of the text without its comments, of what it includes from its own folder and those of `flags`, but for generated tables,
 * and of the flags.  Changes when a table made of it may.  0, or -1 after a message. */
int hx_source_hash(uint64_t *hash, const char *path, const struct hx_source_flags *flags);

#endif
