/* The `control` node: changes a running rig.  One command per write:
 *
 *   filter +NAME:KEY=VALUE,...   adds a filter behind the others
 *   filter -NAME                 removes the last filter of that name (`count` and `cost` stay) */
#ifndef HX_CONTROL_H
#define HX_CONTROL_H

#include <stddef.h>

struct hx_driver;

/* Carries out text [n].  0 or negative errno with one line in why. */
int hx_control(struct hx_driver *d, const char *text, size_t n, char *why, size_t why_bytes);

#endif
