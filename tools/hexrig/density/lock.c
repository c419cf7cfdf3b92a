/* Locks of open file descriptions. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>

int hx_lock_take(int fd, off_t byte)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    if (fcntl(fd, F_OFD_SETLK, &l) == 0)
        return 0;
    return errno == EACCES ? -EAGAIN : -errno;
}

int hx_lock_is_held(int fd, off_t byte)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(fd, F_OFD_GETLK, &l) ? -errno : l.l_type != F_UNLCK;
}
