/* Division of work among HVX contexts: what both hand-overs have in common, see parallel.h. */
#include "parallel.h"

#include "AEEStdErr.h"
#include "qurt_hvx.h"

int hx_parallel(unsigned parts, hx_part_body *body, void *arg, struct hx_parallel_time *time,
                const struct hx_handover *how)
{
    if (parts < 1 || parts > how->parts_max)
        return AEE_EBADPARM;
    return how->run(parts, body, arg, time);
}

unsigned hx_parallel_parts(size_t units, size_t least)
{
    const unsigned contexts = (unsigned)qurt_hvx_get_units() >> 8;
    size_t parts = units / least;

    parts = parts < contexts ? parts : contexts;
    parts = parts < HX_PARTS_MAX ? parts : HX_PARTS_MAX;
    return parts > 0 ? (unsigned)parts : 1;
}

void hx_parallel_stop(const struct hx_handover *how)
{
    how->stop();
}
