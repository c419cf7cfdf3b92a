/* 32-bit handles (remote_handle_open). */
#ifndef HX_HANDLE32_H
#define HX_HANDLE32_H

#include "remote.h"

/* 0: not open. */
remote_handle64 hx_handle64_of(remote_handle h);

#endif
