/* The DSPs by name (published name of the SDK's examples): what a client looks a domain id up in.  A rig has the CDSP alone; the others
 * are listed, as there, and answer AEE_EBADDOMAIN. */
#ifndef DOMAIN_H
#define DOMAIN_H

#include <stdbool.h>

#include "remote.h"

/* An entry; C++ code and older C code call the type by this name. */
typedef struct domain domain;

/* In the order of their ids.  Everybody who includes this has a table of his own, which he may change. */
static domain supported_domains[] __attribute__((unused)) = {
    {ADSP_DOMAIN_ID, ADSP_DOMAIN},
    {MDSP_DOMAIN_ID, MDSP_DOMAIN},
    {SDSP_DOMAIN_ID, SDSP_DOMAIN},
    {CDSP_DOMAIN_ID, CDSP_DOMAIN},
    {CDSP1_DOMAIN_ID, CDSP1_DOMAIN},
};

/* true: a CDSP's id, without a session. */
static inline bool is_CDSP(int domain_id)
{
    return domain_id == CDSP_DOMAIN_ID || domain_id == CDSP1_DOMAIN_ID;
}

#endif
