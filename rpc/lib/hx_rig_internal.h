/* What the rig files of the library share. */
#ifndef HX_RIG_INTERNAL_H
#define HX_RIG_INTERNAL_H

#include <stddef.h>
#include <sys/types.h>

#include "hx_rig.h"

#define HX_PATH_BYTES 1024
#define HX_NODE "fastrpc-cdsp"
#define HX_NAME_BYTES 256
#define HX_RIG_START_MS 10000 /* until a started rig serves */
#define HX_RIG_END_MS 10000   /* until a rig that was told to end is gone */

/* A rig process that this process started. */
struct hx_rig_proc {
    pid_t pid;
    int pidfd;    /* -1: none */
    int lifeline; /* the rig ends when every copy of this is closed; -1: none */
    char front_end[HX_NAME_BYTES];
    char profile[HX_NAME_BYTES];
};

struct hx_spawn_opts {
    const char *dir;  /* where its nodes appear; exists */
    int remove_dir;   /* the rig removes dir when it ends */
    int lifeline;     /* 1: ends with this process */
    int log_fd;       /* its stderr; -1: ours */
    const char *log;  /* file for --log, or NULL */
};

/* rig_spawn.c: starts hexrig-fuse and waits until it serves.  Returns 0 or negative errno with a reason in why. */
int hx_rig_spawn(const struct hx_rig_cfg *cfg, const struct hx_spawn_opts *o,
                 struct hx_rig_proc *out, char *why, size_t why_bytes);

/* Waits until the process behind pidfd is gone.  Returns 0 or -ETIMEDOUT. */
int hx_rig_wait_end(int pidfd, int timeout_ms);

/* rig_paths.c */
void hx_rig_runtime_dir(char *dir, size_t bytes);   /* $XDG_RUNTIME_DIR when usable, else /tmp */
void hx_rig_default_mount(char *dir, size_t bytes); /* see hx_rig.h */
void hx_rig_log_path(char *path, size_t bytes);     /* log of background rigs */

/* Creates a 0700 directory of ours; *created tells whether it was missing.  A directory that belongs to somebody else
 * is -EPERM. */
int hx_rig_make_dir(const char *dir, int *created);

/* "dir/name"; -ENAMETOOLONG. */
int hx_rig_join(char *path, size_t bytes, const char *dir, const char *name);

/* Kind of a node: "fuse", "socket", "cuse"; NULL and errno when it is not there. */
const char *hx_rig_node_kind(const char *node);

/* Text node beside a device node, whatever its kind.  -ENOENT: no rig; other errors: it does not answer. */
int hx_rig_read_node(const char *node, const char *name, char **text);

/* Value of `key=` in key=value lines, "" when missing.  Returns buf. */
char *hx_rig_value(const char *text, const char *key, char *buf, size_t bytes);

/* rig.c: path of this process's fastrpc-cdsp node, connecting if needed (a failure is also said on stderr). */
int hx_rig_node(char *node, size_t bytes);

/* Directory of the connected rig; -ENOTCONN. */
int hx_rig_connected_node(char *node, size_t bytes);

/* Writes a reason, always terminated; why may be NULL.  Returns rc. */
int hx_rig_why(int rc, char *why, size_t why_bytes, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
