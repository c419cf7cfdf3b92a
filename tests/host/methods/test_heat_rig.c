/* Protects ranks that follow the temperature of a real rig (host/methods/lowrank/heat.h): a minute of decoding stays cool enough and makes
 * more tokens than one whose clock is cut, and no change of rank makes a call or a map more; no basis has more directions than its plan
 * gave it, whatever the temperature, and sums are those of the directions that count. */
#include <math.h>
#include <sys/mman.h>

#include "golden.h"
#include "hx_rig.h"
#include "methods/lowrank/linear_lowrank.h"
#include "methods/lowrank/product.h"
#include "open_engine.h"
#include "own_rig.h"

enum { CTX = 120, CALLS = 4 * 6 + 1, LEAST = 32 };

/* What a process that had a rig to itself saw. */
struct seen {
    size_t tokens, switches, uneven; /* uneven: tokens with other calls or maps than one of a rank that stays */
    double peak_c, rank_mean;
};
static struct seen *seen; /* shared with those processes */

/* --- a decode */

/* A body that gets hot in a minute of tokens that take most of a second each, which the calls are a third of. */
static const char *profile(const char *name, const char *clock)
{
    const char *path = hxt_path("%s/%s.conf", hxt_tmpdir(), name);
    const char *text = hxt_path("include = v69.inc\ndispatch_us = 10000\ndsp_wake_us = 0\nhost_cold_us = 0\nhost_sleep_us = 0\n"
                                "clock_mhz = 2\nrth_k_per_w = 29\ntau_s = 15\nrecover_c = 80\n%s", clock);
    char *inc = NULL;
    size_t n = 0;
    FILE *in = fopen(HXT_SRC "/dsp/profiles/v69.inc", "r");

    assert_non_null(in);
    assert_true(getdelim(&inc, &n, '\0', in) > 0);
    fclose(in);
    hxt_write_file(hxt_path("%s/v69.inc", hxt_tmpdir()), inc, strlen(inc));
    free(inc);
    hxt_write_file(path, text, strlen(text));
    return path;
}

static double node_value(const char *key)
{
    char *text = NULL;
    const char *at;
    double x;

    assert_int_equal(hx_rig_read(NULL, "thermal", &text), 0);
    at = strstr(text, key);
    assert_non_null(at);
    x = strtod(at + strlen(key) + 1, NULL);
    free(text);
    return x;
}

static uint32_t likeliest(struct hx_engine *e, float *logits)
{
    struct hx_error err;
    uint32_t best = 0;

    if (hx_engine_logits(e, logits, &err))
        fail_msg("%s", err.text);
    for (uint32_t id = 1; id < e->model->vocab; id++)
        best = logits[id] > logits[best] ? id : best;
    return best;
}

static void check_ceilings(const struct hx_linear_method *m, size_t limit)
{
    const struct hx_lowrank_factors *f = hx_linear_lowrank_factors(m);

    for (size_t i = 0; i < f->n_bases; i++) {
        const size_t now = f->bases[i].cut[hx_lowrank_slices(&f->bases[i], limit)];

        assert_true(now <= f->bases[i].rank && (now <= limit || now == f->bases[i].cut[1]) && now >= 1);
    }
}

static void decode(struct hx_engine *e, double ms)
{
    const struct hx_linear_method *m = e->core->linear[0].open;
    const struct hx_lowrank_heat *heat = hx_linear_lowrank_heat(m);
    float *logits = calloc(e->model->vocab, sizeof(*logits));
    struct hx_session_stats was, is;
    uint32_t token = 359;

    run(e, &token, 1, 0); /* what the first one sets up is no change of rank */
    while (node_value("virtual_ms") < ms) {
        assert_int_equal(hx_rig_session_stats(&was), 0);
        run(e, &token, 1, seen->tokens++ % CTX);
        token = likeliest(e, logits);
        assert_int_equal(hx_rig_session_stats(&is), 0);
        seen->uneven += is.invokes - was.invokes != CALLS || is.maps != was.maps || is.kernel_calls != was.kernel_calls;
        if (heat)
            check_ceilings(m, heat->limit);
    }
    seen->peak_c = node_value("peak_c");
    if (heat) {
        seen->switches = heat->rank.switches;
        seen->rank_mean = heat->sum / (double)heat->passes;
    }
    free(logits);
}

static int in_a_process(const char *mode)
{
    const int clamped = strcmp(mode, "clamped") == 0, ranked = strcmp(mode, "ranked") == 0;
    const char *const settings[] = {"kv=f32", "wproj-cache=none", "axex-full-compress", "axex-compress-rank=256", "grc-basis=per-slot",
                                    "offload=linear", ranked ? "axex-thermal" : NULL, NULL};
    struct hx_engine *e;

    own_rig_front_end = "socket";
    own_rig_profile = profile(mode, clamped ? "clock_low_mhz = 1.2\nclock_levels = 2\nthrottle_c = 85\n"
                                            : "clock_low_mhz = 1\nthrottle_c = 99\n");
    if (own_rig_start(NULL))
        return 1;
    e = hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .threads = 2, .n_ctx = CTX});
    decode(e, 60e3);
    hx_engine_close(e);
    hx_rig_disconnect();
    return own_rig_stop(NULL) != 0;
}

static struct seen decoded(const char *mode)
{
    *seen = (struct seen){0};
    assert_int_equal(own_rig_run(in_a_process, mode), 0);
    print_message("%s: %zu tokens, peak %.2f C, %zu changes of rank, mean %.0f\n", mode, seen->tokens, seen->peak_c, seen->switches,
                  seen->rank_mean);
    return *seen;
}

/* More than the issue asks for: no more calls, no map, in the driver's own count. */
static void test_a_minute_stays_cool_and_hands_nothing_over(void **state)
{
    const struct seen clamped = decoded("clamped"), ranked = decoded("ranked");

    (void)state;
    assert_true(clamped.peak_c > 85); /* so it was hot enough to be cut */
    assert_true(ranked.peak_c <= 85);
    assert_true(ranked.tokens > clamped.tokens);
    assert_true(ranked.switches > 10);
    assert_int_equal(ranked.uneven, 0);
}

/* --- without a rig */

/* y of a limit is that of the directions below it, and sums are the plan's. */
static void test_fewer_slices_are_a_lower_rank(void **state)
{
    const char *const sliced[] = {"kv=f32", "wproj-cache=none", "axex-compress", "axex-compress-rank=112", "axex-thermal", NULL};
    const char *const plain[] = {"kv=f32", "wproj-cache=none", "axex-compress", "axex-compress-rank=64", NULL};
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = sliced, .threads = 1, .n_ctx = 8});
    struct hx_engine *few = hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = plain, .threads = 1, .n_ctx = 8});
    const struct hx_lowrank_factors *f = hx_linear_lowrank_factors(e->core->linear[0].open);
    struct hx_lowrank_product p;
    struct hx_error err = {""};
    float x[256], scratch[256], got[3][256], want[3][256];
    const struct hx_linear *w[3], *v[3];
    float *const y[3] = {got[0], got[1], got[2]}, *const z[3] = {want[0], want[1], want[2]};

    (void)state;
    assert_int_equal(f->bases[0].n_slices, 4);
    assert_int_equal(f->bases[0].cut[1], LEAST);
    assert_int_equal(f->bases[0].cut[4], 112);
    assert_int_equal(hx_lowrank_product_open(&p, f, &err), 0);
    for (size_t i = 0; i < 256; i++)
        x[i] = sinf((float)(i * i));
    for (int i = 0; i < 3; i++) {
        w[i] = hx_matrices_at(&e->core->matrices, 0, (enum hx_matrix)i);
        v[i] = hx_matrices_at(&few->core->matrices, 0, (enum hx_matrix)i);
    }
    p.limit = 70; /* the cut below it is 64 */
    assert_int_equal(hx_lowrank_multiply(&p, w, y, 3, x, 1, scratch, &err), 0);
    assert_int_equal(hx_linear_apply(v, z, 3, x, 1, scratch, &err), 0);
    for (int i = 0; i < 3; i++)
        for (size_t r = 0; r < w[i]->rows; r++)
            if (!(fabsf(got[i][r] - want[i][r]) <= 1e-4f * (1 + fabsf(want[i][r]))))
                fail_msg("matrix %d, row %zu: %g, not %g", i, r, (double)got[i][r], (double)want[i][r]);
    hx_lowrank_product_close(&p);
    hx_engine_close(few);
    hx_engine_close(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_fewer_slices_are_a_lower_rank),
    cmocka_unit_test(test_a_minute_stays_cool_and_hands_nothing_over),
};

int main(void)
{
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return HXT_RUN(tests);
}
