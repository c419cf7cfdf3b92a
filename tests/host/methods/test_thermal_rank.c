/* Protects ranks by temperature (host/methods/adaptive/thermal_rank.h): the rank falls as it gets hotter, within its limits, and with a
 * power budget; the rig's node is looked at every 500 ms of its time, and without one the rank stays; a lower rank is the beginning of the
 * same factors; a decode on the rig's model of heat stays cool enough and makes more tokens than a clamped one. */
#include <math.h>
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"
#include "methods/adaptive/thermal_rank.h"
#include "methods/lowrank/linear_lowrank.h"
#include "open_engine.h"
#include "power/thermal.h"

static const struct hx_thermal_rank_cfg published = {8, 256, 65, 85, 0};

/* --- the law */

static void test_the_rank_falls_with_the_temperature(void **state)
{
    const struct hx_thermal_rank_cfg even = {0, 10, 0, 20, 0};
    size_t last = published.most;

    (void)state;
    for (double c = 20; c < 120; c += .25) {
        const size_t rank = hx_thermal_rank_at(&published, c, 0);

        assert_true(rank <= last && rank >= published.least);
        last = rank;
    }
    assert_int_equal(hx_thermal_rank_at(&published, 65, 0), 256);
    assert_int_equal(hx_thermal_rank_at(&published, 75, 0), 132);
    assert_int_equal(hx_thermal_rank_at(&published, 85, 0), 8);
    assert_int_equal(hx_thermal_rank_at(&even, 3, 0), 9); /* 8.5: halves up */
}

static void test_a_power_budget_takes_more(void **state)
{
    struct hx_thermal_rank_cfg cfg = published;

    (void)state;
    cfg.budget_w = 2;
    assert_int_equal(hx_thermal_rank_at(&cfg, 75, 2), 132);
    assert_int_equal(hx_thermal_rank_at(&cfg, 75, 3), 88);
    assert_int_equal(hx_thermal_rank_at(&cfg, 75, 1e6), 8);
    assert_int_equal(hx_thermal_rank_at(&cfg, 75, 0), 132); /* not known */
}

/* --- the sensor */

static const char *node(double celsius, double ms, double joules)
{
    return hxt_path("temperature_c=%.2f\npeak_c=99.00\nenergy_j=%.3f\nvirtual_ms=%.3f\n", celsius, joules, ms);
}

static void test_the_node_is_looked_at_every_500_ms_of_its_time(void **state)
{
    struct hx_thermal_rank t = {.cfg = published, .rank = published.most};

    (void)state;
    assert_int_equal(hx_thermal_rank_look(&t, node(75, 10, 0)), 132);
    assert_int_equal(hx_thermal_rank_look(&t, node(85, 509, 0)), 132);
    assert_int_equal(hx_thermal_rank_look(&t, node(85, 510, 0)), 8);
    assert_int_equal(t.looks, 2);
    assert_int_equal(t.switches, 2);
    t.cfg.budget_w = 2; /* 2 J in half a second are 4 W */
    assert_int_equal(hx_thermal_rank_look(&t, node(65, 1010, 2)), 128);
}

static void test_without_a_sensor_the_rank_stays(void **state)
{
    static const char *const nodes[] = {NULL, "", "temperature_c=\nvirtual_ms=1\nenergy_j=1\n",
                                        "temperature_c=nan\nvirtual_ms=1\nenergy_j=1\n", "peak_c=90.0\nvirtual_ms=1\nenergy_j=1\n",
                                        "temperature_c=90.0\n"};
    struct hx_thermal_rank t = {.cfg = published, .rank = 9};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(nodes); i++) {
        assert_int_equal(hx_thermal_rank_look(&t, nodes[i]), 256);
        assert_int_equal(t.sensor, 0);
    }
}

/* What the rig prints is what is read. */
static void test_the_rigs_own_node_is_a_sensor(void **state)
{
    const struct hx_profile p = {.clock_mhz = 1000, .power_active_w = 4, .rth_k_per_w = 10, .tau_s = 10, .ambient_c = 40, .throttle_c = 99};
    struct hx_thermal_rank t = {.cfg = published, .rank = published.most};
    struct hx_thermal heat = {0};
    char text[512] = "";
    FILE *f = fmemopen(text, sizeof(text), "w");

    (void)state;
    hx_thermal_busy(&heat, &p, 0, 10000000000ull, 0, 1);
    hx_thermal_print(&heat, &p, f);
    fclose(f);
    assert_true(fabs((double)hx_thermal_rank_look(&t, text) - (256 - 248 * (40 * (1 - exp(-1)) - 25) / 20)) < 1); /* two decimals */
    assert_int_equal(t.sensor, 1);
}

/* --- factors */

static struct hx_engine *open_rank(const char *rank, const char *basis)
{
    const char *const settings[] = {"kv=f32", "wproj-cache=none", "axex-full-compress", hxt_path("axex-compress-rank=%s", rank),
                                    hxt_path("grc-basis=%s", basis), NULL};

    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .threads = 2, .n_ctx = 16});
}

/* Rows of down bit for bit, where they are eigenvectors; else they, like columns of up, are sums that BLAS may order otherwise. */
static void test_a_lower_rank_is_the_beginning_of_the_same_factors(void **state)
{
    static const char *const bases[] = {"shared", "per-slot"};

    (void)state;
    for (size_t b = 0; b < HXT_LEN(bases); b++) {
        struct hx_engine *much = open_rank("112", bases[b]), *few = open_rank("40", bases[b]);
        const struct hx_lowrank_factors *m = hx_linear_lowrank_factors(much->core->linear[0].open);
        const struct hx_lowrank_factors *f = hx_linear_lowrank_factors(few->core->linear[0].open);

        assert_int_equal(f->n_bases, m->n_bases);
        for (size_t i = 0; i < f->n_bases; i++) {
            assert_int_equal(f->bases[i].rank, 40);
            if (f->bases[i].rows >= f->bases[i].cols)
                hxt_same_bytes(f->bases[i].down->w, m->bases[i].down->w, 40 * f->bases[i].cols * sizeof(float));
            hxt_near_f32_abs((const float *)(const void *)f->bases[i].down->w, (const float *)(const void *)m->bases[i].down->w,
                             40 * f->bases[i].cols, 4, 1e-6);
        }
        for (size_t i = 0; i < f->n_parts; i++)
            for (size_t r = 0; r < f->parts[i].up->rows; r++)
                hxt_near_f32_abs((const float *)(const void *)f->parts[i].up->w + r * 40,
                                 (const float *)(const void *)m->parts[i].up->w + r * 112, 40, 4, 1e-6);
        hx_engine_close(much);
        hx_engine_close(few);
    }
}

/* --- a minute of decoding */

static void test_a_ranked_decode_stays_cool_and_makes_more_than_a_clamped_one(void **state)
{
    json_t *hot = e2e_json("subspace thermal --secs 60 --json"), *cool = e2e_json("subspace thermal --secs 5 --json");

    (void)state;
    assert_true(e2e_number(hot, "plain.peak_c") > 85);
    assert_true(e2e_number(hot, "ranked.peak_c") <= 85);
    assert_true(e2e_number(hot, "ranked.tokens") > e2e_number(hot, "clamped.tokens"));
    assert_true(e2e_number(hot, "ranked.joules_per_token") < e2e_number(hot, "plain.joules_per_token"));
    assert_string_equal(e2e_text(hot, "verdict"), "PASS");
    assert_string_equal(e2e_text(cool, "verdict"), "COOL");
    assert_true(e2e_number(cool, "ranked.rank_mean") == 1280);
    json_decref(hot);
    json_decref(cool);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    e2e_refused("subspace thermal --geometry gpt9", 2, "--geometry");
    e2e_refused("subspace thermal --rank 4096", 2, "--rank 4096; the width is 2560");
    e2e_refused("subspace thermal --least 400 --rank 300", 2, "--least 400; --rank is 300");
    e2e_refused("subspace thermal --low 85", 2, "--low 85; --high is 85");
    e2e_refused("subspace mcr", 2, "--text FILE");
    e2e_refused("subspace learn", 2, "--text FILE");
    e2e_refused("subspace gauge --rank 257", 2, "--rank 257; the model's width is 256");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_rank_falls_with_the_temperature),
    cmocka_unit_test(test_a_power_budget_takes_more),
    cmocka_unit_test(test_the_node_is_looked_at_every_500_ms_of_its_time),
    cmocka_unit_test(test_without_a_sensor_the_rank_stays),
    cmocka_unit_test(test_the_rigs_own_node_is_a_sensor),
    cmocka_unit_test(test_a_lower_rank_is_the_beginning_of_the_same_factors),
    cmocka_unit_test(test_a_ranked_decode_stays_cool_and_makes_more_than_a_clamped_one),
    cmocka_unit_test(test_what_cannot_be_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
