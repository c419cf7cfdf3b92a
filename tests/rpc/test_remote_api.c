/* Protects: FastRPC as a program sees it that knows its public headers only (remote.h, rpcmem.h), against a real rig,
 * on both front ends: calls, memory, sessions, capabilities. */
#include <dlfcn.h>
#include <sys/mman.h>

#include "calculator_client.h"
#include "kept_log.h"
#include "rpcmem.h"

/* --- calls and memory --------------------------------------------------------------------------------------------- */

static void test_sum_and_max_over_copied_and_shared_vectors(void **state)
{
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    int32_t local[1000], *shared = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 1 << 20);

    (void)state;
    assert_non_null(shared);
    expect_sum(h, local, 1);
    expect_sum(h, local, 1000);
    expect_sum(h, shared, 1 << 18);
    expect_sum(h, shared + 13, 4096);
    assert_int_equal(calc_max(h, local, 0, local), AEE_EBADPARM);
    rpcmem_free(shared);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
}

static void test_32_bit_handles_work_and_die(void **state)
{
    remote_handle h = 0;
    int32_t v[2] = {4, 5};
    uint32_t n = 2;
    int64_t s = 0;
    remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {v, sizeof(v)}}, {.buf = {&s, sizeof(s)}}};

    (void)state;
    assert_int_equal(remote_handle_open(calculator_URI, &h), AEE_SUCCESS);
    assert_int_equal(remote_handle_invoke(h, REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1), pra), AEE_SUCCESS);
    assert_int_equal(s, 9);
    assert_int_equal(remote_handle_close(h), AEE_SUCCESS);
    assert_int_equal(remote_handle_close(h), AEE_EINVHANDLE);
    assert_int_equal(remote_handle_invoke(h, REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1), pra), AEE_EINVHANDLE);
    assert_int_equal(remote_handle_open("file:///libno_skel.so?x", &h), AEE_DSP(AEE_EUNABLETOLOAD));
}

static void test_registered_buffers_are_shared_by_address(void **state)
{
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    int fd = memfd_create("mine", MFD_CLOEXEC);
    int32_t *v;
    void *nova;
    int64_t s = 0;

    (void)state;
    assert_int_equal(ftruncate(fd, 8192), 0);
    v = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(v != MAP_FAILED);
    errno = 0;
    remote_register_buf(v, 0, fd);
    assert_int_equal(errno, EINVAL);
    remote_register_buf(v, 8192, fd);
    remote_register_buf_attr2(v, 8192, fd, FASTRPC_ATTR_TRY_MAP_STATIC);
    expect_sum(h, v, 2048);
    assert_true(calc_mapped(h, fd) != 0); /* it got there as a buffer, not as a copy */
    remote_register_buf(v, 8192, -1);
    remote_register_buf(v, 8192, -1);
    expect_sum(h, v, 2048);

    nova = remote_register_fd2(fd, 8192);
    assert_true(nova != (void *)-1);
    v[0] = 40;
    v[1] = 2;
    assert_int_equal(calc_sum(h, nova, 2, &s), AEE_SUCCESS);
    assert_int_equal(s, 42);
    remote_register_buf_attr(nova, 8192, -1, 0);
    assert_true(remote_register_fd(-1, 4096) == (void *)-1);
    assert_int_equal(remote_register_dma_handle(fd, 4096), AEE_SUCCESS);
    assert_int_equal(remote_register_dma_handle_attr(fd, 4096, FASTRPC_ATTR_KEEP_MAP), AEE_EBADPARM);
    munmap(v, 8192);
    close(fd);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
}

static void test_maps_of_all_kinds_appear_and_go(void **state)
{
    void *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    int fd = rpcmem_to_fd(p);
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    uint64_t at = 0;
    uint32_t at32 = 0;

    (void)state;
    assert_int_equal(fastrpc_mmap(-1, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_SUCCESS);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_STATIC), AEE_EALREADY);
    assert_true(calc_mapped(h, fd) != 0);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), AEE_SUCCESS);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), AEE_ENOSUCHMAP);
    assert_int_equal(fastrpc_mmap(ADSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_EBADDOMAIN);
    assert_int_equal(fastrpc_mmap(77, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_EBADPARM);

    assert_int_equal(remote_mmap64(fd, 0, (uintptr_t)p, 4096, &at), AEE_SUCCESS);
    assert_true(at && at < 1ull << 32);
    assert_int_equal(at, calc_mapped(h, fd));
    assert_int_equal(remote_munmap64(at + 4096, 4096), AEE_ENOSUCHMAP);
    assert_int_equal(remote_munmap64(at, 4096), AEE_SUCCESS);
    assert_int_equal(remote_mmap64(fd, 1, 0, 4096, &at), AEE_EBADPARM);
    assert_int_equal(remote_mmap(fd, 0, 0, 4096, &at32), AEE_SUCCESS);
    assert_int_equal(remote_munmap(at32, 4096), AEE_SUCCESS);
    assert_int_equal(remote_mem_map(CDSP_DOMAIN_ID, fd, REMOTE_MAP_MEM_STATIC, 0, 4096, &at), AEE_SUCCESS);
    assert_int_equal(remote_mem_unmap(CDSP_DOMAIN_ID, at, 4096), AEE_SUCCESS);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
    rpcmem_free(p);
}

/* fastrpc_test closes a library that leaves its function registered.  Any library's will do: this one's open() is called with the context
 * as a path that is not there. */
static _Atomic int notified;

static int count(void *context, int domain, int session, remote_rpc_status_flags_t status)
{
    (void)context, (void)domain, (void)session, (void)status;
    return ++notified;
}

static int is_notified(void *times)
{
    return notified == *(int *)times;
}

static void test_notifications_do_not_outlive_a_library(void **state)
{
    static char nowhere[] = "/nowhere/at/all";
    const char *path = HXT_BUILD "/lib/libhexrig-preload.so";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    remote_rpc_notif_register_t n = {.context = nowhere, .domain = CDSP_DOMAIN_ID + 24}, own = {.domain = n.domain, .notifier_fn = count};

    (void)state;
    assert_non_null(library);
    assert_int_equal(remote_session_control(FASTRPC_REGISTER_STATUS_NOTIFICATIONS, &own, sizeof(own)), 0);
    *(void **)&n.notifier_fn = dlsym(library, "open");
    assert_int_equal(remote_session_control(FASTRPC_REGISTER_STATUS_NOTIFICATIONS, &n, sizeof(n)), 0);
    assert_int_equal(remote_handle64_close(open_calculator(CDSP_DOMAIN "&_session=3")), 0);
    assert_int_equal(dlclose(library), 0);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    assert_int_equal(remote_handle64_close(open_calculator(CDSP_DOMAIN "&_session=3")), 0);
    assert_true(hxt_until(is_notified, &(int){4}, 20)); /* ours is called after the library's */
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
}

/* --- sessions ----------------------------------------------------------------------------------------------------- */

static void test_reserved_sessions_are_pds_of_their_own(void **state)
{
    static char cdsp[] = "cdsp", name[] = "mine", module[] = calculator_URI;
    remote_rpc_reserve_new_session_t r = {cdsp, 4, name, 4, 0, 0};
    remote_rpc_effective_domain_id_t e = {cdsp, 4, 3, 0};
    remote_handle64 h[4];
    char uri[200];
    remote_rpc_get_uri_t u = {cdsp, 4, 0, module, strlen(module), uri, sizeof(uri)};

    (void)state;
    assert_int_equal(remote_session_control(FASTRPC_GET_EFFECTIVE_DOMAIN_ID, &e, sizeof(e)), 0);
    assert_int_equal(e.effective_domain_id, 27);
    h[0] = open_calculator(CDSP_DOMAIN);
    for (uint32_t i = 1; i < 4; i++) {
        remote_rpc_get_domain_t d = {-1};

        assert_int_equal(remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &r, sizeof(r)), 0);
        assert_int_equal(r.session_id, i);
        assert_int_equal(r.effective_domain_id, 3 + 8 * i);
        u.session_id = i;
        assert_int_equal(remote_session_control(FASTRPC_GET_URI, &u, sizeof(u)), 0);
        assert_int_equal(remote_handle64_open(uri, &h[i]), 0);
        assert_int_equal(remote_handle64_control(h[i], DSPRPC_GET_DOMAIN, &d, sizeof(d)), 0);
        assert_int_equal(d.domain, r.effective_domain_id);
    }
    assert_int_equal(remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &r, sizeof(r)), AEE_ENOSESSION);
    u.uri_len = u.module_uri_len + 3;
    assert_int_equal(remote_session_control(FASTRPC_GET_URI, &u, sizeof(u)), AEE_EBADSIZE);
    assert_int_equal(calc_crash(h[2]), AEE_DSP(AEE_ECPUEXCEPTION));
    for (int i = 0; i < 4; i++) {
        int32_t v[10];

        if (i == 2)
            assert_int_equal(calc_sum(h[i], v, 10, (int64_t *)uri), AEE_DSP(AEE_ECPUEXCEPTION));
        else
            expect_sum(h[i], v, 10);
        remote_handle64_close(h[i]);
    }
}

static uint32_t reserve(void)
{
    static char cdsp[] = "cdsp", name[] = "mine";
    remote_rpc_reserve_new_session_t r = {cdsp, 4, name, 4, 0, 0};
    int rc = remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &r, sizeof(r));

    assert_true(rc == 0 || rc == AEE_ENOSESSION);
    return rc ? 0 : r.session_id;
}

static void close_session(int domain)
{
    struct remote_rpc_session_close c = {domain};

    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &c, sizeof(c)), 0);
}

static void test_reserving_leaves_out_open_sessions_and_closing_frees_unopened_ones(void **state)
{
    remote_handle64 h = open_calculator(CDSP_DOMAIN "&_session=1");
    int32_t v[10];

    (void)state;
    assert_int_equal(reserve(), 2);
    assert_int_equal(reserve(), 3);
    assert_int_equal(reserve(), 0);
    expect_sum(h, v, 10);
    close_session(3 + 8 * 2);
    assert_int_equal(reserve(), 2);
    assert_int_equal(remote_handle64_close(h), 0);
    assert_int_equal(reserve(), 1);
    close_session(-1);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(reserve(), i);
    close_session(-1);
}

/* The signed PD needs fastrpc-cdsp-secure, which may come back between a try of that and one of fastrpc-cdsp. */
static void test_a_signed_open_waits_for_a_dsp_that_restarts(void **state)
{
    (void)state;
    for (int again = 0; again < 3; again++) {
        remote_handle64 old = open_calculator(CDSP_DOMAIN), h = 0;
        pid_t dsp = own_rig_dsp();
        int rc;

        assert_true(dsp > 1);
        assert_int_equal(kill(dsp, SIGKILL), 0);
        do /* until the driver has seen it, the old DSP's nodes are there */
            rc = remote_handle64_open(calculator_URI CDSP_DOMAIN "&_session=1", &h);
        while (rc == AEE_ECONNRESET);
        assert_int_equal(rc, 0);
        assert_int_equal(remote_handle64_close(h), 0);
        remote_handle64_close(old);
    }
}

static void test_session_control_checks_every_size(void **state)
{
    static const struct {
        uint32_t req, size;
    } all[] = {{FASTRPC_THREAD_PARAMS, sizeof(struct remote_rpc_thread_params)},
               {DSPRPC_CONTROL_UNSIGNED_MODULE, sizeof(struct remote_rpc_control_unsigned_module)},
               {FASTRPC_RELATIVE_THREAD_PRIORITY, sizeof(struct remote_rpc_relative_thread_priority)},
               {FASTRPC_REMOTE_PROCESS_KILL, sizeof(struct remote_rpc_process_clean_params)},
               {FASTRPC_SESSION_CLOSE, sizeof(struct remote_rpc_session_close)},
               {FASTRPC_CONTROL_PD_DUMP, sizeof(struct remote_rpc_control_pd_dump)},
               {FASTRPC_REMOTE_PROCESS_EXCEPTION, sizeof(remote_rpc_process_exception)},
               {FASTRPC_REMOTE_PROCESS_TYPE, sizeof(struct remote_process_type)},
               {FASTRPC_REGISTER_STATUS_NOTIFICATIONS, sizeof(struct remote_rpc_notif_register)},
               {FASTRPC_PD_INITMEM_SIZE, sizeof(struct remote_rpc_pd_initmem_size)},
               {FASTRPC_RESERVE_NEW_SESSION, sizeof(remote_rpc_reserve_new_session_t)},
               {FASTRPC_GET_EFFECTIVE_DOMAIN_ID, sizeof(remote_rpc_effective_domain_id_t)},
               {FASTRPC_GET_URI, sizeof(remote_rpc_get_uri_t)},
               {FASTRPC_CONTEXT_CREATE, sizeof(fastrpc_context_create)},
               {FASTRPC_CONTEXT_DESTROY, sizeof(fastrpc_context_destroy)}};
    char zero[128] = {0};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(all); i++) {
        for (uint32_t len = 0; len < sizeof(zero); len++)
            if (len != all[i].size)
                assert_int_equal(remote_session_control(all[i].req, zero, len), AEE_EBADPARM);
        assert_int_equal(remote_session_control(all[i].req, NULL, all[i].size), AEE_EBADPARM);
    }
    assert_int_equal(remote_session_control(FASTRPC_RESERVED_1, zero, 4), AEE_EUNSUPPORTED);
    assert_int_equal(remote_session_control(FASTRPC_RESERVED_3, zero, 4), AEE_EUNSUPPORTED);
    assert_int_equal(remote_session_control(FASTRPC_MAX_THREAD_PARAM, zero, 4), AEE_EUNSUPPORTED);
    assert_int_equal(remote_session_control(19, zero, 4), AEE_EUNSUPPORTED);
}

static void test_session_control_checks_values(void **state)
{
    struct remote_rpc_thread_params t = {CDSP_DOMAIN_ID, 256, -1};
    struct remote_rpc_relative_thread_priority r = {-1, -1000};
    struct remote_rpc_control_unsigned_module u = {CDSP_DOMAIN_ID + 8, 1};
    struct remote_process_type p = {CDSP_DOMAIN_ID + 8, -1};
    struct remote_rpc_pd_initmem_size m = {CDSP_DOMAIN_ID, 2 << 20};
    struct remote_rpc_control_pd_dump d = {MDSP_DOMAIN_ID, 1};
    remote_handle64 h;
    int32_t v[4];

    (void)state;
    assert_int_equal(remote_session_control(FASTRPC_THREAD_PARAMS, &t, sizeof(t)), AEE_EBADPARM);
    t.prio = 100;
    assert_int_equal(remote_session_control(FASTRPC_THREAD_PARAMS, &t, sizeof(t)), AEE_SUCCESS);
    assert_int_equal(remote_session_control(FASTRPC_RELATIVE_THREAD_PRIORITY, &r, sizeof(r)), 0);
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u)), 0);
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_TYPE, &p, sizeof(p)), 0);
    assert_int_equal(p.process_type, PROCESS_TYPE_UNSIGNED);
    p.domain = CDSP_DOMAIN_ID;
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_TYPE, &p, sizeof(p)), 0);
    assert_int_equal(p.process_type, PROCESS_TYPE_SIGNED);
    p.domain = 99;
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_TYPE, &p, sizeof(p)), AEE_EBADPARM);
    assert_int_equal(remote_session_control(FASTRPC_PD_INITMEM_SIZE, &m, sizeof(m)), AEE_EBADPARM);
    m.pd_initmem_size = 3 << 20;
    assert_int_equal(remote_session_control(FASTRPC_PD_INITMEM_SIZE, &m, sizeof(m)), 0);
    m.domain += 8;
    assert_int_equal(remote_session_control(FASTRPC_PD_INITMEM_SIZE, &m, sizeof(m)), AEE_EUNSUPPORTED);
    assert_int_equal(remote_session_control(FASTRPC_CONTROL_PD_DUMP, &d, sizeof(d)), AEE_EBADDOMAIN);
    d.domain = -1;
    assert_int_equal(remote_session_control(FASTRPC_CONTROL_PD_DUMP, &d, sizeof(d)), 0);
    h = open_calculator(CDSP_DOMAIN "&_session=1"); /* unsigned, with thread parameters */
    expect_sum(h, v, 4);
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u)), 0);
    assert_int_equal(remote_handle64_close(h), 0);
    u.enable = 0;
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u)), 0);
}

static void test_a_context_keeps_its_sessions_up(void **state)
{
    uint32_t ids[2] = {CDSP_DOMAIN_ID, CDSP_DOMAIN_ID + 8};
    fastrpc_context_create c = {ids, 2, 0, 0};
    fastrpc_context_destroy d = {0, 0};
    struct remote_rpc_session_close s = {-1};

    (void)state;
    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_CREATE, &c, sizeof(c)), 0);
    assert_true(c.ctx != 0);
    d.ctx = c.ctx;
    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_DESTROY, &d, sizeof(d)), 0);
    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_DESTROY, &d, sizeof(d)), AEE_EBADPARM);
    ids[1] = CDSP_DOMAIN_ID;
    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_CREATE, &c, sizeof(c)), AEE_EBADPARM);
    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &s, sizeof(s)), 0);
}

/* --- capabilities, QoS, system ------------------------------------------------------------------------------------ */

static uint32_t capability(uint32_t domain, uint32_t attribute)
{
    fastrpc_capability c = {domain, attribute, 12345};

    assert_int_equal(remote_handle_control(DSPRPC_GET_DSP_INFO, &c, sizeof(c)), AEE_SUCCESS);
    return c.capability;
}

static void test_capabilities_are_those_of_a_v69(void **state)
{
    fastrpc_capability bad = {99, ARCH_VER, 0};

    (void)state;
    assert_int_equal(capability(CDSP_DOMAIN_ID, DOMAIN_SUPPORT), 1);
    assert_int_equal(capability(ADSP_DOMAIN_ID, DOMAIN_SUPPORT), 0);
    assert_int_equal(capability(CDSP_DOMAIN_ID, ARCH_VER) & 0xff, 0x69);
    assert_int_equal(capability(CDSP_DOMAIN_ID, HVX_SUPPORT_128B), 4);
    assert_int_equal(capability(CDSP_DOMAIN_ID, HVX_SUPPORT_64B), 0);
    assert_int_equal(capability(CDSP_DOMAIN_ID, VTCM_PAGE), 8 << 20);
    assert_int_equal(capability(CDSP_DOMAIN_ID, VTCM_COUNT), 1);
    assert_int_equal(capability(CDSP_DOMAIN_ID, UNSIGNED_PD_SUPPORT), 1);
    assert_int_equal(capability(CDSP_DOMAIN_ID, ASYNC_FASTRPC_SUPPORT), 1);
    assert_int_equal(capability(CDSP_DOMAIN_ID + 8, STATUS_NOTIFICATION_SUPPORT), 1);
    assert_int_equal(capability(CDSP_DOMAIN_ID, 257), 0);
    assert_int_equal(remote_handle_control(DSPRPC_GET_DSP_INFO, &bad, sizeof(bad)), AEE_EBADPARM);
    bad = (fastrpc_capability){ADSP_DOMAIN_ID, ARCH_VER, 0};
    assert_int_equal(remote_handle_control(DSPRPC_GET_DSP_INFO, &bad, sizeof(bad)), AEE_EBADDOMAIN);
}

static void test_qos_modes_are_checked(void **state)
{
    struct remote_rpc_control_latency l = {RPC_POLL_QOS, 9999};
    struct remote_rpc_control_wakelock w = {1};
    remote_handle64 h = open_calculator(CDSP_DOMAIN);

    (void)state;
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_LATENCY, &l, sizeof(l)), AEE_SUCCESS);
    l.latency++;
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_LATENCY, &l, sizeof(l)), AEE_EBADPARM);
    for (l.enable = RPC_DISABLE_QOS; l.enable < RPC_POLL_QOS; l.enable++)
        assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_LATENCY, &l, sizeof(l)), 0);
    l.enable = 4;
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_LATENCY, &l, sizeof(l)), AEE_EBADPARM);
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_LATENCY, &l, 4), AEE_EBADPARM);
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_WAKELOCK, &w, sizeof(w)), 0);
    assert_int_equal(remote_handle64_control(h, DSPRPC_SET_MODE, &w, sizeof(w)), AEE_EUNSUPPORTED);
    assert_int_equal(remote_handle64_control(h, DSPRPC_RESERVED, &w, sizeof(w)), AEE_EUNSUPPORTED);
    assert_int_equal(remote_handle64_close(h), 0);
    assert_int_equal(remote_handle64_control(h, DSPRPC_CONTROL_WAKELOCK, &w, sizeof(w)), AEE_EINVHANDLE);
}

/* Every id there is: its exact size, 0 where the open library does not look, -1 where there is no such request. */
static void test_handle_control_checks_every_size(void **state)
{
    static const int sizes[DSPRPC_SET_MODE + 2] = {
        [DSPRPC_RESERVED] = -1,
        [DSPRPC_CONTROL_LATENCY] = sizeof(struct remote_rpc_control_latency),
        [DSPRPC_GET_DSP_INFO] = 0,
        [DSPRPC_CONTROL_WAKELOCK] = sizeof(struct remote_rpc_control_wakelock),
        [DSPRPC_GET_DOMAIN] = sizeof(remote_rpc_get_domain_t),
        [DSPRPC_SET_PATH] = -1, [DSPRPC_GET_PATH] = -1, [DSPRPC_SMMU_SUPPORT] = -1, [DSPRPC_KALLOC_SUPPORT] = -1,
        [DSPRPC_PM] = -1, [DSPRPC_RPC_POLL] = -1, [DSPRPC_ASYNC_WAKE] = -1, [DSPRPC_NOTIF_WAKE] = -1,
        [DSPRPC_REMOTE_PROCESS_KILL] = -1, [DSPRPC_SET_MODE] = -1, [DSPRPC_SET_MODE + 1] = -1,
    };
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    char data[64] = {0};

    (void)state;
    for (uint32_t id = 0; id < HXT_LEN(sizes); id++) {
        for (uint32_t len = 0; len < sizeof(data); len++) {
            int want = sizes[id] < 0 ? AEE_EUNSUPPORTED
                                     : sizes[id] == 0 || len == (uint32_t)sizes[id] ? AEE_SUCCESS : AEE_EBADPARM;

            assert_int_equal(remote_handle64_control(h, id, data, len), want);
            assert_int_equal(remote_handle_control(id, data, len), want);
        }
        assert_int_equal(remote_handle64_control(h, id, NULL, 64), sizes[id] < 0 ? AEE_EUNSUPPORTED : AEE_EBADPARM);
    }
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
}

static void test_the_system_has_one_nsp(void **state)
{
    fastrpc_domain d = {0};
    system_req_payload req = {.id = FASTRPC_GET_DOMAINS};

    (void)state;
    req.sys.flags = DOMAINS_LIST_FLAGS_SET_TYPE(req.sys.flags, NSP);
    assert_int_equal(remote_system_request(&req), AEE_SUCCESS);
    assert_int_equal(req.sys.num_domains, 1);
    req.sys.domains = &d;
    req.sys.max_domains = 1;
    assert_int_equal(remote_system_request(&req), AEE_SUCCESS);
    assert_int_equal(d.id, CDSP_DOMAIN_ID);
    assert_int_equal(d.instance_id, 0);
    assert_string_equal(d.name, "cdsp");
    assert_int_equal(d.type, FASTRPC_NSP);
    assert_int_equal(d.status, 1);
    req.sys.flags = LPASS;
    assert_int_equal(remote_system_request(&req), AEE_SUCCESS);
    assert_int_equal(req.sys.num_domains, 0);
}

/* As it was before it had an instance_id. */
struct older_domain {
    int id;
    char name[MAX_DOMAIN_NAMELEN];
    fastrpc_domain_type type;
    int status;
    uint32_t card;
    uint32_t soc_id;
};

typedef int (*request_fn)(system_req_payload *);

static void expect_older(request_fn request)
{
    struct older_domain d[2];
    system_req_payload req = {.id = FASTRPC_GET_DOMAINS};

    memset(d, 0xa5, sizeof(d));
    req.sys.domains = (fastrpc_domain *)(void *)d;
    req.sys.max_domains = 1;
    assert_int_equal(request(&req), AEE_SUCCESS);
    assert_int_equal(d[0].id, CDSP_DOMAIN_ID);
    assert_string_equal(d[0].name, "cdsp");
    assert_true(d[0].type == NSP && d[0].status == 1 && d[0].card == 0 && d[0].soc_id == 0);
    assert_int_equal(d[1].id, (int)0xa5a5a5a5);
}

/* The newer one is written no further than the older one is long. */
static void expect_newer(request_fn request)
{
    union {
        fastrpc_domain d;
        uint32_t word[sizeof(fastrpc_domain) / 4];
    } u;
    system_req_payload req = {.id = FASTRPC_GET_DOMAINS};

    memset(&u, 0xa5, sizeof(u));
    req.sys.domains = &u.d;
    req.sys.max_domains = 1;
    assert_int_equal(request(&req), AEE_SUCCESS);
    assert_string_equal(u.d.name, "cdsp");
    assert_true(u.d.type == NSP && u.d.status == 1 && u.d.card == 0);
    assert_int_equal(u.word[sizeof(struct older_domain) / 4], 0xa5a5a5a5);
}

static void test_a_client_gets_the_domain_that_it_was_linked_for(void **state)
{
    const request_fn first = (request_fn)dlvsym(RTLD_DEFAULT, "remote_system_request", "HEXRIG_1"),
                     last = (request_fn)dlsym(RTLD_DEFAULT, "remote_system_request");

    (void)state;
    assert_non_null(first);
    assert_non_null(last);
    expect_older(first);
    expect_newer(last);
    setenv("HEXRIG_DOMAIN_BYTES", "52", 1);
    expect_older(last);
    setenv("HEXRIG_DOMAIN_BYTES", "96", 1);
    expect_newer(first);
    setenv("HEXRIG_DOMAIN_BYTES", "53", 1); /* there is no such layout */
    expect_newer(last);
    unsetenv("HEXRIG_DOMAIN_BYTES");
}

/* An AEE code has many causes: stderr tells them apart, once for who tries again and again. */
static void test_why_no_session_can_be_made_is_said(void **state)
{
    remote_handle64 h;
    char *text;

    (void)state;
    log_begin();
    for (int i = 0; i < 3; i++)
        assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN, &h), AEE_ERPC);
    log_end("libcdsprpc: /dev/null: no FastRPC device: Inappropriate ioctl for device\n");
    text = hxt_read_file(hxt_path("%s/log", hxt_tmpdir()), NULL);
    assert_ptr_equal(strstr(text, "libcdsprpc"), text);
    assert_null(strstr(text + 1, "libcdsprpc"));
    free(text);
}

static int run_without_rig(const char *device)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_why_no_session_can_be_made_is_said)};

    setenv("HEXRIG_DEVICE", device, 1);
    return HXT_RUN(tests);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_and_max_over_copied_and_shared_vectors),
        cmocka_unit_test(test_32_bit_handles_work_and_die),
        cmocka_unit_test(test_registered_buffers_are_shared_by_address),
        cmocka_unit_test(test_maps_of_all_kinds_appear_and_go),
        cmocka_unit_test(test_notifications_do_not_outlive_a_library),
        cmocka_unit_test(test_reserved_sessions_are_pds_of_their_own),
        cmocka_unit_test(test_reserving_leaves_out_open_sessions_and_closing_frees_unopened_ones),
        cmocka_unit_test(test_a_signed_open_waits_for_a_dsp_that_restarts),
        cmocka_unit_test(test_session_control_checks_every_size),
        cmocka_unit_test(test_session_control_checks_values),
        cmocka_unit_test(test_a_context_keeps_its_sessions_up),
        cmocka_unit_test(test_capabilities_are_those_of_a_v69),
        cmocka_unit_test(test_qos_modes_are_checked),
        cmocka_unit_test(test_handle_control_checks_every_size),
        cmocka_unit_test(test_the_system_has_one_nsp),
        cmocka_unit_test(test_a_client_gets_the_domain_that_it_was_linked_for),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run(run_without_rig, "/dev/null") | own_rig_run_both(run);
}
