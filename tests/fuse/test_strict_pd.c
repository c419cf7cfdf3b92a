/* Protects --strict-pd: a skel is opened in an unsigned PD only, which is one that was asked for when the PD was made; whatever a
 * client tries before or after that does not make a signed PD, or the root PD, count as unsigned. */
#include <sys/ioctl.h>

#include "driver_client.h"
#include "remote.h"
#include "skel/calculator.h"

/* Opens the test skel by remotectl1's open1 (method 2), or by remotectl's open (method 0).  ioctl()'s result. */
static int try_open(int fd, uint32_t handle, unsigned method)
{
    static char uri[] = HXT_SKEL_URI;
    uint32_t in[2] = {sizeof(uri), 256}, out[2];
    char dlerr[256];
    struct fastrpc_invoke_args a[4] = {drv_arg(in, sizeof(in)), drv_arg(uri, sizeof(uri)), drv_arg(out, sizeof(out)),
                                       drv_arg(dlerr, sizeof(dlerr))};

    errno = 0;
    return drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(method, 2, 2), a);
}

static void both_ways_give_eperm(int fd)
{
    assert_int_equal(try_open(fd, FASTRPC_HANDLE_REMOTECTL1, 2), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(try_open(fd, FASTRPC_HANDLE_REMOTECTL, 0), -1);
    assert_int_equal(errno, EPERM);
}

static void test_a_signed_pd_is_made_but_opens_no_skel(void **state)
{
    int fd = drv_open("fastrpc-cdsp-secure");

    (void)state;
    assert_int_equal(drv_create(fd, 0, 0), 0);
    both_ways_give_eperm(fd);
    close(fd);
}

static void test_an_unsigned_pd_opens_skels_on_both_nodes(void **state)
{
    static const char *const nodes[] = {"fastrpc-cdsp", "fastrpc-cdsp-secure"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(nodes); i++) {
        int fd = drv_open(nodes[i]);

        assert_int_equal(drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0);
        assert_int_equal(try_open(fd, FASTRPC_HANDLE_REMOTECTL1, 2), 0);
        assert_int_equal(try_open(fd, FASTRPC_HANDLE_REMOTECTL, 0), 0);
        close(fd);
    }
}

static void test_the_root_pd_opens_no_skel(void **state)
{
    int fd = drv_open("fastrpc-cdsp-secure");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH), 0);
    both_ways_give_eperm(fd);
    close(fd);
}

static void test_a_refused_init_create_changes_nothing(void **state)
{
    int fd = drv_open("fastrpc-cdsp-secure");

    (void)state;
    assert_int_equal(drv_create(fd, 0, 0), 0);
    assert_int_equal((unsigned)drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0x8000040d); /* there is a PD already */
    both_ways_give_eperm(fd);
    close(fd);
    fd = drv_open("fastrpc-cdsp-secure");
    assert_int_equal(drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, FASTRPC_INIT_FILELEN_MAX + 1), -1);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH), 0);
    both_ways_give_eperm(fd);
    close(fd);
}

static void test_the_library_needs_the_unsigned_module_control(void **state)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    struct remote_rpc_session_close cdsp = {CDSP_DOMAIN_ID};
    remote_handle64 h;

    (void)state;
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN, &h), AEE_EBADPERMS);
    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &cdsp, sizeof(cdsp)), 0);
    assert_int_equal(remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u)), 0);
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN, &h), AEE_SUCCESS);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
    assert_int_equal(own_rig_status("strict_pd"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signed_pd_is_made_but_opens_no_skel),
        cmocka_unit_test(test_an_unsigned_pd_opens_skels_on_both_nodes),
        cmocka_unit_test(test_the_root_pd_opens_no_skel),
        cmocka_unit_test(test_a_refused_init_create_changes_nothing),
        cmocka_unit_test(test_the_library_needs_the_unsigned_module_control),
    };

    own_rig_strict_pd = 1;
    return DRV_RUN(tests);
}
