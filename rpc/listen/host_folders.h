/* The folders of the host that code on the DSP may see: those that the environment of this process has declared when the listener
 * started, and nothing else.
 *
 *   DSP_LIBRARY_PATH, or without it ADSP_LIBRARY_PATH   for reading; as on a phone, FOLDER/cdsp is looked into before FOLDER
 *   HEXRIG_HOST_FILES                                   for reading and writing, behind them
 *
 * each a list with ; or : between the folders, which are held open from then on: one that is made, renamed or replaced later, or another
 * current folder, changes nothing.  A name is relative to one of them, tried in their order, or absolute and beneath one.
 * It is resolved by the kernel beneath the open folder (openat2, RESOLVE_BENEATH): neither .. nor a link leads out.
 *
 * All functions return a descriptor or 0, else negative errno: -ENOENT, no folder has it; -EACCES, it is not beneath one, or is to be
 * written where only reading is allowed.  None waits for what it opens, a FIFO without a writer included. */
#ifndef HX_HOST_FOLDERS_H
#define HX_HOST_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hx_host_folders;

/* From the environment.  NULL: no memory.  hx_host_folders_free() accepts NULL. */
struct hx_host_folders *hx_host_folders_of_environment(void);
void hx_host_folders_free(struct hx_host_folders *f);

/* open().  O_CREAT, and any access but reading, want a folder for writing. */
int hx_host_folders_open(const struct hx_host_folders *f, const char *name, int flags);

/* What is to be changed: the open folder that holds it and, in *leaf, the rest of the name.  Wants a folder for writing. */
int hx_host_folders_parent(const struct hx_host_folders *f, const char *name, const char **leaf);

/* The value of a variable of the environment that declares folders; NULL: it does not, or is not there. */
const char *hx_host_folders_variable(const struct hx_host_folders *f, const char *name);

/* Path number i of those that are searched for names, whether it is there or not, in path[bytes].  0, or -ENOENT behind the last. */
int hx_host_folders_path(const struct hx_host_folders *f, size_t i, char *path, size_t bytes);

#endif
