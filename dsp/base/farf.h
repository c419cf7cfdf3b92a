/* Loading the PD's mask for run-time FARF messages from a file, as devices do; who else gets the messages. */
#ifndef HX_FARF_H
#define HX_FARF_H

/* Looks for PROGRAM.farf in the folders of path[] (colons or semicolons between them) and takes the mask of the first that is
 * there.  0, -ENOENT, or -EINVAL with a line in the log: it is not of the form `0xMASK [file,file...]`. */
int hx_farf_load(const char *path, const char *program);

/* Who else gets the PD's messages, at any time and under any lock: those that are compiled in, or that the mask lets pass, whatever
 * HEXRIG_FARF says.  level: HAP_LEVEL_* of the published headers, where ALWAYS is HIGH; file without folders. */
typedef void hx_farf_taker(unsigned level, const char *file, int line, const char *text);
void hx_farf_also_to(hx_farf_taker *taker);

#endif
