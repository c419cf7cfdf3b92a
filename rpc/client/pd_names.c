/* attachguestos, createstaticpd, attachuserpd, geteventfd. */
#include "hx_pd_names.h"

#include <stdio.h>
#include <string.h>

#include "hx_session.h"
#include "listener.h"

/* The open library's numbers lie from 256 to 512; that of attachuserpd is ours, it sets none. */
enum { PD_HANDLES = 0xff, PD_HANDLES_END = 0x200 };
enum { OISPD = 256, AUDIOPD, SENSORPD, ATTACHGUESTOS, ROOTPD, SECUREPD, ATTACHUSERPD };

static const struct {
    const char *name;
    enum hx_pd_kind kind;
    unsigned handle;
} pds[] = {
    {"attachguestos", HX_PD_OF_ROOT, ATTACHGUESTOS},
    {"attachuserpd", HX_PD_OF_USER, ATTACHUSERPD},
    {"createstaticpd:audiopd", HX_PD_STATIC, AUDIOPD},
    {"createstaticpd:oispd", HX_PD_STATIC, OISPD},
    {"createstaticpd:sensorspd", HX_PD_OF_SENSORS, SENSORPD},
    {"createstaticpd:rootpd", HX_PD_OF_ROOT, ROOTPD},
    {"createstaticpd:securepd", HX_PD_OF_ROOT, SECUREPD},
};

int hx_is_pd_name(const char *name)
{
    return strncmp(name, ITRANSPORT_PREFIX, sizeof(ITRANSPORT_PREFIX) - 1) == 0;
}

int hx_is_pd_handle(uint64_t h)
{
    return h > PD_HANDLES && h <= PD_HANDLES_END;
}

/* The name ends with the string, or at its first key. */
static int is(const char *name, const char *want)
{
    const size_t n = strlen(want);

    return strncmp(name, want, n) == 0 && (name[n] == '\0' || name[n] == '&');
}

static int event_fd(unsigned index, remote_handle64 *h)
{
    struct hx_client_session *s = hx_session_get(index);
    int fd = -1, rc = s ? hx_listener_start(s) : AEE_ERESOURCENOTFOUND;

    hx_session_put(s);
    if (!rc)
        rc = hx_listener_eventfd(index, &fd);
    if (!rc)
        *h = (remote_handle64)fd;
    return rc;
}

int hx_pd_name_open(const char *name, unsigned index, remote_handle64 *h)
{
    name += sizeof(ITRANSPORT_PREFIX) - 1;
    if (is(name, "geteventfd"))
        return event_fd(index, h);
    for (size_t i = 0; i < sizeof(pds) / sizeof(pds[0]); i++)
        if (is(name, pds[i].name)) {
            const char *colon = strchr(pds[i].name, ':');

            hx_session_set_pd(index, pds[i].kind, colon ? colon + 1 : "");
            *h = pds[i].handle;
            return AEE_SUCCESS;
        }
    return AEE_EBADPARM;
}
