/* Protects: a shared buffer is what the client sees at its address now, not what an earlier call saw there: the client may have
 * mapped another part of the same file in the meantime. */
#include <fcntl.h>
#include <sys/mman.h>

#include "driver_client.h"

enum { PAGE = 4096, PAGES = 3 };

static void *at_place(void *place, int file, int page)
{
    void *p = mmap(place, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), file, page * PAGE);

    assert_true(p != MAP_FAILED);
    return p;
}

static void test_a_call_sees_what_is_mapped_now(void **state)
{
    struct hxt_in in = {0};
    uint8_t to[64], *place = NULL;
    uint32_t handle;
    int fd = drv_connect(&handle), file = memfd_create("remapped", MFD_CLOEXEC);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, PAGES * PAGE), 0);
    for (int round = 0; round < 2 * PAGES; round++) {
        struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), {0}, drv_arg(to, sizeof(to))};
        int page = round % PAGES;

        place = at_place(place, file, page);
        memset(place, 10 * page, PAGE);
        a[1] = (struct fastrpc_invoke_args){.ptr = (uintptr_t)place, .length = sizeof(to), .fd = file};
        memset(to, 0xff, sizeof(to));
        assert_int_equal(drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
        assert_int_equal(to[0], 10 * page + 1);
        assert_int_equal(to[63], 10 * page + 1);
    }
    munmap(place, PAGE);
    close(file);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_sees_what_is_mapped_now),
    };

    return DRV_RUN(tests);
}
