/* What all taps share: points and their names, and closing. */
#include "tap.h"

const char *const hx_tap_point_names[] = {"embedding", "after_attn", "after_ffn", "before_norm", "in_qkv", "q",
                                          "k",         "v",          "in_o",      "in_ffn",      "in_down", "in_out",
                                          NULL};

int hx_tap_in_layer(enum hx_tap_point point)
{
    return point != HX_TAP_EMBEDDING && point != HX_TAP_BEFORE_NORM && point != HX_TAP_IN_OUT;
}

int hx_tap_close(struct hx_tap *t, struct hx_error *err)
{
    return t ? t->ops->close(t, err) : 0;
}

void hx_tap_abandon(struct hx_tap *t)
{
    if (t && t->ops->abandon)
        t->ops->abandon(t);
    else
        hx_tap_close(t, NULL);
}
