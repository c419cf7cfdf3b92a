/* What all attention methods share, see attn.h. */
#include "attn.h"

#include <errno.h>

int hx_attn_softmax_int(struct hx_attn *a, struct hx_error *err)
{
    if (!a->can_softmax_int)
        return hx_error_set(err, -ENOTSUP, "attention '%s' has no softmax by integers", a->ops->name);
    a->softmax_int = 1;
    return 0;
}

void hx_attn_close(struct hx_attn *a)
{
    if (a)
        a->ops->close(a);
}
