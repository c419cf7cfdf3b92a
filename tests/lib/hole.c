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

static int try_behind(struct hole *h, size_t bytes)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register r = {.mode = UFFDIO_REGISTER_MODE_MISSING};

    h->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (h->uffd < 0)
        return -errno;
    h->page = mmap(NULL, bytes + HOLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (h->page == MAP_FAILED)
        return -errno;
    h->page += bytes;
    r.range.start = (uintptr_t)h->page;
    r.range.len = HOLE_BYTES;
    if (ioctl(h->uffd, UFFDIO_API, &api) || ioctl(h->uffd, UFFDIO_REGISTER, &r))
        return -errno;
    return 0;
}

int hole_try(struct hole *h)
{
    return try_behind(h, 0);
}

struct hole hole_make_behind(size_t bytes)
{
    struct hole h;
    int rc = try_behind(&h, bytes);

    if (rc)
        hxt_skip_test("userfaultfd: %s", strerror(-rc));
    return h;
}

struct hole hole_make(void)
{
    return hole_make_behind(0);
}

void hole_fill(struct hole *h)
{
    struct uffdio_zeropage z = {.range = {(uintptr_t)h->page, HOLE_BYTES}};

    assert_int_equal(ioctl(h->uffd, UFFDIO_ZEROPAGE, &z), 0);
    close(h->uffd);
}
