/* Protects the driver as a client of the kernel interface sees it, call by call: refusals, results, buffers and maps.
 * Raw ioctls on the FUSE device, no library. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "driver_client.h"
#include "hx_reach.h"

/* --- tests ------------------------------------------------------------------------------------------------------- */
static void test_unknown_ioctls_give_enotty(void **state)
{
    int fd = drv_open("fastrpc-cdsp");
    uint32_t word = 0;
    const unsigned long cmds[] = {FASTRPC_IOCTL_FREE_DMA_BUFF, _IOWR('R', 12, uint32_t),
                                  _IOWR('R', 77, uint32_t), _IO('T', 1)};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cmds); i++) {
        errno = 0;
        assert_int_equal(ioctl(fd, cmds[i], &word), -1);
        assert_int_equal(errno, ENOTTY);
    }
    close(fd);
}

static void test_the_folder_of_the_nodes_has_no_ioctl(void **state)
{
    struct hx_reach reach = {0};
    struct fastrpc_invoke invoke = {0};
    int fd = open(own_rig_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INVOKE, &invoke), -1);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(ioctl(fd, HX_IOCTL_REACH, &reach), -1);
    assert_int_equal(errno, ENOTTY);
    close(fd);
}

static void test_invoke_before_init_create_is_for_the_dsp_to_refuse(void **state)
{
    int fd = drv_open("fastrpc-cdsp");
    char *text = hxt_read_file(own_rig_path("sessions"), NULL);

    (void)state;
    assert_non_null(text);
    assert_non_null(strstr(text, "state=new pd=none"));
    free(text);
    assert_int_equal((unsigned)drv_invoke(fd, 0x100, 0, NULL), 0x8000040d);
    close(fd);
}

static void test_handle_1_gives_eperm(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(drv_invoke(fd, 1, 0, NULL), -1);
    assert_int_equal(errno, EPERM);
    close(fd);
}

static void test_signed_pd_is_refused_on_the_plain_node_only(void **state)
{
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    assert_int_equal(drv_create(fd, 0, 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    fd = drv_open("fastrpc-cdsp-secure");
    assert_int_equal(drv_create(fd, 0, 0), 0);
    close(fd);
}

static void test_shell_over_2_mib_gives_einval(void **state)
{
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    assert_int_equal(
        drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, FASTRPC_INIT_FILELEN_MAX + 1), -1);
    assert_int_equal(errno, EINVAL);
    close(fd);
}

static int capability(int fd, uint32_t domain, uint32_t attribute, uint32_t *value)
{
    struct fastrpc_ioctl_capability c = {.domain = domain, .attribute_id = attribute};
    int rc = ioctl(fd, FASTRPC_IOCTL_GET_DSP_INFO, &c);

    *value = c.capability;
    return rc;
}

static void test_capabilities_say_v69(void **state)
{
    int fd = drv_open("fastrpc-cdsp");
    uint32_t v;

    (void)state;
    assert_int_equal(capability(fd, 3, FASTRPC_ATTR_ARCH_VER, &v), 0);
    assert_int_equal(v & 0xff, 0x69);
    assert_int_equal(capability(fd, 3, FASTRPC_ATTR_VTCM_PAGE, &v), 0);
    assert_int_equal(v, 8 << 20);
    assert_int_equal(capability(fd, 3, FASTRPC_ATTR_DOMAIN_SUPPORT, &v), 0);
    assert_int_equal(v, 0);
    assert_int_equal(capability(fd, 1, 6, &v), -1);
    assert_int_equal(errno, ECHRNG);
    assert_int_equal(capability(fd, 5, 6, &v), -1);
    assert_int_equal(errno, ECHRNG);
    assert_int_equal(capability(fd, 3, 256, &v), -1);
    assert_int_equal(errno, EOVERFLOW);
    close(fd);
}

static void test_bad_pointers_give_efault(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct fastrpc_invoke_args a[1] = {drv_arg((void *)16, 8)};

    (void)state;
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), (void *)16), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), a), -1);
    assert_int_equal(errno, EFAULT);
    close(fd);
}

static void test_sizes_no_arena_holds_are_refused(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct hxt_in in = {0};
    uint64_t lengths[] = {HXT_LEN("x") + (1ull << 32), UINT64_MAX, UINT64_MAX - 4095, 300ull << 20};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lengths); i++) {
        struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg(&in, lengths[i])};
        assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_VTCM, 1, 1), a), -1);
        assert_int_equal(errno, ENOMEM);
    }
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, in), 0);
    close(fd);
}

static void test_dsp_codes_travel_verbatim_without_errno(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    errno = 4711;
    assert_int_equal((unsigned)drv_invoke(fd, h + 50, 0, NULL), 0x8000042c); /* no such handle */
    assert_int_equal(errno, 4711);
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){(int)0x80000414, 0}),
                     0x80000414);
    assert_int_equal(errno, 4711);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){77, 0}), 77);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){-1, 0}), -1); /* looks like EPERM */
    assert_int_equal(errno, EPERM);
    close(fd);
}

/* The open FastRPC library takes 0x100..0x200 for handles of static PDs, and then calls without sending anything. */
static void test_handles_of_skels_lie_above_those_of_static_pds(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_true(h > 0x200);
    close(fd);
}

static void test_outputs_are_copied_even_on_error(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct hxt_in in = {.code = 5};
    char from[] = "hexagon", to[8] = "";
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(from, 8), drv_arg(to, 8)};

    (void)state;
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 5);
    assert_string_equal(to, "hexagon");
    close(fd);
}

static void test_overlapping_buffers_alias(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct hxt_in in = {0};
    uint8_t b[9] = {10};
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(b, 8), drv_arg(b + 1, 8)};

    (void)state;
    /* out[i] = in[i] + 1 with out = in + 1: the ripple runs through only if they are one memory */
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
    for (int i = 0; i < 9; i++)
        assert_int_equal(b[i], 10 + i);
    close(fd);
}

static void test_zero_length_arguments_are_fine(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(NULL, 0), drv_arg((void *)16, 0)};

    (void)state;
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 0);
    close(fd);
}

static void test_fd_buffers_are_shared_and_counted_apart(void **state)
{
    enum { N = 3 * 4096 };
    uint32_t h;
    int fd = drv_connect(&h), mem = memfd_create("t", MFD_CLOEXEC);
    struct hxt_in in = {0};
    uint8_t *p;
    struct hx_session_stats before = drv_stats(fd), after;

    (void)state;
    assert_int_equal(ftruncate(mem, N), 0);
    p = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    memset(p, 7, N);
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)),
                                       {(uintptr_t)p + 100, 1000, mem, 0},
                                       {(uintptr_t)p + 5000, 1000, mem, 0}};
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
    after = drv_stats(fd);
    assert_int_equal(p[4999], 7);
    assert_int_equal(p[5000], 8);
    assert_int_equal(p[5999], 8);
    assert_int_equal(p[6000], 7);
    assert_int_equal(after.invokes - before.invokes, 1);
    assert_int_equal(after.bytes_shared - before.bytes_shared, 2000);
    assert_int_equal(after.bytes_copied - before.bytes_copied, sizeof(in));
    munmap(p, N);
    close(mem);
    close(fd);
}

/* Clients of earlier releases know the figures without bytes by place. */
static void test_the_older_and_shorter_figures_are_still_told(void **state)
{
    uint8_t old[HX_SESSION_STATS_1_BYTES + 1];
    struct hx_session_stats now;
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    memset(old, 0xA5, sizeof(old));
    assert_int_equal(ioctl(fd, HX_IOCTL_SESSION_STATS_1, old), 0);
    now = drv_stats(fd);
    hxt_same_bytes(old, &now, HX_SESSION_STATS_1_BYTES);
    assert_int_equal(old[HX_SESSION_STATS_1_BYTES], 0xA5);
    close(fd);
}

static void test_reused_fd_number_reaches_the_new_buffer(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h), number = 200;
    struct hxt_in in = {0};

    (void)state;
    for (int round = 1; round <= 3; round++) {
        int mem = memfd_create("t", MFD_CLOEXEC);
        assert_int_equal(ftruncate(mem, 4096), 0);
        assert_int_equal(dup2(mem, number), number);
        uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
        memset(p, round, 4096);
        struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)),
                                           {(uintptr_t)p, 64, number, 0},
                                           {(uintptr_t)p + 64, 64, number, 0}};
        assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
        assert_int_equal(p[64], round + 1);
        munmap(p, 4096);
        close(number);
        close(mem);
    }
    close(fd);
}

/* A shared page of `byte` under the descriptor `number`. */
static uint8_t *page_under(int number, int byte)
{
    int mem = memfd_create("t", MFD_CLOEXEC);
    uint8_t *p;

    assert_int_equal(ftruncate(mem, 4096), 0);
    assert_int_equal(dup2(mem, number), number);
    close(mem);
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    return memset(p, byte, 4096);
}

/* The first half of the page is rippled into the second. */
static int ripple(int fd, uint32_t h, int number, uint8_t *p)
{
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), {(uintptr_t)p, 2048, number, 0},
                                       {(uintptr_t)p + 2048, 2048, number, 0}};

    return drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a);
}

static void test_reused_number_of_a_map_means_the_new_file(void **state)
{
    enum { NUMBER = 200 };
    uint32_t h;
    int fd = drv_connect(&h);
    struct fastrpc_mem_map first = {.fd = NUMBER, .length = 4096}, second = first;
    struct fastrpc_mem_unmap u = {.fd = NUMBER, .length = 4096};
    uint8_t *a = page_under(NUMBER, 1), *b;

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &first), 0);
    b = page_under(NUMBER, 5);
    assert_int_equal(ripple(fd, h, NUMBER, b), 0);
    assert_int_equal(b[2048], 6);
    assert_int_equal(b[4095], 6);
    assert_int_equal(a[2048], 1);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &second), 0);
    assert_true(second.vaddrout != first.vaddrout);
    u.vaddr = first.vaddrout;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &u), 0);
    assert_int_equal(ripple(fd, h, NUMBER, b), 0);
    u.vaddr = second.vaddrout;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &u), 0);
    assert_int_equal(a[2048], 1);
    close(NUMBER);
    assert_int_equal(ripple(fd, h, NUMBER, b), -1);
    assert_int_equal(errno, EINVAL);
    munmap(a, 4096);
    munmap(b, 4096);
    close(fd);
}

static void test_fd_that_is_none_gives_einval_and_fd_0_means_no_fd(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct hxt_in in = {0};
    char from[8] = "abc", to[8] = "";
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(from, 8), drv_arg(to, 8)};

    (void)state;
    a[1].fd = 999;
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), -1);
    assert_int_equal(errno, EINVAL);
    a[1].fd = 0;
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 0);
    assert_string_equal(to, "abc");
    close(fd);
}

static void test_mem_map_gives_a_low_address_and_unmap_wants_it_exactly(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h), mem = memfd_create("t", MFD_CLOEXEC);
    struct fastrpc_mem_map m = {.fd = mem, .length = 8192};
    struct fastrpc_mem_unmap u = {.fd = mem, .length = 8192};

    (void)state;
    assert_int_equal(ftruncate(mem, 8192), 0);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &m), 0);
    assert_true(m.vaddrout && m.vaddrout < 1ull << 32);
    u.vaddr = m.vaddrout + 4096;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &u), -1);
    assert_int_equal(errno, EINVAL);
    u.vaddr = m.vaddrout;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &u), 0);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &u), -1);
    m.fd = 999;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &m), -1);
    assert_int_equal(errno, EBADF);
    close(mem);
    close(fd);
}

static void test_mmap_wants_its_flags_and_munmap_the_exact_pair(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 1 << 20};
    struct fastrpc_req_munmap u;

    (void)state;
    m.flags = 3;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &m), -1);
    assert_int_equal(errno, EINVAL);
    m.flags = ADSP_MMAP_ADD_PAGES;
    m.vaddrin = 4096;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &m), -1);
    assert_int_equal(errno, EINVAL);
    m.vaddrin = 0;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &m), 0);
    assert_true(m.vaddrout && m.vaddrout < 1ull << 32);
    u = (struct fastrpc_req_munmap){m.vaddrout, m.size / 2};
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MUNMAP, &u), -1);
    assert_int_equal(errno, EINVAL);
    u.size = m.size;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MUNMAP, &u), 0);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MUNMAP, &u), -1);
    close(fd);
}

static void test_alloc_dma_buff_says_that_it_cannot(void **state)
{
    struct fastrpc_alloc_dma_buf a = {.size = 4096};
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    close(fd);
}

static void test_set_option_is_unknown_to_a_profile_without_it(void **state)
{
    struct fastrpc_ioctl_set_option o = {.request_id = FASTRPC_POLL_MODE, .value = 1};
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_SET_OPTION, &o), -1);
    assert_int_equal(errno, ENOTTY);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_ioctls_give_enotty),
        cmocka_unit_test(test_the_folder_of_the_nodes_has_no_ioctl),
        cmocka_unit_test(test_invoke_before_init_create_is_for_the_dsp_to_refuse),
        cmocka_unit_test(test_handle_1_gives_eperm),
        cmocka_unit_test(test_signed_pd_is_refused_on_the_plain_node_only),
        cmocka_unit_test(test_shell_over_2_mib_gives_einval),
        cmocka_unit_test(test_capabilities_say_v69),
        cmocka_unit_test(test_bad_pointers_give_efault),
        cmocka_unit_test(test_sizes_no_arena_holds_are_refused),
        cmocka_unit_test(test_dsp_codes_travel_verbatim_without_errno),
        cmocka_unit_test(test_handles_of_skels_lie_above_those_of_static_pds),
        cmocka_unit_test(test_outputs_are_copied_even_on_error),
        cmocka_unit_test(test_overlapping_buffers_alias),
        cmocka_unit_test(test_zero_length_arguments_are_fine),
        cmocka_unit_test(test_fd_buffers_are_shared_and_counted_apart),
        cmocka_unit_test(test_the_older_and_shorter_figures_are_still_told),
    cmocka_unit_test(test_reused_fd_number_reaches_the_new_buffer),
        cmocka_unit_test(test_reused_number_of_a_map_means_the_new_file),
        cmocka_unit_test(test_fd_that_is_none_gives_einval_and_fd_0_means_no_fd),
        cmocka_unit_test(test_mem_map_gives_a_low_address_and_unmap_wants_it_exactly),
        cmocka_unit_test(test_mmap_wants_its_flags_and_munmap_the_exact_pair),
        cmocka_unit_test(test_alloc_dma_buff_says_that_it_cannot),
        cmocka_unit_test(test_set_option_is_unknown_to_a_profile_without_it),
    };

    return DRV_RUN(tests);
}
