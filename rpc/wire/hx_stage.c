/* Whoever defines hx_stage(), or nobody.  In an object of its own, because the DSP's are linked at a fixed address: only
 * position-independent code can ask the loader for a function that may not be there. */
#include "hx_stage.h"

__attribute__((weak, visibility("default"))) void hx_stage(const char *name);

void hx_stage_at(const char *name)
{
    if (hx_stage)
        hx_stage(name);
}
