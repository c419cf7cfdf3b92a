/* Contexts: groups of sessions that stay up together (FASTRPC_CONTEXT_CREATE).  Thread-safe; AEE codes. */
#ifndef HX_CONTEXT_TABLE_H
#define HX_CONTEXT_TABLE_H

#include "hx_session.h"
#include "remote.h"

int hx_context_create(struct fastrpc_context_create *c);
int hx_context_destroy(const struct fastrpc_context_destroy *d);

/* Effective domain ids of context `id`, in the order in which they were given: domains[HX_SESSIONS].  AEE_EBADPARM: there is
 * no such context. */
int hx_context_domains(uint64_t id, int *domains, unsigned *n);

#endif
