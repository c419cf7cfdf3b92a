/* Names of DSPs, as URIs and session control have them. */
#ifndef HX_DOMAIN_NAME_H
#define HX_DOMAIN_NAME_H

#include <stddef.h>

/* Whether name[len] is the DSP that the rig has.  AEE_EBADDOMAIN: another, which is known, but not there; AEE_EBADPARM: NULL, or the name
 * of none. */
int hx_domain_name(const char *name, size_t len);

#endif
