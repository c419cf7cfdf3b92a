/* Protects `hexrig roofline`: ceilings are the profile's figures, a point stands below the one that asks for most of its time, and the
 * picture has each point that has a place in it.  Energy is what the profile says for each byte, operation and second. */
#include "roofline/energy.h"
#include "roofline/roofline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hxt.h"

static const struct hx_profile profile = {
    .ddr_pj_per_byte = 40, .l2_pj_per_byte = 3, .vtcm_pj_per_byte = 2, .hvx_pj_per_op = 7, .power_idle_w = 0.5,
    .dispatch_us = 100, .packet_us = 10, .clock_mhz = 1000, .hvx_contexts = 2,
    .cost = {.hvx_pcycles = 4, .dma_bytes_per_pcycle = 8, .ddr_line_pcycles = 64},
};

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.12g is not %.12g", got, want);
}

static void test_ceilings_are_the_profiles(void **state)
{
    const struct hx_ceilings c = hx_ceilings(&profile);

    (void)state;
    near(c.ddr_bytes, 8);
    near(c.ddr_load_bytes, 2);
    near(c.vtcm_bytes, 64); /* two contexts, a vector each in four pcycles */
    near(c.hvx_ops, 2);
    near(c.call_pcycles, 100000);
    near(c.packet_pcycles, 10000);
    near(c.pcycles_per_us, 1000);
}

static void test_a_point_is_below_the_ceiling_that_asks_for_most(void **state)
{
    static const struct {
        struct hx_roofline_counts n;
        enum hx_roof exec_roof, roof;
        double exec_share, share;
    } cases[] = {
        {{.ddr_bytes = 800, .exec_pcycles = 200, .all_pcycles = 400}, HX_ROOF_DDR, HX_ROOF_DDR, 0.5, 0.25},
        {{.ddr_bytes = 400, .dma_bytes = 400, .exec_pcycles = 100, .all_pcycles = 100}, HX_ROOF_DDR, HX_ROOF_DDR, 1, 1},
        {{.vtcm_bytes = 6400, .ddr_bytes = 8, .exec_pcycles = 1000, .all_pcycles = 1000}, HX_ROOF_VTCM, HX_ROOF_VTCM, 0.1, 0.1},
        {{.hvx_ops = 200, .vtcm_bytes = 64, .exec_pcycles = 125, .all_pcycles = 500}, HX_ROOF_HVX, HX_ROOF_HVX, 0.8, 0.2},
        {{.calls = 1, .hvx_ops = 200, .exec_pcycles = 1000, .all_pcycles = 200000}, HX_ROOF_HVX, HX_ROOF_DISPATCH, 0.1, 0.5},
        {{.packets = 2, .exec_pcycles = 1000, .all_pcycles = 40000}, HX_ROOFS, HX_ROOF_DISPATCH, 0, 0.5},
        {{.exec_pcycles = 10, .all_pcycles = 10}, HX_ROOFS, HX_ROOFS, 0, 0},
    };
    const struct hx_ceilings c = hx_ceilings(&profile);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const struct hx_roofline_point p = hx_roofline_point(&cases[i].n, &c);

        if (p.exec_roof != cases[i].exec_roof || p.roof != cases[i].roof)
            fail_msg("case %zu: %s and %s", i, hx_roof_names[p.exec_roof], hx_roof_names[p.roof]);
        near(p.exec_share, cases[i].exec_share);
        near(p.share, cases[i].share);
    }
}

static void test_intensity_is_of_all_that_crosses_the_bus(void **state)
{
    const struct hx_roofline_counts n = {.hvx_ops = 600, .ddr_bytes = 100, .dma_bytes = 200, .vtcm_bytes = 5000, .exec_pcycles = 300};
    const struct hx_ceilings c = hx_ceilings(&profile);
    const struct hx_roofline_point p = hx_roofline_point(&n, &c);

    (void)state;
    near(p.ops_per_byte, 2);
    near(p.ops_per_pcycle, 2);
}

static void test_tokens_are_bound_by_the_way_to_ddr(void **state)
{
    (void)state;
    near(hx_roofline_tok_s(&profile, 4000000), 2000); /* 8 GB/s */
    near(hx_roofline_tok_s(&profile, 0), 0);
}

static void test_energy_is_by_byte_operation_and_second(void **state)
{
    const struct hx_roofline_counts n = {.ddr_bytes = 1e6, .dma_bytes = 2e6, .l2_bytes = 4e6, .vtcm_bytes = 5e6, .hvx_ops = 6e6};
    const struct hx_energy e = hx_energy_of(&n, 1000, &profile);
    json_t *j = hx_energy_json(&e, 1000, 4);

    (void)state;
    near(e.ddr_uj, 120);
    near(e.l2_uj, 12);
    near(e.vtcm_uj, 10);
    near(e.hvx_uj, 42);
    near(e.idle_uj, 500);
    near(hx_energy_uj(&e), 684);
    near(json_number_value(json_object_get(j, "uj_per_token")), 171);
    near(json_number_value(json_object_get(j, "mean_w")), 0.684);
    json_decref(j);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void test_the_picture_has_each_point_with_a_place(void **state)
{
    const struct hx_ceilings c = hx_ceilings(&profile);
    const struct hx_roofline_counts some = {.hvx_ops = 1e-3, .ddr_bytes = 1e6, .exec_pcycles = 1e9, .all_pcycles = 2e9};
    const struct hx_roofline_counts none = {.ddr_bytes = 5, .exec_pcycles = 7, .all_pcycles = 7};
    const struct hx_roofline_mark marks[] = {{"far off", hx_roofline_point(&some, &c)}, {"a<b>&", hx_roofline_point(&none, &c)}};
    const char *path = hxt_path("%s/roofline.svg", hxt_tmpdir());
    char *text;

    (void)state;
    assert_int_equal(hx_roofline_svg(path, "a \"title\" of ]]><script>", &c, marks, HXT_LEN(marks)), 0);
    text = hxt_read_file(path, NULL);
    assert_non_null(text);
    assert_int_equal(count(text, "<circle"), 1);
    assert_int_equal(count(text, "far off"), 2); /* at the point and in the list */
    assert_int_equal(count(text, "a&lt;b&gt;&amp;"), 1);
    assert_int_equal(count(text, "DDR 8.00 B/pcycle"), 1);
    assert_int_equal(count(text, ">a &quot;title&quot; of ]]&gt;&lt;script&gt;</text>"), 1);
    assert_int_equal(count(text, "<script"), 0);
    assert_int_equal(count(text, "nan") + count(text, "inf"), 0);
    assert_int_equal(count(text, "<g") + count(text, "<svg"), count(text, "</g>") + count(text, "</svg>"));
    free(text);
    assert_int_equal(hx_roofline_svg("/nowhere/roofline.svg", "", &c, marks, 1), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ceilings_are_the_profiles),
        cmocka_unit_test(test_a_point_is_below_the_ceiling_that_asks_for_most),
        cmocka_unit_test(test_intensity_is_of_all_that_crosses_the_bus),
        cmocka_unit_test(test_tokens_are_bound_by_the_way_to_ddr),
        cmocka_unit_test(test_energy_is_by_byte_operation_and_second),
        cmocka_unit_test(test_the_picture_has_each_point_with_a_place),
    };

    return HXT_RUN(tests);
}
