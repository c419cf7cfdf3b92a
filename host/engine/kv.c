/* What all KV back ends share, see kv.h. */
#include "kv.h"

void hx_kv_close(struct hx_kv *kv)
{
    if (kv)
        kv->ops->close(kv);
}
