/* Protects: `hexrig density --geometry` with matrices on the DSP: a geometry makes the calls of its model and moves the same bytes, and
 * a model's config.json is a geometry, and so is its GGUF file's header. */
#include <math.h>

#include "e2e.h"
#include "hxt_each.h"

enum { LAYERS = 6 };

/* Of the shipped model. */
#define TINY \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 6, \"hidden_size\": 256, \"num_attention_heads\": 2, " \
    "\"num_key_value_heads\": 1, \"head_dim\": 128, \"intermediate_size\": 512, \"vocab_size\": 2048}"

/* The path lasts: a few of them are all that hxt_path() keeps. */
static const char *config(const char *name, const char *text)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s.json", hxt_tmpdir(), name);
    hxt_write_file(path, text, strlen(text));
    return path;
}

static const char *path_of_own(void)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/own.geometry", hxt_tmpdir());
    return path;
}

static json_t *rows(const char *what, const char *options)
{
    json_t *j = e2e_json(hxt_path("density %s %s --pos 0,16 --json", what, options));
    json_t *r = json_incref(json_object_get(j, "rows"));

    json_decref(j);
    assert_int_equal(json_array_size(r), 2);
    return r;
}

/* The same keys and values; times of packets are differences of sums in whole nanoseconds, so numbers may differ by two of them. */
static int same(json_t *a, json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_number(a) && json_is_number(b))
        return fabs(json_number_value(a) - json_number_value(b)) < .0021;
    if (json_typeof(a) != json_typeof(b) || json_object_size(a) != json_object_size(b) || json_array_size(a) != json_array_size(b))
        return 0;
    json_object_foreach(a, key, value)
        if (!json_object_get(b, key) || !same(value, json_object_get(b, key)))
            return 0;
    json_array_foreach(a, i, value)
        if (!same(value, json_array_get(b, i)))
            return 0;
    return json_is_object(a) || json_is_array(a) || json_equal(a, b);
}

/* of_model: what the model needs besides. */
static void check_costs(const char *options, const char *of_model, const char *path)
{
    json_t *want = rows(of_model, options), *got = rows(hxt_path("--geometry %s", path), options);

    if (!same(got, want)) {
        char *a = json_dumps(want, JSON_INDENT(1)), *b = json_dumps(got, JSON_INDENT(1));

        fail_msg("%s: the model %s, its geometry %s", options, a, b);
    }
    assert_true(e2e_number(json_array_get(got, 1), "calls_per_token") + e2e_number(json_array_get(got, 1), "packets_per_token") > 0);
    json_decref(want);
    json_decref(got);
}

/* Whatever is counted, modelled times included: the model has weights, and the geometry none. */
static void test_a_geometry_costs_what_its_model_does(void **state)
{
    static const char *const options[] = {"--kv f32 --offload linear", "--kv f32 --offload linear --placement resident",
                                          "--kv f32 --offload linear,argmax --placement ddr",
                                          "--offload linear --density batched", "--kv f32 --linear cpu,attn@1-3=dsp:vtcm",
                                          "--offload attn --density batched", "--offload attn,linear,argmax --density per-layer",
                                          "--packets --density batched", "--packets --kv f32 --offload linear,argmax"};
    const char *path = config("tiny", TINY);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(options); i += HXT_EACH)
        check_costs(options[i], "", path);
    e2e_clean();
}

/* Methods that make something else of weights: without weights it has the same sizes.  A gate that always opens, and one that never
 * does. */
static void test_thin_matrices_cost_what_those_of_the_model_do(void **state)
{
    static const char *const lowrank[] = {"--kv f32 --linear lowrank:64 --offload linear",
                                          "--kv f32 --linear lowrank:64 --offload linear=wq,wk,wv,wo",
                                          "--kv f32 --axex-full-compress --axex-compress-rank 32 --grc-basis per-slot --wproj-format q8_0 "
                                          "--offload linear=wq,wk,wv,wo,gate,up,down --placement resident"};
    static const char *const gsi[] = {"--kv f32 --linear gsi:48 --gsi-static --offload linear",
                                      "--kv f32 --linear gsi:48 --gsi-eps 0 --offload linear=wq,wk,wv --placement resident"};
    const char *path = config("tiny", TINY), *text = hxt_path("%s/books.txt", hxt_tmpdir());
    char *books = hxt_read_file(HXT_BUILD "/share/hexrig/books-holdout.txt", NULL);

    (void)state;
    hxt_write_file(text, books, 4000);
    for (size_t i = 0; i < HXT_LEN(lowrank); i += HXT_EACH)
        check_costs(lowrank[i], "--wproj-cache none", path);
    for (size_t i = 0; i < HXT_LEN(gsi); i += HXT_EACH)
        check_costs(gsi[i], hxt_path("--gsi-text %s/books.txt", hxt_tmpdir()), path);
    e2e_refused(hxt_path("density --geometry %s --kv f32 --linear gsi:48 --gsi-text x --offload linear", path), 2,
                "--gsi-text needs a model");
    e2e_refused(hxt_path("density --geometry %s --kv f32 --linear gsi:48", path), 2, "--linear needs a model");
    free(books);
    e2e_clean();
}

/* q and gate are all that differs in number: GPT-J has no gate. */
static void test_calls_and_bytes_follow_from_the_shapes(void **state)
{
    json_t *r = rows("--geometry smollm2-135m", "--kv f32 --offload linear=wq,wk,wv");
    json_t *j = rows(hxt_path("--geometry %s", config("gptj", "{\"model_type\": \"gptj\", \"n_layer\": 3, \"n_embd\": 64, "
                                                             "\"n_head\": 2, \"n_inner\": null, \"vocab_size\": 96}")),
                     "--kv f32 --offload linear");

    (void)state;
    assert_true(e2e_number(json_array_get(r, 1), "calls_per_token") == 30);
    assert_true(e2e_number(json_array_get(r, 1), "bytes_shared_per_token") == 30 * 4 * (576 + 576 + 2 * 192));
    assert_true(e2e_number(json_array_get(j, 1), "calls_per_token") == 3 * 4 + 1);
    assert_true(e2e_number(json_array_get(j, 1), "bytes_shared_per_token") ==
                4 * (3 * (64 + 3 * 64 + 64 + 64 + 64 + 256 + 256 + 64) + 64 + 96));
    json_decref(r);
    json_decref(j);
    e2e_clean();
}

static void test_a_config_that_cannot_be_used_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"", "this is no config.json"},
        {"[]", "this is no config.json: no object"},
        {"{\"num_hidden_layers\": 2}", "model_type '' is none that hexrig runs"},
        {"{\"model_type\": \"mamba\"}", "model_type 'mamba' is none that hexrig runs"},
        {"{\"model_type\": \"llama\", \"num_hidden_layers\": 2}", "hidden_size is missing"},
        {"{\"model_type\": \"llama\", \"num_hidden_layers\": 0}", "num_hidden_layers is something else; it has to be an integer"},
        {"{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64.5}", "hidden_size is something else"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        e2e_refused(hxt_path("density --geometry %s", config("bad", cases[i][0])), 2, cases[i][1]);
    e2e_refused("density --geometry ./absent.json", 2, "--geometry: ./absent.json: cannot be opened");
}

/* A file of one's own, and the same in one word: their rows are the config.json's. */
static void test_a_geometry_of_ones_own_is_one_of_a_config(void **state)
{
    static const char own[] = "# mine\nversion = 1\nlayers = 6\nheads = 2\nkv_heads = 1\nhead_size = 128\n\nwidth = 256\nffn = 512 # each\n"
                              "vocabulary = 2048\ngate = yes\n";
    static const char options[] = "--kv f32 --offload linear,argmax --front-end socket";
    const char *json = config("tiny", TINY), *path;
    json_t *want = rows(hxt_path("--geometry %s", json), options), *got;

    (void)state;
    path = hxt_path("%s/mine.geometry", hxt_tmpdir());
    hxt_write_file(path, own, sizeof(own) - 1);
    got = rows(hxt_path("--geometry %s", path), options);
    assert_true(json_equal(got, want));
    json_decref(got);
    got = rows("--geometry 6x2/1x128x256x512x2048", options);
    assert_true(json_equal(got, want));
    json_decref(got);
    got = rows("--geometry 6x2/1x96x256x512x2048", options); /* any head size, where there are no blocks */
    assert_true(e2e_number(json_array_get(got, 0), "calls_per_token") == e2e_number(json_array_get(want, 0), "calls_per_token"));
    json_decref(got);
    json_decref(want);
    e2e_clean();
}

static void test_a_geometry_of_ones_own_that_cannot_be_used_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"layers = 2\n", ":1: version is missing; legal: 1"},
        {"version = 2\n", ":1: version '2'; legal: 1"},
        {"version = 1\nlayer = 2\n", ":2: unknown key 'layer'; legal: version, layers, heads, kv_heads, head_size, "
                                       "width, ffn, vocabulary, gate"},
        {"version = 1\n\nlayers = two\n", ":3: layers: 'two' is no integer from 1 to 4096"},
        {"version = 1\nlayers = 0\n", ":2: layers: '0' is no integer from 1 to 4096"},
        {"version = 1\nlayers = 2.5\n", ":2: layers: '2.5' is no integer from 1 to 4096"},
        {"version = 1\nlayers = 2\nlayers = 2\n", ":3: layers for the second time"},
        {"version = 1\nlayers = 2\nheads = 8\n", ":3: head_size is missing; legal: 1 to 4096"},
        {"version = 1\nlayers = 2\nheads = 8\nkv_heads = 3\nhead_size = 64\n", ":5: kv_heads: 3; legal: divisors of heads, 8"},
        {"version = 1\ngate = 1\n", ":2: gate: unknown value '1'; legal: yes, no"},
        {"version = 1\nlayers\n", ":2: 'layers' is no KEY = VALUE"},
    };
    const char *path = path_of_own();

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        hxt_write_file(path, cases[i][0], strlen(cases[i][0]));
        e2e_refused(hxt_path("density --geometry %s", path), 2, hxt_path("--geometry: %s%s", path, cases[i][1]));
    }
    e2e_refused("density --geometry 6x2", 2, "'6x2' is no LAYERSxHEADS[/KV_HEADS]xHEAD_SIZE[xWIDTH[xFFN[xVOCABULARY]]]");
    e2e_refused("density --geometry 6x2xa", 2, "head_size: 'a' is no integer from 1 to 4096");
    e2e_refused("density --geometry 6x2x64 --kv f32 --offload linear", 2, "--geometry 6x2x64 has no FFN");
    e2e_refused("density --geometry 2x2x96 --pos 1", 1, "there are no blocks of head dimension 96; legal: 64, 128");
    e2e_refused(hxt_path("density --geometry %s", config("line", "{\n \"model_type\": \"llama\",\n \"num_hidden_layers\": 0}")), 2,
                "line.json:3: num_hidden_layers is something else");
}

static void test_a_text_model_inside_another_is_found(void **state)
{
    const char *path = config("nested", "{\"model_type\": \"gemma3\", \"text_config\": " TINY "}");
    json_t *r = rows(hxt_path("--geometry %s", path), "--kv f32 --offload linear=wo");

    (void)state;
    assert_true(e2e_number(json_array_get(r, 0), "calls_per_token") == LAYERS);
    json_decref(r);
    e2e_clean();
}

/* The first bytes of the shipped model, all metadata among them and few of its tensors; `key`, unless NULL, gets another value of the
 * same length. */
static const char *header(const char *name, size_t n, const char *key, const void *value, size_t bytes)
{
    static char path[256];
    size_t all;
    char *file = hxt_read_file(HXT_BUILD "/share/hexrig/hexrig-tiny-q8_0.gguf", &all), *at;

    assert_true(all > n);
    snprintf(path, sizeof(path), "%s/%s.gguf", hxt_tmpdir(), name);
    if (key) {
        at = memmem(file, n, key, strlen(key));
        assert_non_null(at);
        at += strlen(key) + sizeof(uint32_t); /* behind its type */
        memcpy(at, value, bytes);
    }
    hxt_write_file(path, file, n);
    free(file);
    return path;
}

enum { HEADER_BYTES = 65536 };

static void test_a_gguf_file_is_a_geometry_by_its_header_alone(void **state)
{
    static const char options[] = "--kv f32 --offload linear,argmax --front-end socket";
    const char *path = header("head", HEADER_BYTES, NULL, NULL, 0);
    json_t *want = rows("", options), *got = rows(hxt_path("--geometry %s", path), options);

    (void)state;
    assert_true(json_equal(got, want));
    json_decref(want);
    json_decref(got);
    e2e_clean();
}

static void test_a_gguf_file_that_is_no_geometry_is_refused(void **state)
{
    static const char mamba[] = "\5\0\0\0\0\0\0\0mamba";
    const uint32_t zero = 0, many = 4097, seven = 7;

    (void)state;
    e2e_refused("density --geometry absent.gguf", 2, "--geometry: absent.gguf: No such file or directory");
    e2e_refused(hxt_path("density --geometry %s", header("short", 600, NULL, NULL, 0)), 2,
                "short.gguf: truncated or damaged in the metadata at byte");
    e2e_refused(hxt_path("density --geometry %s", header("arch", HEADER_BYTES, "general.architecture", mamba, sizeof(mamba) - 1)), 2,
                "arch.gguf: architecture 'mamba' is not supported; supported: llama");
    e2e_refused(hxt_path("density --geometry %s", header("zero", HEADER_BYTES, "qwen3.block_count", &zero, sizeof(zero))), 2,
                "zero.gguf: qwen3.block_count is 0; 1 to 4096 are legal");
    e2e_refused(hxt_path("density --geometry %s", header("many", HEADER_BYTES, "qwen3.block_count", &many, sizeof(many))), 2,
                "many.gguf: qwen3.block_count is 4097; 1 to 4096 are legal");
    e2e_refused(hxt_path("density --geometry %s", header("odd", HEADER_BYTES, "qwen3.attention.key_length", &seven, sizeof(seven))), 2,
                "odd.gguf: 2 heads, 1 KV heads, key length 7");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_geometry_costs_what_its_model_does),
    cmocka_unit_test(test_thin_matrices_cost_what_those_of_the_model_do),
    cmocka_unit_test(test_calls_and_bytes_follow_from_the_shapes),
    cmocka_unit_test(test_a_config_that_cannot_be_used_is_refused),
    cmocka_unit_test(test_a_geometry_of_ones_own_is_one_of_a_config),
    cmocka_unit_test(test_a_geometry_of_ones_own_that_cannot_be_used_is_refused),
    cmocka_unit_test(test_a_text_model_inside_another_is_found),
    cmocka_unit_test(test_a_gguf_file_is_a_geometry_by_its_header_alone),
    cmocka_unit_test(test_a_gguf_file_that_is_no_geometry_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
