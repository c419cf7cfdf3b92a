/* Skels loaded into this PD: URI -> shared library -> handle.  Thread-safe. */
#ifndef HX_DSP_MODULE_H
#define HX_DSP_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "remote.h"

typedef int (*hx_skel_handle_invoke)(remote_handle64 h, uint32_t sc, remote_arg *pra);
typedef int (*hx_skel_invoke)(uint32_t sc, remote_arg *pra);

/* Where skels are looked for: colon- or semicolon-separated folders, searched in order. */
void hx_module_set_path(const char *path);

/* The same, until the next call. */
const char *hx_module_path(void);

/* Loads the library that `uri` names and opens its interface.  A bare NAME is libNAME_skel.so with NAME_skel_invoke, an
 * interface without handles.  A URI's symbol is NAME_skel_handle_invoke or NAME_skel_invoke, of any NAME, and a function of that
 * very library, not of what it is linked with.  AEE_SUCCESS and *handle (above the static handles, not a
 * number that was closed lately), or a DSP code with one line in why[why_bytes]. */
int hx_module_open(const char *uri, uint32_t *handle, char *why, size_t why_bytes);

/* Closes a handle.  AEE_DSP(AEE_EINVHANDLE) when there is none. */
int hx_module_close(uint32_t handle);

/* Calls a method of an open handle, and before that says in *interface which interface it is of (interfaces.h).  Returns what
 * the skel returns, or AEE_DSP(AEE_EINVHANDLE). */
int hx_module_invoke(uint32_t handle, uint32_t sc, remote_arg *pra, uint16_t *interface);

/* Splits file:///libX_skel.so?symbol&... into library and symbol names.  0, or -1 when it is not of that form or the
 * library name holds a slash. */
int hx_module_parse_uri(const char *uri, char *lib, size_t lib_bytes, char *symbol,
                        size_t symbol_bytes);

#endif
