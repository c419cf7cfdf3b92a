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
#define HX_RIG_AWAY_MS 2000  /* the nodes are away while the DSP restarts */
#define HX_RIG_END_MS 10000   /* until a rig that has to end is gone */

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

/* Creates a directory of ours that nobody else may enter; *created tells whether it was missing.  A directory that belongs to
 * somebody else is -EPERM, a link -ELOOP. */
int hx_rig_make_dir(const char *dir, int *created);

/* 1: a directory that hx_rig_make_dir() created, also by another process. */
int hx_rig_made_dir(const char *dir);

/* "dir/name"; -ENAMETOOLONG. */
int hx_rig_join(char *path, size_t bytes, const char *dir, const char *name);

/* The folder that `mount` (NULL = default) means, absolute, without slashes at the end. */
int hx_rig_mount_dir(const char *mount, char *dir, size_t bytes, char *why, size_t why_bytes);

/* rig_ask.c: the text node beside a device node, whatever its kind, within HX_NODE_LIMIT_S.  -ENOENT: no rig; other errors:
 * it does not answer.  *kind (may be NULL) gets "fuse", "socket", "cuse", or NULL when the node itself is not there:
 * with a text, the DSP is just being restarted. */
int hx_rig_ask(const char *node, const char *name, const char **kind, char **text);

/* 1: by this error, whoever served a rig has ended or is ending. */
int hx_rig_has_gone(int rc);

/* The same; while the process that serves the node's folder is just ending it is asked again, for up to HX_RIG_AWAY_MS.  -ENOTCONN: the
 * rig has died. */
int hx_rig_ask_settled(const char *node, const char *name, const char **kind, char **text);

/* The same for a status, waiting up to HX_RIG_AWAY_MS for a node that is away.  0: it is there. */
int hx_rig_wait_node(const char *node, const char **kind);

/* The command line of process `pid` (decimal), words ended by 0, if it is a `program` of ours or of root's; its bytes, -1: it is not. */
ssize_t hx_rig_program_args(const char *pid, const char *program, char *args, size_t bytes);

/* What is at dir: 0 and its status text, -ENOENT nothing, -ENOTCONN a rig that has died, -ETIMEDOUT one that
 * does not answer, else its error.  A rig that is not there any more, and whose process is just
 * ending, is waited for.  A mount that does not answer and has no process has died. */
int hx_rig_at(const char *dir, char **status);

/* Puts the reason of a failed hx_rig_at() into words.  Returns rc. */
int hx_rig_read_failed(int rc, const char *dir, char *why, size_t why_bytes);

/* rig_mount.c: the uppermost mount at a folder. */
struct hx_mount_info {
    int rig;   /* its kind is fuse.hexrig */
    int owned; /* the user who mounted it is known: */
    uid_t uid;
};

/* 0 or -ENOENT: nothing is mounted there. */
int hx_rig_find_mount(const char *dir, struct hx_mount_info *m);

/* 1: what is mounted there is a rig of this user's, whoever serves it. */
int hx_rig_is_own_mount(const char *dir);

/* rig_folder.c: 0 when the folder, and the rig that serves there, are this user's.  -EPERM, -ENOENT (no folder), other. */
int hx_rig_check_owner(const char *dir, char *why, size_t why_bytes);

/* Something is mounted there, dead or alive. */
int hx_rig_is_mount(const char *dir);

/* Removes what a killed rig left at dir: mounts of hexrig's without a server, the fusermount3 of each, sockets that nobody listens
 * to, also beside a mount.  0, or -ENOTCONN: something could not be removed. */
int hx_rig_clean_dead(const char *dir);

/* 1: a FUSE rig that was killed has left its sockets beside dir. */
int hx_rig_left_side_sockets(const char *dir);

/* Starting and ending a rig at dir, one process after the other: the lock file dir.lock, which is there only meanwhile.  Waits as
 * long as a rig takes to start.  0, or -EBUSY with a reason.  *lock: for hx_rig_unlock(), -1 where none can be made. */
int hx_rig_lock(const char *dir, int *lock, char *why, size_t why_bytes);
void hx_rig_unlock(const char *dir, int lock);

/* Makes dir (*created) ready for a rig and keeps others from starting one there until the returned descriptor is closed.
 * Refuses a mount point, a folder with something in it, a folder with a rig (-EALREADY). */
int hx_rig_claim(const char *dir, int *created, char *why, size_t why_bytes);

/* Value of `key=` in key=value lines, "" when missing.  Returns buf. */
char *hx_rig_value(const char *text, const char *key, char *buf, size_t bytes);

/* rig.c: path of this process's fastrpc-cdsp node, connecting if needed (a failure is also reported on stderr). */
int hx_rig_node(char *node, size_t bytes);

/* 1: the program has called hx_rig_connect(), and reports to its user itself what went wrong. */
int hx_rig_program_reports(void);

/* Directory of the connected rig; -ENOTCONN. */
int hx_rig_connected_node(char *node, size_t bytes);

/* Ends the connection and the private rig, if any; sessions have to be closed before. */
void hx_rig_leave(void);

/* Frees what hx_rig_configure() kept: for the library's end. */
void hx_rig_free_cfg(void);

/* Writes a reason, always terminated; why may be NULL.  Returns rc. */
int hx_rig_why(int rc, char *why, size_t why_bytes, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
