/* Names of DSPs. */
#include "hx_domain_name.h"

#include <string.h>

#include "remote.h"

int hx_domain_name(const char *name, size_t len)
{
    static const char *const others[] = {ADSP_DOMAIN_NAME,  MDSP_DOMAIN_NAME,  SDSP_DOMAIN_NAME,
                                         CDSP1_DOMAIN_NAME, GDSP0_DOMAIN_NAME, GDSP1_DOMAIN_NAME};

    if (!name || len == 0)
        return AEE_EBADPARM;
    if (len == strlen(CDSP_DOMAIN_NAME) && memcmp(name, CDSP_DOMAIN_NAME, len) == 0)
        return AEE_SUCCESS;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (len == strlen(others[i]) && memcmp(name, others[i], len) == 0)
            return AEE_EBADDOMAIN;
    return AEE_EBADPARM;
}
