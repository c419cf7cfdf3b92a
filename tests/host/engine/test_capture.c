/* Protects captures (host/methods/capture): a file holds what a tap sees, bit for bit; whatever is wrong with a file is
 * noticed. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture_of_run.h"

/* --- a second tap, which writes down what the first one should have */

struct listener {
    struct hx_tap tap;
    char *bytes; /* records as the file has them */
    size_t n, records;
};

static void add(struct listener *l, const void *bytes, size_t n)
{
    l->bytes = realloc(l->bytes, l->n + n);
    assert_non_null(l->bytes);
    memcpy(l->bytes + l->n, bytes, n);
    l->n += n;
}

static int listen_at(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct listener *l = (struct listener *)t;
    const struct hx_capture_record r = {at->point, (uint32_t)at->layer, (uint32_t)at->n, (uint32_t)at->row};

    (void)err;
    add(l, &r, sizeof(r));
    add(l, at->tokens, at->n * sizeof(*at->tokens));
    for (size_t i = 0; i < at->n; i++)
        add(l, &(uint32_t){(uint32_t)at->pos[i]}, sizeof(uint32_t));
    add(l, rows, at->n * at->row * sizeof(*rows));
    l->records++;
    return 0;
}

static const struct hx_tap_ops listener_ops = {.name = "listener", .at = listen_at};

/* Runs the tokens in batches of 4 and 1, with the listener behind the engine's own tap. */
static void run_with(struct hx_engine *e, struct listener *l)
{
    struct hx_tap *const both[] = {e->taps[0], &l->tap, NULL};
    struct hx_error err;

    assert_int_equal(hx_forward_use(e->forward,
                                    &(struct hx_forward_parts){.matrices = &e->core->matrices,
                                                               .kernels = e->core->kernels, .taps = both},
                                    &err),
                     0);
    run(e, ids, N, 0);
}

static void test_a_file_holds_what_a_tap_sees(void **state)
{
    const char *path = hxt_path("%s/all.cap", hxt_tmpdir());
    struct hx_engine *e = open_capture(path, "all", NULL);
    struct listener l = {.tap = {&listener_ops, (1u << HX_TAP_POINTS) - 1}};
    struct hx_capture_header *head;
    struct hx_error err = {""};
    size_t n;

    (void)state;
    run_with(e, &l);
    assert_int_equal(l.records, 2 * (3 + 9 * LAYERS));
    assert_int_equal(hx_engine_finish(e, &err), 0);
    head = hxt_read_file(path, &n);
    assert_non_null(head);
    assert_int_equal(n, sizeof(*head) + l.n);
    hxt_same_bytes(head + 1, l.bytes, l.n);
    assert_string_equal(head->magic, HX_CAPTURE_MAGIC);
    assert_int_equal(head->version, 1);
    assert_int_equal(head->points, (1u << HX_TAP_POINTS) - 1);
    assert_int_equal(head->n_layer, LAYERS);
    assert_int_equal(head->width, WIDTH);
    assert_int_equal(head->vocab, VOCAB);
    assert_int_equal(head->layer_from, 0);
    assert_int_equal(head->layer_to, LAYERS - 1);
    assert_true(head->fingerprint == e->model->fingerprint);
    assert_int_equal(head->n_records, l.records);
    free(head);
    free(l.bytes);
    hx_engine_close(e);
}

static void test_the_reader_gives_back_every_record(void **state)
{
    const char *path = hxt_path("%s/read.cap", hxt_tmpdir());
    struct hx_engine *e = open_capture(path, "all", NULL);
    struct listener l = {.tap = {&listener_ops, (1u << HX_TAP_POINTS) - 1}};
    struct hx_capture_reader *r;
    struct hx_capture_record c;
    const uint32_t *tokens, *pos;
    const float *rows;
    struct hx_error err = {""};
    size_t at = 0;

    (void)state;
    run_with(e, &l);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_engine_close(e);
    r = open_reader(path);
    for (size_t i = 0; i < l.records; i++) {
        assert_int_equal(hx_capture_next(r, &c, &tokens, &pos, &rows, &err), 1);
        hxt_same_bytes(&c, l.bytes + at, sizeof(c));
        at += sizeof(c);
        hxt_same_bytes(tokens, l.bytes + at, c.n * sizeof(*tokens));
        at += c.n * sizeof(*tokens);
        hxt_same_bytes(pos, l.bytes + at, c.n * sizeof(*pos));
        at += c.n * sizeof(*pos);
        hxt_same_bytes(rows, l.bytes + at, (size_t)c.n * c.row * sizeof(*rows));
        at += (size_t)c.n * c.row * sizeof(*rows);
    }
    assert_int_equal(at, l.n);
    assert_int_equal(hx_capture_next(r, &c, &tokens, &pos, &rows, &err), 0);
    assert_int_equal(hx_capture_next(r, &c, &tokens, &pos, &rows, &err), 0); /* it stays so */
    hx_capture_read_close(r);
    free(l.bytes);
}

static void test_only_what_was_asked_for_is_written(void **state)
{
    const char *path = hxt_path("%s/some.cap", hxt_tmpdir());
    struct hx_engine *e = open_capture(path, "k,embedding", "2-3");
    static const uint32_t points[] = {HX_TAP_EMBEDDING, HX_TAP_K, HX_TAP_K}, layers[] = {0, 2, 3};
    struct hx_capture_reader *r;
    struct hx_capture_record c;
    const uint32_t *tokens, *pos;
    const float *rows;
    struct hx_error err = {""};

    (void)state;
    run(e, ids, N, 0);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    r = open_reader(path);
    assert_int_equal(hx_capture_header(r)->n_records, 6);
    assert_int_equal(hx_capture_header(r)->layer_from, 2);
    assert_int_equal(hx_capture_header(r)->layer_to, 3);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(hx_capture_next(r, &c, &tokens, &pos, &rows, &err), 1);
        assert_int_equal(c.point, points[i % 3]);
        assert_int_equal(c.layer, layers[i % 3]);
        assert_int_equal(c.n, i < 3 ? 4 : 1);
        assert_int_equal(c.row, i % 3 ? e->model->n_kv * e->model->dh : e->model->width);
        assert_int_equal(tokens[0], i < 3 ? ids[0] : ids[4]);
        assert_int_equal(pos[0], i < 3 ? 0 : 4);
    }
    hx_capture_read_close(r);
    hx_engine_close(e);
}

/* --- damage */

/* Reads all of a file of these bytes.  0 or the error, with its reason. */
static int read_all(const char *path, const void *bytes, size_t n, struct hx_error *err)
{
    struct hx_capture_reader *r = NULL;
    struct hx_capture_record c;
    const uint32_t *tokens, *pos;
    const float *rows;
    volatile float last;
    int rc;

    hxt_write_file(path, bytes, n);
    rc = hx_capture_read(&r, path, err);
    while (!rc && (rc = hx_capture_next(r, &c, &tokens, &pos, &rows, err)) == 1) {
        assert_true(tokens[c.n - 1] < UINT32_MAX);
        last = rows[(size_t)c.n * c.row - 1]; /* it is there */
        rc = 0;
    }
    (void)last;
    hx_capture_read_close(r);
    return rc;
}

/* A capture of after_ffn and v of layers 1..2: 8 records. */
static char *sample(size_t *n)
{
    const char *path = hxt_path("%s/sample.cap", hxt_tmpdir());
    struct hx_engine *e = open_capture(path, "after_ffn,v", "1-2");
    struct hx_error err = {""};
    char *bytes;

    run(e, ids, N, 0);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_engine_close(e);
    bytes = hxt_read_file(path, n);
    assert_non_null(bytes);
    return bytes;
}

#define HEAD(field) offsetof(struct hx_capture_header, field)
#define RECORD(field) (sizeof(struct hx_capture_header) + offsetof(struct hx_capture_record, field))

static void test_every_damage_is_refused(void **state)
{
    const char *path = hxt_path("%s/damaged.cap", hxt_tmpdir());
    const struct {
        size_t at;
        uint32_t value;
        const char *says;
    } damages[] = {
        {HEAD(magic), 0x58485848, "no capture: it does not begin with HXCAPT1"},
        {HEAD(magic) + 4, 0x31545051, "no capture"},
        {HEAD(version), 2, "a capture of version 2; this program reads 1"},
        {HEAD(points), 0, "no such capture can be"},
        {HEAD(points), 1u << HX_TAP_POINTS, "no such capture can be"},
        {HEAD(points), 1u << HX_TAP_K, "record 0: point"},
        {HEAD(n_layer), 2, "no such capture can be"},
        {HEAD(n_layer), 0, "no such capture can be"},
        {HEAD(layer_from), 3, "no such capture can be"},
        {HEAD(layer_from), 2, "record 0: point"},
        {HEAD(layer_to), LAYERS, "no such capture can be"},
        {HEAD(layer_to), 1, "record 2: point"},
        {HEAD(reserved), 1, "no such capture can be"},
        {HEAD(n_kv), 77, "record 0: point"},
        {HEAD(dh), 1, "record 0: point"},
        {HEAD(width), WIDTH + 1, "record 1: point"},
        {HEAD(vocab), 1560, "record 0: token 1560; the vocabulary has 1560"},
        {HEAD(n_records), 0, "was not completed"},
        {HEAD(n_records), 7, "goes on behind its last record"},
        {HEAD(n_records), 9, "ends in the middle of a record"},
        {HEAD(n_records) + 4, 1, "ends in the middle of a record"},
        {RECORD(point), HX_TAP_POINTS, "record 0: point 12 of layer 1"},
        {RECORD(point), HX_TAP_K, "record 0: point"},
        {RECORD(point), UINT32_MAX, "record 0: point"},
        {RECORD(layer), 0, "record 0: point"},
        {RECORD(layer), 3, "record 0: point"},
        {RECORD(n), 0, "record 0: point"},
        {RECORD(n), UINT32_MAX, "ends in the middle of a record"},
        {RECORD(n), 5, "record 1: point"},
        {RECORD(row), 0, "record 0: point"},
        {RECORD(row), UINT32_MAX, "record 0: point"},
        {sizeof(struct hx_capture_header) + sizeof(struct hx_capture_record), VOCAB, "record 0: token 2048"},
    };
    struct hx_error err = {""};
    size_t n;
    char *bytes = sample(&n), *copy = malloc(n + 1);

    (void)state;
    assert_int_equal(read_all(path, bytes, n, &err), 0);
    for (size_t i = 0; i < HXT_LEN(damages); i++) {
        memcpy(copy, bytes, n);
        memcpy(copy + damages[i].at, &damages[i].value, sizeof(damages[i].value));
        if (read_all(path, copy, n, &err) != -EINVAL || !strstr(err.text, damages[i].says) ||
            !strstr(err.text, "damaged.cap: "))
            fail_msg("damage %zu: '%s' does not say '%s'", i, err.text, damages[i].says);
    }
    memcpy(copy, bytes, n);
    copy[n] = 0;
    assert_int_equal(read_all(path, copy, n + 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "goes on behind its last record"));
    free(copy);
    free(bytes);
}

static void test_a_file_cut_anywhere_is_refused(void **state)
{
    const char *path = hxt_path("%s/cut.cap", hxt_tmpdir());
    struct hx_error err = {""};
    size_t n;
    char *bytes = sample(&n);

    (void)state;
    for (size_t cut = 0; cut < n; cut += cut < 600 ? 1 : 97)
        assert_int_equal(read_all(path, bytes, cut, &err), -EINVAL);
    assert_int_equal(read_all(path, bytes, n - 1, &err), -EINVAL);
    free(bytes);
}

/* Nothing of what a stranger may have written ends the program, or makes the reader hand out what is not there. */
static void test_random_damage_is_refused_or_harmless(void **state)
{
    const char *path = hxt_path("%s/random.cap", hxt_tmpdir());
    struct hx_error err = {""};
    struct hxt_rng rng;
    size_t n, refused = 0;
    char *bytes = sample(&n), *copy = malloc(n);

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < 500; i++) {
        memcpy(copy, bytes, n);
        for (size_t k = 0; k < 1 + i % 3; k++) /* mostly where it matters: the heads */
            copy[hxt_below(&rng, i % 2 ? 120 : n)] ^= (char)(1 << hxt_below(&rng, 8));
        refused += read_all(path, copy, n, &err) < 0;
    }
    assert_true(refused > 100);
    free(copy);
    free(bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_file_holds_what_a_tap_sees),
    cmocka_unit_test(test_the_reader_gives_back_every_record),
    cmocka_unit_test(test_only_what_was_asked_for_is_written),
    cmocka_unit_test(test_every_damage_is_refused),
    cmocka_unit_test(test_a_file_cut_anywhere_is_refused),
    cmocka_unit_test(test_random_damage_is_refused_or_harmless),
};

int main(void)
{
    return HXT_RUN(tests);
}
