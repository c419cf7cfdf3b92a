/* Protects: interfaces as hexidl makes them, through a real rig on both front ends: one without handles, opened by its name and
 * by URIs; nested types, DMA handles and versions; what a handle means after it was closed, and in a child process. */
#include <stdatomic.h>

#include "calculator_client.h"
#include "hxt_classic.h"
#include "hxt_deep.h"
#include "rpcmem.h"

/* --- an interface without handles --------------------------------------------------------------------------------- */

static void test_a_classic_stub_calls_its_skel(void **state)
{
    int32_t v[5] = {3, -7, 40, 2, 4}, max = 0, n = 0, again = 0;
    int64_t sum = 0;

    (void)state;
    assert_int_equal(hxt_classic_sum(v, 5, &sum), AEE_SUCCESS);
    assert_int_equal(sum, 42);
    assert_int_equal(hxt_classic_max(v, 5, &max), AEE_SUCCESS);
    assert_int_equal(max, 40);
    assert_int_equal(hxt_classic_max(v, 0, &max), AEE_EBADPARM);
    assert_int_equal(hxt_classic_calls(&n), AEE_SUCCESS);
    assert_int_equal(hxt_classic_calls(&again), AEE_SUCCESS);
    assert_int_equal(again, n + 1); /* one library, open all the time */
}

static int sum_by_handle(remote_handle h, int64_t *sum)
{
    int32_t v[2] = {20, 22};
    uint32_t n = 2;
    remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {v, sizeof(v)}}, {.buf = {sum, sizeof(*sum)}}};

    return remote_handle_invoke(h, REMOTE_SCALARS_MAKE(0, 2, 1), pra);
}

/* A bare name; the URI without _modver; and one whose _modver contradicts the entry point's name, which a device gets wrong. */
static void test_classic_skels_open_by_name_and_uri(void **state)
{
    static const char *const names[] = {
        "hxt_classic", hxt_classic_URI, hxt_classic_URI "&_dom=cdsp",
        "file:///libhxt_classic_skel.so?hxt_classic_skel_invoke&_modver=1.0&_dom=cdsp"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(names); i++) {
        remote_handle64 wide = 0;
        remote_handle h = 0;
        int64_t sum = 0;

        assert_int_equal(remote_handle_open(names[i], &h), AEE_SUCCESS);
        assert_int_equal(sum_by_handle(h, &sum), AEE_SUCCESS);
        assert_int_equal(sum, 42);
        assert_int_equal(remote_handle_close(h), AEE_SUCCESS);
        assert_int_equal(sum_by_handle(h, &sum), AEE_EINVHANDLE);
        if (!strstr(names[i], "_dom")) { /* wide handles want it */
            assert_int_equal(remote_handle64_open(names[i], &wide), AEE_EBADPARM);
            continue;
        }
        assert_int_equal(remote_handle64_open(names[i], &wide), AEE_SUCCESS);
        assert_int_equal(remote_handle64_invoke(wide, REMOTE_SCALARS_MAKE(9, 0, 0), NULL),
                         AEE_DSP(AEE_EUNSUPPORTED));
        assert_int_equal(remote_handle64_close(wide), AEE_SUCCESS);
    }
}

static void test_names_that_are_no_skel_say_so(void **state)
{
    remote_handle h;

    (void)state;
    assert_int_equal(remote_handle_open("hxt_nothing", &h), AEE_DSP(AEE_EUNABLETOLOAD));
    assert_int_equal(remote_handle_open("hxt_deep", &h), AEE_DSP(AEE_ENOSUCHSYMBOL)); /* its skel takes handles */
    assert_int_equal(remote_handle_open("../hxt_classic", &h), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(remote_handle_open("", &h), AEE_DSP(AEE_EBADPARM));
}

/* --- nested types ------------------------------------------------------------------------------------------------- */

static void test_nested_types_go_there_and_back(void **state)
{
    char one[] = "one", two[] = "twenty", a[8], b[3];
    hxt_line in[2] = {{one, sizeof(one), 10}, {two, sizeof(two), 20}}, out[2] = {{a, sizeof(a), 0}, {b, sizeof(b), 0}};
    hxt_poem p = {in, 2, 1798}, q = {out, 2, 0};
    _cstring1_t s[3] = {{one, 0}, {two, 0}, {one + 3, 0}};
    int n[4];
    remote_handle64 h;

    (void)state;
    assert_int_equal(hxt_deep_open(hxt_deep_URI "&_dom=cdsp", &h), AEE_SUCCESS);
    assert_int_equal(hxt_deep_turn(h, &p, &q), AEE_SUCCESS);
    assert_string_equal(a, "twenty");
    assert_string_equal(b, "on"); /* there was no room for more */
    assert_int_equal(out[0].colour, 21);
    assert_int_equal(out[1].colour, 11);
    assert_int_equal(q.year, 1799);
    q.linesLen = 1;
    assert_int_equal(hxt_deep_turn(h, &p, &q), AEE_EBADPARM);
    assert_int_equal(hxt_deep_lengths(h, s, 3, n, 4), AEE_SUCCESS);
    assert_true(n[0] == 3 && n[1] == 6 && n[2] == 0 && n[3] == -1);
    assert_int_equal(hxt_deep_close(h), AEE_SUCCESS);
}

static void test_a_dma_handle_is_the_buffer_itself(void **state)
{
    unsigned char *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 8192), first = 0;
    remote_handle64 h;
    uint32_t bytes = 0;
    int fd = rpcmem_to_fd(p);

    (void)state;
    assert_non_null(p);
    p[100] = 7;
    assert_int_equal(hxt_deep_open(hxt_deep_URI CDSP_DOMAIN, &h), AEE_SUCCESS);
    assert_int_equal(hxt_deep_look(h, fd, 100, 8192, &first, &bytes), AEE_SUCCESS);
    assert_int_equal(first, 7);
    assert_int_equal(bytes, 8192);
    assert_int_equal(p[100], 255);
    assert_int_equal(hxt_deep_close(h), AEE_SUCCESS);
    rpcmem_free(p);
}

static void test_a_stub_newer_than_the_skel_is_refused(void **state)
{
    remote_handle64 h;

    (void)state;
    assert_non_null(strstr(hxt_deep_URI, "&_modver=1.0&_idlver=1.4"));
    assert_int_equal(hxt_deep_open("file:///libhxt_deep_skel.so?hxt_deep_skel_handle_invoke&_modver=1.0&_idlver=1.5&_dom=cdsp", &h),
                     AEE_DSP(AEE_ESTUBSKELVERMISMATCH));
    assert_int_equal(hxt_deep_open("file:///libhxt_deep_skel.so?hxt_deep_skel_handle_invoke&_modver=1.0&_dom=cdsp", &h),
                     AEE_DSP(AEE_ESTUBSKELVERMISMATCH));
    assert_int_equal(hxt_deep_open("file:///libhxt_deep_skel.so?hxt_deep_skel_handle_invoke&_modver=1.0&_idlver=0.9&_dom=cdsp", &h),
                     AEE_SUCCESS);
    assert_int_equal(hxt_deep_close(h), AEE_SUCCESS);
}

/* --- handles ------------------------------------------------------------------------------------------------------ */

static void test_a_closed_handle_is_not_the_next_one(void **state)
{
    remote_handle64 keep = open_calculator(CDSP_DOMAIN), h[50];
    int32_t v[2];
    int64_t s;

    (void)state;
    for (int i = 0; i < 50; i++) {
        h[i] = open_calculator(CDSP_DOMAIN);
        for (int k = 0; k < i; k++)
            assert_true(h[k] != h[i]);
        assert_int_equal(remote_handle64_close(h[i]), AEE_SUCCESS);
    }
    assert_int_equal(calc_sum(h[0], v, 0, &s), AEE_EINVHANDLE);
    expect_sum(keep, v, 2);
    assert_int_equal(remote_handle64_close(keep), AEE_SUCCESS);
}

/* The file is shared after a fork, as the kernel's is, so a child's calls work and its close is everybody's; the file
 * itself ends with the last process that has it.  A socket cannot be shared: the child is told. */
static atomic_int n_told; /* by notifications */

static int told(void *context, int domain, int session, remote_rpc_status_flags_t status)
{
    (void)context;
    (void)domain;
    (void)session;
    (void)status;
    return n_told++;
}

static int in_child(remote_handle64 h)
{
    remote_rpc_notif_register_t n = {NULL, -1, told};
    int32_t v[2] = {1, 2};
    int64_t s = 0;
    int rc = remote_session_control(FASTRPC_REGISTER_STATUS_NOTIFICATIONS, &n, sizeof(n));

    if (rc)
        return 4;
    rc = calc_sum(h, v, 2, &s);
    usleep(100000);
    if (n_told) /* no DSP has died */
        return 5;
    if (strcmp(own_rig_front_end, "socket") == 0)
        return rc == AEE_ECONNREFUSED ? 0 : 1;
    if (rc || s != 3)
        return 2;
    return remote_handle64_close(h) == AEE_SUCCESS ? 0 : 3;
}

static void test_a_child_shares_the_file_and_closes_for_all(void **state)
{
    int on_socket = strcmp(own_rig_front_end, "socket") == 0, status = -1;
    remote_handle64 first = open_calculator(CDSP_DOMAIN), other = open_calculator(CDSP_DOMAIN);
    int32_t v[2];
    int64_t s;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(in_child(first));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect_sum(other, v, 2); /* the child's end took nothing else away */
    assert_int_equal(calc_sum(first, v, 0, &s), on_socket ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE));
    assert_int_equal(remote_handle64_close(first), on_socket ? AEE_SUCCESS : AEE_DSP(AEE_EINVHANDLE));
    assert_int_equal(remote_handle64_close(first), AEE_EINVHANDLE); /* it is forgotten in any case */
    assert_int_equal(remote_handle64_close(other), AEE_SUCCESS);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_classic_stub_calls_its_skel),
        cmocka_unit_test(test_classic_skels_open_by_name_and_uri),
        cmocka_unit_test(test_names_that_are_no_skel_say_so),
        cmocka_unit_test(test_nested_types_go_there_and_back),
        cmocka_unit_test(test_a_dma_handle_is_the_buffer_itself),
        cmocka_unit_test(test_a_stub_newer_than_the_skel_is_refused),
        cmocka_unit_test(test_a_closed_handle_is_not_the_next_one),
        cmocka_unit_test(test_a_child_shares_the_file_and_closes_for_all),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
