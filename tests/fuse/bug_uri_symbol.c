/* A module's URI named any function that dlsym() finds from there: libc's setcontext, abort, syscall, called with numbers of the
 * client's choice.  A client without a skel of its own ran what it liked in a PD of another user's rig, and could end the DSP. */
#include <stdlib.h>

#include "own_rig.h"
#include "remote.h"
#include "skel/calculator.h"

enum { ENOSUCHSYMBOL_ON_DSP = (int)0x80000442 };

static void test_a_uri_reaches_entry_points_of_that_library_alone(void **state)
{
    static const char *const refused[] = {
        "libcalculator_skel.so?setcontext", "libcalculator_skel.so?abort", "libcalculator_skel.so?getpid&_modver=1.0",
        "libcalculator_skel.so?syscall", "libcalculator_skel.so?HAP_request_VTCM", "libcalculator_skel.so?_init",
        "libcalculator_skel.so?_skel_invoke", "libcalculator_skel.so?_skel_handle_invoke&_modver=1.0",
        "libcalculator_skel.so?calculator_skel_invoke", /* it has the other kind alone */
        "libcalculator_skel.so?dspqueue_rpc_skel_handle_invoke&_modver=1.0", /* hexrig-dsp's */
        "libdspqueue_rpc_skel.so?calculator_skel_handle_invoke&_modver=1.0",
        "libdspqueue_rpc_skel.so?abort", "libdspqueue_rpc_skel.so?hx_root_pd_main",
    };
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    remote_handle64 h, first;

    (void)state;
    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN, &first), AEE_SUCCESS);
    for (size_t i = 0; i < HXT_LEN(refused); i++) {
        int rc = remote_handle64_open(hxt_path("file:///%s&_dom=cdsp", refused[i]), &h);

        if (rc != ENOSUCHSYMBOL_ON_DSP)
            print_error("%s: 0x%x\n", refused[i], (unsigned)rc);
        assert_int_equal(rc, ENOSUCHSYMBOL_ON_DSP);
    }
    assert_int_equal(remote_handle64_close(first), AEE_SUCCESS); /* the PD has outlived all of that */
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_uri_reaches_entry_points_of_that_library_alone)};

    own_rig_front_end = front_end;
    return hxt_run_group(front_end, tests, HXT_LEN(tests), own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
