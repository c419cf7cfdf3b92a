/* The user PDs of this process: up to 4 sessions on the CDSP.  One session = one open file of the driver, made by its first
 * open handle and ended with the last one.  Thread-safe.  Functions that return int give AEE codes unless they say
 * otherwise. */
#ifndef HX_SESSION_H
#define HX_SESSION_H

#include <stdint.h>

#include "fastrpc_uapi.h"
#include "hx_transport.h"
#include "remote.h"

#define HX_SESSIONS 4u /* per domain */
#define HX_DOMAINS 8u  /* effective domain id = domain + HX_DOMAINS * session */

struct hx_client_session;

/* Session number of an effective domain id; -1 is session 0.  AEE_EBADDOMAIN: a domain that the rig does not have;
 * AEE_EBADPARM: not an effective domain id. */
int hx_domain_session(int domain, unsigned *index);
int hx_session_domain(unsigned index);

/* Session `index` (0..3), created if there is none; the caller holds a reference until hx_session_put(). */
int hx_session_get_new(unsigned index, struct hx_client_session **out);

/* The session that exists, referenced; NULL when there is none. */
struct hx_client_session *hx_session_get(unsigned index);

/* The session that h belongs to, referenced, and the DSP's own handle; NULL when h is not open. */
struct hx_client_session *hx_session_get_handle(uint64_t h, uint32_t *dsp_handle);

/* Gives a reference back; with the last one (open handles count) the file is closed.  Accepts NULL. */
void hx_session_put(struct hx_client_session *s);

/* Records an open handle; *h is what the client sees.  AEE_ENOMEMORY; AEE_ECONNRESET: the session was ended meanwhile. */
int hx_session_add_handle(struct hx_client_session *s, uint32_t dsp_handle, uint64_t *h);

/* Forgets it again. */
void hx_session_del_handle(struct hx_client_session *s, uint32_t dsp_handle);

/* Any one handle that is open, for closing.  0: there is none. */
uint64_t hx_session_any_handle(unsigned index);

/* A driver call.  Result as the kernel sees it (hx_aee.h).  If it shows that the PD or the DSP died, those who
 * registered for that are notified (hx_notify.h). */
int hx_session_ioctl(struct hx_client_session *s, unsigned long cmd, void *arg);

/* Number that tells this session from earlier ones. */
uint32_t hx_session_generation(const struct hx_client_session *s);
unsigned hx_session_index(const struct hx_client_session *s);
uint32_t hx_session_generation_of(uint64_t handle);

/* Whether the session's next user PD is unsigned. */
void hx_session_set_unsigned(unsigned index, int enable);
int hx_session_is_unsigned(unsigned index);

/* What the session's next PD is, until it has ended: name: of a static PD; lives on. */
enum hx_pd_kind { HX_PD_OF_USER, HX_PD_OF_ROOT, HX_PD_OF_SENSORS, HX_PD_STATIC };
void hx_session_set_pd(unsigned index, enum hx_pd_kind kind, const char *name);
enum hx_pd_kind hx_session_pd(unsigned index, const char **name);

/* Thread parameters for the session's next PD; -1: default. */
void hx_session_set_threads(unsigned index, int prio, int stack_bytes);

/* Reserves a session above 0 that is neither reserved nor open; its number, or 0 when none is free.  The reservation ends with
 * the session, when it cannot be opened, or with hx_session_drop(). */
unsigned hx_session_reserve(void);

/* Closes every handle, then the session, and ends its reservation.  Waits for the skels' close functions as long as the PD runs; one that
 * has been stopped is closed without them, some seconds later. */
void hx_session_end(unsigned index);

/* Closes the session, whatever is still open in it, and ends its reservation. */
void hx_session_drop(unsigned index);

/* The session's PD has ended so: who registered is notified, the first time only.  Returns whether that was now. */
int hx_session_died(struct hx_client_session *s, remote_rpc_status_flags_t status);

/* remote_set_mode().  Between begin and end (which gets begin's result) at most one call runs in serial mode. */
void hx_session_set_serial(int serial);
int hx_session_serial_begin(void);
void hx_session_serial_end(int on);

/* --- between session_open.c and session.c */

/* A session whose PD is up at the other end of t, which it owns from now on.  The caller holds the only reference; nobody else
 * finds it before hx_session_publish().  NULL: out of memory (t is still the caller's). */
struct hx_client_session *hx_session_new(unsigned index, struct hx_transport *t);
void hx_session_publish(struct hx_client_session *s);
void hx_session_set_reserved(unsigned index, int reserved);

/* What hx_session_set_threads() got: params = priority, bytes of stack.  0: it was not called. */
int hx_session_threads(unsigned index, int32_t params[2]);

/* --- a thread that works for the session: its listener (rpc/listen) */

/* stop() sees to it that done(s) is called once the thread uses the session no more: at once, or by the thread itself. */
struct hx_session_helper {
    void (*stop)(struct hx_session_helper *h, void (*done)(struct hx_client_session *s));
};

/* Whether the caller shall make the session's helper, which nobody else does until hx_session_set_helper(): 0, it has one.  Waits for
 * who is making it. */
int hx_session_may_help(struct hx_client_session *s);

/* Keeps the helper, which is stopped before the session is closed.  NULL: it could not be made. */
void hx_session_set_helper(struct hx_client_session *s, struct hx_session_helper *h);

/* The process ends: helpers are left where they are. */
void hx_session_at_exit(void);

/* --- calls (invoke.c) */

/* Calls a method of the DSP's own handle (static handles too). */
int hx_invoke(struct hx_client_session *s, uint32_t dsp_handle, uint32_t sc, const remote_arg *pra);

/* --- maps (mmap.c) */

/* fastrpc_mmap() and fastrpc_munmap() in this very session, which need not be published yet, or any more: its slot may have another. */
int hx_mmap_in(struct hx_client_session *s, const struct fastrpc_mem_map *want, uint64_t *vaddrout);
int hx_munmap_in(struct hx_client_session *s, int fd);

/* Undoes fastrpc_mmap() of this descriptor, if any, before it is closed. */
void hx_mmap_forget(int fd);

#endif
