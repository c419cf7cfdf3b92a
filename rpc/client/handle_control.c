/* remote_handle64_control(): a handle's latency, the DSP's capabilities, and other questions about one handle. */
#include "hx_export.h"

#include <sys/stat.h>

#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_rig_internal.h"
#include "hx_session.h"

enum {
    POLL_US_MAX = 10000,      /* expected run times of RPC_POLL_QOS are shorter */
    KERNEL_ATTRIBUTES = 256,  /* from here on attributes of the driver, of which a stock kernel has none */
    ATTRIBUTES_MAX = 260,
};

static int control_latency(const struct remote_rpc_control_latency *l)
{
    switch (l->enable) {
    case RPC_DISABLE_QOS:
    case RPC_PM_QOS:
    case RPC_ADAPTIVE_QOS:
        return AEE_SUCCESS;
    case RPC_POLL_QOS:
        return l->latency < POLL_US_MAX ? AEE_SUCCESS : AEE_EBADPARM;
    default:
        return AEE_EBADPARM;
    }
}

/* Whether there is a node.  Looks for a rig and, when none runs, starts the private one that the first call would start. */
static uint32_t domain_present(void)
{
    char node[HX_PATH_BYTES];
    struct stat st;

    return hx_rig_node(node, sizeof(node)) == 0 && stat(node, &st) == 0;
}

/* Through the session's file when there is one, else through a new one: no PD is needed. */
static int ask_driver(unsigned index, struct fastrpc_ioctl_capability *c)
{
    struct hx_client_session *s = hx_session_get(index);
    char node[HX_PATH_BYTES];
    struct hx_transport *t;
    int rc;

    if (s) {
        rc = hx_aee_from_result(hx_session_ioctl(s, FASTRPC_IOCTL_GET_DSP_INFO, c));
        hx_session_put(s);
        return rc;
    }
    rc = hx_rig_node(node, sizeof(node));
    if (rc == 0)
        rc = hx_transport_open(node, &t);
    if (rc)
        return hx_aee_from_result(rc);
    rc = hx_aee_from_result(t->ops->ioctl(t, FASTRPC_IOCTL_GET_DSP_INFO, c));
    t->ops->close(t);
    return rc;
}

static int get_dsp_info(struct remote_dsp_capability *cap)
{
    struct fastrpc_ioctl_capability c = {.domain = CDSP_DOMAIN_ID,
                                         .attribute_id = cap->attribute_ID};
    unsigned index;
    int rc = hx_domain_session((int)cap->domain, &index);

    if (cap->domain > INT32_MAX || rc == AEE_EBADPARM || cap->attribute_ID >= ATTRIBUTES_MAX)
        return AEE_EBADPARM;
    cap->capability = 0;
    if (cap->attribute_ID == DOMAIN_SUPPORT) {
        cap->capability = rc == AEE_SUCCESS && domain_present();
        return AEE_SUCCESS;
    }
    if (rc)
        return rc;
    switch (cap->attribute_ID) {
    case ASYNC_FASTRPC_SUPPORT: /* these two are up to this library */
    case STATUS_NOTIFICATION_SUPPORT:
        cap->capability = 1;
        return AEE_SUCCESS;
    default:
        if (cap->attribute_ID >= KERNEL_ATTRIBUTES)
            return AEE_SUCCESS;
    }
    rc = ask_driver(index, &c);
    if (rc == AEE_SUCCESS)
        cap->capability = c.capability;
    return rc;
}

static int control(int domain, uint32_t req, void *data, uint32_t len)
{
    static const uint32_t size[] = {
        [DSPRPC_CONTROL_LATENCY] = sizeof(struct remote_rpc_control_latency),
        [DSPRPC_GET_DSP_INFO] = 0, /* the open library does not check the length here */
        [DSPRPC_CONTROL_WAKELOCK] = sizeof(struct remote_rpc_control_wakelock),
        [DSPRPC_GET_DOMAIN] = sizeof(struct remote_rpc_get_domain),
    };

    if (req == DSPRPC_RESERVED || req >= sizeof(size) / sizeof(size[0]))
        return AEE_EUNSUPPORTED;
    if (!data || (size[req] && len != size[req]))
        return AEE_EBADPARM;
    switch (req) {
    case DSPRPC_CONTROL_LATENCY:
        return control_latency(data);
    case DSPRPC_GET_DSP_INFO:
        return get_dsp_info(data);
    case DSPRPC_GET_DOMAIN:
        ((struct remote_rpc_get_domain *)data)->domain = domain;
        return AEE_SUCCESS;
    default: /* wakelock: a rig's host does not sleep while it works */
        return AEE_SUCCESS;
    }
}

int remote_handle_control(uint32_t req, void *data, uint32_t datalen)
{
    return control(CDSP_DOMAIN_ID, req, data, datalen);
}

int remote_handle64_control(remote_handle64 h, uint32_t req, void *data, uint32_t datalen)
{
    uint32_t dsp_handle;
    struct hx_client_session *s = hx_session_get_handle(h, &dsp_handle);
    int domain;

    if (!s)
        return AEE_EINVHANDLE;
    domain = hx_session_domain(hx_session_index(s));
    hx_session_put(s);
    return control(domain, req, data, datalen);
}
