/* Protects: memory that a client has mapped by itself and registered is what the DSP works on, at whatever offset of its file it
 * lies, however often the file is mapped, whatever was there before, and however much the file has grown. */
#include <fcntl.h>
#include <sys/mman.h>

#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

enum { PAGE = 4096, ROOM = 1 << 20 };

static remote_handle64 skel;
static uint8_t *room; /* [ROOM] addresses of which nobody else maps any */

static int new_file(size_t bytes)
{
    int fd = memfd_create("registered", MFD_CLOEXEC);

    assert_true(fd > 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

/* Bytes `from` to `from` + n of the file, at the address `at` of room. */
static uint8_t *map_at(size_t at, int fd, size_t from, size_t n)
{
    uint8_t *p = mmap(room + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)from);

    assert_ptr_equal(p, room + at);
    return p;
}

static int ripple(uint8_t *in, uint8_t *out, size_t n)
{
    struct hxt_in head = {0};
    remote_arg a[3] = {{.buf = {&head, sizeof(head)}}, {.buf = {in, n}}, {.buf = {out, n}}};

    return remote_handle64_invoke(skel, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a);
}

/* The DSP reads `in`, writes `out` and leaves `in` as it was. */
static void check(uint8_t *in, uint8_t *out, size_t n)
{
    static uint8_t seed;

    seed += 11;
    for (size_t i = 0; i < n; i++) {
        in[i] = (uint8_t)(seed + i * 7);
        out[i] = HXT_POISON;
    }
    assert_int_equal(ripple(in, out, n), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(in[i], (uint8_t)(seed + i * 7));
        assert_int_equal(out[i], (uint8_t)(seed + i * 7 + 1));
    }
}

static void test_a_buffer_at_every_place_of_its_mapping(void **state)
{
    static const size_t sizes[] = {1, 64, 4096, 65536};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        size_t n = sizes[i], bytes = (2 * n + PAGE - 1) / PAGE * PAGE;
        int fd = new_file(bytes);
        uint8_t *p = map_at(0, fd, 0, bytes);

        remote_register_buf(p, (int)bytes, fd);
        check(p, p + n, n);
        check(p + n, p, n);
        remote_register_buf(p, (int)bytes, -1);
        remote_register_buf_attr(p + n, (int)n, fd, 0); /* a part of it */
        check(p, p + n, n);
        remote_register_buf_attr(p + n, (int)n, -1, 0);
        close(fd);
    }
}

static void test_a_file_mapped_from_its_second_page(void **state)
{
    int fd = new_file(3 * PAGE);
    uint8_t *p = map_at(0, fd, PAGE, 2 * PAGE), first[PAGE];

    (void)state;
    remote_register_buf(p, 2 * PAGE, fd);
    check(p, p + PAGE, PAGE);
    check(p + PAGE + 5, p + 5, 1000);
    assert_int_equal(pread(fd, first, PAGE, 0), PAGE);
    for (size_t i = 0; i < PAGE; i++)
        assert_int_equal(first[i], 0);
    remote_register_buf(p, 2 * PAGE, -1);
    close(fd);
}

/* The higher address is the lower offset. */
static void test_two_mappings_of_one_file_in_one_call(void **state)
{
    int fd = new_file(4 * PAGE);
    uint8_t *high = map_at(8 * PAGE, fd, 0, PAGE), *low = map_at(2 * PAGE, fd, 2 * PAGE, 2 * PAGE);

    (void)state;
    remote_register_buf(high, PAGE, fd);
    remote_register_buf(low, 2 * PAGE, fd);
    check(high, low + PAGE, PAGE);
    check(low + PAGE + 1, high + 17, 100);
    remote_register_buf(low, 2 * PAGE, -1);
    remote_register_buf(high, PAGE, -1);
    close(fd);
}

static void test_a_part_of_a_file_mapped_anew_at_the_same_address(void **state)
{
    int fd = new_file(3 * PAGE);
    uint8_t *p = map_at(0, fd, 0, PAGE);

    (void)state;
    remote_register_buf(p, PAGE, fd);
    for (size_t round = 0; round < 6; round++) {
        map_at(0, fd, round % 3 * PAGE, PAGE);
        check(p, p + 2000, 2000);
    }
    remote_register_buf(p, PAGE, -1);
    close(fd);
}

static void test_a_number_that_names_another_file_now(void **state)
{
    int fd = new_file(PAGE), other = new_file(2 * PAGE);
    uint8_t *p = map_at(0, fd, 0, PAGE);

    (void)state;
    remote_register_buf(p, PAGE, fd);
    check(p, p + 2000, 2000);
    assert_int_equal(dup2(other, fd), fd);
    map_at(0, other, PAGE, PAGE);
    check(p, p + 2000, 2000);
    remote_register_buf(p, PAGE, -1);
    close(other);
    close(fd);
}

static void test_allocations_by_a_second_number(void **state)
{
    uint8_t *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_HEAP_NOREG, 2 * PAGE);
    int fd = dup(rpcmem_to_fd(p));

    (void)state;
    assert_true(fd > 0);
    remote_register_buf(p, 2 * PAGE, fd);
    check(p + 100, p + PAGE, 2000);
    remote_register_buf(p, 2 * PAGE, -1);
    remote_register_buf(p, 2 * PAGE, rpcmem_to_fd(p));
    check(p + 100, p + PAGE, 2000);
    remote_register_buf(p, 2 * PAGE, -1);
    close(fd);
    rpcmem_free(p);
}

/* The kernel's driver counts from the beginning of the page when it finds no mapping of the file there. */
static void test_an_address_where_the_file_is_not_mapped(void **state)
{
    int fd = new_file(PAGE), other = new_file(2 * PAGE);
    uint8_t *p = map_at(0, other, PAGE, PAGE), *file = map_at(4 * PAGE, fd, 0, PAGE);
    uint8_t in[200];

    (void)state;
    memset(in, 5, sizeof(in));
    remote_register_buf(p, PAGE, fd);
    assert_int_equal(ripple(in, p + 300, sizeof(in)), 0);
    for (size_t i = 0; i < PAGE; i++) {
        assert_int_equal(p[i], 0);
        assert_int_equal(file[i], i >= 300 && i < 500 ? 6 : 0);
    }
    remote_register_buf(p, PAGE, -1);
    close(other);
    close(fd);
}

/* A part of the file that was not there when the DSP first saw it; `is_mapped`: the DSP keeps what it saw. */
static void grow(int is_mapped)
{
    int fd = new_file(PAGE);
    uint8_t *p = map_at(0, fd, 0, PAGE);
    size_t bytes = PAGE;

    remote_register_buf(p, PAGE, fd);
    check(p, p + 2000, 2000);
    if (is_mapped)
        assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, PAGE, FASTRPC_MAP_FD), 0);
    for (int round = 0; round < 3; round++) {
        remote_register_buf(p, (int)bytes, -1);
        bytes *= 4;
        assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
        map_at(0, fd, 0, bytes);
        remote_register_buf(p, (int)bytes, fd);
        check(p, p + bytes / 2, bytes / 2);
        check(p + bytes / 2, p, bytes / 2);
    }
    if (is_mapped)
        assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, PAGE), 0);
    check(p, p + bytes / 2, bytes / 2);
    remote_register_buf(p, (int)bytes, -1);
    close(fd);
}

static void test_a_file_that_has_grown(void **state)
{
    (void)state;
    grow(0);
}

static void test_a_mapped_file_that_has_grown(void **state)
{
    (void)state;
    grow(1);
}

static int start(void **state)
{
    room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return own_rig_start(state) || room == MAP_FAILED ||
           remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &skel);
}

static int stop(void **state)
{
    int rc = remote_handle64_close(skel);

    return own_rig_stop(state) || rc;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_buffer_at_every_place_of_its_mapping),
    cmocka_unit_test(test_a_file_mapped_from_its_second_page),
    cmocka_unit_test(test_two_mappings_of_one_file_in_one_call),
    cmocka_unit_test(test_a_part_of_a_file_mapped_anew_at_the_same_address),
    cmocka_unit_test(test_a_number_that_names_another_file_now),
    cmocka_unit_test(test_allocations_by_a_second_number),
    cmocka_unit_test(test_an_address_where_the_file_is_not_mapped),
    cmocka_unit_test(test_a_file_that_has_grown),
    cmocka_unit_test(test_a_mapped_file_that_has_grown),
};

static int run(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, start, stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
