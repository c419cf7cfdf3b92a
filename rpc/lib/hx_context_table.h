/* Contexts: groups of sessions that stay up together (FASTRPC_CONTEXT_CREATE).  Thread-safe; AEE codes. */
#ifndef HX_CONTEXT_TABLE_H
#define HX_CONTEXT_TABLE_H

#include "remote.h"

int hx_context_create(struct fastrpc_context_create *c);
int hx_context_destroy(const struct fastrpc_context_destroy *d);

#endif
