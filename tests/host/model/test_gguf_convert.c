/* Protects: the GGUF writer and the conversion of models: what becomes of each tensor, and that a failure leaves nothing
 * behind.  The rounding itself is test_quant.c's. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "gguf/gguf_convert.h"
#include "gguf/gguf_write.h"
#include "hxt.h"
#include "hxt_each.h"
#include "model/model.h"

#define SHIPPED HXT_SRC "/tests/data/hexrig-tiny-f16.gguf"

struct spec {
    const char *name;
    uint32_t n_dims;
    uint64_t dims[4];
    uint32_t type;
    float first; /* of its weights; the others are small */
};

/* An own folder for each test. */
static const char *new_dir(void)
{
    static int n;
    const char *dir = hxt_path("%s/%d", hxt_tmpdir(), n++);

    assert_int_equal(mkdir(dir, 0777), 0);
    return dir;
}

static size_t files_in(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Writes the tensors, with general.name, general.file_type and, when not 0, split.count and general.alignment. */
static void make_file(const char *path, const struct spec *specs, size_t n, uint32_t parts,
                      uint32_t alignment)
{
    struct hx_gguf_writer *w;
    struct hx_error err = {""};
    uint8_t name[8 + 4] = {4, 0, 0, 0, 0, 0, 0, 0, 't', 'e', 's', 't'};
    struct hx_gguf_kv kv = {.key = {"general.name", 12}, .type = HX_GGUF_STRING,
                            .elem = HX_GGUF_STRING, .n = 1, .data = name, .bytes = sizeof(name)};

    if (hx_gguf_writer_open(&w, path, alignment ? alignment : 32, &err))
        fail_msg("%s", err.text);
    hx_gguf_writer_kv(w, &kv);
    hx_gguf_writer_u32(w, "general.file_type", 0);
    if (parts)
        hx_gguf_writer_u32(w, "split.count", parts);
    if (alignment)
        hx_gguf_writer_u32(w, "general.alignment", alignment);
    for (size_t i = 0; i < n; i++) {
        struct hx_gguf_tensor t = {.name = {specs[i].name, strlen(specs[i].name)},
                                   .n_dims = specs[i].n_dims, .type = specs[i].type};

        memcpy(t.dims, specs[i].dims, sizeof(t.dims));
        hx_gguf_writer_tensor(w, &t);
    }
    for (size_t i = 0; i < n; i++) {
        size_t weights = 1;

        for (uint32_t d = 0; d < specs[i].n_dims; d++)
            weights *= specs[i].dims[d];
        uint8_t *bytes = calloc(weights, 4);

        if (specs[i].type == HX_QUANT_BF16)
            memset(bytes, 0x3c, 2 * weights); /* 0x3c3c: 0.0114 */
        else if (hx_quant_info(specs[i].type)->narrow) {
            float *x = malloc(weights * sizeof(*x));

            for (size_t k = 0; k < weights; k++)
                x[k] = k ? (float)(k % 17) / 16 - 0.5f : specs[i].first;
            hx_quant_info(specs[i].type)->narrow(bytes, x, weights);
            free(x);
        }
        assert_int_equal(hx_gguf_writer_data(w, bytes, hx_quant_row_bytes(specs[i].type, weights),
                                             &err), 0);
        free(bytes);
    }
    if (hx_gguf_writer_finish(w, &err))
        fail_msg("%s", err.text);
    hx_gguf_writer_close(w);
}

static struct hx_gguf *open_file(const char *path)
{
    struct hx_gguf *g;
    struct hx_error err = {""};

    if (hx_gguf_open(&g, path, &err))
        fail_msg("%s", err.text);
    return g;
}

static int convert(const char *in, const char *out, uint32_t type, struct hx_error *err)
{
    const struct hx_convert how = {.type = type};
    struct hx_gguf *g = open_file(in);
    int rc = hx_gguf_convert(g, out, &how, err);

    hx_gguf_close(g);
    return rc;
}

/* Everything of `a` is in b, but for the two keys that tell the format. */
static void same_metadata(const struct hx_gguf *a, const struct hx_gguf *b)
{
    const struct hx_gguf_facts f = hx_gguf_facts(a);

    for (size_t i = 0; i < f.n_kv; i++) {
        char key[128];
        const struct hx_gguf_kv *kv = &f.kv[i], *other;

        snprintf(key, sizeof(key), "%.*s", (int)kv->key.n, kv->key.p);
        if (strcmp(key, "general.file_type") == 0)
            continue;
        other = hx_gguf_find(b, key);
        assert_non_null(other);
        assert_int_equal(other->type, kv->type);
        assert_int_equal(other->elem, kv->elem);
        assert_int_equal(other->bytes, kv->bytes);
        assert_memory_equal(other->data, kv->data, kv->bytes);
    }
}

/* What each tensor of `in` became in `out` is what narrow() makes of its rows. */
static void same_weights(const struct hx_gguf *in, const struct hx_gguf *out)
{
    const struct hx_gguf_facts f = hx_gguf_facts(in);

    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *a = &f.tensors[i], *b;
        const size_t n = a->dims[0] * a->dims[1] * a->dims[2] * a->dims[3];
        char name[128];

        snprintf(name, sizeof(name), "%.*s", (int)a->name.n, a->name.p);
        b = hx_gguf_tensor(out, name);
        assert_non_null(b);
        assert_memory_equal(a->dims, b->dims, sizeof(a->dims));
        float *x = malloc(n * sizeof(*x));
        uint8_t *want = malloc(b->bytes);

        hx_quant_info(a->type)->widen(x, a->data, n);
        if (a->type == b->type)
            memcpy(want, a->data, b->bytes);
        else
            hx_quant_info(b->type)->narrow(want, x, n);
        if (memcmp(want, b->data, b->bytes))
            fail_msg("%s is not what its %s is as %s", name, hx_quant_name(a->type),
                     hx_quant_name(b->type));
        free(want);
        free(x);
    }
}

static void test_the_shipped_model_in_every_format(void **state)
{
    static const struct {
        uint32_t type, file_type;
    } all[] = {{HX_QUANT_F16, 1}, {HX_QUANT_Q4_0, 2}, {HX_QUANT_Q8_0, 7}, {HX_QUANT_Q4_K, 14}, {HX_QUANT_Q6_K, 18}};
    const char *dir = new_dir();

    (void)state;
    for (size_t i = 0; i < HXT_LEN(all); i += HXT_EACH) {
        const char *out = hxt_path("%s/out.gguf", dir);
        struct hx_error err = {""};
        struct hx_gguf *a, *b;
        struct hx_model *m, *n;
        uint32_t v;

        if (convert(SHIPPED, out, all[i].type, &err))
            fail_msg("%s", err.text);
        a = open_file(SHIPPED);
        b = open_file(out);
        assert_int_equal(hx_gguf_facts(b).version, 3);
        same_metadata(a, b);
        same_weights(a, b);
        assert_int_equal(hx_gguf_u32(b, "general.file_type", &v, &err), 0);
        assert_int_equal(v, all[i].file_type);
        assert_int_equal(hx_gguf_u32(b, "general.quantization_version", &v, &err), 0);
        assert_int_equal(v, 2);
        assert_int_equal(hx_gguf_tensor(b, "blk.0.ffn_up.weight")->type, all[i].type);
        assert_int_equal(hx_gguf_tensor(b, "blk.0.ffn_norm.weight")->type, HX_QUANT_F32);
        assert_int_equal(hx_model_from_gguf(&m, a, hx_archs, &err), 0);
        assert_int_equal(hx_model_from_gguf(&n, b, hx_archs, &err), 0);
        assert_true(m->fingerprint == n->fingerprint);
        hx_model_close(m);
        hx_model_close(n);
    }
    assert_int_equal(files_in(dir), 1);
}

static const struct spec odd[] = {
    {"token_embd.weight", 2, {512, 3}, HX_QUANT_BF16, 0},
    {"blk.0.attn_q.weight", 2, {96, 5}, HX_QUANT_F32, 1},
    {"blk.0.attn_k.weight", 2, {40, 5}, HX_QUANT_F32, 1},
    {"blk.0.attn_q.bias", 1, {96}, HX_QUANT_F16, 1},
    {"blk.0.ffn_up_exps.weight", 3, {256, 2, 3}, HX_QUANT_F16, 1},
    {"position_embd.weight", 2, {256, 4}, HX_QUANT_F32, 1},
    {"blk.0.ffn_gate_inp.weight", 2, {256, 4}, HX_QUANT_F16, 1},
};

struct counts {
    size_t calls, fell_back, stop_at;
};

static int count(void *arg, const struct hx_convert_step *s)
{
    struct counts *c = arg;

    assert_int_equal(s->index, c->calls);
    assert_int_equal(s->n, HXT_LEN(odd));
    c->calls++;
    c->fell_back += (size_t)s->fell_back;
    return c->stop_at && c->calls == c->stop_at;
}

static void test_each_tensor_gets_the_type_that_llama_cpp_gives_it(void **state)
{
    static const struct {
        uint32_t want, fell_back, is[HXT_LEN(odd)];
    } all[] = {
        {HX_QUANT_F16, 0, {HX_QUANT_F16, HX_QUANT_F16, HX_QUANT_F16, HX_QUANT_F32, HX_QUANT_F16,
                           HX_QUANT_F32, HX_QUANT_F16}},
        {HX_QUANT_Q4_0, 1, {HX_QUANT_Q4_0, HX_QUANT_Q4_0, HX_QUANT_F16, HX_QUANT_F32,
                            HX_QUANT_Q4_0, HX_QUANT_F32, HX_QUANT_F16}},
        {HX_QUANT_Q8_0, 1, {HX_QUANT_Q8_0, HX_QUANT_Q8_0, HX_QUANT_F16, HX_QUANT_F32,
                            HX_QUANT_Q8_0, HX_QUANT_F32, HX_QUANT_F16}},
        {HX_QUANT_Q4_K, 2, {HX_QUANT_Q4_K, HX_QUANT_Q5_0, HX_QUANT_F16, HX_QUANT_F32,
                            HX_QUANT_Q4_K, HX_QUANT_F32, HX_QUANT_F16}},
        {HX_QUANT_Q6_K, 2, {HX_QUANT_Q6_K, HX_QUANT_Q8_0, HX_QUANT_F16, HX_QUANT_F32,
                            HX_QUANT_Q6_K, HX_QUANT_F32, HX_QUANT_F16}},
    };
    const char *dir = new_dir(), *in = hxt_path("%s/in", dir), *out = hxt_path("%s/out", dir);

    (void)state;
    make_file(in, odd, HXT_LEN(odd), 0, 64);
    for (size_t i = 0; i < HXT_LEN(all); i++) {
        struct counts c = {0};
        const struct hx_convert how = {.type = all[i].want, .tell = count, .arg = &c};
        struct hx_gguf *a = open_file(in), *b;
        struct hx_error err = {""};

        if (hx_gguf_convert(a, out, &how, &err))
            fail_msg("%s", err.text);
        b = open_file(out);
        assert_int_equal(hx_gguf_facts(b).alignment, 64);
        for (size_t t = 0; t < HXT_LEN(odd); t++)
            if (hx_gguf_facts(b).tensors[t].type != all[i].is[t])
                fail_msg("%s became %s", odd[t].name,
                         hx_quant_name(hx_gguf_facts(b).tensors[t].type));
        same_metadata(a, b);
        same_weights(a, b);
        assert_int_equal(c.calls, HXT_LEN(odd));
        assert_int_equal(c.fell_back, all[i].fell_back);
        hx_gguf_close(a);
        hx_gguf_close(b);
    }
}

static void test_the_file_does_not_depend_on_the_threads(void **state)
{
    const char *dir = new_dir(), *one = hxt_path("%s/1", dir), *three = hxt_path("%s/3", dir);
    struct hx_convert how = {.type = HX_QUANT_Q4_K};
    struct hx_error err = {""};
    struct hx_gguf *g = open_file(SHIPPED);
    size_t n, m;

    (void)state;
    assert_int_equal(hx_gguf_convert(g, one, &how, &err), 0);
    assert_int_equal(hx_pool_open(&how.pool, 3, &err), 0);
    assert_int_equal(hx_gguf_convert(g, three, &how, &err), 0);
    hx_pool_close(how.pool);
    hx_gguf_close(g);
    char *a = hxt_read_file(one, &n), *b = hxt_read_file(three, &m);

    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

static void test_a_file_can_take_its_own_place(void **state)
{
    const char *dir = new_dir(), *path = hxt_path("%s/x", dir);
    struct hx_error err = {""};
    struct hx_gguf *g;

    (void)state;
    make_file(path, odd, HXT_LEN(odd), 0, 0);
    assert_int_equal(convert(path, path, HX_QUANT_Q8_0, &err), 0);
    g = open_file(path);
    assert_int_equal(hx_gguf_tensor(g, "token_embd.weight")->type, HX_QUANT_Q8_0);
    hx_gguf_close(g);
    assert_int_equal(files_in(dir), 1);
}

/* --- failures */

/* `out` is there already and must stay what it is. */
static void refused(const char *dir, const char *in, uint32_t type, const char *part)
{
    const char *out = hxt_path("%s/out", dir);
    struct hx_error err = {""};
    size_t n;
    char *was;

    hxt_write_file(out, "old", 3);
    n = files_in(dir);
    if (convert(in, out, type, &err) != -EINVAL || !strstr(err.text, part))
        fail_msg("'%s', want '%s'", err.text, part);
    was = hxt_read_file(out, NULL);
    assert_string_equal(was, "old");
    free(was);
    assert_int_equal(files_in(dir), n);
}

static void test_weights_that_do_not_fit_are_named(void **state)
{
    static const struct {
        uint32_t from, to;
        float first;
        const char *part;
    } all[] = {
        {HX_QUANT_F32, HX_QUANT_F16, 1e6f, "tensor 'b.weight', row 0: a weight of magnitude 1e+06 "
                                           "is too large for F16"},
        {HX_QUANT_F32, HX_QUANT_Q8_0, 1e8f, "too large for Q8_0"},
        {HX_QUANT_F32, HX_QUANT_Q4_K, 1e8f, "too large for Q4_K"},
        {HX_QUANT_F32, HX_QUANT_Q6_K, 1e9f, "too large for Q6_K"},
        {HX_QUANT_F32, HX_QUANT_Q4_K, NAN, "infinite or no number"},
        {HX_QUANT_F16, HX_QUANT_Q8_0, -INFINITY, "infinite or no number"},
    };
    const char *dir = new_dir(), *in = hxt_path("%s/in", dir);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(all); i++) {
        const struct spec specs[] = {{"a.weight", 2, {256, 2}, all[i].from, 0},
                                     {"b.weight", 2, {256, 2}, all[i].from, all[i].first}};

        make_file(in, specs, 2, 0, 0);
        refused(dir, in, all[i].to, all[i].part);
    }
}

static void test_sources_that_cannot_be_converted(void **state)
{
    const struct spec q8[] = {{"a.weight", 2, {256, 2}, HX_QUANT_Q8_0, 1}};
    const char *dir = new_dir(), *in = hxt_path("%s/in", dir);
    struct hx_gguf *g;
    struct hx_error err = {""};

    (void)state;
    make_file(in, q8, 1, 0, 0);
    refused(dir, in, HX_QUANT_Q4_K, "tensor 'a.weight' is Q8_0; conversion starts from F32");
    make_file(in, odd, 1, 3, 0);
    assert_int_equal(hx_gguf_open(&g, in, &err), -EINVAL); /* those that can be opened: test_gguf_split.c */
    assert_non_null(strstr(err.text, "one of 3 parts"));
    make_file(in, odd, 1, 1, 0);
    refused(dir, in, HX_QUANT_Q2_K, "Q2_K is no type to convert to");
}

static void test_places_that_cannot_be_written(void **state)
{
    const char *dir = new_dir(), *in = hxt_path("%s/in", dir);
    struct hx_error err = {""};

    (void)state;
    make_file(in, odd, HXT_LEN(odd), 0, 0);
    assert_int_equal(convert(in, hxt_path("%s/none/out", dir), HX_QUANT_F16, &err), -ENOENT);
    assert_int_equal(convert(in, dir, HX_QUANT_F16, &err), -EINVAL);
    assert_non_null(strstr(err.text, "is a directory"));
    assert_int_equal(convert(in, "/dev/null", HX_QUANT_F16, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/dev/null: not a regular file"));
    assert_int_equal(files_in(dir), 1);
}

static void test_a_stop_leaves_nothing(void **state)
{
    const char *dir = new_dir(), *in = hxt_path("%s/in", dir), *out = hxt_path("%s/out", dir);
    struct counts c = {.stop_at = 3};
    const struct hx_convert how = {.type = HX_QUANT_F16, .tell = count, .arg = &c};
    struct hx_error err = {""};
    struct hx_gguf *g;

    (void)state;
    make_file(in, odd, HXT_LEN(odd), 0, 0);
    g = open_file(in);
    assert_int_equal(hx_gguf_convert(g, out, &how, &err), -EINTR);
    assert_int_equal(c.calls, 3);
    assert_int_equal(files_in(dir), 1);
    hx_gguf_close(g);
}

/* A full disk, played by a limit on the size of files. */
static void test_a_full_disk_leaves_nothing(void **state)
{
    const char *dir = new_dir(), *out = hxt_path("%s/out", dir);
    struct rlimit old, small;
    struct hx_error err = {""};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int rc;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){1 << 20, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rc = convert(SHIPPED, out, HX_QUANT_Q8_0, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(rc, -EFBIG);
    assert_non_null(strstr(err.text, "cannot write: File too large"));
    assert_int_equal(files_in(dir), 0);
}

static void test_the_writer_counts_what_it_gets(void **state)
{
    const char *dir = new_dir(), *path = hxt_path("%s/x", dir);
    const struct hx_gguf_tensor t = {.name = {"a", 1}, .n_dims = 1, .dims = {8},
                                     .type = HX_QUANT_F32};
    const float x[9] = {0};
    struct hx_gguf_writer *w;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_gguf_writer_open(&w, path, 32, &err), 0);
    hx_gguf_writer_tensor(w, &t);
    assert_int_equal(hx_gguf_writer_data(w, x, 4, &err), 0);
    assert_int_equal(hx_gguf_writer_data(w, x, 32, &err), -EINVAL);
    assert_int_equal(hx_gguf_writer_finish(w, &err), -EINVAL);
    assert_non_null(strstr(err.text, "data of 1 tensors is missing"));
    hx_gguf_writer_close(w);
    assert_int_equal(files_in(dir), 0);
    hx_gguf_writer_close(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_shipped_model_in_every_format),
    cmocka_unit_test(test_each_tensor_gets_the_type_that_llama_cpp_gives_it),
    cmocka_unit_test(test_the_file_does_not_depend_on_the_threads),
    cmocka_unit_test(test_a_file_can_take_its_own_place),
    cmocka_unit_test(test_weights_that_do_not_fit_are_named),
    cmocka_unit_test(test_sources_that_cannot_be_converted),
    cmocka_unit_test(test_places_that_cannot_be_written),
    cmocka_unit_test(test_a_stop_leaves_nothing),
    cmocka_unit_test(test_a_full_disk_leaves_nothing),
    cmocka_unit_test(test_the_writer_counts_what_it_gets),
};

int main(void)
{
    return HXT_RUN(tests);
}
