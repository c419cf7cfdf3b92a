/* Protects: VTCM is as large as the profile says, in requests, queries, GET_DSP_INFO and the node `vtcm`; and a size that cannot be is
 * refused with the reason. */
#include <stdio.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_vtcm_mgr.h"
#include "base/machine.h"
#include "cost/vtime.h"
#include "hx_profile.h"
#include "hx_rig.h"
#include "kept_log.h"
#include "own_rig.h"
#include "remote.h"

enum { MIB = 1 << 20, KIB = 1 << 10, SIZE_KIB = 2304 }; /* two pages of 1 MiB and one of 256 KiB */

/* A profile like the default one but for this; as hxt_path(). */
static const char *write_profile(const char *vtcm)
{
    const char *path = hxt_path("%s/vtcm-%s.conf", hxt_tmpdir(), vtcm);
    char *text = hxt_read_file(HXT_SRC "/dsp/profiles/s22u-sync.conf", NULL);
    FILE *f = fopen(path, "w");

    assert_true(f && text);
    fprintf(f, "%s\nvtcm_kib = %s\n", text, vtcm);
    fclose(f);
    free(text);
    return path;
}

static int load(struct hx_profile *p, const char *vtcm, char *why, size_t why_bytes)
{
    return hx_profile_load(p, HXT_SRC "/dsp/profiles", write_profile(vtcm), why, why_bytes);
}

static void test_a_size_that_cannot_be_is_refused(void **state)
{
    static const char *const cases[][2] = {{"0", "vtcm_kib = '0', legal is 256..8192"},
                                           {"8448", "vtcm_kib = '8448', legal is 256..8192"},
                                           {"1.5", "vtcm_kib = '1.5', legal is 256..8192"},
                                           {"1000", "vtcm_kib is not a multiple of 256, VTCM's smallest page"}};
    struct hx_profile p;
    char why[400] = "";

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        assert_int_equal(load(&p, cases[i][0], why, sizeof(why)), -EINVAL);
        if (!strstr(why, cases[i][1]))
            fail_msg("'%s' instead of '%s'", why, cases[i][1]);
    }
    assert_int_equal(load(&p, "256", why, sizeof(why)), 0);
    assert_int_equal(p.vtcm_kib, 256);
}

static void test_there_is_no_more_to_be_had(void **state)
{
    struct hx_profile p;
    char why[256];
    unsigned page, n, range, all;
    void *most;

    (void)state;
    assert_int_equal(load(&p, "2304", why, sizeof(why)), 0);
    assert_int_equal(hx_machine_init(&p), 0);
    hx_vt_call_begin(0, 0);
    assert_int_equal(HAP_query_total_VTCM(&page, &n), 0);
    assert_true(page == MIB && n == 2);
    assert_int_equal(HAP_query_avail_VTCM(&range, &page, &n), 0);
    assert_true(range == SIZE_KIB * KIB && page == MIB && n == 2);
    assert_int_equal(HAP_compute_res_query_VTCM(0, &all, NULL, NULL, NULL), 0);
    assert_int_equal(all, SIZE_KIB * KIB);
    log_begin();
    assert_null(HAP_request_VTCM(SIZE_KIB * KIB + 1, 0));
    log_end("vtcm: need 2359297 bytes, there are 2359296 in all");
    assert_null(HAP_request_VTCM(MIB + 1, 1)); /* the next larger page has 4 MiB */
    most = HAP_request_VTCM(SIZE_KIB * KIB, 0);
    assert_ptr_equal(most, hx_vtcm);
    assert_null(HAP_request_VTCM(1, 0));
    assert_int_equal(HAP_release_VTCM(most), AEE_SUCCESS);
    hx_vt_call_end();
}

static uint32_t capability(uint32_t attribute)
{
    struct remote_dsp_capability c = {CDSP_DOMAIN_ID, attribute, 0};

    assert_int_equal(remote_handle_control(DSPRPC_GET_DSP_INFO, &c, sizeof(c)), AEE_SUCCESS);
    return c.capability;
}

static void test_clients_are_told(void **state)
{
    char *text = NULL;

    (void)state;
    assert_int_equal(capability(VTCM_PAGE), MIB);
    assert_int_equal(capability(VTCM_COUNT), 2);
    assert_int_equal(hx_rig_read(NULL, "vtcm", &text), 0);
    assert_non_null(strstr(text, "total_bytes=2359296\nfree_bytes=2359296\n"));
    free(text);
}

static const struct CMUnitTest on_rig[] = {cmocka_unit_test(test_clients_are_told)};
static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_size_that_cannot_be_is_refused),
    cmocka_unit_test(test_there_is_no_more_to_be_had),
};

static int with_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    own_rig_profile = write_profile("2304");
    return HXT_RUN_FIXTURE(on_rig, own_rig_start, own_rig_stop);
}

static int without(const char *unused)
{
    (void)unused;
    return HXT_RUN(tests);
}

int main(void)
{
    int rc = own_rig_run(without, "");

    return rc | own_rig_run(with_rig, "socket");
}
