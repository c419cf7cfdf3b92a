/* Protects a library of trajectories in DSP memory through a rig: however many questions, one call, or one packet; the starts that are
 * found and the corrections are the host's; what a question costs falls with how many a call has. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"

#define SMALL "geometry resonance --json -m " MODEL_F16 " --held 64 --points 96 --neighbours 32 --records 40"

static void check_way(const json_t *j, const char *way, double calls, double packets)
{
    for (int b = 1; b <= 10000; b *= 10) {
        assert_true(e2e_number(j, hxt_path("dsp.%s_%d.calls", way, b)) == calls);
        assert_true(e2e_number(j, hxt_path("dsp.%s_%d.packets", way, b)) == packets);
        assert_true(e2e_number(j, hxt_path("dsp.%s_%d.same_start", way, b)) > .99); /* equally far to 2^-18: either */
        assert_true(e2e_number(j, hxt_path("dsp.%s_%d.apart", way, b)) < 1e-5);
    }
}

static void check(const json_t *j, double calls, double packets)
{
    check_way(j, "serve", calls, packets);
    check_way(j, "look_up", calls, packets);
    assert_true(e2e_number(j, "dsp.look_up_1000.over_a_call_each") >= 7);
    assert_true(e2e_number(j, "dsp.serve_10.over_a_call_each") >= 2.7);
    assert_true(e2e_number(j, "dsp.serve_100.over_a_call_each") >= 12.5);
    assert_true(e2e_number(j, "dsp.serve_1000.over_a_call_each") >= 7);
    assert_true(e2e_number(j, "dsp.in_vtcm") == e2e_number(j, "dsp.library_bytes"));
    assert_true(e2e_number(j, "dsp.correct.exec_us_per_question") < e2e_number(j, "dsp.serve_10000.exec_us_per_question"));
}

static void test_a_batch_is_one_call(void **state)
{
    json_t *j = e2e_json(SMALL " --profile s22u-sync");

    (void)state;
    check(j, 1, 0);
    json_decref(j);
}

static void test_or_one_packet(void **state)
{
    json_t *j = e2e_json(SMALL " --profile dspqueue --packets");

    (void)state;
    check(j, 0, 1);
    json_decref(j);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    e2e_refused("geometry resonance --packets", 2, "--packets needs --profile");
    e2e_refused("geometry resonance --points 20 --records 21 --profile s22u-sync", 2, "--records 21 of --points 20");
    e2e_refused("geometry resonance --points 64 --neighbours 32 --profile nonsense", 2, "nonsense");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_is_one_call),
        cmocka_unit_test(test_or_one_packet),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return HXT_RUN(tests);
}
