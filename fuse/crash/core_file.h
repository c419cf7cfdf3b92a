/* A core file of a PD that crashed: its sandbox keeps the kernel from writing one where the kernel would, so it is written here. */
#ifndef HX_CRASH_CORE_FILE_H
#define HX_CRASH_CORE_FILE_H

#include "brief.h"
#include "maps.h"

/* Writes one where the PD's limit (ulimit -c of whoever started the rig) asks for it and /proc/sys/kernel/core_pattern names a file:
 * there, as the kernel would, with the thread that crashed, its registers, all private and writable memory, and of what is shared
 * the pages that the PD has touched, up to 8 GiB and for 10 s; and prints a line that names it, or says why there is none.
 * Patterns that pipe are left to the kernel, which does that itself. */
void hx_core_write(const struct hx_crash_brief *b, const struct hx_maps *maps);

#endif
