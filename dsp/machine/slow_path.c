/* Notes slow paths by thread: a call is served by one, which says so itself. */
#include "slow_path.h"

#include "hexrig_slow_path.h"

static __thread unsigned taken;

void hx_slow_path(void)
{
    taken = 1;
}

unsigned hx_slow_path_taken(void)
{
    const unsigned was = taken;

    taken = 0;
    return was;
}
