/* Protects MCB's scores (host/methods/guard/mcb.h): each moves with what it is of and with nothing else, stays within 0..100, and tiers
 * begin where they are said to. */
#include <errno.h>
#include <math.h>

#include "hxt.h"
#include "methods/guard/mcb.h"

enum { D = 4 };

static const double east[D] = {1}, north[D] = {0, 1}, up[D] = {0, 0, 1}, west[D] = {-1};
static const uint32_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};

enum { SPREAD, BLEND, WORDING, RULES, WAY };

static struct hx_mcb score(const struct hx_mcb_text *t, size_t n)
{
    struct hx_error err = {""};
    struct hx_mcb m;

    if (hx_mcb_score(t, n, D, 'e', &m, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < HX_MCB_SCORES; i++)
        assert_true(m.score[i] >= 0 && m.score[i] <= 100);
    return m;
}

static int is(double x, double want)
{
    return fabs(x - want) < 1e-9;
}

static void test_the_same_text_twice_has_nothing(void **state)
{
    const struct hx_mcb_text t[] = {{a, 6, "the end", east, east, east}, {a, 6, "the end", east, east, NULL}};
    const struct hx_mcb m = score(t, 2);

    (void)state;
    assert_true(is(m.score[SPREAD], 0) && is(m.score[BLEND], 0) && is(m.score[WAY], 0) && is(m.score[RULES], 0));
    /* self-BLEU is 1, and half of the pairs of tokens are there twice */
    assert_true(is(m.score[WORDING], 25) && is(m.index, 5) && m.tier == 'D');
}

static void test_texts_that_share_nothing_have_it_all(void **state)
{
    const struct hx_mcb_text t[] = {{a, 6, "a long bright night", north, east, up}, {b, 6, "a small dark light", up, west, NULL}};
    const struct hx_mcb m = score(t, 2);

    (void)state;
    assert_true(is(m.score[SPREAD], 100) && is(m.score[BLEND], 100) && is(m.score[WAY], 100));
    /* no e, as long as each other, and they rhyme: of five places all are met */
    assert_true(is(m.score[RULES], 100));
    /* grams that nobody shares: 1 in as many as there are, and 1 */
    assert_true(is(m.score[WORDING], 100 * (2 - pow(7. * 6 * 5 * 4, -.25)) / 2) && m.tier == 'S');
}

static void test_rules_are_counted(void **state)
{
    const struct hx_mcb_text t[] = {{a, 6, "the sea", east, east, north},
                                    {b, 6, "a rather long text, of more than that", north, north, NULL}};

    (void)state;
    assert_true(is(score(t, 2).score[RULES], 0)); /* both have an e, neither is near the mean, no rhyme */
    assert_int_equal(hx_mcb_score(t, 1, D, 'e', &(struct hx_mcb){.index = 0}, NULL), -EINVAL);
    {
        const struct hx_mcb_text bad[] = {t[0], {b, 1, "x", east, east, NULL}};
        struct hx_error err = {""};

        assert_int_equal(hx_mcb_score(bad, 2, D, 'e', &(struct hx_mcb){.index = 0}, &err), -EINVAL);
        assert_non_null(strstr(err.text, "text 1 has 1 tokens"));
    }
}

/* Half of the words are the other's. */
static void test_wording_falls_with_what_is_shared(void **state)
{
    const uint32_t half[] = {1, 2, 3, 10, 11, 12};
    const struct hx_mcb_text far[] = {{a, 6, "x", east, east, east}, {b, 6, "x", east, east, NULL}};
    const struct hx_mcb_text near[] = {{a, 6, "x", east, east, east}, {half, 6, "x", east, east, NULL}};

    (void)state;
    assert_true(score(near, 2).score[WORDING] < score(far, 2).score[WORDING] - 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_text_twice_has_nothing),
        cmocka_unit_test(test_texts_that_share_nothing_have_it_all),
        cmocka_unit_test(test_rules_are_counted),
        cmocka_unit_test(test_wording_falls_with_what_is_shared),
    };

    return HXT_RUN(tests);
}
