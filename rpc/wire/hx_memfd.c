/* Making memory that is passed on by its descriptor. */
#include "hx_memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int hx_memfd_make(const char *name, uint64_t bytes, unsigned flags)
{
    int fd = memfd_create(name, flags | MFD_ALLOW_SEALING), rc = 0;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        rc = -errno;
    if (rc)
        close(fd);
    return rc ? rc : fd;
}
