/* What all attention methods share, see attn.h. */
#include "attn.h"

void hx_attn_close(struct hx_attn *a)
{
    if (a)
        a->ops->close(a);
}
