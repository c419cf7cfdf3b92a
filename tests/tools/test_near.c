/* What hexrig takes a mistyped word for, and what it says of options: the one that is near, never one that is far. */
#include <stdint.h>
#include <string.h>

#include "cli/near.h"
#include "cli/opt_tree.h"
#include "hxt.h"

static void test_edits_are_letters_added_dropped_changed_or_swapped(void **state)
{
    static const struct {
        const char *a, *b;
        size_t edits;
    } pairs[] = {
        {"", "", 0}, {"", "abc", 3}, {"run", "run", 0}, {"rnu", "run", 1}, {"rn", "run", 1}, {"runs", "run", 1}, {"ran", "run", 1},
        {"kitten", "sitting", 3}, {"density", "densitty", 1}, {"ab", "ba", 1}, {"abcd", "badc", 2},
    };
    char longest[65];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(pairs); i++) {
        assert_int_equal(hx_edits(pairs[i].a, pairs[i].b), pairs[i].edits);
        assert_int_equal(hx_edits(pairs[i].b, pairs[i].a), pairs[i].edits);
    }
    memset(longest, 'a', sizeof(longest) - 1);
    longest[64] = '\0';
    assert_true(hx_edits(longest, "a") == SIZE_MAX && hx_edits("a", longest) == SIZE_MAX);
    longest[63] = '\0';
    assert_int_equal(hx_edits(longest, "a"), 62);
}

static const char *nearest(const char *word)
{
    static const char *const names[] = {"up", "run", "run-with", "density", "trace", "theorems"};
    struct hx_near near = {.word = word};

    for (size_t i = 0; i < HXT_LEN(names); i++)
        hx_near_try(&near, names[i]);
    return near.name;
}

static void test_a_word_is_near_within_an_edit_per_three_letters(void **state)
{
    (void)state;
    assert_string_equal(nearest("rnu"), "run");
    assert_string_equal(nearest("runwith"), "run-with");
    assert_string_equal(nearest("densify"), "density");
    assert_string_equal(nearest("theorem"), "theorems");
    assert_string_equal(nearest("u"), "up");
    assert_null(nearest("frobnicate"));
    assert_null(nearest("xyz"));
    assert_null(nearest("trsinx"));
}

static int count(void *arg, const struct argp *argp, const struct argp_option *o)
{
    size_t *n = arg;

    (void)argp;
    ++*n;
    return o->key == 'q';
}

static void test_the_tree_is_walked_with_its_children_until_somebody_says_stop(void **state)
{
    static const struct argp_option own[] = {{NULL, 0, NULL, 0, "Group:", 1}, {"one", 'o', NULL, 0, "x", 0}, {0}};
    static const struct argp_option below[] = {{"quiet", 'q', NULL, 0, "x", 0}, {"rest", 0x1000, "N", 0, "x", 0}, {0}};
    static const struct argp child = {.options = below}, sibling = {.options = own};
    static const struct argp_child children[] = {{&child, 0, NULL, 0}, {&sibling, 0, NULL, 0}, {0}};
    static const struct argp root = {.options = own, .children = children};
    size_t n = 0;

    (void)state;
    assert_int_equal(hx_opt_each(&root, count, &n), 1);
    assert_int_equal(n, 3);
    assert_int_equal(hx_opt_letter(&own[1]), 'o');
    assert_int_equal(hx_opt_letter(&below[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits_are_letters_added_dropped_changed_or_swapped),
        cmocka_unit_test(test_a_word_is_near_within_an_edit_per_three_letters),
        cmocka_unit_test(test_the_tree_is_walked_with_its_children_until_somebody_says_stop),
    };

    return HXT_RUN(tests);
}
