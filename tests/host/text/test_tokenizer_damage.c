/* Protects: metadata that no tokenizer can be made of is refused, with the key, the value and the limit. */
#include <errno.h>
#include <stdlib.h>

#include "vocab_open.h"

static void expect_refusal(struct open *o, const char *text)
{
    struct hx_error err = {""};

    if (try_open(o, &err) != -EINVAL)
        fail_msg("not refused with -EINVAL; wanted '%s', why '%s'", text, err.text);
    if (!strstr(err.text, text))
        fail_msg("'%s' lacks '%s'", err.text, text);
    shut(o);
}

static void test_unknown_kinds_are_refused_with_the_list(void **state)
{
    struct open o;

    (void)state;
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "bert");
    expect_refusal(&o, "tokenizer.ggml.model is 'bert'; known: gpt2, llama, t5");
    vocab_start(&o.file);
    vocab_bpe(&o.file, "tekken");
    expect_refusal(&o, "tokenizer.ggml.pre is 'tekken'; known: gpt-2, olmo, ");
}

static void test_ids_beyond_the_vocabulary_are_refused(void **state)
{
    static const char *const keys[] = {VOCAB_KEY("unknown_token_id"), VOCAB_KEY("eot_token_id"),
                                       VOCAB_KEY("eom_token_id")};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(keys); i++) {
        struct open o;

        vocab_start(&o.file);
        vocab_bpe(&o.file, "gpt-2");
        vocab_u32(&o.file, keys[i], 100000);
        expect_refusal(&o, "_id is 100000; the vocabulary has 291 tokens");
    }
}

static void test_switches_need_their_type_and_token(void **state)
{
    static const struct vocab_token words[] = {{"<unk>", 2, 0}, {"a", 1, 0}};
    struct open o;

    (void)state;
    vocab_start(&o.file);
    vocab_bpe(&o.file, "gpt-2");
    vocab_u32(&o.file, VOCAB_KEY("add_bos_token"), 1);
    expect_refusal(&o, "tokenizer.ggml.add_bos_token is of type 4; a bool is needed");
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "llama");
    vocab_tokens(&o.file, words, HXT_LEN(words), 1);
    vocab_bool(&o.file, VOCAB_KEY("add_eos_token"), 1); /* EOS would be token 2 */
    expect_refusal(&o, "add_eos_token is true, but there is no tokenizer.ggml.eos_token_id");
}

static void test_bad_types_scores_and_bytes_are_refused(void **state)
{
    struct {
        struct vocab_token t[2];
        const char *text;
    } cases[] = {
        {{{"<unk>", 2, 0}, {"a", 7, 0}}, "token_type: token 1 is of type 7; 1 to 6 are known"},
        {{{"<unk>", 2, 0}, {"a", 0, 0}}, "token_type: token 1 is of type 0"},
        {{{"<unk>", 2, 0}, {"a", 1, __builtin_nanf("")}}, "scores: the score of token 1 is not a "},
        {{{"<unk>", 2, 0}, {"<0xG1>", 6, 0}}, "token 1, '<0xG1>', is of type byte; <0x00> to <0xFF>"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct open o;

        vocab_start(&o.file);
        vocab_str(&o.file, VOCAB_KEY("model"), "llama");
        vocab_tokens(&o.file, cases[i].t, 2, 1);
        expect_refusal(&o, cases[i].text);
    }
}

static void test_arrays_of_another_length_are_refused(void **state)
{
    static const struct vocab_token words[] = {{"<unk>", 2, 0}, {"a", 1, 0}};
    struct open o;

    (void)state;
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "llama");
    vocab_tokens(&o.file, words, 2, 0);
    vocab_array(&o.file, VOCAB_KEY("scores"), HX_GGUF_F32, 1);
    vocab_number(&o.file, 0, 4);
    expect_refusal(&o, "tokenizer.ggml.scores has 1 elements; the vocabulary has 2 tokens");
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "llama");
    vocab_array(&o.file, VOCAB_KEY("tokens"), HX_GGUF_STRING, 0);
    expect_refusal(&o, "a vocabulary of 0 tokens; 1 to ");
}

static void test_damaged_merges_and_missing_bytes_are_refused(void **state)
{
    static const struct vocab_token words[] = {{"a", 1, 0}, {"b", 1, 0}};
    struct open o;
    struct vocab_list *l = calloc(1, sizeof(*l));

    (void)state;
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "gpt2");
    vocab_tokens(&o.file, words, 2, 0);
    expect_refusal(&o, "tokenizer.ggml.tokens: no token for byte 0x00");
    vocab_bytes(l);
    vocab_start(&o.file);
    vocab_str(&o.file, VOCAB_KEY("model"), "gpt2");
    vocab_tokens(&o.file, l->t, l->n, 0);
    vocab_array(&o.file, VOCAB_KEY("merges"), HX_GGUF_STRING, 1);
    vocab_text(&o.file, "a b");
    expect_refusal(&o, "tokenizer.ggml.merges: merge 0, 'a b', does not join two tokens");
    free(l);
}

static void test_damaged_maps_are_refused(void **state)
{
    static const struct {
        uint32_t array, bytes;
        const char *tail;
    } cases[] = {{8, 3, ""}, {6, 7, "x"}, {4, 4, ""}, {0xfffffffc, 8, "abc"}, {4, 5, "x"}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        static const uint8_t zeros[8];
        struct open o;

        vocab_start(&o.file);
        vocab_spm(&o.file, "t5", 0);
        vocab_array(&o.file, VOCAB_KEY("precompiled_charsmap"), HX_GGUF_U8, cases[i].bytes + 1);
        vocab_number(&o.file, cases[i].array, cases[i].bytes < 4 ? cases[i].bytes : 4);
        if (cases[i].bytes > 4)
            vocab_put(&o.file, zeros, cases[i].bytes - 4);
        vocab_put(&o.file, cases[i].tail[0] == 'x' ? "x" : "\0", 1);
        expect_refusal(&o, "precompiled_charsmap of ");
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_unknown_kinds_are_refused_with_the_list),
    cmocka_unit_test(test_ids_beyond_the_vocabulary_are_refused),
    cmocka_unit_test(test_switches_need_their_type_and_token),
    cmocka_unit_test(test_bad_types_scores_and_bytes_are_refused),
    cmocka_unit_test(test_arrays_of_another_length_are_refused),
    cmocka_unit_test(test_damaged_merges_and_missing_bytes_are_refused),
    cmocka_unit_test(test_damaged_maps_are_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
