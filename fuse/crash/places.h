/* Places in code: which function, file and line an address is, asked of addr2line (binutils). */
#ifndef HX_CRASH_PLACES_H
#define HX_CRASH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "maps.h"

struct hx_place {
    const struct hx_map *map; /* NULL: nothing is mapped there */
    bool is_code;             /* in a file's executable part */
    uint64_t in_file;         /* hx_map_file_address(), of the instruction itself */
    char function[128];       /* "" = not known */
    char line[256];           /* "file:line", "" = not known */
};

/* Fills in place[n] for the instruction at address[0], and the calls before the return addresses address[1..n).  False: addr2line is
 * not there, and neither functions nor lines are known. */
bool hx_places_find(struct hx_place *place, const uint64_t *address, size_t n, const struct hx_maps *maps);

/* The file's name without its folder, "?" without one. */
const char *hx_place_file(const struct hx_place *p);

#endif
