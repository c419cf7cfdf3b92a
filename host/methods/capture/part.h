/* The file that a capture is written to: FILE.part beside FILE, which it replaces when it is complete.
 *
 * Until then FILE is as it was, whatever happens.  A FILE that is something else than a capture, such as the model or the
 * text of the same run, is never replaced. */
#ifndef HX_CAPTURE_PART_H
#define HX_CAPTURE_PART_H

#include <stdio.h>

#include "base/error.h"

struct hx_capture_part {
    FILE *file;   /* to write to */
    char *target; /* FILE, behind its links */
    char *part;
};

/* Locked as long as it is open: engines of a server, or two processes, would write over each other.  path: FILE; what it has to
 * begin with unless it is empty: magic [n], n <= 16.
 * 0; -EBUSY: another engine writes it; -EEXIST: FILE, or FILE.part, is no such file; -EISDIR; -ENOMEM; negative errno. */
int hx_capture_part_open(struct hx_capture_part *p, const char *path, const void *magic, size_t n,
                         struct hx_error *err);

/* Writes what is buffered, puts the file in FILE's place and closes it.  0 or negative errno: FILE is as it was. */
int hx_capture_part_keep(struct hx_capture_part *p);

/* Closes and removes FILE.part. */
void hx_capture_part_drop(struct hx_capture_part *p);

#endif
