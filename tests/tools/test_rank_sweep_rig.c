/* Protects hexrig subspace sweep: the rank up to which thin matrices stay in VTCM moves with its size and is where bytes say, what does not
 * fit is fetched and takes longer, perplexity falls with rank, and a planted model gets none. */
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"

/* Of wq, wk, wv and what they read, of the shipped model, as int8: 1.125 bytes each. */
enum { PER_RANK = 6 * (256 + 512) / 8 * 9 };

static void test_the_knee_moves_with_vtcm(void **state)
{
    static const int ranks[] = {64, 96, 128};
    char folder[256];
    json_t *j;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/sweep", hxt_tmpdir());
    j = e2e_json(hxt_path("subspace sweep --json --ranks 128,64,96 --vtcm-kib 1024,512 --ctx 32 --chunks 4 -o %s", folder));
    assert_true(e2e_number(j, "bytes_per_rank") == PER_RANK);
    assert_int_equal((int)e2e_number(j, "k_fit_512.by_bytes"), 96);
    assert_int_equal((int)e2e_number(j, "k_fit_512.found"), 96);
    assert_int_equal((int)e2e_number(j, "k_fit_1024.by_bytes"), 192);
    assert_int_equal((int)e2e_number(j, "k_fit_1024.found"), 128); /* no larger one was asked for */
    for (size_t i = 0; i < HXT_LEN(ranks); i++) {
        const double hit = e2e_number(j, hxt_path("rank_%d.vtcm_512.hit_bytes", ranks[i]));
        const double miss = e2e_number(j, hxt_path("rank_%d.vtcm_512.miss_bytes", ranks[i]));

        assert_true(hit + miss == (double)ranks[i] * PER_RANK);
        assert_true((miss > 0) == (ranks[i] > 96));
        assert_true(e2e_number(j, hxt_path("rank_%d.vtcm_1024.miss_bytes", ranks[i])) == 0);
#ifndef __SANITIZE_ADDRESS__
        if (ranks[i] > 96)
            assert_true(e2e_number(j, hxt_path("rank_%d.vtcm_512.exec_us", ranks[i])) >
                        e2e_number(j, hxt_path("rank_%d.vtcm_1024.exec_us", ranks[i])));
#endif
    }
    assert_true(e2e_number(j, "rank_64.ppl_ratio") > e2e_number(j, "rank_128.ppl_ratio"));
    assert_true(e2e_number(j, "rank_128.ppl_ratio") > 1);
    json_decref(j);
    j = golden_json(hxt_path("%s/sweep.json", folder));
    assert_true(e2e_number(j, "bytes_per_rank") == PER_RANK);
    json_decref(j);
    e2e_clean();
}

static void test_a_planted_model_has_costs_and_no_perplexity(void **state)
{
    char model[256];
    struct hxt_result r;
    json_t *j;

    (void)state;
    snprintf(model, sizeof(model), "%s/planted.gguf", hxt_tmpdir());
    e2e_run(&r, hxt_path("model synth --geometry 2x2/1x64x128x128x2048 --act-rank 16 --type q8_0 -o %s", model));
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    j = e2e_json(hxt_path("subspace sweep --json -m %s --ranks 32 --vtcm-kib 256", model));
    assert_null(json_object_get(json_object_get(j, "rank_32"), "ppl"));
    assert_true(e2e_number(j, "rank_32.vtcm_256.exec_us") > 0);
    json_decref(j);
    e2e_clean();
}

static void test_what_is_not_legal_is_refused(void **state)
{
    (void)state;
    e2e_refused("subspace sweep --ranks 33", 2, "--ranks 33; legal: multiples of 32 up to 1536");
    e2e_refused("subspace sweep --ranks 288", 2, "--ranks: 288; the model's width is 256");
    e2e_refused("subspace sweep --vtcm-kib 300", 2, "--vtcm-kib 300; legal: multiples of 256 up to 8192");
    e2e_refused("subspace sweep --vtcm-kib 8448", 2, "--vtcm-kib");
    e2e_refused("subspace sweep --plot x.gif", 2, "legal: FILE.svg, FILE.png");
    e2e_refused("subspace sweep --profile nowhere", 2, "--profile: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_knee_moves_with_vtcm),
        cmocka_unit_test(test_a_planted_model_has_costs_and_no_perplexity),
        cmocka_unit_test(test_what_is_not_legal_is_refused),
    };

    return HXT_RUN(tests);
}
