/* Protects the driver as a client of the kernel interface sees it: raw ioctls on the FUSE device, no library. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "hx_session_stats.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "skel/hxt_skel.h"

static char mount_dir[200];
static struct hxt_child rig;

/* --- a client in a few lines ----------------------------------------------------------------------------------- */

static int open_node(const char *name)
{
    return open(hxt_path("%s/%s", mount_dir, name), O_RDWR | O_CLOEXEC);
}

static int init_create(int fd, uint32_t attrs, uint32_t filelen)
{
    struct fastrpc_init_create c = {.filelen = filelen, .filefd = -1, .attrs = attrs};

    return ioctl(fd, FASTRPC_IOCTL_INIT_CREATE, &c);
}

static int invoke(int fd, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args)
{
    struct fastrpc_invoke inv = {handle, sc, (uintptr_t)args};

    return ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv);
}

static struct fastrpc_invoke_args arg(void *p, size_t n)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, -1, 0};
}

/* open1 of remotectl1; returns the handle. */
static uint32_t open_skel(int fd)
{
    static char uri[] = HXT_SKEL_URI;
    uint32_t in[2] = {sizeof(uri), 256};
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, -1};
    char dlerr[256];
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in)), arg(uri, sizeof(uri)),
                                       arg(&out, sizeof(out)), arg(dlerr, sizeof(dlerr))};

    assert_int_equal(invoke(fd, FASTRPC_HANDLE_REMOTECTL1, 0x02020200, a), 0);
    if (out.error)
        print_error("open: 0x%x %s\n", (unsigned)out.error, dlerr);
    assert_int_equal(out.error, 0);
    return out.handle;
}

/* An open node with an unsigned PD and the test skel in it. */
static int connect_skel(uint32_t *handle)
{
    int fd = open_node("fastrpc-cdsp");

    assert_true(fd >= 0);
    assert_int_equal(init_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0);
    *handle = open_skel(fd);
    return fd;
}

static int call0(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in)
{
    struct fastrpc_invoke_args a[1] = {arg(&in, sizeof(in))};

    return invoke(fd, handle, REMOTE_SCALARS_MAKE(m, 1, 0), a);
}

static int call1(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in, void *out, size_t n)
{
    struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg(out, n)};

    return invoke(fd, handle, REMOTE_SCALARS_MAKE(m, 1, 1), a);
}

static struct hx_session_stats stats(int fd)
{
    struct hx_session_stats s;

    assert_int_equal(ioctl(fd, HX_IOCTL_SESSION_STATS, &s), 0);
    return s;
}

/* --- fixture ----------------------------------------------------------------------------------------------------- */

static int rig_serves(void *unused)
{
    (void)unused;
    return access(hxt_path("%s/fastrpc-cdsp", mount_dir), F_OK) == 0;
}

static int start_rig(void **state)
{
    const char *argv[] = {HXT_BUILD "/libexec/hexrig/hexrig-fuse", "--mount", NULL, "--front-end",
                          "fuse", NULL};
    const char *env[] = {"DSP_LIBRARY_PATH=" HXT_BUILD "/tests", NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = 300};

    (void)state;
    snprintf(mount_dir, sizeof(mount_dir), "%s/rig", hxt_tmpdir());
    if (mkdir(mount_dir, 0700))
        return -1;
    argv[2] = mount_dir;
    if (hxt_start(&rig, &cmd))
        return -1;
    return hxt_until(rig_serves, NULL, 10) ? 0 : -1;
}

static int stop_rig(void **state)
{
    struct hxt_result r;
    int bad;

    (void)state;
    hxt_signal(&rig, SIGTERM);
    if (hxt_wait(&rig, &r))
        return -1;
    bad = r.exit_code != 0 || access(hxt_path("%s/status", mount_dir), F_OK) == 0;
    if (bad)
        print_error("rig: exit %d signal %d\n%s\n", r.exit_code, r.signal, r.err);
    hxt_result_free(&r);
    return bad ? -1 : 0;
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

static void test_unknown_ioctls_give_enotty(void **state)
{
    int fd = open_node("fastrpc-cdsp");
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

static void test_invoke_before_init_create_gives_einval(void **state)
{
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(invoke(fd, 0x100, 0, NULL), -1);
    assert_int_equal(errno, EINVAL);
    close(fd);
}

static void test_handle_1_gives_eperm(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    assert_int_equal(invoke(fd, 1, 0, NULL), -1);
    assert_int_equal(errno, EPERM);
    close(fd);
}

static void test_signed_pd_is_refused_on_the_plain_node_only(void **state)
{
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(init_create(fd, 0, 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    fd = open_node("fastrpc-cdsp-secure");
    assert_int_equal(init_create(fd, 0, 0), 0);
    close(fd);
}

static void test_shell_over_2_mib_gives_einval(void **state)
{
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(
        init_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, FASTRPC_INIT_FILELEN_MAX + 1), -1);
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
    int fd = open_node("fastrpc-cdsp");
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
    int fd = connect_skel(&h);
    struct fastrpc_invoke_args a[1] = {arg((void *)16, 8)};

    (void)state;
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), (void *)16), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), a), -1);
    assert_int_equal(errno, EFAULT);
    close(fd);
}

static void test_sizes_no_arena_holds_are_refused(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    struct hxt_in in = {0};
    uint64_t lengths[] = {HXT_LEN("x") + (1ull << 32), UINT64_MAX, UINT64_MAX - 4095, 300ull << 20};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lengths); i++) {
        struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg(&in, lengths[i])};
        assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_VTCM, 1, 1), a), -1);
        assert_true(errno == EINVAL || errno == ENOMEM);
    }
    assert_int_equal(call0(fd, h, HXT_BLOCK, in), 0);
    close(fd);
}

static void test_dsp_codes_travel_verbatim_without_errno(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    errno = 4711;
    assert_int_equal((unsigned)invoke(fd, h + 50, 0, NULL), 0x8000042c); /* no such handle */
    assert_int_equal(errno, 4711);
    assert_int_equal((unsigned)call0(fd, h, HXT_BLOCK, (struct hxt_in){(int)0x80000414, 0}),
                     0x80000414);
    assert_int_equal(errno, 4711);
    assert_int_equal(call0(fd, h, HXT_BLOCK, (struct hxt_in){77, 0}), 77);
    assert_int_equal(call0(fd, h, HXT_BLOCK, (struct hxt_in){-1, 0}), -1); /* looks like EPERM */
    assert_int_equal(errno, EPERM);
    close(fd);
}

/* The open FastRPC library takes 0x100..0x200 for handles of static PDs, and then calls without sending anything. */
static void test_handles_of_skels_lie_above_those_of_static_pds(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    assert_true(h > 0x200);
    close(fd);
}

static void test_outputs_are_copied_even_on_error(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    struct hxt_in in = {.code = 5};
    char from[] = "hexagon", to[8] = "";
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)), arg(from, 8), arg(to, 8)};

    (void)state;
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 5);
    assert_string_equal(to, "hexagon");
    close(fd);
}

static void test_overlapping_buffers_alias(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    struct hxt_in in = {0};
    uint8_t b[9] = {10};
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)), arg(b, 8), arg(b + 1, 8)};

    (void)state;
    /* out[i] = in[i] + 1 with out = in + 1: the ripple runs through only if they are one memory */
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
    for (int i = 0; i < 9; i++)
        assert_int_equal(b[i], 10 + i);
    close(fd);
}

static void test_zero_length_arguments_are_fine(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)), arg(NULL, 0), arg((void *)16, 0)};

    (void)state;
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 0);
    close(fd);
}

static void test_fd_buffers_are_shared_and_counted_apart(void **state)
{
    enum { N = 3 * 4096 };
    uint32_t h;
    int fd = connect_skel(&h), mem = memfd_create("t", MFD_CLOEXEC);
    struct hxt_in in = {0};
    uint8_t *p;
    struct hx_session_stats before = stats(fd), after;

    (void)state;
    assert_int_equal(ftruncate(mem, N), 0);
    p = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    memset(p, 7, N);
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)),
                                       {(uintptr_t)p + 100, 1000, mem, 0},
                                       {(uintptr_t)p + 5000, 1000, mem, 0}};
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
    after = stats(fd);
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

static void test_reused_fd_number_reaches_the_new_buffer(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h), number = 200;
    struct hxt_in in = {0};

    (void)state;
    for (int round = 1; round <= 3; round++) {
        int mem = memfd_create("t", MFD_CLOEXEC);
        assert_int_equal(ftruncate(mem, 4096), 0);
        assert_int_equal(dup2(mem, number), number);
        uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
        memset(p, round, 4096);
        struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)),
                                           {(uintptr_t)p, 64, number, 0},
                                           {(uintptr_t)p + 64, 64, number, 0}};
        assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0);
        assert_int_equal(p[64], round + 1);
        munmap(p, 4096);
        close(number);
        close(mem);
    }
    close(fd);
}

static void test_fd_that_is_none_gives_einval_and_fd_0_means_no_fd(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    struct hxt_in in = {0};
    char from[8] = "abc", to[8] = "";
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)), arg(from, 8), arg(to, 8)};

    (void)state;
    a[1].fd = 999;
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), -1);
    assert_int_equal(errno, EINVAL);
    a[1].fd = 0;
    assert_int_equal(invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 0);
    assert_string_equal(to, "abc");
    close(fd);
}

static void test_mem_map_gives_a_low_address_and_unmap_wants_it_exactly(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h), mem = memfd_create("t", MFD_CLOEXEC);
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
    assert_int_equal(errno, EINVAL);
    close(mem);
    close(fd);
}

static void test_mmap_wants_its_flags_and_munmap_the_exact_pair(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
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

static void test_attached_clients_and_static_pds_serve_calls(void **state)
{
    char name[FASTRPC_NAMELEN_MAX + 1] = "audiopd";
    struct fastrpc_init_create_static c = {.namelen = 8, .name = (uintptr_t)name};
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH), 0);
    assert_int_equal(call0(fd, open_skel(fd), HXT_BLOCK, (struct hxt_in){6, 0}), 6);
    close(fd);
    fd = open_node("fastrpc-cdsp");
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH_SNS), 0);
    close(fd);
    fd = open_node("fastrpc-cdsp");
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    fd = open_node("fastrpc-cdsp-secure");
    c.namelen = FASTRPC_NAMELEN_MAX + 1;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), -1);
    assert_int_equal(errno, EINVAL);
    c.namelen = 8;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), 0);
    assert_int_equal(call0(fd, open_skel(fd), HXT_BLOCK, (struct hxt_in){7, 0}), 7);
    close(fd);
}

static void test_alloc_dma_buff_says_that_it_cannot(void **state)
{
    struct fastrpc_alloc_dma_buf a = {.size = 4096};
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    close(fd);
}

static void test_set_option_is_unknown_to_a_profile_without_it(void **state)
{
    struct fastrpc_ioctl_set_option o = {.request_id = FASTRPC_POLL_MODE, .value = 1};
    int fd = open_node("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_SET_OPTION, &o), -1);
    assert_int_equal(errno, ENOTTY);
    close(fd);
}

/* The long poll of the client's reverse-RPC thread: it ends when the process says that it exits. */
static void test_next2_waits_until_exit(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    assert_int_equal(invoke(fd, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(5, 0, 0), NULL), 0);
    assert_int_equal(invoke(fd, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(2, 0, 0), NULL), 0);
    assert_int_equal((unsigned)invoke(fd, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(6, 0, 0), NULL),
                     0x8000040d);
    assert_int_equal((unsigned)invoke(fd, FASTRPC_HANDLE_LISTENER, REMOTE_SCALARS_MAKE(4, 0, 0), NULL),
                     0x8000040d);
    close(fd);
}

static void test_what_a_skel_sees_lies_below_4_gib(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    uint64_t at[4];

    (void)state;
    assert_int_equal(call1(fd, h, HXT_ADDRESSES, (struct hxt_in){0, 0}, at, sizeof(at)), 0);
    for (int i = 0; i < 4; i++) {
#ifdef __SANITIZE_ADDRESS__
        if (i == 1)
            continue; /* the sanitizer's loader places libraries itself */
#endif
        if (at[i] >= 1ull << 32)
            print_error("address %d is 0x%llx\n", i, (unsigned long long)at[i]);
        assert_true(at[i] < 1ull << 32);
    }
    close(fd);
}

static void test_vtcm_is_8_mib_in_256_kib_grains_and_comes_back_with_the_pd(void **state)
{
    uint32_t h, h2;
    int fd = connect_skel(&h), fd2 = connect_skel(&h2);
    struct hxt_vtcm v;

    (void)state;
    assert_int_equal(call1(fd, h, HXT_VTCM, (struct hxt_in){0, 9 << 20}, &v, sizeof(v)), 0);
    assert_true(v.address == 0);
    assert_int_equal(call1(fd, h, HXT_VTCM, (struct hxt_in){1, 10000}, &v, sizeof(v)), 0);
    assert_true(v.address != 0);
    assert_int_equal(v.avail, (8 << 20) - (256 << 10));
#ifndef __SANITIZE_ADDRESS__
    assert_true(v.address == 0xff000000);
#endif
    assert_int_equal(call1(fd2, h2, HXT_VTCM, (struct hxt_in){0, 8 << 20}, &v, sizeof(v)), 0);
    assert_true(v.address == 0); /* another client holds a grain */
    close(fd);
    for (int i = 0; i < 200 && !v.address; i++) /* the release is asynchronous */
        assert_int_equal(call1(fd2, h2, HXT_VTCM, (struct hxt_in){0, 8 << 20}, &v, sizeof(v)), 0);
    assert_true(v.address != 0);
    close(fd2);
}

static void test_second_hvx_lock_of_a_thread_fails(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    int32_t r[4];

    (void)state;
    assert_int_equal(call1(fd, h, HXT_HVX_TWICE, (struct hxt_in){0, 0}, r, sizeof(r)), 0);
    assert_int_equal(r[0], 0);
    assert_int_equal(r[1], -1);
    assert_int_equal(r[2], 0);
    assert_int_equal(r[3], -1);
    close(fd);
}

static int status_number(const char *key)
{
    char *text = hxt_read_file(hxt_path("%s/status", mount_dir), NULL), *at;
    int v = -1;

    if (text && (at = strstr(text, key)))
        v = atoi(at + strlen(key));
    free(text);
    return v;
}

static int all_closed(void *unused)
{
    (void)unused;
    return status_number("\nsessions=") == 0;
}

static void test_a_skel_cannot_reach_out_of_the_dsp(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);
    int32_t e[4];

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    close(fd);
    hxt_skip_test("a sanitizer needs more of the system than the sandbox leaves");
#else
    assert_int_equal(call1(fd, h, HXT_ESCAPE, (struct hxt_in){0, 0}, e, sizeof(e)), 0);
    for (int i = 0; i < 4; i++)
        assert_true(e[i] == EACCES || e[i] == EPERM);
    close(fd);
#endif
}

static void test_fifteenth_session_gives_ebusy(void **state)
{
    int fd[FASTRPC_MAX_SESSIONS];

    (void)state;
    assert_true(hxt_until(all_closed, NULL, 10));
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        assert_true((fd[i] = open_node("fastrpc-cdsp")) >= 0);
    assert_int_equal(open_node("fastrpc-cdsp"), -1);
    assert_int_equal(errno, EBUSY);
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        close(fd[i]);
    assert_true(hxt_until(all_closed, NULL, 10));
}

struct caller {
    int fd;
    uint32_t handle;
    enum hxt_method method;
    struct hxt_in in;
    int result, error;
};

static void *run_caller(void *p)
{
    struct caller *c = p;

    c->result = call0(c->fd, c->handle, c->method, c->in);
    c->error = errno;
    return NULL;
}

static void test_calls_of_several_threads_run_in_parallel(void **state)
{
    enum { THREADS = 20 };
    struct caller c[THREADS];
    pthread_t t[THREADS];
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        c[i] = (struct caller){fd, h, HXT_MEET, {0, THREADS}, -1, 0};
        assert_int_equal(pthread_create(&t[i], NULL, run_caller, &c[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(c[i].result, 0);
    }
    close(fd);
}

static void on_signal(int sig)
{
    (void)sig;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int pending_calls(void *expected)
{
    /* the call has reached the DSP when the driver has counted it */
    return stats(*(int *)expected).invokes >= 2;
}

static void test_a_signal_ends_the_wait_with_eintr(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal};
    struct caller c = {.method = HXT_BLOCK, .in = {0, 20000}};
    pthread_t t;
    double start = now();

    (void)state;
    sigaction(SIGUSR1, &sa, NULL); /* no SA_RESTART */
    c.fd = connect_skel(&c.handle);
    assert_int_equal(pthread_create(&t, NULL, run_caller, &c), 0);
    assert_true(hxt_until(pending_calls, &c.fd, 10));
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EINTR);
    assert_true(now() - start < 15);
    assert_int_equal(call0(c.fd, c.handle, HXT_BLOCK, (struct hxt_in){3, 0}), 3);
    close(c.fd);
}

static void test_a_client_can_be_killed_inside_a_call(void **state)
{
    int go[2], status;
    double start = now();
    pid_t pid;
    char c;

    (void)state;
    assert_int_equal(pipe(go), 0);
    pid = fork();
    if (pid == 0) {
        uint32_t h;
        int fd = connect_skel(&h);
        (void)!write(go[1], "x", 1);
        call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 60000});
        _exit(1);
    }
    close(go[1]);
    assert_int_equal(read(go[0], &c, 1), 1);
    close(go[0]);
    usleep(50000); /* most likely inside by now; the test holds wherever it is */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(now() - start < 20);
}

static void test_a_crash_ends_its_own_pd_only(void **state)
{
    uint32_t h, other_h;
    int fd = connect_skel(&h), other = connect_skel(&other_h);

    (void)state;
    assert_int_equal((unsigned)call0(fd, h, HXT_CRASH, (struct hxt_in){0, 0}), 0x80000430);
    assert_int_equal((unsigned)call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 0}), 0x80000430);
    assert_int_equal(call0(other, other_h, HXT_BLOCK, (struct hxt_in){9, 0}), 9);
    close(fd);
    close(other);
}

static int dsp_is_back(void *restarts)
{
    return status_number("dsp_restarts=") == *(int *)restarts && rig_serves(NULL);
}

static int control(const char *command)
{
    int fd = open(hxt_path("%s/control", mount_dir), O_WRONLY | O_TRUNC | O_CLOEXEC);
    ssize_t n = write(fd, command, strlen(command));

    close(fd);
    return n == (ssize_t)strlen(command) ? 0 : -1;
}

static void test_filters_come_and_go_while_the_rig_runs(void **state)
{
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    assert_int_equal(control("filter +error:method=4,code=0x8000040e\n"), 0); /* HXT_BLOCK */
    assert_int_equal((unsigned)call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 0}), 0x8000040e);
    assert_int_equal(control("filter -error"), 0);
    assert_int_equal(call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 0}), 3);
    assert_int_equal(control("filter +error:ops=MAP,code=ENOMEM"), 0);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &(struct fastrpc_mem_map){.fd = 999}), -1);
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(control("filter -error"), 0);
    assert_int_equal(control("filter -error"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(control("filter -count"), -1);
    assert_int_equal(control("filter +nope"), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(control("make coffee"), -1);
    close(fd);
}

static void test_delay_filter_holds_one_answer_and_nobody_else(void **state)
{
    struct caller c = {.method = HXT_BLOCK, .in = {5, 0}};
    uint32_t h;
    int fd = connect_skel(&h);
    pthread_t t;
    double start;

    (void)state;
    c.fd = connect_skel(&c.handle);
    assert_int_equal(control("filter +delay:us=400000,method=4,nth=1"), 0);
    start = now();
    assert_int_equal(pthread_create(&t, NULL, run_caller, &c), 0);
    assert_true(hxt_until(pending_calls, &c.fd, 10));
    for (int i = 0; i < 20; i++)
        assert_int_equal(call0(fd, h, HXT_BLOCK, (struct hxt_in){1, 0}), 1);
    pthread_join(t, NULL);
    assert_int_equal(c.result, 5);
    assert_true(now() - start >= 0.4);
    assert_int_equal(control("filter -delay"), 0);
    close(fd);
    close(c.fd);
}

static void test_trace_filter_writes_the_calls_on_the_virtual_clock(void **state)
{
    const char *path = hxt_path("%s/t.json", hxt_tmpdir());
    char *text;
    uint32_t h;
    int fd = connect_skel(&h);

    (void)state;
    assert_int_equal(control(hxt_path("filter +trace:file=%s", path)), 0);
    assert_int_equal(call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 0}), 0);
    assert_int_equal(control("filter -trace"), 0);
    text = hxt_read_file(path, NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"traceEvents\": ["));
    assert_non_null(strstr(text, "method 4 result 0x0"));
    assert_non_null(strstr(text, "\"name\": \"dispatch\""));
    assert_non_null(strstr(text, "\"dur\": 1733.102}"));
    assert_non_null(strstr(text, "\n]}\n"));
    free(text);
    close(fd);
}

static void test_killing_the_dsp_is_a_subsystem_restart(void **state)
{
    struct caller c = {.method = HXT_BLOCK, .in = {0, 30000}};
    int restarts = status_number("dsp_restarts=") + 1, dsp;
    uint32_t h;
    pthread_t t;

    (void)state;
    c.fd = connect_skel(&c.handle);
    assert_int_equal(pthread_create(&t, NULL, run_caller, &c), 0);
    assert_true(hxt_until(pending_calls, &c.fd, 10));
    dsp = status_number("dsp_pid=");
    assert_true(dsp > 1); /* kill(-1) would end the machine */
    assert_int_equal(kill(dsp, SIGKILL), 0);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EPIPE);
    assert_true(hxt_until(dsp_is_back, &restarts, 10));
    assert_int_equal(call0(c.fd, c.handle, HXT_BLOCK, (struct hxt_in){0, 0}), -1); /* stays dead */
    assert_int_equal(errno, EPIPE);
    close(c.fd);
    c.fd = connect_skel(&h);
    assert_int_equal(call0(c.fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(c.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_ioctls_give_enotty),
        cmocka_unit_test(test_invoke_before_init_create_gives_einval),
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
        cmocka_unit_test(test_reused_fd_number_reaches_the_new_buffer),
        cmocka_unit_test(test_fd_that_is_none_gives_einval_and_fd_0_means_no_fd),
        cmocka_unit_test(test_mem_map_gives_a_low_address_and_unmap_wants_it_exactly),
        cmocka_unit_test(test_mmap_wants_its_flags_and_munmap_the_exact_pair),
        cmocka_unit_test(test_attached_clients_and_static_pds_serve_calls),
        cmocka_unit_test(test_alloc_dma_buff_says_that_it_cannot),
        cmocka_unit_test(test_set_option_is_unknown_to_a_profile_without_it),
        cmocka_unit_test(test_next2_waits_until_exit),
        cmocka_unit_test(test_what_a_skel_sees_lies_below_4_gib),
        cmocka_unit_test(test_vtcm_is_8_mib_in_256_kib_grains_and_comes_back_with_the_pd),
        cmocka_unit_test(test_second_hvx_lock_of_a_thread_fails),
        cmocka_unit_test(test_a_skel_cannot_reach_out_of_the_dsp),
        cmocka_unit_test(test_fifteenth_session_gives_ebusy),
        cmocka_unit_test(test_calls_of_several_threads_run_in_parallel),
        cmocka_unit_test(test_a_signal_ends_the_wait_with_eintr),
        cmocka_unit_test(test_a_client_can_be_killed_inside_a_call),
        cmocka_unit_test(test_a_crash_ends_its_own_pd_only),
        cmocka_unit_test(test_filters_come_and_go_while_the_rig_runs),
        cmocka_unit_test(test_delay_filter_holds_one_answer_and_nobody_else),
        cmocka_unit_test(test_trace_filter_writes_the_calls_on_the_virtual_clock),
        cmocka_unit_test(test_killing_the_dsp_is_a_subsystem_restart),
    };

    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    return HXT_RUN_FIXTURE(tests, start_rig, stop_rig);
}
