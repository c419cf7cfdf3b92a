/* What reads a skel's file for a crash report must not become a way out of the sandbox: the file may be made to break its reader. */
#ifndef HX_CRASH_CONFINE_H
#define HX_CRASH_CONFINE_H

/* Confines the calling process, and what it executes from then on: it reads the file at `path` and the system's programs and
 * libraries, writes to what is open, and does nothing else to anybody: no file is made or changed, no process signalled or looked
 * into, no socket.  What the kernel does not offer is left out, as for PDs.  0 or negative errno, after which nothing hostile may be
 * read. */
int hx_confine_reader(const char *path);

#endif
