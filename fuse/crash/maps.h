/* The address map of a process, and where in a file an address of it comes from. */
#ifndef HX_CRASH_MAPS_H
#define HX_CRASH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hx_map {
    uint64_t start, end, offset;
    bool readable, writable, executable, shared;
    bool is_vdso; /* the kernel's own code: no page of it counts as the process's */
    const char *path; /* absolute, borrowed from the maps; NULL: of no file, or of one that is gone */
};

struct hx_maps { /* zeroed = empty */
    struct hx_map *at; /* [n], by address; owned */
    size_t n;
    char *text; /* that the paths lie in; owned */
};

/* Of process `pid`, as the kernel says.  0 or negative errno. */
int hx_maps_read(struct hx_maps *m, int pid);
void hx_maps_free(struct hx_maps *m);

/* The map that has the address, or NULL. */
const struct hx_map *hx_maps_find(const struct hx_maps *m, uint64_t address);

/* The address by which the map's file itself, as the linker left it, calls what lies at `address` now.  False: it is no ELF file of
 * 64 bits, or loads nothing there. */
bool hx_map_file_address(const struct hx_map *map, uint64_t address, uint64_t *in_file);

#endif
