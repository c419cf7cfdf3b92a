/* Protects: the client's library sets which run-time messages of its PD are said, by levels and by files (set_logging_params of static
 * handle 4); arguments of another shape are refused. */
#include "HAP_farf.h"
#include "base/farf.h"
#include "hxt.h"
#include "pd/logging.h"

enum { ALL = 0x1f };

static char taken[1000]; /* lines */

static void take(unsigned level, const char *file, int line, const char *text)
{
    const size_t n = strlen(taken);

    (void)level, (void)file, (void)line;
    snprintf(taken + n, sizeof(taken) - n, "%s\n", text);
}

enum { SET_PARAMS = 4, GET_ASID = 5, SET_PARAMS2 = 8 };

static int set(unsigned method, uint32_t mask, uint32_t n, const char *const *files, unsigned buffers)
{
    uint32_t in[2] = {mask, n}, bytes[4];
    remote_arg pra[6] = {{.buf = {in, sizeof(in)}}, {.buf = {bytes, n * sizeof(*bytes)}}};

    for (uint32_t i = 0; i < n; i++) {
        bytes[i] = (uint32_t)strlen(files[i]) + 1;
        pra[2 + i].buf = (remote_buf){(void *)(uintptr_t)files[i], bytes[i]};
    }
    return hx_logging_set(REMOTE_SCALARS_MAKE(method, buffers, 0), pra);
}

static void test_the_clients_mask_and_files_hold(void **state)
{
    static const char *const mine[] = {"other.c", "test_logging_params.c"};

    (void)state;
    hx_farf_also_to(take);
    assert_int_equal(set(SET_PARAMS2, 1 << HAP_LEVEL_LOW | 1 << 16, 0, NULL, 2), AEE_SUCCESS);
    FARF(RUNTIME_LOW, "low");
    FARF(RUNTIME_HIGH, "not high");
    assert_int_equal(set(SET_PARAMS, ALL | 0xabcd0000, 1, mine, 3), AEE_SUCCESS);
    FARF(RUNTIME_LOW, "of another file");
    assert_int_equal(set(SET_PARAMS, ALL, 2, mine, 4), AEE_SUCCESS);
    FARF(RUNTIME_FATAL, "of this file");
    assert_int_equal(set(SET_PARAMS2, 0, 0, NULL, 2), AEE_SUCCESS);
    FARF(RUNTIME_FATAL, "no more");
    hx_farf_also_to(NULL);
    assert_string_equal(taken, "low\nof this file\n");
}

static void test_arguments_of_another_shape_are_refused(void **state)
{
    static const char *const one[] = {"a.c"};
    uint32_t in[2] = {ALL, 1}, bytes = 4, asid = 0;
    char no_end[] = {'a', '.', 'c', 'c'}, early_end[] = {'a', 0, 'c', 0};
    remote_arg pra[3] = {{.buf = {in, sizeof(in)}}, {.buf = {&bytes, sizeof(bytes)}}, {.buf = {no_end, sizeof(no_end)}}};
    remote_arg out = {.buf = {&asid, sizeof(asid)}};

    (void)state;
    assert_int_equal(set(SET_PARAMS2, ALL, 1, one, 2), (int)AEE_DSP(AEE_EBADPARM));
    assert_int_equal(set(SET_PARAMS2, ALL, 0, NULL, 3), (int)AEE_DSP(AEE_EBADPARM));
    assert_int_equal(set(SET_PARAMS2, ALL, 0, NULL, 1), (int)AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hx_logging_set(REMOTE_SCALARS_MAKE(SET_PARAMS2, 3, 0), pra), (int)AEE_DSP(AEE_EBADPARM));
    pra[2].buf.pv = early_end;
    assert_int_equal(hx_logging_set(REMOTE_SCALARS_MAKE(SET_PARAMS2, 3, 0), pra), (int)AEE_DSP(AEE_EBADPARM));
    in[1] = UINT32_MAX;
    assert_int_equal(hx_logging_set(REMOTE_SCALARS_MAKE(SET_PARAMS2, 3, 0), pra), (int)AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hx_logging_asid(REMOTE_SCALARS_MAKE(GET_ASID, 0, 1), &out), AEE_SUCCESS);
    out.buf.nLen = 3;
    assert_int_equal(hx_logging_asid(REMOTE_SCALARS_MAKE(GET_ASID, 0, 1), &out), (int)AEE_DSP(AEE_EBADPARM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_clients_mask_and_files_hold),
        cmocka_unit_test(test_arguments_of_another_shape_are_refused),
    };
    return HXT_RUN(tests);
}
