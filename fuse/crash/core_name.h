/* Where the kernel would put a core file. */
#ifndef HX_CRASH_CORE_NAME_H
#define HX_CRASH_CORE_NAME_H

#include <stddef.h>

#include "brief.h"

/* The file that `pattern` (core(5)) means for this crash: as it is, relative to the PD's folder or not.  0; -ENOENT: it names none, or
 * pipes, which the kernel does by itself; -ENAMETOOLONG. */
int hx_core_name(const char *pattern, int uses_pid, const struct hx_crash_brief *b, char *name, size_t bytes);

#endif
