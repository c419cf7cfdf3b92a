/* Protects the grammars of JSON: which texts a schema allows and which not, that whatever tokens a model likes make a text that a
 * strict parser reads, in as many tokens as there are, and that hostile schemas are refused or stay within their bounds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "grammar/json_grammar.h"
#include "grammar/matcher.h"
#include "hxt.h"

static struct hxt_rng rng;
static struct hx_gguf *file;
static struct hx_tokenizer *tok;
static struct hx_vocab *vocab;

/* 'x' stands for '"': schemas and texts are easier to read so.  malloc'ed. */
static char *quoted(const char *text)
{
    char *s = strdup(text);

    for (char *c = s; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return s;
}

static json_t *json_of(const char *text)
{
    char *s = quoted(text);
    json_t *j = json_loads(s, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

    free(s);
    return j;
}

static struct hx_grammar *grammar_of(const char *schema)
{
    json_t *j = schema ? json_of(schema) : NULL;
    struct hx_grammar *g = NULL;
    struct hx_error err = {""};

    if ((schema && !j) || hx_json_grammar(&g, j, &err))
        fail_msg("%s: %s", schema, err.text);
    json_decref(j);
    return g;
}

/* --- texts by hand */

/* Feeds the text byte by byte: 1: it is allowed. */
static int allows(const struct hx_grammar *g, const char *text)
{
    struct hx_matcher *m = hx_matcher_open(g, vocab, 0);
    char *s = quoted(text);
    int good = 1;

    assert_non_null(m);
    for (const char *c = s; *c && good; c++) {
        uint32_t *ids;
        size_t n;

        assert_int_equal(hx_tokenizer_encode(tok, c, 1, &ids, &n), 0);
        assert_int_equal(n, 1);
        good = hx_matcher_take(m, ids[0]) == 0;
        free(ids);
    }
    good = good && hx_matcher_whole(m);
    hx_matcher_close(m);
    free(s);
    return good;
}

#define PERSON "{'type':'object','properties':{'name':{'type':'string','maxLength':4},'age':{'type':'integer'}," \
               "'tags':{'type':'array','items':{'enum':['a','ab',1,null]},'maxItems':2}},'required':['name']," \
               "'additionalProperties':false}"
#define TREE "{'$ref':'#/$defs/node','$defs':{'node':{'type':'object','properties':{'v':{'type':'number'}," \
             "'kids':{'type':'array','items':{'$ref':'#/$defs/node'}}},'required':['v','kids']}}}"

static const struct {
    const char *schema;
    const char *good[8], *bad[12];
} texts[] = {
    {NULL, {"{}", "{ }", "{'a':1}", "{\n  'a': [true, false, null, {'b':[]}],\n  'c': -0.5e+10\n}", "{'\xc3\xa4\\n\\u001f':''}"},
     {"[]", "1", "{'a'}", "{'a':01}", "{'a':1,}", "{'a':'\\u0000'}", "{'a':'\xff'}", "{'a':'\xed\xa0\x80'}",
      "{'a':'\n'}", "{'a':.5}", "{'a':1e999}"}},
    {PERSON,
     {"{'name':'Ada'}", "{'name':'', 'age':-7}", "{'name':'\xf0\x9f\x99\x82\\n\\\"x', 'tags':[]}",
      "{'name':'a','age':0,'tags':['ab', null]}"},
     {"{}", "{'name':'Alice'}", "{'age':1,'name':'a'}", "{'name':'a','age':1.5}", "{'name':'a','age':1234567890123456}",
      "{'name':'a','x':1}",
      "{'name':'a','tags':['b']}", "{'name':'a','tags':['a','a','a']}", "{'name':1}", "{'name':'a'"}},
    {TREE, {"{'v':1,'kids':[]}", "{'v':1,'kids':[{'v':2.5,'kids':[{'v':3,'kids':[]}]},{'v':0,'kids':[]}]}"},
     {"{'v':1}", "{'v':1,'kids':[{}]}"}},
    {"{'type':'array','minItems':2,'maxItems':3,'items':{'type':'boolean'}}", {"[true,false]", "[true, true, true]"},
     {"[]", "[true]", "[true,true,true,true]", "[1,2]"}},
    {"{'type':'array','minItems':1}", {"[1]", "[1,'x',{}]"}, {"[]"}},
    {"{'type':'array','maxItems':0}", {"[]"}, {"[1]"}},
    {"{'anyOf':[{'type':'null'},{'type':'string','minLength':2},{'const':{'k':[1.5]}}]}",
     {"null", "'ab'", "{'k':[1.5]}"}, {"'a'", "{}", "1"}},
    {"{'type':['string','null']}", {"''", "null"}, {"0"}},
    {"{'type':'object','additionalProperties':{'type':'integer'}}", {"{}", "{'x':1,'y':2}"}, {"{'x':''}"}},
    {"{'type':'object','additionalProperties':false}", {"{}"}, {"{'x':1}"}},
    {"{'type':'integer','enum':[1,2,'x']}", {"1", "2"}, {"'x'", "3"}},
    {"{'allOf':[{'$ref':'#/definitions/d'}],'title':'t','definitions':{'d':{'type':'boolean'}}}", {"true"}, {"null"}},
    {"{'anyOf':[{'$ref':'#'},{'type':'null'}]}", {"null"}, {"true"}},
    {"{}", {"1", "'x'", "[]", "{}"}, {"", "x"}},
    {"true", {"null"}, {"nul"}},
};

static void test_a_schema_allows_its_texts_and_no_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(texts); i++) {
        struct hx_grammar *g = grammar_of(texts[i].schema);

        for (const char *const *t = texts[i].good; t < texts[i].good + 8 && *t; t++)
            if (!allows(g, *t))
                fail_msg("%s does not allow %s", texts[i].schema, *t);
        for (const char *const *t = texts[i].bad; t < texts[i].bad + 12 && *t; t++)
            if (allows(g, *t))
                fail_msg("%s allows %s", texts[i].schema, *t);
        hx_grammar_free(g);
    }
}

/* --- texts of chance */

/* A model that likes anything: logits without order. */
static void random_logits(float *logits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        logits[i] = (float)(hxt_u64(&rng) % 100000);
}

static uint32_t best(const float *logits, size_t n)
{
    uint32_t id = 0;

    for (size_t i = 1; i < n; i++)
        if (logits[i] > logits[id])
            id = (uint32_t)i;
    return id;
}

/* A text of at most `left` tokens; malloc'ed. */
static char *make(const struct hx_grammar *g, size_t left)
{
    struct hx_matcher *m = hx_matcher_open(g, vocab, 0);
    const size_t n = hx_tokenizer_vocab(tok);
    float *logits = malloc(n * sizeof(*logits));
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    assert_true(m && logits && f);
    for (; left && !hx_matcher_over(m); left--) {
        uint32_t id;

        random_logits(logits, n);
        hx_matcher_mask(m, logits, left, 1);
        id = best(logits, n);
        assert_true(logits[id] > -INFINITY && logits[hx_matcher_any(m)] > -INFINITY);
        if (hx_tokenizer_ends(tok, id)) {
            assert_true(hx_matcher_whole(m));
            break;
        }
        assert_int_equal(hx_matcher_take(m, id), 0);
        fwrite(hx_tokenizer_piece(tok, id).p, 1, hx_tokenizer_piece(tok, id).n, f);
    }
    assert_true(hx_matcher_whole(m));
    fclose(f);
    free(logits);
    hx_matcher_close(m);
    return text;
}

static void test_whatever_a_model_likes_the_text_parses_in_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(texts); i++) {
        struct hx_grammar *g = grammar_of(texts[i].schema);

        for (size_t more = 0; more < 4; more++) {
            const size_t left = hx_grammar_shortest(g) + more * more * 6;
            char *text = make(g, left);
            json_t *j = json_loads(text, JSON_DECODE_ANY, NULL);

            if (!j)
                fail_msg("%s in %zu tokens: %s", texts[i].schema, left, text);
            json_decref(j);
            free(text);
        }
        hx_grammar_free(g);
    }
}

/* Brackets nest no deeper than parsers follow, however many tokens there are. */
static void test_nesting_is_bounded(void **state)
{
    struct hx_grammar *g = grammar_of("{'type':'array'}");
    struct hx_matcher *m = hx_matcher_open(g, vocab, 0);
    const size_t n = hx_tokenizer_vocab(tok);
    float *logits = calloc(n, sizeof(*logits));
    uint32_t *open;
    size_t one, depth = 0;

    (void)state;
    assert_int_equal(hx_tokenizer_encode(tok, "[", 1, &open, &one), 0);
    for (; depth < 2000; depth++) {
        memset(logits, 0, n * sizeof(*logits));
        hx_matcher_mask(m, logits, 100000, 1);
        if (logits[open[0]] < 0)
            break;
        assert_int_equal(hx_matcher_take(m, open[0]), 0);
    }
    assert_in_range(depth, 200, HX_MATCHER_SLACK + 2);
    free(open);
    free(logits);
    hx_matcher_close(m);
    hx_grammar_free(g);
}

/* --- refusals */

static const struct {
    const char *schema, *part;
} refused[] = {
    {"[]", "#: a schema is an object or true"},
    {"false", "#: a schema is an object or true"},
    {"{'type':'object','properties':{'a':{'type':'text'}}}", "#/properties/a: type: object, array"},
    {"{'type':[]}", "#: type: object"},
    {"{'type':'string','pattern':'a*'}", "#: 'pattern' is no keyword that is supported"},
    {"{'type':'integer','minimum':3}", "'minimum'"},
    {"{'oneOf':[{}]}", "'oneOf'"},
    {"{'type':'array','items':{'format':'date'}}", "#/items: 'format'"},
    {"{'enum':[]}", "#: enum: 1 to 200 values"},
    {"{'type':'null','enum':[1]}", "#: no value is of its type"},
    {"{'enum':[1],'const':1}", "exclude each other"},
    {"{'anyOf':[]}", "#: anyOf: 1 to 32 schemas"},
    {"{'anyOf':[{}],'type':'null'}", "stand alone"},
    {"{'allOf':[{},{}]}", "#: allOf"},
    {"{'anyOf':[{},{'$ref':'#/$defs/x'}]}", "#/anyOf/1: $ref: there is no '#/$defs/x'"},
    {"{'properties':{},'required':['a']}", "#: required: 'a' is none"},
    {"{'properties':[]}", "#: properties: an object"},
    {"{'additionalProperties':1}", "additionalProperties: a schema"},
    {"{'minItems':-1}", "minItems: integers from 0 to 256"},
    {"{'maxItems':257}", "maxItems: integers from 0 to 256"},
    {"{'minItems':2,'maxItems':1}", "minItems is above maxItems"},
    {"{'maxLength':1e9}", "maxLength: integers from 0 to 2048"},
    {"{'minLength':3,'maxLength':2}", "minLength is above maxLength"},
    {"{'$ref':'#/$defs/a','$defs':{'a':{'type':'object','properties':{'a':{'$ref':'#/$defs/a'}},'required':['a']}}}", "no finite text"},
    {"{'type':'array','minItems':200,'items':{'type':'string','minLength':2000}}", "the shortest text has"},
};

static void check_refused(const json_t *j, const char *name, const char *part)
{
    struct hx_grammar *g;
    struct hx_error err = {""};
    const int rc = hx_json_grammar(&g, j, &err);

    if ((rc != -EINVAL && rc != -E2BIG) || !strstr(err.text, part))
        fail_msg("%s: %d %s, not %s", name, rc, err.text, part);
}

static void test_what_a_schema_cannot_say_is_refused_where_it_stands(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(refused); i++) {
        json_t *j = json_of(refused[i].schema);

        assert_non_null(j);
        check_refused(j, refused[i].schema, refused[i].part);
        json_decref(j);
    }
}

static json_t *nested(size_t depth, const char *key)
{
    json_t *j = json_object();

    while (depth--)
        j = json_pack("{s:o}", key, j);
    return j;
}

static void test_hostile_schemas_have_limits(void **state)
{
    json_t *deep = nested(40, "items"), *large = json_object(), *properties = json_object();

    (void)state;
    check_refused(deep, "deep", "more than 32 schemas within each other");
    json_decref(deep);
    for (int i = 0; i < 100; i++) /* 100 strings of 2048 characters */
        json_object_set_new(properties, hxt_path("p%d", i), json_pack("{s:i}", "maxLength", 2048));
    json_object_set_new(large, "properties", properties);
    check_refused(large, "large", "the grammar needs more than 65536 states");
    for (int i = 0; i < 100; i++)
        json_object_set_new(properties, hxt_path("q%d", i), json_object());
    check_refused(large, "many", "#: properties: up to 128");
    json_decref(large);
}

/* Choices within choices that all begin alike: more readings than are followed, and still a text in time. */
static void test_an_ambiguous_schema_ends_in_time(void **state)
{
    json_t *j = json_pack("{s:i}", "maxLength", 5);
    struct hx_grammar *g;
    struct hx_error err = {""};
    char *text;

    (void)state;
    for (int depth = 0; depth < 3; depth++) {
        json_t *all = json_array();

        for (int i = 0; i < 8; i++)
            json_array_append_new(all, json_pack("{s:i, s:O}", "maxItems", 20 + i, "items", j));
        json_decref(j);
        j = json_pack("{s:o}", "anyOf", all);
    }
    if (hx_json_grammar(&g, j, &err))
        fail_msg("%s", err.text);
    text = make(g, 40);
    json_decref(j);
    j = json_loads(text, 0, NULL);
    if (!j)
        fail_msg("%s", text);
    json_decref(j);
    free(text);
    hx_grammar_free(g);
}

static int open_vocab(void **state)
{
    struct hx_error err = {""};

    (void)state;
    hxt_rng_init(&rng, 0);
    if (hx_gguf_open(&file, HXT_BUILD "/share/hexrig/hexrig-tiny-q8_0.gguf", &err) || hx_tokenizer_open(&tok, file, &err) ||
        hx_vocab_open(&vocab, tok, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int close_vocab(void **state)
{
    (void)state;
    hx_vocab_close(vocab);
    hx_tokenizer_close(tok);
    hx_gguf_close(file);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_schema_allows_its_texts_and_no_others),
    cmocka_unit_test(test_whatever_a_model_likes_the_text_parses_in_time),
    cmocka_unit_test(test_nesting_is_bounded),
    cmocka_unit_test(test_what_a_schema_cannot_say_is_refused_where_it_stands),
    cmocka_unit_test(test_hostile_schemas_have_limits),
    cmocka_unit_test(test_an_ambiguous_schema_ends_in_time),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_vocab, close_vocab);
}
