/* Protects: the three kinds of tokenizer on small vocabularies, special tokens and their types, and text from
 * a stream of tokens.  Ids of all samples were compared with llama.cpp's. */
#include <stdlib.h>

#include "decode.h"
#include "text/detok.h"
#include "vocab_open.h"

static struct vocab_list list; /* of the sample that is open */

static struct hx_tokenizer *open_bpe(struct open *o, const char *pre)
{
    vocab_start(&o->file);
    vocab_bpe(&o->file, pre);
    vocab_bpe_list(&list);
    return must_open(o);
}

static struct hx_tokenizer *open_spm(struct open *o, const char *model, int bytes)
{
    vocab_start(&o->file);
    vocab_spm(&o->file, model, bytes);
    vocab_spm_list(&list, bytes);
    return must_open(o);
}

/* want: spellings of the tokens in the file, a bar between them. */
static void check(const struct hx_tokenizer *t, const char *text, unsigned flags, const char *want)
{
    uint32_t *ids;
    size_t n;
    char got[512] = "";

    assert_int_equal(hx_tokenizer_encode_with(t, text, strlen(text), flags, &ids, &n), 0);
    for (size_t i = 0; i < n; i++) {
        strcat(got, i ? "|" : "");
        strcat(got, list.t[ids[i]].text);
    }
    free(ids);
    assert_string_equal(got, want);
}

static void test_merges_go_by_rank_and_then_from_the_left(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");

    (void)state;
    check(t, "hello the", 0, "hello|\xc4\xa0the");
    check(t, "helo", 0, "he|l|o");
    check(t, "1234", 0, "123|4"); /* 12 before 34, and 12 3 before 3 4 leaves 4 */
    check(t, "llll", 0, "ll|ll");
    check(t, "lll", 0, "ll|l");
    check(t, "\xc3\xa9", 0, "\xc3\x83\xc2\xa9");
    check(t, "user's", 0, "user|'s");
    check(t, "whole", 0, "w|h|o|l|e");
    shut(&o);
}

static void test_llama_bpe_takes_whole_words_first(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "llama-bpe");

    (void)state;
    check(t, "whole", 0, "whole");
    check(t, "wholex", 0, "w|h|o|l|e|x");
    assert_true(hx_tokenizer_adds_bos(t));
    shut(&o);
}

static void test_a_file_without_pre_uses_the_default(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, NULL);

    (void)state;
    check(t, "12345", 0, "123|4|5");
    shut(&o);
}

static void test_special_tokens_are_text_until_asked_for(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");

    (void)state;
    check(t, "<|im|>", 0, "<|||i|m|||>");
    check(t, "a<|im|>the", HX_ENCODE_SPECIAL, "a|<|im|>|the");
    check(t, "<|im_start|>user", HX_ENCODE_SPECIAL, "<|im_start|>|user");
    check(t, "<|im_start|", HX_ENCODE_SPECIAL, "<|||i|m|_|s|t|a|r|t||");
    check(t, "<|im|><|im|>", HX_ENCODE_SPECIAL, "<|im|>|<|im|>"); /* longer ones first: no |><| */
    check(t, "a|><|b", HX_ENCODE_SPECIAL, "a||><||b");
    check(t, "<unused>", HX_ENCODE_SPECIAL, "<|u|n|use|d|>");
    shut(&o);
}

static void test_user_defined_tokens_are_found_in_any_text(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");

    (void)state;
    check(t, "x<tool>the", 0, "x|<tool>|the");
    check(t, "    a", 0, "   |\xc4\xa0" "a");
    assert_int_equal(hx_tokenizer_type(t, vocab_find(&list, "<tool>")), HX_TOKEN_USER_DEFINED);
    shut(&o);
}

static void test_bos_and_eos_go_where_the_file_wants_them(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");

    (void)state;
    check(t, "the", HX_ENCODE_BOS | HX_ENCODE_EOS, "the");
    shut(&o);
    vocab_start(&o.file);
    vocab_bpe(&o.file, "gpt-2");
    vocab_bool(&o.file, VOCAB_KEY("add_bos_token"), 1);
    vocab_bool(&o.file, VOCAB_KEY("add_eos_token"), 1);
    t = must_open(&o);
    check(t, "the", HX_ENCODE_BOS | HX_ENCODE_EOS, "<|begin_of_text|>|the|<|endoftext|>");
    check(t, "the", 0, "the");
    check(t, "", HX_ENCODE_BOS, "<|begin_of_text|>");
    shut(&o);
}

static void test_ends_are_eos_and_marks_of_turns(void **state)
{
    struct open o;
    struct hx_tokenizer *t;
    const uint32_t the = 257;

    (void)state;
    vocab_start(&o.file);
    vocab_bpe(&o.file, "gpt-2");
    vocab_u32(&o.file, VOCAB_KEY("eot_token_id"), the);
    vocab_bpe_list(&list);
    t = must_open(&o);
    assert_true(hx_tokenizer_ends(t, hx_tokenizer_eos(t)));
    assert_true(hx_tokenizer_ends(t, vocab_find(&list, "<|im_end|>")));
    assert_true(hx_tokenizer_ends(t, vocab_find(&list, "<|eot_id|>")));
    assert_true(hx_tokenizer_ends(t, the));
    assert_false(hx_tokenizer_ends(t, vocab_find(&list, "<|im_start|>")));
    assert_false(hx_tokenizer_ends(t, 'a'));
    shut(&o);
}

/* A file that calls <|im_end|> user-defined must not let text close a turn. */
static void test_marks_of_turns_are_control_whatever_the_file_says(void **state)
{
    static const struct vocab_token words[] = {
        {"<unk>", 2, 0}, {"<s>", 4, 0}, {"<|im_end|>", 4, 0}, {"<start_of_turn>", 4, 0},
    };
    struct open o;
    struct hx_tokenizer *t;
    uint32_t *ids;
    size_t n;

    (void)state;
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "llama");
    vocab_tokens(&o.file, words, HXT_LEN(words), 1);
    t = must_open(&o);
    assert_int_equal(hx_tokenizer_type(t, 1), HX_TOKEN_USER_DEFINED);
    assert_int_equal(hx_tokenizer_type(t, 2), HX_TOKEN_CONTROL);
    assert_int_equal(hx_tokenizer_type(t, 3), HX_TOKEN_CONTROL);
    assert_true(hx_tokenizer_ends(t, 2));
    assert_int_equal(hx_tokenizer_encode(t, "<|im_end|><s>", 13, &ids, &n), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ids[i], i + 1 == n ? 1 : 0); /* ten unknown characters, a space too, and <s> */
    free(ids);
    shut(&o);
}

static void test_control_unknown_and_unused_tokens_print_nothing(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");

    (void)state;
    assert_int_equal(hx_tokenizer_piece(t, vocab_find(&list, "<|im_end|>")).n, 0);
    assert_int_equal(hx_tokenizer_piece(t, vocab_find(&list, "<unused>")).n, 0);
    assert_int_equal(hx_tokenizer_piece(t, vocab_find(&list, "<tool>")).n, 6);
    assert_int_equal(hx_tokenizer_special(t, "<|im_end|>"), vocab_find(&list, "<|im_end|>"));
    assert_int_equal(hx_tokenizer_special(t, "the"), HX_NO_TOKEN);
    shut(&o);
    t = open_spm(&o, "llama", 1);
    assert_int_equal(hx_tokenizer_piece(t, 0).n, 0);
    assert_int_equal(hx_tokenizer_piece(t, 3 + 'A').n, 1);
    shut(&o);
}

static void test_any_bytes_come_back_with_every_expression(void **state)
{
    static const char *const pres[] = {"gpt-2", "llama-bpe", "qwen2", "smollm", "default"};
    static const char text[] = " the'S\n\r\t12ab<|im>\xc3\xa9\xe2\x80\xf0\x9f\xff.-$";
    struct hxt_rng rng;
    char bytes[400];

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t k = 0; k < HXT_LEN(pres); k++) {
        struct open o;
        struct hx_tokenizer *t = open_bpe(&o, pres[k]);

        for (size_t round = 0; round < 100; round++) {
            size_t n = hxt_below(&rng, sizeof(bytes)), n_ids;
            uint32_t *ids;
            char *back;

            hxt_fill_bytes(&rng, bytes, n);
            for (size_t i = 0; round % 2 && i < n; i++)
                bytes[i] = text[(unsigned char)bytes[i] % (sizeof(text) - 1)];
            assert_int_equal(hx_tokenizer_encode(t, bytes, n, &ids, &n_ids), 0);
            back = hxt_decode(t, ids, n_ids);
            hxt_same_bytes(back, bytes, n);
            assert_int_equal(back[n], 0);
            free(back);
            free(ids);
        }
        shut(&o);
    }
}

static void test_sentencepiece_merges_by_score(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "llama", 1);

    (void)state;
    check(t, "the", 0, VOCAB_ESC "the"); /* the first, then the union with the space before it */
    check(t, "hello", 0, VOCAB_ESC "hello"); /* el, hel, lo, hello, and only then the space */
    check(t, "hell", 0, VOCAB_ESC "|hell");
    check(t, "hlo", 0, VOCAB_ESC "h|lo");
    check(t, " hello", 0, VOCAB_ESC "|" VOCAB_ESC "hello");
    check(t, "aaa", 0, VOCAB_ESC "|aa|a"); /* leftmost among equals */
    check(t, "aaab", 0, VOCAB_ESC "|aa|ab");
    check(t, "aab", 0, VOCAB_ESC "|aab");
    check(t, "lo the", 0, VOCAB_ESC "|lo|" VOCAB_ESC "the");
    check(t, "o t", 0, VOCAB_ESC "|o" VOCAB_ESC "t");
    shut(&o);
}

static void test_sentencepiece_falls_back_to_bytes(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "llama", 1);

    (void)state;
    check(t, "\xe2\x82\xac", 0, VOCAB_ESC "|<0xE2>|<0x82>|<0xAC>");
    check(t, "a\xff", 0, VOCAB_ESC "|a|<0xFF>");
    check(t, "\xc3\xa9", 0, VOCAB_ESC "|\xc3\xa9");
    shut(&o);
    t = open_spm(&o, "llama", 0);
    check(t, "a\xe2\x82\xac", 0, VOCAB_ESC "|a|<unk>");
    shut(&o);
}

static void test_the_space_prefix_goes_behind_special_tokens_too(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "llama", 1);

    (void)state;
    check(t, "the</s>the", HX_ENCODE_BOS | HX_ENCODE_SPECIAL,
          "<s>|" VOCAB_ESC "the|</s>|" VOCAB_ESC "the");
    check(t, "<b>the\n\na", 0, "<b>|" VOCAB_ESC "the|\n\n|" VOCAB_ESC "|a");
    shut(&o);
    vocab_start(&o.file);
    vocab_spm(&o.file, "llama", 1);
    vocab_bool(&o.file, VOCAB_KEY("add_space_prefix"), 0);
    t = must_open(&o);
    check(t, "the the", 0, "the|" VOCAB_ESC "the");
    check(t, "the" VOCAB_ESC "the", 0, "the|" VOCAB_ESC "the");
    shut(&o);
}

/* SentencePiece's rule, read literally: over the whole text, again and again, the best pair of all. */
static size_t merge_plainly(const char *text, size_t n, uint32_t *ids)
{
    struct {
        char s[64];
    } sym[64];
    size_t n_sym = 0;

    for (size_t i = 0; i < n; i++)
        snprintf(sym[n_sym++].s, 64, "%s", text[i] == ' ' ? VOCAB_ESC : (char[]){text[i], 0});
    for (;;) {
        size_t best = n_sym;
        float score = 0;
        char both[160];

        for (size_t i = 0; i + 1 < n_sym; i++) {
            snprintf(both, sizeof(both), "%s%s", sym[i].s, sym[i + 1].s);
            uint32_t id = vocab_find(&list, both);

            if (id != HX_NO_TOKEN && list.t[id].type == HX_TOKEN_NORMAL &&
                (best == n_sym || list.t[id].score > score)) {
                best = i;
                score = list.t[id].score;
            }
        }
        if (best == n_sym)
            break;
        snprintf(both, sizeof(both), "%s%s", sym[best].s, sym[best + 1].s);
        snprintf(sym[best].s, 64, "%.63s", both);
        memmove(&sym[best + 1], &sym[best + 2], (n_sym - best - 2) * sizeof(sym[0]));
        n_sym--;
    }
    for (size_t i = 0; i < n_sym; i++)
        ids[i] = vocab_find(&list, sym[i].s);
    return n_sym;
}

static void test_cutting_a_text_first_changes_no_id(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "llama", 1);
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t round = 0; round < 3000; round++) {
        size_t n = 1 + hxt_below(&rng, 40), n_ids, n_want;
        uint32_t *ids, want[64];
        char text[64] = " ";

        for (size_t i = 0; i < n; i++)
            text[1 + i] = " helotab  "[hxt_below(&rng, 10)];
        n_want = merge_plainly(text, n + 1, want);
        assert_int_equal(hx_tokenizer_encode(t, text + 1, n, &ids, &n_ids), 0);
        if (n_ids != n_want || memcmp(ids, want, n_ids * sizeof(*ids)))
            fail_msg("'%s': %zu ids, want %zu, or they differ", text + 1, n_ids, n_want);
        free(ids);
    }
    shut(&o);
}

static void test_unigram_takes_the_best_sum(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "t5", 0);

    (void)state;
    check(t, "hello", 0, "hello");
    check(t, "hell", 0, "hell");
    check(t, "hel", 0, "hel");
    check(t, "aaab", 0, "aa|ab"); /* -4; a|aab is -10 */
    check(t, " the", 0, VOCAB_ESC "the");
    check(t, "the", HX_ENCODE_BOS | HX_ENCODE_EOS, "the|</s>");
    check(t, "a\xe2\x82\xac\xe2\x82\xac" "b", 0, "a|<unk>|b"); /* one for both */
    check(t, "h\xe2\x82\xac" "e", 0, "h|<unk>|e");
    shut(&o);
    vocab_start(&o.file);
    vocab_spm(&o.file, "t5", 0);
    vocab_bool(&o.file, VOCAB_KEY("add_space_prefix"), 1);
    vocab_bool(&o.file, VOCAB_KEY("remove_extra_whitespaces"), 1);
    t = must_open(&o);
    check(t, "  the   hello ", 0, VOCAB_ESC "the|" VOCAB_ESC "hello");
    shut(&o);
}

/* A map of one entry, "A" to "the", by hand: the root's offset 1 leads to 1 ^ 'A', whose offset 1 leads to 'A'
 * with the value, place 0 in the strings. */
static void add_charsmap(struct vocab *v, uint32_t value)
{
    enum { NODES = 'A' + 1 };
    uint32_t node[NODES] = {0};

    node[0] = 1u << 10;
    node[1 ^ 'A'] = 1u << 10 | 1u << 8 | 'A';
    node[1 ^ 'A' ^ 1] = 0x80000000u | value;
    vocab_array(v, VOCAB_KEY("precompiled_charsmap"), HX_GGUF_U8, 4 + sizeof(node) + 4);
    vocab_number(v, sizeof(node), 4);
    vocab_put(v, node, sizeof(node));
    vocab_put(v, "the", 4);
}

static void test_unigram_normalises_by_its_map(void **state)
{
    struct open o;

    (void)state;
    vocab_start(&o.file);
    vocab_spm(&o.file, "t5", 0);
    add_charsmap(&o.file, 0);
    vocab_spm_list(&list, 0);
    check(must_open(&o), "aAa", 0, "a|the|a");
    shut(&o);
    vocab_start(&o.file);
    vocab_spm(&o.file, "t5", 0);
    add_charsmap(&o.file, 99); /* beyond the strings: no entry */
    check(must_open(&o), "aAa", 0, "a|<unk>|a");
    shut(&o);
}

static void test_long_texts_do_not_take_quadratic_time(void **state)
{
    static const char *const texts[] = {"a", " ", "hello", "<b>", "<", "\n\n", "o t"};
    const size_t n = 300000; /* quadratic would be minutes */
    char *text = malloc(n);

    (void)state;
    for (size_t k = 0; k < 2 * HXT_LEN(texts); k++) {
        const char *s = texts[k / 2];
        struct open o;
        struct hx_tokenizer *t = open_spm(&o, k % 2 ? "t5" : "llama", 1);
        uint32_t *ids;
        size_t n_ids;

        for (size_t i = 0; i < n; i++)
            text[i] = s[i % strlen(s)];
        assert_int_equal(hx_tokenizer_encode_with(t, text, n, HX_ENCODE_SPECIAL, &ids, &n_ids), 0);
        free(ids);
        shut(&o);
    }
    free(text);
}

static void test_parts_read_as_one_text_around_given_tokens(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_bpe(&o, "gpt-2");
    const uint32_t mark = vocab_find(&list, "<|im_end|>");
    const struct hx_text_part parts[] = {
        {{"he", 2}, HX_NO_TOKEN}, {{"", 0}, HX_NO_TOKEN}, {{"llo<|im_", 8}, HX_NO_TOKEN},
        {{NULL, 0}, mark},        {{"t", 1}, HX_NO_TOKEN}, {{"he", 2}, HX_NO_TOKEN},
    };
    const uint32_t want[] = {vocab_find(&list, "hello"), '<', '|', 'i', 'm', '_', mark,
                             vocab_find(&list, "the")};
    uint32_t *ids;
    size_t n;

    (void)state;
    assert_int_equal(hx_tokenizer_encode_parts(t, parts, HXT_LEN(parts), 0, &ids, &n), 0);
    assert_int_equal(n, HXT_LEN(want));
    assert_memory_equal(ids, want, sizeof(want));
    free(ids);
    assert_int_equal(hx_tokenizer_encode_parts(t, NULL, 0, 0, &ids, &n), 0);
    assert_null(ids);
    shut(&o);
}

/* Pushes ids one by one; a bar behind what each call gives. */
static void stream(const struct hx_tokenizer *t, int whole, const uint32_t *ids, size_t n,
                   const char *want)
{
    struct hx_detok d;
    char got[128] = "";

    assert_int_equal(hx_detok_open(&d, t, whole), 0);
    for (size_t i = 0; i <= n; i++) {
        struct hx_str s = i < n ? hx_detok_push(&d, ids[i]) : hx_detok_flush(&d);

        strncat(got, s.p, s.n);
        strcat(got, "|");
    }
    hx_detok_close(&d);
    assert_string_equal(got, want);
}

static void test_a_stream_gives_whole_characters(void **state)
{
    struct open o;
    struct hx_tokenizer *t = open_spm(&o, "llama", 1);
    const uint32_t b = 3, the = vocab_find(&list, VOCAB_ESC "the");
    const uint32_t euro[] = {b + 0xe2, b + 0x82, b + 0xac, b + 'x', b + 0xf0, b + 0x9f};
    const uint32_t words[] = {1, the, the, 2, vocab_find(&list, VOCAB_ESC)};
    const uint32_t broken[] = {b + 0xe2, b + 'a', b + 0x80};

    (void)state;
    stream(t, 0, euro, HXT_LEN(euro), "||\xe2\x82\xac|x|||\xf0\x9f|");
    stream(t, 1, words, HXT_LEN(words), "|the| the|| ||");
    stream(t, 0, words, HXT_LEN(words), "| the| the|| ||");
    stream(t, 0, broken, HXT_LEN(broken), "|\xe2" "a|\x80||");
    shut(&o);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_merges_go_by_rank_and_then_from_the_left),
    cmocka_unit_test(test_llama_bpe_takes_whole_words_first),
    cmocka_unit_test(test_a_file_without_pre_uses_the_default),
    cmocka_unit_test(test_special_tokens_are_text_until_asked_for),
    cmocka_unit_test(test_user_defined_tokens_are_found_in_any_text),
    cmocka_unit_test(test_bos_and_eos_go_where_the_file_wants_them),
    cmocka_unit_test(test_ends_are_eos_and_marks_of_turns),
    cmocka_unit_test(test_marks_of_turns_are_control_whatever_the_file_says),
    cmocka_unit_test(test_control_unknown_and_unused_tokens_print_nothing),
    cmocka_unit_test(test_any_bytes_come_back_with_every_expression),
    cmocka_unit_test(test_sentencepiece_merges_by_score),
    cmocka_unit_test(test_sentencepiece_falls_back_to_bytes),
    cmocka_unit_test(test_the_space_prefix_goes_behind_special_tokens_too),
    cmocka_unit_test(test_cutting_a_text_first_changes_no_id),
    cmocka_unit_test(test_unigram_takes_the_best_sum),
    cmocka_unit_test(test_unigram_normalises_by_its_map),
    cmocka_unit_test(test_long_texts_do_not_take_quadratic_time),
    cmocka_unit_test(test_parts_read_as_one_text_around_given_tokens),
    cmocka_unit_test(test_a_stream_gives_whole_characters),
};

int main(void)
{
    return HXT_RUN(tests);
}
