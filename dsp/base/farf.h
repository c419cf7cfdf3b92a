/* Loading the PD's mask for run-time FARF messages from a file, as devices do. */
#ifndef HX_FARF_H
#define HX_FARF_H

/* Looks for PROGRAM.farf in the folders of path[] (colons or semicolons between them) and takes the mask of the first that is
 * there.  0, -ENOENT, or -EINVAL with a line in the log: it is not of the form `0xMASK [file,file...]`. */
int hx_farf_load(const char *path, const char *program);

#endif
