/* One request: unpacks its arguments and calls the method.  Static handles are the framework's own services. */
#ifndef HX_DSP_INVOKE_H
#define HX_DSP_INVOKE_H

#include "channel.h"
#include "remote.h"

/* A service behind a static handle.  Returns a DSP code. */
typedef int (*hx_service)(uint32_t sc, remote_arg *pra);

struct hx_static_service {
    uint32_t handle;
    hx_service serve;
};

/* Serves `msg` and fills `reply`.  services: [n_services], borrowed; any other handle goes to the modules. */
void hx_invoke_serve(struct hx_dsp_channel *c, const struct hx_msg *msg, struct hx_reply *reply,
                     const struct hx_static_service *services, size_t n_services);

#endif
