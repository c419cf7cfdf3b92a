/* Protects: the names by which daemons get into other PDs than one of their own (attachguestos, createstaticpd) and to their listener's
 * end (geteventfd), on both front ends, as in the open library. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "calculator_client.h"

#define ROOT     ITRANSPORT_PREFIX "attachguestos" CDSP_DOMAIN
#define EVENT_FD ITRANSPORT_PREFIX "geteventfd" CDSP_DOMAIN

static uint64_t open_name(const char *name)
{
    remote_handle64 h = 0;

    assert_int_equal(remote_handle64_open(name, &h), AEE_SUCCESS);
    return h;
}

static int is_readable(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, 0) == 1;
}

static void test_a_daemon_attaches_and_listens(void **state)
{
    remote_handle64 h, listener;
    remote_handle narrow = 0;
    int32_t v[2] = {1, 2};
    int fd;

    (void)state;
    assert_int_equal(remote_handle64_open(EVENT_FD, &h), AEE_ERESOURCENOTFOUND);
    assert_int_equal(open_name(ROOT), 259);
    assert_int_equal(remote_handle64_open(EVENT_FD, &h), AEE_ERESOURCENOTFOUND); /* that made no session yet */
    listener = open_name("file:///libadsp_default_listener1_skel.so?adsp_default_listener1_skel_handle_invoke&_modver=1.0" CDSP_DOMAIN);
    assert_int_equal(remote_handle64_invoke(listener, REMOTE_SCALARS_MAKE(2, 0, 0), NULL), AEE_SUCCESS);
    assert_int_equal(remote_handle64_invoke(listener, REMOTE_SCALARS_MAKE(3, 0, 0), NULL), AEE_DSP(AEE_EUNSUPPORTED));
    fd = (int)open_name(EVENT_FD);
    assert_false(is_readable(fd));
    assert_int_equal(remote_handle_open("adsp_default_listener", &narrow), AEE_SUCCESS);
    assert_int_equal(remote_handle_invoke(narrow, 0, NULL), AEE_SUCCESS);
    assert_int_equal(remote_handle_close(narrow), AEE_SUCCESS);
    h = open_calculator(CDSP_DOMAIN);
    expect_sum(h, v, 2);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
    assert_int_equal(remote_handle64_close(listener), AEE_SUCCESS);
    assert_true(is_readable(fd));
    assert_int_equal(remote_handle64_close(259), AEE_SUCCESS);
    h = open_calculator(CDSP_DOMAIN); /* a PD of its own again, without a listener */
    expect_sum(h, v, 2);
    assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
}

/* Who closes a descriptor may get its number for another file: that is no business of the listener's. */
static void test_descriptors_of_a_listeners_end_are_the_callers(void **state)
{
    remote_handle64 listener;
    int fd, kept, mine;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_name(ROOT "&_session=3");
        listener = open_name("file:///libadsp_default_listener1_skel.so?adsp_default_listener1_skel_handle_invoke&_modver=1.0"
                             CDSP_DOMAIN "&_session=3");
        fd = (int)open_name(EVENT_FD "&_session=3");
        kept = (int)open_name(EVENT_FD "&_session=3");
        assert_int_not_equal(fd, kept);
        assert_int_equal(close(fd), 0);
        mine = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_int_equal(mine, fd);
        assert_false(is_readable(kept));
        assert_int_equal(remote_handle64_close(listener), AEE_SUCCESS);
        assert_true(is_readable(kept));
        assert_int_equal(close(kept), 0);
        assert_int_equal(close(mine), 0);
    }
}

static void test_names_of_pds(void **state)
{
    static const struct {
        const char *name;
        uint64_t handle;
    } names[] = {
        {"createstaticpd:audiopd", 257},  {"createstaticpd:oispd", 256},    {"createstaticpd:sensorspd", 258},
        {"createstaticpd:rootpd", 260},   {"createstaticpd:securepd", 261}, {"attachguestos", 259},
    };
    int32_t v[2] = {3, 4};
    remote_handle64 h;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(names); i++) {
        remote_handle narrow = 0;

        assert_int_equal(open_name(hxt_path(ITRANSPORT_PREFIX "%s" CDSP_DOMAIN "&_session=1", names[i].name)), names[i].handle);
        h = open_calculator(CDSP_DOMAIN "&_session=1");
        expect_sum(h, v, 2);
        assert_int_equal(remote_handle64_close(h), AEE_SUCCESS);
        assert_int_equal(remote_handle_open(hxt_path(ITRANSPORT_PREFIX "%s&_session=2", names[i].name), &narrow), AEE_SUCCESS);
        assert_int_equal(narrow, names[i].handle);
        assert_int_equal(remote_handle_close(narrow), AEE_SUCCESS);
        assert_int_equal(open_name(ITRANSPORT_PREFIX "attachuserpd" CDSP_DOMAIN "&_session=2"), 262);
    }
    assert_int_equal(remote_handle64_open(ITRANSPORT_PREFIX "createstaticpd:other" CDSP_DOMAIN, &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(ITRANSPORT_PREFIX "createstaticpd:audiopdx" CDSP_DOMAIN, &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(ITRANSPORT_PREFIX "attachguestos", &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_open(ITRANSPORT_PREFIX CDSP_DOMAIN, &h), AEE_EBADPARM);
    assert_int_equal(remote_handle64_invoke(259, 0, NULL), AEE_EINVHANDLE);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_daemon_attaches_and_listens),
        cmocka_unit_test(test_descriptors_of_a_listeners_end_are_the_callers),
        cmocka_unit_test(test_names_of_pds),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
