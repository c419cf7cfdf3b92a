/* 32-bit handles (remote_handle_open). */
#ifndef HX_HANDLE32_H
#define HX_HANDLE32_H

#include "remote.h"

/* 0: not open. */
remote_handle64 hx_handle64_of(remote_handle h);

/* remote_handle64_open() of a name that need not say its domain: the CDSP (remote.c). */
int hx_handle_open(const char *uri, remote_handle64 *h);

#endif
