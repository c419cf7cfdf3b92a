/* Protects docs/add-a-method.md: its example is a method that works behind the seam, as long as the page says so. */
#include <math.h>

#include "golden.h"
#include "method/kv_f16.c"
#include "open_engine.h"
#include "text/text.h"

enum { CTX = 64, VOCAB = 2048 };

static void logits_of(struct hx_engine *e, struct hx_kv *kv, const uint32_t *ids, float *logits)
{
    struct hx_attn *attn;
    struct hx_forward *f;
    struct hx_error err;

    assert_int_equal(hx_attn_ref_open(&attn, CTX, &err), 0);
    if (hx_forward_open(&f, e->model, kv, attn, CTX, &err))
        fail_msg("%s", err.text);
    assert_int_equal(hx_forward_run(f, ids, CTX / 2, 0, &err), 0);
    assert_int_equal(hx_forward_run(f, ids + CTX / 2, CTX / 2, CTX / 2, &err), 0);
    assert_int_equal(hx_forward_logits(f, CTX / 2 - 1, 1, logits, &err), 0);
    hx_forward_close(f);
    hx_attn_close(attn);
}

static void test_the_example_is_a_cache(void **state)
{
    const struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = CTX};
    struct hx_engine *e = hxt_engine_open(&cfg);
    const struct hx_model *m = e->model;
    static float want[VOCAB], got[VOCAB];
    double worst = 0, top = 0;
    struct hx_kv *kv = NULL;
    struct hx_error err;
    uint32_t *ids;
    size_t n;

    (void)state;
    assert_int_equal(hx_text_encode(m->tok, HOLDOUT, &ids, &n, &err), 0);
    logits_of(e, e->kv, ids, want);
    assert_int_equal(hx_kv_f16_open(&kv, m->n_layer, m->n_kv, m->dh, CTX, &err), 0);
    logits_of(e, kv, ids, got);
    for (size_t i = 0; i < VOCAB; i++) {
        worst = fmax(worst, fabs((double)got[i] - want[i]));
        top = fmax(top, fabs((double)want[i]));
    }
    assert_true(worst > 0); /* halves are not floats */
    assert_true(worst < 0.01 * top);
    hx_kv_close(kv);
    hx_engine_close(e);
    free(ids);
}

static void test_the_page_shows_this_very_file(void **state)
{
    char *page = hxt_read_file(HXT_SRC "/docs/add-a-method.md", NULL);
    char *file = hxt_read_file(HXT_SRC "/tests/method/kv_f16.c", NULL);
    size_t lines = 0;

    (void)state;
    assert_non_null(strstr(page, file));
    for (const char *p = file; *p; p++)
        lines += *p == '\n';
    assert_true(lines < 100);
    free(page);
    free(file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_example_is_a_cache),
    cmocka_unit_test(test_the_page_shows_this_very_file),
};

int main(void)
{
    return HXT_RUN(tests);
}
