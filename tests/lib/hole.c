/* A page that nobody fills, see hole.h. */
#include "hole.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hxt.h"

int hole_try(struct hole *h)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register r = {.mode = UFFDIO_REGISTER_MODE_MISSING};

    h->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (h->uffd < 0)
        return -errno;
    h->page = mmap(NULL, HOLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r.range.start = (uintptr_t)h->page;
    r.range.len = HOLE_BYTES;
    if (h->page == MAP_FAILED || ioctl(h->uffd, UFFDIO_API, &api) || ioctl(h->uffd, UFFDIO_REGISTER, &r))
        return -errno;
    return 0;
}

struct hole hole_make(void)
{
    struct hole h;
    int rc = hole_try(&h);

    if (rc)
        hxt_skip_test("userfaultfd: %s", strerror(-rc));
    return h;
}

void hole_fill(struct hole *h)
{
    struct uffdio_zeropage z = {.range = {(uintptr_t)h->page, HOLE_BYTES}};

    assert_int_equal(ioctl(h->uffd, UFFDIO_ZEROPAGE, &z), 0);
    close(h->uffd);
}
