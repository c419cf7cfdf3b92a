/* Protects: the client library as clients see it (remote_*, rpcmem_*, fastrpc_mmap) and the translation of errors. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fake_driver.h"
#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_reverse.h"
#include "hx_rig.h"
#include "remote.h"
#include "rpcmem.h"

#define URI "file:///libt_skel.so?t_skel_handle_invoke&_modver=1.0"

enum { M_ECHO = 2, M_FDS, M_DSP_ERROR, M_MINUS_ONE, M_DIE };

static struct fake_driver driver;
static _Atomic int sessions, opens, closes, maps;
static _Atomic uint32_t last_attrs;
static _Atomic int close_result;
static char last_name[256];

/* --- the driver's side */

static void reply_outs(struct fake_request *r, int result, const void *a, const void *b)
{
    struct fastrpc_invoke *inv = (void *)r->arg;
    struct fastrpc_invoke_args *args = fake_in(r, inv->args);
    uint32_t first = REMOTE_SCALARS_INBUFS(inv->sc);
    struct hx_frame_seg segs[2];
    const void *bytes[2] = {a, b};

    for (int i = 0; i < 2; i++)
        segs[i] = (struct hx_frame_seg){.addr = args[first + i].ptr, .len = args[first + i].length, .flags = HX_SEG_OUT};
    fake_reply(r, result, 2, segs, bytes);
}

static void remotectl(struct fake_request *r)
{
    struct fastrpc_invoke *inv = (void *)r->arg;
    struct fastrpc_invoke_args *args = fake_in(r, inv->args);
    uint32_t *in = fake_in(r, args[0].ptr);
    char dlerr[256] = "libmissing_skel.so: not found";
    struct {
        uint32_t handle;
        int32_t nErr;
    } out = {0x1000, 0};

    if (inv->sc == 0x02020200) {
        snprintf(last_name, sizeof(last_name), "%s", (char *)fake_in(r, args[1].ptr));
        assert_int_equal(in[0], strlen(last_name) + 1);
        assert_int_equal(in[1], sizeof(dlerr));
        out.handle += (uint32_t)opens;
        if (strstr(last_name, "missing"))
            out.nErr = AEE_EUNABLETOLOAD;
        else
            opens++;
        reply_outs(r, 0, &out, dlerr);
    } else {
        int32_t nErr = close_result;

        assert_int_equal(inv->sc, 0x03010200);
        closes++;
        reply_outs(r, 0, &nErr, dlerr);
    }
}

static void user_call(struct fake_request *r)
{
    struct fastrpc_invoke *inv = (void *)r->arg;
    struct fastrpc_invoke_args *args = fake_in(r, inv->args);
    int32_t fds[4] = {args[0].fd, args[1].fd, (int)r->n_rx, (int)args[0].length};
    struct hx_frame_seg seg = {.addr = args[1].ptr, .len = args[1].length, .flags = HX_SEG_OUT};
    const void *bytes[] = {fds};

    switch (REMOTE_SCALARS_METHOD(inv->sc)) {
    case M_ECHO:
        bytes[0] = fake_in(r, args[0].ptr);
        fake_reply(r, 0, 1, &seg, bytes);
        break;
    case M_FDS:
        fake_reply(r, 0, 1, &seg, bytes);
        break;
    case M_DSP_ERROR:
        fake_reply(r, AEE_DSP(AEE_EUNSUPPORTED), 0, NULL, NULL);
        break;
    case M_MINUS_ONE:
        fake_reply(r, -1, 0, NULL, NULL);
        break;
    case M_DIE:
        shutdown(r->sock, SHUT_RDWR);
        break;
    }
}

static void handle(struct fake_driver *f, struct fake_request *r)
{
    (void)f;
    if (r->head.op == HX_FRAME_READ) {
        fake_reply_text(r, "state=up\nprofile=s22u-577\npid=1\n");
    } else if (r->head.cmd == FASTRPC_IOCTL_INIT_CREATE) {
        sessions++;
        last_attrs = ((struct fastrpc_init_create *)r->arg)->attrs;
        fake_reply(r, 0, 0, NULL, NULL);
    } else if (r->head.cmd == FASTRPC_IOCTL_MEM_MAP) {
        maps++;
        ((struct fastrpc_mem_map *)r->arg)->vaddrout = 0x1000;
        fake_reply(r, r->n_rx == 1 ? 0 : -EINVAL, 0, NULL, NULL);
    } else if (r->head.cmd == FASTRPC_IOCTL_MEM_UNMAP) {
        maps--;
        fake_reply(r, ((struct fastrpc_mem_unmap *)r->arg)->vaddr == 0x1000 ? 0 : -EINVAL, 0, NULL,
                   NULL);
    } else if (r->head.cmd != FASTRPC_IOCTL_INVOKE) {
        fake_reply(r, -ENOTTY, 0, NULL, NULL);
    } else if (((struct fastrpc_invoke *)r->arg)->handle == FASTRPC_HANDLE_REMOTECTL1) {
        remotectl(r);
    } else {
        user_call(r);
    }
    fake_free(r);
}

static int setup(void **state)
{
    (void)state;
    fake_start(&driver, "fastrpc-cdsp");
    driver.handle = handle;
    setenv("HEXRIG_DEVICE", driver.node, 1);
    sessions = opens = closes = maps = 0;
    close_result = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hx_rig_disconnect();
    fake_stop(&driver);
    return 0;
}

static remote_handle64 open_ok(void)
{
    remote_handle64 h = 0;

    assert_int_equal(remote_handle64_open(URI CDSP_DOMAIN, &h), AEE_SUCCESS);
    assert_true(h != 0);
    return h;
}

static int call(remote_handle64 h, uint32_t method, void *in, size_t n_in, void *out, size_t n_out)
{
    remote_arg pra[2] = {{.buf = {in, n_in}}, {.buf = {out, n_out}}};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(method, 1, 1), pra);
}

/* --- errors */

static void test_errno_becomes_aee_as_in_the_real_library(void **state)
{
    (void)state;
    assert_int_equal(hx_aee_from_errno(0), AEE_SUCCESS);
    assert_int_equal(hx_aee_from_errno(EPERM), AEE_EBADPERMS);
    assert_int_equal(hx_aee_from_errno(EINVAL), AEE_EBADPARM);
    assert_int_equal(hx_aee_from_errno(ENODEV), AEE_ENOSUCHDEVICE);
    assert_int_equal(hx_aee_from_errno(ENOMEM), AEE_ENOMEMORY);
    assert_int_equal(hx_aee_from_errno(EFBIG), AEE_EFILE);
    assert_int_equal(hx_aee_from_errno(EDQUOT), AEE_EEXPIRED);
    assert_int_equal(hx_aee_from_errno(EPROTONOSUPPORT), AEE_EUNSUPPORTED);
    assert_int_equal(hx_aee_from_errno(ETIMEDOUT), AEE_EEXPIRED);
    assert_int_equal(hx_aee_from_errno(ECONNREFUSED), AEE_ECONNREFUSED);
    assert_int_equal(hx_aee_from_errno(EPIPE), AEE_ECONNRESET);
    assert_int_equal(hx_aee_from_errno(ENOENT), AEE_ERPC);
    assert_int_equal(hx_aee_from_errno(EBUSY), AEE_ERPC);
    assert_int_equal(hx_aee_from_errno(EINTR), AEE_ERPC);
}

static void test_results_below_4095_are_dsp_codes(void **state)
{
    (void)state;
    assert_int_equal(hx_aee_from_result(0), 0);
    assert_int_equal(hx_aee_from_result(AEE_EFAILED), AEE_EFAILED);
    assert_int_equal(hx_aee_from_result(-1), AEE_EBADPERMS);
    assert_int_equal(hx_aee_from_result(-4095), AEE_ERPC);
    assert_int_equal(hx_aee_from_result(-4096), -4096);
    assert_int_equal(hx_aee_from_result((int)0x80000414), (int)0x80000414);
}

static void test_names_of_codes_with_and_without_dsp_offset(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(hx_aee_name(0x14), "AEE_EUNSUPPORTED");
    assert_string_equal(hx_aee_name((int)0x80000414), "AEE_EUNSUPPORTED");
    assert_string_equal(hx_aee_name(-1), "AEE_EUNKNOWN");
    assert_null(hx_aee_name(0x77));
    assert_string_equal(hx_aee_text((int)0x80000414, buf, sizeof(buf)),
                        "AEE_EUNSUPPORTED (0x80000414, from the DSP)");
    assert_string_equal(hx_aee_text(0x77, buf, sizeof(buf)), "error 0x77");
    assert_int_equal(hx_aee_base((int)0x80000600), AEE_ERPC);
}

/* --- rpcmem */

static void test_rpcmem_is_zeroed_shared_and_never_descriptor_0(void **state)
{
    int saved = dup(0);
    struct stat st;
    char *p, c;
    int fd;

    (void)state;
    close(0);
    p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 5000);
    assert_non_null(p);
    fd = rpcmem_to_fd(p);
    assert_true(fd > 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 8192);
    assert_int_equal(p[4999], 0);
    p[4999] = 'x';
    assert_int_equal(pread(fd, &c, 1, 4999), 1);
    assert_int_equal(c, 'x');
    assert_int_equal(rpcmem_to_fd(p + 1), -1);
    rpcmem_free(p);
    assert_int_equal(rpcmem_to_fd(p), -1);
    dup2(saved, 0);
    close(saved);
}

static void test_rpcmem_refuses_bad_sizes_and_takes_any_heap(void **state)
{
    const int heaps[] = {21, 18, 77, 0, RPCMEM_HEAP_ID_SECURE, RPCMEM_DEFAULT_HEAP, (int)(RPCMEM_HEAP_DEFAULT | 25)};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(heaps); i++) {
        void *p = rpcmem_alloc(heaps[i], RPCMEM_DEFAULT_FLAGS, 4096);

        assert_non_null(p);
        assert_true(rpcmem_to_fd(p) > 0);
        rpcmem_free(p);
    }
    assert_null(rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, 0, 0));
    assert_null(rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, 0, -1));
    assert_null(rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, 0, SIZE_MAX));
    rpcmem_free(NULL);
}

static void test_buffer_inside_an_allocation_is_shared_others_are_copied(void **state)
{
    char *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    char *q = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_HEAP_NOREG, 4096);
    remote_handle64 h = open_ok();
    int32_t out[4];
    char plain[16] = {0};

    (void)state;
    assert_int_equal(call(h, M_FDS, p + 4000, 96, out, sizeof(out)), 0);
    assert_int_equal(out[0], rpcmem_to_fd(p));
    assert_int_equal(out[1], -1);
    assert_int_equal(out[2], 1);
    assert_int_equal(call(h, M_FDS, plain, 16, out, sizeof(out)), 0);
    assert_int_equal(out[0], -1);
    assert_int_equal(call(h, M_FDS, q, 16, out, sizeof(out)), 0);
    assert_int_equal(out[0], -1); /* not registered, as asked */
    assert_int_equal(call(h, M_FDS, p, 0, out, sizeof(out)), 0);
    assert_int_equal(out[0], -1); /* empty */
    assert_int_equal(remote_handle64_close(h), 0);
    rpcmem_free(p);
    rpcmem_free(q);
}

/* --- handles */

static void test_open_invoke_close(void **state)
{
    remote_handle64 h = open_ok();
    char in[] = "hello", out[6];

    (void)state;
    assert_string_equal(last_name, URI CDSP_DOMAIN);
    assert_int_equal(call(h, M_ECHO, in, 6, out, 6), 0);
    assert_string_equal(out, "hello");
    assert_int_equal(remote_handle64_close(h), 0);
    assert_int_equal(closes, 1);
    assert_int_equal(remote_handle64_close(h), AEE_EINVHANDLE);
    assert_int_equal(call(h, M_ECHO, in, 6, out, 6), AEE_EINVHANDLE);
}

static void test_one_session_lives_from_first_open_to_last_close(void **state)
{
    remote_handle64 a = open_ok(), b = open_ok();
    char byte = 1;

    (void)state;
    assert_true(a != b);
    assert_int_equal(sessions, 1);
    assert_int_equal(remote_handle64_close(a), 0);
    assert_int_equal(call(b, M_ECHO, &byte, 1, &byte, 1), 0);
    assert_int_equal(remote_handle64_close(b), 0);
    a = open_ok();
    assert_int_equal(sessions, 2);
    assert_int_equal(call(b, M_ECHO, &byte, 1, &byte, 1), AEE_EINVHANDLE);
    assert_int_equal(remote_handle64_close(a), 0);
}

static void test_domains_other_than_cdsp_are_refused(void **state)
{
    remote_handle64 h;

    (void)state;
    assert_int_equal(remote_handle64_open(URI "&_dom=adsp", &h), AEE_ECONNREFUSED);
    assert_int_equal(remote_handle64_open(URI "&_dom=cdsp1", &h), AEE_ECONNREFUSED);
    assert_int_equal(remote_handle64_open(URI "&_dom=", &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(URI "&_dom=none", &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(URI, &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(URI CDSP_DOMAIN "&_session=4", &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(URI CDSP_DOMAIN "&_session=", &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(NULL, &h), AEE_EBADPARM);
    assert_int_equal(sessions, 0);
    assert_int_equal(remote_handle64_open(URI "&_dom=cdsp&_session=0", &h), 0);
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_failed_load_returns_the_dsps_reason_and_ends_the_session(void **state)
{
    remote_handle64 h = 5;
    struct hx_session_stats s;

    (void)state;
    assert_int_equal(remote_handle64_open("file:///libmissing_skel.so?x" CDSP_DOMAIN, &h), AEE_EUNABLETOLOAD);
    assert_int_equal(h, 5);
    assert_int_equal(hx_rig_session_stats(&s), -ENOTCONN);
}

static void test_dsp_codes_and_skel_results_reach_the_client(void **state)
{
    remote_handle64 h = open_ok();
    char b[1] = {0};

    (void)state;
    assert_int_equal(call(h, M_DSP_ERROR, b, 1, b, 1), (int)0x80000414);
    assert_int_equal(call(h, M_MINUS_ONE, b, 1, b, 1), AEE_EBADPERMS);
    assert_int_equal(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(2, 1, 1), NULL), AEE_EBADPARM);
    assert_int_equal(call(h, M_ECHO, NULL, 1, b, 1), AEE_EBADPARM);
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_handle_that_the_dsp_keeps_stays_open(void **state)
{
    remote_handle64 h = open_ok();

    (void)state;
    close_result = AEE_DSP(AEE_EITEMBUSY);
    assert_int_equal(remote_handle64_close(h), (int)AEE_DSP(AEE_EITEMBUSY));
    close_result = 0;
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_dead_driver_resets_calls_and_a_new_open_recovers(void **state)
{
    remote_handle64 h = open_ok();
    char b[1] = {0};

    (void)state;
    assert_int_equal(call(h, M_DIE, b, 1, b, 1), AEE_ECONNRESET);
    assert_int_equal(call(h, M_ECHO, b, 1, b, 1), AEE_ECONNRESET);
    assert_int_equal(remote_handle64_close(h), AEE_ECONNRESET);
    h = open_ok();
    assert_int_equal(call(h, M_ECHO, b, 1, b, 1), 0);
    assert_int_equal(remote_handle64_close(h), 0);
}

/* --- session control, maps, rig */

static void test_unsigned_pd_is_asked_for_before_the_first_open(void **state)
{
    struct remote_rpc_control_unsigned_module c = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    remote_handle64 h;

    (void)state;
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &c, sizeof(c) - 1),
                     AEE_EBADPARM);
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, NULL, sizeof(c)),
                     AEE_EBADPARM);
    assert_int_equal(remote_session_control(99, &c, sizeof(c)), AEE_EUNSUPPORTED);
    c.domain = ADSP_DOMAIN_ID;
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &c, sizeof(c)),
                     AEE_EBADDOMAIN);
    c.domain = -1;
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &c, sizeof(c)), 0);
    h = open_ok();
    assert_int_equal(last_attrs, FASTRPC_MODE_UNSIGNED_MODULE | HX_MODE_LISTENS);
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &c, sizeof(c)), 0); /* for the next */
    assert_int_equal(remote_handle64_close(h), 0);
    c.enable = 0;
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &c, sizeof(c)), 0);
    h = open_ok();
    assert_int_equal(last_attrs, HX_MODE_LISTENS);
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_mmap_twice_is_ealready_and_free_unmaps(void **state)
{
    void *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    int fd = rpcmem_to_fd(p);
    remote_handle64 h;

    (void)state;
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_ENOTINITIALIZED);
    h = open_ok();
    assert_int_equal(fastrpc_mmap(ADSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_EBADDOMAIN);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, 0, p, 0, 4096, FASTRPC_MAP_FD), AEE_EBADPARM);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_RESERVED),
                     AEE_EBADPARM);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 4, 4096, FASTRPC_MAP_FD), AEE_EBADPARM);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, 5), 0); /* the driver's to judge */
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), 0);
    assert_int_equal(FASTRPC_MAP_FD_DELAYED_EXTENDED, 18);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD_DELAYED_EXTENDED), AEE_EBADPARM);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), AEE_ENOSUCHMAP);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), 0);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_EALREADY);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, NULL, 1), 0); /* the descriptor alone counts */
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD_NOMAP), 0);
    assert_int_equal(maps, 1);
    rpcmem_free(p);
    assert_int_equal(maps, 0);
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_running_rig_is_found_and_says_what_it_is(void **state)
{
    char err[256], *text;

    (void)state;
    assert_null(hx_rig_front_end());
    assert_int_equal(hx_rig_connect(err, sizeof(err)), 0);
    assert_string_equal(hx_rig_front_end(), "socket");
    assert_string_equal(hx_rig_profile(), "s22u-577");
    assert_int_equal(hx_rig_read(NULL, "status", &text), 0);
    assert_non_null(strstr(text, "state=up"));
    free(text);
}

static void test_named_rig_of_another_kind_is_an_error_with_a_reason(void **state)
{
    static const struct hx_rig_cfg none = {.mount = NULL};
    struct hx_rig_cfg cfg = {.profile = "s22u-sync"};
    char err[256];

    (void)state;
    assert_int_equal(hx_rig_configure(&cfg), 0);
    assert_int_equal(hx_rig_connect(err, sizeof(err)), -EEXIST);
    assert_non_null(strstr(err, "profile=s22u-577"));
    cfg = (struct hx_rig_cfg){.front_end = "fuse"};
    assert_int_equal(hx_rig_configure(&cfg), 0);
    assert_int_equal(hx_rig_connect(err, sizeof(err)), -EEXIST);
    cfg = (struct hx_rig_cfg){.front_end = "socket", .profile = "s22u-577"};
    assert_int_equal(hx_rig_configure(&cfg), 0);
    assert_int_equal(hx_rig_connect(err, sizeof(err)), 0);
    assert_int_equal(hx_rig_configure(&cfg), -EBUSY);
    hx_rig_disconnect();
    assert_int_equal(hx_rig_configure(&none), 0);
}

static void test_private_rig_without_its_program_says_so(void **state)
{
    struct hx_rig_cfg cfg = {.force_private = 1};
    static const struct hx_rig_cfg none = {.mount = NULL};
    char err[512];

    (void)state;
    setenv("HEXRIG_LIBEXEC", "/nonexistent", 1);
    assert_int_equal(hx_rig_configure(&cfg), 0);
    assert_int_equal(hx_rig_connect(err, sizeof(err)), -ENOENT);
    assert_string_equal(err, "/nonexistent/hexrig-fuse: No such file or directory");
    unsetenv("HEXRIG_LIBEXEC");
    assert_int_equal(hx_rig_configure(&none), 0);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_errno_becomes_aee_as_in_the_real_library),
    cmocka_unit_test(test_results_below_4095_are_dsp_codes),
    cmocka_unit_test(test_names_of_codes_with_and_without_dsp_offset),
    cmocka_unit_test(test_rpcmem_is_zeroed_shared_and_never_descriptor_0),
    cmocka_unit_test(test_rpcmem_refuses_bad_sizes_and_takes_any_heap),
    RIG_TEST(test_buffer_inside_an_allocation_is_shared_others_are_copied),
    RIG_TEST(test_open_invoke_close),
    RIG_TEST(test_one_session_lives_from_first_open_to_last_close),
    RIG_TEST(test_domains_other_than_cdsp_are_refused),
    RIG_TEST(test_failed_load_returns_the_dsps_reason_and_ends_the_session),
    RIG_TEST(test_dsp_codes_and_skel_results_reach_the_client),
    RIG_TEST(test_handle_that_the_dsp_keeps_stays_open),
    RIG_TEST(test_dead_driver_resets_calls_and_a_new_open_recovers),
    RIG_TEST(test_unsigned_pd_is_asked_for_before_the_first_open),
    RIG_TEST(test_mmap_twice_is_ealready_and_free_unmaps),
    RIG_TEST(test_running_rig_is_found_and_says_what_it_is),
    RIG_TEST(test_named_rig_of_another_kind_is_an_error_with_a_reason),
    cmocka_unit_test(test_private_rig_without_its_program_says_so),
};

int main(void)
{
    return HXT_RUN(tests);
}
