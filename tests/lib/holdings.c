/* What a rig holds, see holdings.h. */
#include "holdings.h"

#include <dirent.h>
#include <stdlib.h>

#include "own_rig.h"

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    if (!d)
        return -1;
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static long rss_kib(pid_t pid)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/status", pid), NULL), *at = text ? strstr(text, "VmRSS:") : NULL;
    long kib = at ? atol(at + 6) : -1;

    free(text);
    return kib;
}

struct holdings holdings_now(void)
{
    const pid_t driver = own_rig_child.pid, dsp = own_rig_dsp();

    return (struct holdings){
        .driver_fds = entries(hxt_path("/proc/%d/fd", driver)),
        .dsp_fds = dsp ? entries(hxt_path("/proc/%d/fd", dsp)) : -1,
        .pds = dsp ? (int)hxt_children(dsp, NULL, 0) : 0,
        .driver_kib = rss_kib(driver),
        .dsp_kib = dsp ? rss_kib(dsp) : -1,
    };
}
