/* Protects a COG and its file (host/methods/cog): four distances are four tiers, the metric grows by what is new and stays positive
 * definite, and a file is written back with the same bytes, refused when a byte is missing or another, and the old one until it is
 * complete, also when its writer is killed. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hxt.h"
#include "quant/quant.h"
#include "methods/cog/miku.h"
#include "sealed_file.h"

enum { K = 6, D = 16 };

static float basis[K * D];

static struct hx_cog open_cog(void)
{
    struct hx_cog c;

    for (size_t i = 0; i < K; i++)
        basis[i * D + i] = 1;
    assert_int_equal(hx_cog_open(&c, K, D, basis, NULL), 0);
    c.model = 0x1234567890abcdef;
    return c;
}

/* A point at an angle from the first axis. */
static void at_angle(double *z, double cosine)
{
    memset(z, 0, K * sizeof(*z));
    z[0] = 3 * cosine;
    z[1] = 3 * sqrt(1 - cosine * cosine);
}

static void test_four_distances_are_four_tiers(void **state)
{
    static const struct {
        double cosine;
        enum hx_cog_tier tier;
    } each[] = {{1, HX_COG_RETRIEVE},      {.951, HX_COG_RETRIEVE}, {.949, HX_COG_AUGMENT}, {.806, HX_COG_AUGMENT}, {.79, HX_COG_EXPAND},
                {.51, HX_COG_EXPAND},      {.49, HX_COG_EXPLORE},   {-.5, HX_COG_EXPLORE}};
    struct hx_cog c = open_cog();
    double first[K], z[K];
    struct hx_cog_match m;

    (void)state;
    at_angle(first, 1);
    m = hx_cog_match(&c, first);
    assert_true(m.tier == HX_COG_EXPLORE && m.nearest == 0 && m.similarity == 0);
    assert_int_equal(hx_cog_add(&c, first, "a", "b", .25, NULL), 0);
    for (size_t i = 0; i < HXT_LEN(each); i++) {
        at_angle(z, each[i].cosine);
        m = hx_cog_match(&c, z);
        assert_int_equal(m.tier, each[i].tier);
        assert_true(fabs(m.similarity - each[i].cosine) < 1e-12 && m.nearest == 0);
    }
    memset(z, 0, sizeof(z));
    assert_int_equal(hx_cog_match(&c, z).tier, HX_COG_EXPLORE);
    hx_cog_free(&c);
}

static void test_a_state_is_placed_by_the_basis(void **state)
{
    struct hx_cog c = open_cog();
    double h[D], z[K];

    (void)state;
    for (size_t i = 0; i < D; i++)
        h[i] = (double)i + .5;
    hx_cog_place(&c, h, z);
    for (size_t i = 0; i < K; i++)
        assert_true(z[i] == (double)i + .5);
    hx_cog_free(&c);
}

static void test_a_question_is_placed_by_the_mean_of_its_tokens_rows(void **state)
{
    enum { ROWS = 3 };
    static float w[ROWS * D];
    struct hx_linear embd = {.ops = &hx_linear_ref, .w = w, .type = HX_QUANT_F32, .rows = ROWS, .cols = D};
    struct hx_cog c = open_cog();
    struct hx_error err = {""};
    double z[K];

    (void)state;
    for (size_t i = 0; i < ROWS * D; i++)
        w[i] = (float)i;
    assert_int_equal(hx_cog_place_tokens(&c, &embd, (const uint32_t[]){0, 2}, 2, z, &err), 0);
    for (size_t i = 0; i < K; i++)
        assert_true(z[i] == (double)(D + i));
    assert_int_equal(hx_cog_place_tokens(&c, &embd, NULL, 0, z, &err), 0);
    assert_true(z[0] == 0 && z[K - 1] == 0);
    assert_int_equal(hx_cog_place_tokens(&c, &embd, (const uint32_t[]){0, 3}, 2, z, &err), -EINVAL);
    assert_string_equal(err.text, "cog: token 3; the vocabulary has 3");
    embd.cols = D - 1;
    assert_int_equal(hx_cog_place_tokens(&c, &embd, (const uint32_t[]){0}, 1, z, &err), -EINVAL);
    assert_string_equal(err.text, "cog: states of 16; the model's are 15 wide");
    hx_cog_free(&c);
}

/* 100 points: each adds .012 along itself, so growth is at most 1.2, and never falls. */
static void test_the_metric_grows_and_stays_positive_definite(void **state)
{
    struct hx_cog c = open_cog();
    struct hxt_rng rng;
    double before = 0, least;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int i = 0; i < 100; i++) {
        double z[K];

        for (size_t k = 0; k < K; k++)
            z[k] = hxt_normal(&rng);
        assert_int_equal(hx_cog_grow(&c, z, NULL), 0);
        assert_true(hx_cog_growth(&c) > before && hx_cog_growth(&c) <= .012 * (i + 1) + 1e-12);
        before = hx_cog_growth(&c);
        assert_int_equal(hx_cog_least(&c, &least, NULL), 0);
        assert_true(least >= 1 - 1e-12);
    }
    assert_true(before > .3);
    /* one that lost an eigenvalue gets some of I */
    for (size_t i = 0; i < K; i++)
        c.metric[i * K] = c.metric[i] = 0;
    assert_int_equal(hx_cog_grow(&c, (double[K]){0, 1}, NULL), 0);
    assert_int_equal(hx_cog_least(&c, &least, NULL), 0);
    assert_true(least >= .01 - 1e-12);
    hx_cog_free(&c);
}

/* Before: neither the metric nor what is kept has the coordinate.  After: the metric grew by it, what is kept has none of it. */
static void test_spare_coordinates_go_before_or_after_the_metric_grows(void **state)
{
    static const struct {
        enum hx_cog_snipe where;
        double pre, post;
    } each[] = {{HX_COG_SNIPE_OFF, .8, .8}, {HX_COG_SNIPE_BEFORE, 0, 0}, {HX_COG_SNIPE_AFTER, .8, 0}};
    const double z[K] = {3, 4};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(each); i++) {
        struct hx_cog c = open_cog();
        double taken[K], kept[K];

        assert_int_equal(hx_cog_choose(&c.forbidden, &c.n_forbidden, (const uint32_t[]){1}, 1), 0);
        assert_int_equal(hx_cog_choose(&c.snipe, &c.n_snipe, (const uint32_t[]){1}, 1), 0);
        hx_cog_snipe(&c, each[i].where, z, taken, kept);
        assert_true(fabs(hx_cog_share(&c, taken) - each[i].pre) < 1e-12 && fabs(hx_cog_share(&c, kept) - each[i].post) < 1e-12);
        assert_true(taken[0] == 3 && kept[0] == 3);
        assert_int_equal(hx_cog_grow(&c, taken, NULL), 0);
        assert_int_equal(c.metric[K + 1] > 1, each[i].pre > 0);
        hx_cog_free(&c);
    }
}

/* --- files */

static struct hx_cog full_cog(void)
{
    struct hx_cog c = open_cog();
    double z[K] = {.1, 1. / 3, -2e-17, 4, 5e10, 6};

    assert_int_equal(hx_cog_choose(&c.forbidden, &c.n_forbidden, (const uint32_t[]){3, 1}, 2), 0);
    assert_int_equal(hx_cog_choose(&c.snipe, &c.n_snipe, (const uint32_t[]){5}, 1), 0);
    assert_int_equal(hx_cog_grow(&c, z, NULL), 0);
    assert_int_equal(hx_cog_add(&c, z, "What is \"rain\"?\n", "water \xc3\xa4", .125, NULL), 0);
    assert_int_equal(hx_cog_say(&c, "What is \"rain\"?\n", "water \xc3\xa4", HX_COG_EXPLORE, 0, NULL), 0);
    return c;
}

static void test_save_load_save_has_the_same_bytes(void **state)
{
    const char *one = hxt_path("%s/one.miku", hxt_tmpdir()), *two = hxt_path("%s/two.miku", hxt_tmpdir());
    struct hx_cog c = full_cog(), back;
    struct hx_error err = {""};
    uint8_t *a, *b;
    size_t n, m;

    (void)state;
    assert_int_equal(hx_miku_write(&c, one, &err), 0);
    assert_int_equal(hx_miku_read(&back, one, c.model, &err), 0);
    assert_true(back.n == 1 && back.n_log == 1 && back.n_forbidden == 2 && back.forbidden[0] == 3 && back.snipe[0] == 5);
    assert_string_equal(back.at[0].prompt, "What is \"rain\"?\n");
    hxt_same_bytes(back.at[0].z, c.at[0].z, K * sizeof(double));
    hxt_same_bytes(back.metric, c.metric, K * K * sizeof(double));
    assert_int_equal(hx_miku_write(&back, two, &err), 0);
    a = hxt_read_file(one, &n);
    b = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    hxt_same_bytes(b, a, n);
    free(a);
    free(b);
    hx_cog_free(&back);
    assert_int_equal(hx_miku_read(&back, one, c.model + 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "another model"));
    hx_cog_free(&c);
}

static void test_every_truncation_and_every_flipped_byte_is_refused(void **state)
{
    const char *path = hxt_path("%s/a.miku", hxt_tmpdir()), *bad = hxt_path("%s/bad.miku", hxt_tmpdir());
    struct hx_cog c = full_cog(), back;
    uint8_t *bytes;
    size_t n;

    (void)state;
    assert_int_equal(hx_miku_write(&c, path, NULL), 0);
    bytes = hxt_read_file(path, &n);
    for (size_t i = 0; i < n; i++) {
        struct hx_error err = {""};

        hxt_write_file(bad, bytes, i);
        assert_int_equal(hx_miku_read(&back, bad, 0, &err), -EINVAL);
        assert_true(*err.text && !strchr(err.text, '\n'));
        bytes[i] ^= 0x20;
        hxt_write_file(bad, bytes, n);
        assert_int_equal(hx_miku_read(&back, bad, 0, &err), -EINVAL);
        bytes[i] ^= 0x20;
    }
    free(bytes);
    hx_cog_free(&c);
}

/* The file with `was` of its JSON as `is`, its length and checksum right again. */
static void write_with(const char *path, const uint8_t *bytes, size_t n, const char *was, const char *is)
{
    uint32_t json, rest;
    char *text, *at;
    uint8_t *to = calloc(n + strlen(is), 1);
    size_t front;

    memcpy(&json, bytes + 12, sizeof(json));
    text = strndup((const char *)bytes + 16, json);
    at = strstr(text, was);
    assert_non_null(at);
    front = 16 + (size_t)(at - text);
    rest = (uint32_t)(n - front - strlen(was));
    memcpy(to, bytes, front);
    memcpy(to + front, is, strlen(is));
    memcpy(to + front + strlen(is), bytes + front + strlen(was), rest);
    json = json - (uint32_t)strlen(was) + (uint32_t)strlen(is);
    memcpy(to + 12, &json, sizeof(json));
    write_sealed(path, to, front + strlen(is) + rest);
    free(text);
    free(to);
}

static void refused_with(const char *path, const char *words)
{
    struct hx_error err = {""};
    struct hx_cog back;

    assert_int_equal(hx_miku_read(&back, path, 0, &err), -EINVAL);
    if (!strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void test_content_that_cannot_be_is_refused_behind_a_right_checksum(void **state)
{
    static const struct {
        const char *was, *is, *words;
    } json[] = {
        {"miku-v1", "miku-v2", "format cannot be"},
        {"1234567890abcdef", "1234567890abcdeg", "model_id cannot be"},
        {"\"k_ugt\":6", "\"k_ugt\":0", "k_ugt or d_model cannot be"},
        {"\"k_ugt\":6", "\"k_ugt\":17", "k_ugt or d_model cannot be"},
        {"\"k_ugt\":6", "\"k_ugt\":5", "the length of its tensors cannot be"},
        {"[3,1]", "[3,6]", "forbidden_coords cannot be"},
        {"[3,1]", "[3,-1]", "forbidden_coords cannot be"},
        {"[3,1]", "[3,3]", "forbidden_coords cannot be"},
        {"[5]", "[5,0,5]", "snipe_coords cannot be"},
        {"[5]", "[\"5\"]", "snipe_coords cannot be"},
        {"\"trajectories\":[", "\"trajectory\":[", "trajectories or conversation_log cannot be"},
        {"\"teh\":0.125", "\"teh\":2.125", "a trajectory cannot be"},
        {"EXPLORE", "EXPLODE", "a line of conversation_log cannot be"},
        {"{\"format\"", "{{\"format\"", "its JSON cannot be"},
    };
    const char *path = hxt_path("%s/content.miku", hxt_tmpdir());
    struct hx_cog c = full_cog();
    uint8_t *bytes;
    size_t n, metric_at, basis_at;

    (void)state;
    assert_int_equal(hx_miku_write(&c, path, NULL), 0);
    bytes = hxt_read_file(path, &n);
    metric_at = n - 4 - K * K * sizeof(double);
    basis_at = metric_at - K * D * sizeof(float);
    for (size_t i = 0; i < HXT_LEN(json); i++) {
        write_with(path, bytes, n, json[i].was, json[i].is);
        refused_with(path, json[i].words);
    }
    struct wrong_field each[] = {
        {8, 4, {.u32 = 2}, "version 2"},
        {12, 4, {.u32 = (uint32_t)n}, "the length of its JSON cannot be"},
        {metric_at + 8, 8, {.f64 = .5}, "metric is not symmetric"},
        {metric_at, 8, {.f64 = NAN}, "metric is not symmetric"},
        {basis_at, 4, {.f32 = 2}, "basis is not orthonormal"},
        {basis_at, 4, {.f32 = INFINITY}, "basis is not orthonormal: off by inf"},
    };
    for (size_t i = 0; i < HXT_LEN(each); i++) {
        swap_field(bytes, &each[i]);
        write_sealed(path, bytes, n);
        swap_field(bytes, &each[i]);
        refused_with(path, each[i].words);
    }
    free(bytes);
    hx_cog_free(&c);
}

/* The writer is killed at some moment of its many saves; whatever that was, the file is one of those that were complete. */
static void test_a_writer_that_is_killed_leaves_a_complete_file(void **state)
{
    const char *path = hxt_path("%s/killed.miku", hxt_tmpdir());
    struct hx_cog c = full_cog(), back;

    (void)state;
    assert_int_equal(hx_miku_write(&c, path, NULL), 0);
    for (int i = 0; i < 12; i++) {
        struct hx_error err = {""};
        const pid_t pid = fork();

        if (!pid)
            for (;;)
                if (hx_cog_say(&c, "more", "and more", HX_COG_EXPAND, .5, NULL) || hx_miku_write(&c, path, NULL))
                    _exit(1);
        usleep((useconds_t)(500 + 900 * i));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        if (hx_miku_read(&back, path, c.model, &err))
            fail_msg("%s", err.text);
        assert_true(back.n == 1 && back.n_log >= 1);
        hx_cog_free(&back);
    }
    /* what it left beside the file is written over */
    assert_int_equal(hx_miku_write(&c, path, NULL), 0);
    hx_cog_free(&c);
}

static void test_another_kind_of_file_stays(void **state)
{
    const char *path = hxt_path("%s/letter.txt", hxt_tmpdir());
    struct hx_cog c = full_cog();
    char *text;

    (void)state;
    hxt_write_file(path, "Dear", 4);
    assert_int_equal(hx_miku_write(&c, path, NULL), -EEXIST);
    text = hxt_read_file(path, NULL);
    assert_string_equal(text, "Dear");
    free(text);
    hx_cog_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_distances_are_four_tiers),
        cmocka_unit_test(test_a_state_is_placed_by_the_basis),
        cmocka_unit_test(test_a_question_is_placed_by_the_mean_of_its_tokens_rows),
        cmocka_unit_test(test_the_metric_grows_and_stays_positive_definite),
        cmocka_unit_test(test_spare_coordinates_go_before_or_after_the_metric_grows),
        cmocka_unit_test(test_save_load_save_has_the_same_bytes),
        cmocka_unit_test(test_every_truncation_and_every_flipped_byte_is_refused),
        cmocka_unit_test(test_content_that_cannot_be_is_refused_behind_a_right_checksum),
        cmocka_unit_test(test_a_writer_that_is_killed_leaves_a_complete_file),
        cmocka_unit_test(test_another_kind_of_file_stays),
    };

    return HXT_RUN(tests);
}
