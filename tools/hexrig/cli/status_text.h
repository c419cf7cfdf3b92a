/* A rig's status, printed for people and for machines from the same text. */
#ifndef HX_STATUS_TEXT_H
#define HX_STATUS_TEXT_H

/* Prints the `status` node of the rig at `mount` (NULL = default) as key=value lines or as one JSON object.
 * Returns an enum hx_exit; a reason goes to stderr in the name of `cmd`. */
int hx_print_status(const char *cmd, const char *mount, int json);

#endif
