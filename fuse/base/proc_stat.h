/* The kernel's line about a process or a thread. */
#ifndef HX_PROC_STAT_H
#define HX_PROC_STAT_H

#include <stddef.h>

/* Reads a /proc/.../stat into text[n] and returns what follows the name, which may itself have spaces and parentheses: "S 1 ...",
 * the state and the numbers of proc(5) from field 4 on.  NULL: there is no such process or thread any more. */
const char *hx_proc_stat(const char *path, char *text, size_t n);

#endif
