/* A rig's status, printed for people and for machines from the same text. */
#ifndef HX_STATUS_TEXT_H
#define HX_STATUS_TEXT_H

#include <stddef.h>

/* Prints the `status` node of the rig at `mount` (NULL = default) as key=value lines or as one JSON object.  0 or negative
 * errno with a reason in `why`. */
int hx_print_status(const char *mount, int json, char *why, size_t why_bytes);

#endif
