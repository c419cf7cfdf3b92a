/* remote_system_request(): the DSPs that there are, in the layout that the caller was compiled with.
 *
 * Both functions have that name, told apart by the version of the symbol (libcdsprpc.map): the loader gives the first version to programs
 * that were linked without one, the last to all others.  They are no part of test programs, which have no versions. */
#include "hx_export.h"

#include <stdlib.h>
#include <string.h>

/* fastrpc_domain as it was before it had an instance_id. */
struct older_domain {
    int id;
    char name[MAX_DOMAIN_NAMELEN];
    fastrpc_domain_type type;
    int status;
    uint32_t card;
    uint32_t soc_id;
};

_Static_assert(sizeof(struct older_domain) == 52, "published layout");
_Static_assert(sizeof(fastrpc_domain) == 96, "published layout");

enum { COMMON_BYTES = sizeof(struct older_domain) }; /* what both layouts have room for */

/* Bytes of the caller's elements. */
static size_t element_bytes(size_t linked_with)
{
    const char *said = getenv("HEXRIG_DOMAIN_BYTES");
    const size_t bytes = said ? strtoul(said, NULL, 10) : linked_with;

    return bytes == sizeof(struct older_domain) || bytes == sizeof(fastrpc_domain) ? bytes : linked_with;
}

static void put_cdsp(void *element, size_t bytes)
{
    const struct older_domain older = {.id = CDSP_DOMAIN_ID, .name = CDSP_DOMAIN_NAME, .type = NSP, .status = 1};
    const fastrpc_domain newer = {.id = CDSP_DOMAIN_ID, .name = CDSP_DOMAIN_NAME, .type = NSP, .status = 1};

    memcpy(element, bytes == sizeof(older) ? (const void *)&older : &newer, COMMON_BYTES);
}

static int request(system_req_payload *req, size_t linked_with)
{
    fastrpc_domain_type type;

    if (!req)
        return AEE_EBADPARM;
    if (req->id != FASTRPC_GET_DOMAINS)
        return AEE_EUNSUPPORTED;
    type = req->sys.flags & ((1u << DOMAINS_LIST_FLAGS_TYPE_POS) - 1);
    req->sys.num_domains = type == ALL_DOMAINS || type == NSP;
    if (req->sys.domains && req->sys.max_domains >= 1 && req->sys.num_domains)
        put_cdsp(req->sys.domains, element_bytes(linked_with));
    return AEE_SUCCESS;
}

#define HX_VERSIONED(function, symbol) __asm__(".symver " #function "," symbol ",remove")

__attribute__((visibility("default"))) int hx_system_request_older(system_req_payload *req);
HX_VERSIONED(hx_system_request_older, "remote_system_request@HEXRIG_1");
int hx_system_request_older(system_req_payload *req)
{
    return request(req, sizeof(struct older_domain));
}

__attribute__((visibility("default"))) int hx_system_request(system_req_payload *req);
HX_VERSIONED(hx_system_request, "remote_system_request@@HEXRIG_2");
int hx_system_request(system_req_payload *req)
{
    return request(req, sizeof(fastrpc_domain));
}
