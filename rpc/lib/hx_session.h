/* The user PD of this process: one session = one open file of the driver, made by the first open handle and ended
 * with the last one.  Thread-safe.  Functions that return int give AEE codes unless they say otherwise. */
#ifndef HX_SESSION_H
#define HX_SESSION_H

#include <stdint.h>

#include "hx_transport.h"

struct hx_session;

/* The session, made if there is none; the caller holds a reference until hx_session_put(). */
int hx_session_get_new(struct hx_session **out);

/* The session that exists, referenced; NULL when there is none. */
struct hx_session *hx_session_get(void);

/* The session that h belongs to, referenced, and the DSP's own handle; NULL when h is not open. */
struct hx_session *hx_session_get_handle(uint64_t h, uint32_t *dsp_handle);

/* Gives a reference back; with the last one (open handles count) the file is closed.  Accepts NULL. */
void hx_session_put(struct hx_session *s);

/* Records an open handle and returns what the client sees; 0 when memory is out. */
uint64_t hx_session_add_handle(struct hx_session *s, uint32_t dsp_handle);

/* Forgets it again. */
void hx_session_del_handle(struct hx_session *s, uint32_t dsp_handle);

/* A driver call.  Result as the kernel sees it (hx_error.h). */
int hx_session_ioctl(struct hx_session *s, unsigned long cmd, void *arg);

/* Number that tells this session from earlier ones. */
uint32_t hx_session_generation(const struct hx_session *s);

/* Whether the next user PD is unsigned.  AEE_EALREADY once the session exists. */
int hx_session_set_unsigned(int enable);

/* Closes the session whatever is still open (disconnecting). */
void hx_session_drop(void);

/* Undoes fastrpc_mmap() of this descriptor, if any, before it is closed. */
void hx_mmap_forget(int fd);

#endif
