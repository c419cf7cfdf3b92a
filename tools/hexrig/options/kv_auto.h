/* The cache of a model that may have no calibration: what `--kv auto` means, and what saying nothing means. */
#ifndef HX_KV_AUTO_H
#define HX_KV_AUTO_H

#include "engine_opts.h"

/* Settles the cache of a plan that is not resolved yet, where it was left open and by default would need a calibration:
 *   the model has one                             the default, spinor
 *   it has none, and blocks were asked for        spinor, calibrated on the shipped text (--density, --basis, --offload kv, ...)
 *   it has none                                   f32
 * What is not the same as without a choice is said on stderr and kept in o->kv_why.  Only for commands with HX_PLAN_KV_AUTO;
 * o->model, o->share and o->default_model are set.  A model that cannot be read is left to whoever opens it.  0, -EINVAL, -ENOMEM. */
int hx_kv_auto(struct hx_engine_opts *o, struct hx_error *err);

#endif
