/* Rigs, as a client sees them: finding one, starting one, asking it for figures.  hexrig's own addition to
 * libcdsprpc.so; a program that only uses remote.h never needs this.
 *
 * The rig of a process is looked up on the first use, in this order: HEXRIG_DEVICE (path of a fastrpc-cdsp node), the
 * default mount ($XDG_RUNTIME_DIR/hexrig or /tmp/hexrig-UID), /dev/fastrpc-cdsp, else a private rig is started in its own
 * mkdtemp directory; it ends with this process, however that ends.  A node is a file (FUSE), a character device (CUSE)
 * or a socket: the library looks and connects accordingly. */
#ifndef HX_RIG_H
#define HX_RIG_H

#include <stddef.h>
#include <sys/types.h>

#include "hx_session_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to start a rig.  Strings are borrowed until the call returns; NULL = default. */
struct hx_rig_cfg {
    const char *mount;          /* directory; NULL = the default mount (hx_rig_up), mkdtemp (private) */
    const char *front_end;      /* "auto" (default), "fuse", "socket", "cuse" */
    const char *profile;        /* name in the profiles folder, or a path; default "s22u-577" */
    const char *const *filters; /* [n_filters] "name:key=value,..." */
    size_t n_filters;
    const char *mode;  /* octal, of the device nodes; NULL: "0660" when owner is given, else for the rig's owner */
    const char *owner; /* of the device nodes, in numbers: "UID", "UID:GID", ":GID"; NULL = the user who starts the rig */
    int force_private; /* 1: hx_rig_configure() ignores rigs that already run */
    int strict_pd;     /* 1: skels are opened in unsigned PDs only; elsewhere EPERM (AEE_EBADPERMS) */
};

/* Sets how this process's rig is found or started.  Call before the first use of the DSP; AEE-free: returns 0, -EBUSY
 * (already connected), -ENOMEM. */
int hx_rig_configure(const struct hx_rig_cfg *cfg);

/* Connects (finding or starting a rig) if that has not happened.  Returns 0 or negative errno; when it fails and
 * `why` is given, a one-line reason is stored there (why_bytes long, always terminated).  A program that calls this
 * reports to its user itself: the library then does not print on stderr why a session could not be made. */
int hx_rig_connect(char *why, size_t why_bytes);

/* Starts a background rig at cfg->mount and returns once it serves.  *pid gets its process id.  Errors as above; -EINVAL: the
 * rig refused a value of cfg. */
int hx_rig_up(const struct hx_rig_cfg *cfg, pid_t *pid, char *why, size_t why_bytes);

/* Ends the rig at `mount` (NULL = default) and waits until nothing of it is left.  -ENOENT: none runs there. */
int hx_rig_down(const char *mount, char *why, size_t why_bytes);

/* Reads a text node (`status`, `stats`, `sessions`, `clock`, `thermal`, `vtcm`, `uncosted`, `methods`, `crashes`) of the rig at
 * `mount` (NULL = this process's rig when connected, else the default mount).  *text is malloc'ed and belongs to the caller. */
int hx_rig_read(const char *mount, const char *node, char **text);

/* The same with a one-line reason when it fails, as hx_rig_connect() has. */
int hx_rig_read_why(const char *mount, const char *node, char **text, char *why, size_t why_bytes);

/* Writes to a node (`control`: docs/filters.md) of the rig at `mount` (as above), whatever its front end.  -EACCES: not the
 * rig's owner; others: the rig refused the text, and `why` says why. */
int hx_rig_write(const char *mount, const char *node, const char *text, char *why, size_t why_bytes);

/* Figures of this process's session 0 on the CDSP, from the driver's own filters.  -ENOTCONN: no session is open. */
int hx_rig_session_stats(struct hx_session_stats *out);

/* From now on the calling thread's calls of session 0 run beside those of the process's other threads on the virtual clock, as those
 * of an independent caller; otherwise threads count as handing work to each other until their calls have really met.  Errors as above. */
int hx_rig_own_clock(void);

/* Of the connected rig: "fuse", "socket" or "cuse"; and its profile's name.  NULL before hx_rig_connect(). */
const char *hx_rig_front_end(void);
const char *hx_rig_profile(void);

/* Path of the connected rig's fastrpc-cdsp node.  NULL before hx_rig_connect(). */
const char *hx_rig_device(void);

/* Ends the connection and the private rig, if any.  Also done at exit. */
void hx_rig_disconnect(void);

#ifdef __cplusplus
}
#endif

#endif
