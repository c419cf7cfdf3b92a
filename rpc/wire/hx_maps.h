/* Which part of which file a process sees at an address: asked of the kernel, because a client may have mapped something else there
 * since it was last seen. */
#ifndef HX_MAPS_H
#define HX_MAPS_H

#include <stdint.h>

/* The list of mappings of a process, /proc/PID/maps: `path` is opened.  A descriptor, owned by the caller, or negative errno. */
int hx_maps_open(const char *path);

/* Offset, in the file with this inode, of what lies at `addr`, by a descriptor of hx_maps_open().  0; -ENOENT: another file, or nothing,
 * is mapped there; another negative errno: it cannot be told. */
int hx_maps_locate(int maps, uint64_t inode, uint64_t addr, uint64_t *offset);

#endif
