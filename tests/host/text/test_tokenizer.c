/* Protects: token ids equal to the reference's, decoding that gives the bytes back, and the pre-tokenizer's edges. */
#include "engine/arch/arch.h"
#include "decode.h"
#include "golden.h"
#include "model/model.h"
#include "text/pretok.h"
#include "text/text.h"
#include "base/unicode.h"

static struct hx_model *m;

static int setup(void **state)
{
    struct hx_error err;

    (void)state;
    return hx_model_open(&m, MODEL_Q8_0, hx_archs, &err);
}

static int teardown(void **state)
{
    (void)state;
    hx_model_close(m);
    return 0;
}

static void test_ids_equal_the_reference(void **state)
{
    json_t *all = golden_json(GOLDEN "tokenizer.json");

    (void)state;
    assert_true(json_array_size(all) >= 20);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        const json_t *text = json_object_get(one, "text");
        size_t n_want, n_got;
        uint32_t *want = golden_ids(json_object_get(one, "tokens"), &n_want), *got;

        assert_int_equal(hx_tokenizer_encode(m->tok, json_string_value(text),
                                             json_string_length(text), &got, &n_got), 0);
        if (n_got != n_want || (n_got && memcmp(got, want, n_got * sizeof(*got))))
            fail_msg("'%s': %zu ids, want %zu, or they differ", json_string_value(text), n_got,
                     n_want);
        free(want);
        free(got);
    }
    json_decref(all);
}

static void check_round_trip(const char *bytes, size_t n)
{
    uint32_t *ids;
    size_t n_ids;
    char *back;

    assert_int_equal(hx_tokenizer_encode(m->tok, bytes, n, &ids, &n_ids), 0);
    assert_true(n_ids <= n);
    back = hxt_decode(m->tok, ids, n_ids);
    assert_non_null(back);
    hxt_same_bytes(back, bytes, n);
    assert_int_equal(back[n], 0);
    free(back);
    free(ids);
}

static void test_any_bytes_come_back(void **state)
{
    struct hxt_rng rng;
    char bytes[600];

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t round = 0; round < 300; round++) {
        size_t n = hxt_below(&rng, sizeof(bytes));

        hxt_fill_bytes(&rng, bytes, n);
        for (size_t i = 0; round % 2 && i < n; i++) /* text-like: few letters, many merges */
            bytes[i] = " the'and\n\xc3\xa9"[(unsigned char)bytes[i] % 11];
        check_round_trip(bytes, n);
    }
}

static void test_a_long_word_does_not_take_quadratic_time(void **state)
{
    const size_t n = 400000; /* quadratic would be minutes */
    char *word = malloc(n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        word[i] = "theand"[i % 6];
    check_round_trip(word, n);
    free(word);
}

/* The first word of a text. */
static size_t first_word(const char *pre, const char *text)
{
    struct hx_pretok_cursor c;

    hx_pretok_start(&c, hx_pretok_find(pre, strlen(pre)), text, strlen(text));
    return hx_pretok_next(&c);
}

static void test_words_are_cut_where_the_expression_cuts(void **state)
{
    static const struct {
        const char *text;
        size_t first;
    } cases[] = {
        {"'s", 2},     {"'re", 3},    {"'r", 1},       {"'S", 1},      {"''s", 2},
        {"a's", 1},    {" 's", 2},    {" a1", 2},      {" 12a", 3},    {"  a", 1},
        {"   a", 2},   {"\n\na", 1},  {"\na", 1},      {"  ", 2},      {" \n", 2},
        {" ", 1},      {"\xc2\xa0" "a", 2},             {" \xc2\xa0" "a", 1},
        {"\xc3\xa9t\xc3\xa9 x", 5},   {" \xd9\xa1\xd9\xa2z", 5},       {"!?\xe2\x80\x9c" "a", 5},
        {"\xff\xfe" "a", 2},          {"\xe2\x80", 2}, {"_a", 1},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        size_t got = first_word("gpt-2", cases[i].text);

        if (got != cases[i].first)
            fail_msg("case %zu '%s': %zu, want %zu", i, cases[i].text, got, cases[i].first);
    }
}

/* Ids for these cuts are those of llama.cpp: each line was compared with it. */
static void test_each_expression_cuts_in_its_own_way(void **state)
{
    static const struct {
        const char *pre, *text, *words; /* a bar behind each word */
    } cases[] = {
        {"llama-bpe", "I'M don't 'Re'x", "I|'M| don|'t| '|Re|'x|"},
        {"llama-bpe", "12345 67", "123|45| |67|"},
        {"llama-bpe", "(a)\n\n \n b\t!", "(a|)\n\n| \n| b|\t|!|"},
        {"llama-bpe", "a  \r\n  b   ", "a|  \r\n| | b|   |"},
        {"llama-bpe", "\tx !!\r\ny", "\tx| !!\r\n|y|"},
        {"llama-bpe", "\nx", "\n|x|"},
        {"qwen2", "12345 67", "1|2|3|4|5| |6|7|"},
        {"qwen2", "It's 3.14!\n", "It|'s| |3|.|1|4|!\n|"},
        {"smollm", "a 12  3's", "a| |1|2|  |3|'s|"},
        {"smollm", "I'M  x", "I|'|M| | x|"},
        {"default", "a-b 12345", "a|-|b| |123|45|"},
        {"default", "x's $9+1 <=", "x|'|s| |$|9|+|1| |<=|"},
        {"gpt-neox", "a  b", "a| | b|"},
        {"dbrx", "1234", "123|4|"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_pretok_cursor c;
        char got[64] = "";
        size_t len;

        hx_pretok_start(&c, hx_pretok_find(cases[i].pre, strlen(cases[i].pre)), cases[i].text,
                        strlen(cases[i].text));
        while ((len = hx_pretok_next(&c)) > 0) {
            strncat(got, cases[i].text + c.at - len, len);
            strcat(got, "|");
        }
        assert_string_equal(got, cases[i].words);
    }
}

static void test_classes_are_those_of_unicode_15_1(void **state)
{
    static const struct {
        uint32_t c;
        enum hx_char_class class;
        int punct;
    } cases[] = {
        {'_', HX_CHAR_OTHER, 1},     {'$', HX_CHAR_OTHER, 0},     {0xaa, HX_CHAR_LETTER, 0},
        {0xb2, HX_CHAR_NUMBER, 0},   {0x85, HX_CHAR_SPACE, 0},    {0x301, HX_CHAR_OTHER, 0},
        {0x2e80, HX_CHAR_OTHER, 0},  {0x2160, HX_CHAR_NUMBER, 0}, {0x200b, HX_CHAR_OTHER, 0},
        {0x2028, HX_CHAR_SPACE, 0},  {0xfeff, HX_CHAR_OTHER, 0},  {0x3001, HX_CHAR_OTHER, 1},
        {0x2ebf0, HX_CHAR_LETTER, 0}, /* since 15.1 */
        {0x10d4a, HX_CHAR_OTHER, 0},  /* a letter since 16 */
        {0x10ffff, HX_CHAR_OTHER, 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        if (hx_char_class(cases[i].c) != cases[i].class)
            fail_msg("U+%04x: class %d", cases[i].c, hx_char_class(cases[i].c));
        assert_int_equal(hx_char_is_punct(cases[i].c), cases[i].punct);
    }
}

static void test_malformed_utf8_is_one_byte_at_a_time(void **state)
{
    static const char *const bad[] = {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3"};
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        assert_int_equal(hx_utf8_next(bad[i], strlen(bad[i]), &c), 1);
        assert_int_equal(c, 0xfffd);
    }
    assert_int_equal(hx_utf8_next("\xf0\x9f\x98\x80", 4, &c), 4);
    assert_int_equal(c, 0x1f600);
}

static void test_stream_holds_back_only_unfinished_characters(void **state)
{
    (void)state;
    assert_int_equal(hx_utf8_whole("ab", 2), 2);
    assert_int_equal(hx_utf8_whole("a\xc3", 2), 1);
    assert_int_equal(hx_utf8_whole("a\xe2\x80", 3), 1);
    assert_int_equal(hx_utf8_whole("a\xf0\x9f\x98", 4), 1);
    assert_int_equal(hx_utf8_whole("a\xf0\x9f\x98\x80", 5), 5);
    assert_int_equal(hx_utf8_whole("a\x80", 2), 2); /* can never become valid */
    assert_int_equal(hx_utf8_whole("a\xff", 2), 2);
    assert_int_equal(hx_utf8_whole("", 0), 0);
}

static void test_control_tokens_have_no_text(void **state)
{
    (void)state;
    assert_int_equal(hx_tokenizer_piece(m->tok, 2045).n, 0);
    assert_true(hx_tokenizer_piece(m->tok, 1560).n > 0);
}

/* The whole WikiText-2 test file is not committed: HEXRIG_WIKITEXT2 names a folder that holds it and its ids. */
static void test_a_whole_text_encodes_as_the_reference(void **state)
{
    const char *dir = getenv("HEXRIG_WIKITEXT2");
    struct hx_error err = {""};
    uint32_t *ids;
    uint16_t *want;
    size_t n = 0, bytes;

    (void)state;
    if (!dir)
        hxt_skip_test("HEXRIG_WIKITEXT2 is not set to a folder with wikitext2-test.{txt,u16}");
    want = hxt_read_file(hxt_path("%s/wikitext2-test.u16", dir), &bytes);
    if (!want || hx_text_encode(m->tok, hxt_path("%s/wikitext2-test.txt", dir), &ids, &n, &err))
        fail_msg("%s: wikitext2-test.{txt,u16} cannot be read %s", dir, err.text);
    assert_int_equal(n, bytes / 2);
    for (size_t i = 0; i < n; i++)
        if (ids[i] != want[i])
            fail_msg("id %zu is %u, want %u", i, ids[i], want[i]);
    free(ids);
    free(want);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_ids_equal_the_reference),
    cmocka_unit_test(test_any_bytes_come_back),
    cmocka_unit_test(test_a_long_word_does_not_take_quadratic_time),
    cmocka_unit_test(test_words_are_cut_where_the_expression_cuts),
    cmocka_unit_test(test_each_expression_cuts_in_its_own_way),
    cmocka_unit_test(test_classes_are_those_of_unicode_15_1),
    cmocka_unit_test(test_malformed_utf8_is_one_byte_at_a_time),
    cmocka_unit_test(test_stream_holds_back_only_unfinished_characters),
    cmocka_unit_test(test_control_tokens_have_no_text),
    cmocka_unit_test(test_a_whole_text_encodes_as_the_reference),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
