/* Programs whose clocks a test moves while they run. */
#include "moved_clocks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hxt.h"

struct hxt_clock *moved_clocks_begin(void)
{
    const char *path = hxt_path("%s/clock.state", hxt_tmpdir());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *p = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct hxt_clock)) == 0)
        p = mmap(NULL, sizeof(struct hxt_clock), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return NULL;
    setenv(HXT_CLOCK_STATE, path, 1);
    setenv("LD_PRELOAD", HXT_BUILD "/tests/libhxt_clock.so", 1);
    return p;
}

void moved_clocks_end(void)
{
    unsetenv("LD_PRELOAD");
}
