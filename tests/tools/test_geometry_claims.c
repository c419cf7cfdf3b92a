/* Protects hexrig geometry claims and warp: a row for each claim, the same when a run is gone on with; a warp that moves trajectories. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"

#define SMALL " --json -m " MODEL_F16 " --held 64"

#define CLAIMS "geometry claims" SMALL " --points 96 --neighbours 32 --questions 2 -o "

/* The 18 published claims and two that are left open, with a number and a status each; a run that goes on with a half of another's lines
 * ends as that did. */
static void test_claims_have_rows_and_go_on(void **state)
{
    char folder[200], lines[256], *text, *half;
    size_t rows = 0, n;
    const char *key;
    json_t *a, *b, *row;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/claims", hxt_tmpdir());
    snprintf(lines, sizeof(lines), "%s/hexrig-tiny-f16_claims.jsonl", folder);
    a = e2e_json(hxt_path(CLAIMS "%s", folder));
    json_object_foreach(a, key, row)
    {
        if (!json_is_object(row))
            continue;
        rows++;
        assert_true(json_is_number(json_object_get(row, "number")));
        assert_string_not_equal(json_string_value(json_object_get(row, "status")), "");
        assert_string_not_equal(json_string_value(json_object_get(row, "status")), "fails");
    }
    assert_int_equal(rows, 20);
    text = hxt_read_file(lines, &n);
    half = text;
    for (size_t i = 0; i < 14; i++)
        half = memchr(half, '\n', n) + 1;
    hxt_write_file(lines, text, (size_t)(half - text) + 20); /* and a part of a line */
    b = e2e_json(hxt_path(CLAIMS "%s --resume", folder));
    assert_true(json_equal(a, b));
    free(text);
    json_decref(a);
    json_decref(b);
    e2e_refused("geometry claims --resume", 2, "--resume needs -o");
    e2e_refused(hxt_path("geometry claims --seed 2 -o %s --resume -m " MODEL_F16, folder), 1, "the lines are of a run with other options");
}

static void test_a_warp_moves_trajectories_the_more_the_deeper(void **state)
{
    json_t *none = e2e_json("geometry warp" SMALL " --points 128 --neighbours 32 --depth 0 --questions 4");
    json_t *deep = e2e_json("geometry warp" SMALL " --points 128 --neighbours 32 --depth 0.9 --questions 4");

    (void)state;
    assert_true(e2e_number(none, "shift") == 0 && e2e_number(none, "turned") == 0);
    assert_true(e2e_number(deep, "shift") > .01);
    json_decref(none);
    json_decref(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims_have_rows_and_go_on),
        cmocka_unit_test(test_a_warp_moves_trajectories_the_more_the_deeper),
    };

    return HXT_RUN(tests);
}
