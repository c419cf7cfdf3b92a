/* Protects: where an address lies in its file is told alike by the kernel's query and, on kernels without that, by the list. */
#include <stdbool.h>
#include <sys/ioctl.h>

static bool is_old_kernel;
#define ioctl(...) (is_old_kernel ? (errno = ENOTTY, -1) : ioctl(__VA_ARGS__))
#include "hx_maps.c"
#undef ioctl

#include <sys/mman.h>
#include <sys/stat.h>

#include "hxt.h"

enum { PAGE = 4096, PAGES = 8 };

static int maps, file;
static uint64_t inode;
static uint8_t *at; /* pages 0..2: the file from page 3; page 3: nothing; page 4: the file from page 1; page 5: another file */

static void *map(int page, int fd, int from, int pages)
{
    return mmap(at + page * PAGE, (size_t)pages * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, from * PAGE);
}

static int setup(void **state)
{
    int other = memfd_create("another", MFD_CLOEXEC);
    struct stat st;

    (void)state;
    file = memfd_create("maps", MFD_CLOEXEC);
    maps = hx_maps_open("/proc/self/maps");
    at = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (maps < 0 || at == MAP_FAILED || ftruncate(file, PAGES * PAGE) || ftruncate(other, PAGE) || fstat(file, &st))
        return -1;
    inode = st.st_ino;
    if (map(0, file, 3, 3) == MAP_FAILED || munmap(at + 3 * PAGE, PAGE) || map(4, file, 1, 1) == MAP_FAILED ||
        map(5, other, 0, 1) == MAP_FAILED)
        return -1;
    return 0;
}

static const struct {
    int at, offset; /* -1: not in the file */
} places[] = {
    {0, 3 * PAGE},
    {1, 3 * PAGE + 1},
    {2 * PAGE + 77, 5 * PAGE + 77},
    {3 * PAGE - 1, 6 * PAGE - 1},
    {3 * PAGE, -1},
    {4 * PAGE - 1, -1},
    {4 * PAGE, PAGE},
    {5 * PAGE - 1, 2 * PAGE - 1},
    {5 * PAGE, -1},
    {6 * PAGE + 1, -1},
};

/* Twice: the list is read from its beginning each time. */
static void look_at_all(void)
{
    for (size_t i = 0; i < 2 * HXT_LEN(places); i++) {
        uint64_t offset = HXT_POISON, want = (uint64_t)places[i % HXT_LEN(places)].offset;
        int rc = hx_maps_locate(maps, inode, (uintptr_t)at + (uint64_t)places[i % HXT_LEN(places)].at, &offset);

        assert_int_equal(rc, want == UINT64_MAX ? -ENOENT : 0);
        assert_int_equal(offset, want == UINT64_MAX ? HXT_POISON : want);
    }
}

static void test_by_query(void **state)
{
    (void)state;
    is_old_kernel = false;
    look_at_all();
}

static void test_by_the_list(void **state)
{
    (void)state;
    is_old_kernel = true;
    look_at_all();
}

static void test_what_cannot_be_asked_is_an_error(void **state)
{
    uint64_t offset;

    (void)state;
    is_old_kernel = false;
    assert_int_equal(hx_maps_open("/proc/self/no maps"), -ENOENT);
    assert_int_equal(hx_maps_locate(-1, inode, (uintptr_t)at, &offset), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_query),
        cmocka_unit_test(test_by_the_list),
        cmocka_unit_test(test_what_cannot_be_asked_is_an_error),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
