/* hexrig model inspect: what is in a GGUF file. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_model.h"
#include "gguf/gguf.h"

enum { OPT_TENSORS = HX_OPT_FREE };
enum {
    SHOWN_ELEMENTS = 8, /* of an array */
    SHOWN_BYTES = 60,   /* of a string, in text */
};

static const char cmd[] = "model inspect";

static const struct argp_option options[] = {
    {"tensors", OPT_TENSORS, NULL, 0, "every tensor: type, shape (rows' length first), offset, bytes", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object; strings are whole there", 0},
    {0},
};

static const char doc[] =
    "Shows what a GGUF file (version 2 or 3) says about itself.  The header is read, no weights.  Arrays are shown by their "
    "first 8 elements, long strings by their beginning."
    "\vExample: hexrig model inspect --tensors model.gguf";

static const char *const type_names[HX_GGUF_TYPES] = {
    [HX_GGUF_U8] = "u8",   [HX_GGUF_I8] = "i8",   [HX_GGUF_U16] = "u16",
    [HX_GGUF_I16] = "i16", [HX_GGUF_U32] = "u32", [HX_GGUF_I32] = "i32",
    [HX_GGUF_F32] = "f32", [HX_GGUF_U64] = "u64", [HX_GGUF_I64] = "i64",
    [HX_GGUF_F64] = "f64", [HX_GGUF_BOOL] = "bool", [HX_GGUF_STRING] = "string",
};

/* --- one value as JSON */

static json_t *string_json(struct hx_str s)
{
    char *utf8 = hx_json_utf8(s.p, s.n);
    json_t *j = json_string(utf8);

    free(utf8);
    return j;
}

/* JSON has no infinities and no NaN. */
static json_t *real_json(double v)
{
    return isfinite(v) ? json_real(v) : json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

/* The shortest decimal that is this f32: 1e-06, not 9.9999999747524271e-07. */
static json_t *f32_json(float v)
{
    char text[32];

    if (!isfinite(v))
        return real_json(v);
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    return json_real(strtod(text, NULL));
}

/* Jansson's integers are signed; larger ones become text. */
static json_t *u64_json(uint64_t v)
{
    char text[24];

    if (v <= INT64_MAX)
        return json_integer((json_int_t)v);
    snprintf(text, sizeof(text), "%" PRIu64, v);
    return json_string(text);
}

/* The value of `type` at *p, which moves on. */
static json_t *value_json(uint32_t type, const uint8_t **p)
{
    const size_t bytes = hx_gguf_scalar_size(type);
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint64_t unsigned_any; /* little-endian: the smaller ones, too */
        float f32;
        double f64;
    } v = {.unsigned_any = 0};

    if (type == HX_GGUF_STRING)
        return string_json(hx_gguf_next_str(p));
    memcpy(&v, *p, bytes);
    *p += bytes;
    switch (type) {
    case HX_GGUF_I8:
        return json_integer(v.i8);
    case HX_GGUF_I16:
        return json_integer(v.i16);
    case HX_GGUF_I32:
        return json_integer(v.i32);
    case HX_GGUF_I64:
        return json_integer(v.i64);
    case HX_GGUF_F32:
        return f32_json(v.f32);
    case HX_GGUF_F64:
        return real_json(v.f64);
    case HX_GGUF_BOOL:
        return json_boolean(v.unsigned_any);
    default:
        return u64_json(v.unsigned_any);
    }
}

static json_t *array_json(const struct hx_gguf_kv *kv)
{
    const uint8_t *p = kv->data;
    json_t *first = json_array();

    for (uint64_t i = 0; i < kv->n && i < SHOWN_ELEMENTS; i++)
        json_array_append_new(first, value_json(kv->elem, &p));
    return json_pack("{s:s, s:s, s:I, s:o}", "type", "array", "of", type_names[kv->elem], "count",
                     (json_int_t)kv->n, "first", first);
}

static json_t *kv_json(const struct hx_gguf_kv *kv)
{
    const uint8_t *p = kv->data;
    json_t *j = kv->type == HX_GGUF_ARRAY
                    ? array_json(kv)
                    : json_pack("{s:s, s:o}", "type", type_names[kv->type], "value",
                                value_json(kv->type, &p));

    json_object_set_new(j, "key", string_json(kv->key));
    return j;
}

static json_t *tensor_json(const struct hx_gguf *g, const struct hx_gguf_tensor *t)
{
    json_t *dims = json_array();

    for (uint32_t i = 0; i < t->n_dims; i++)
        json_array_append_new(dims, u64_json(t->dims[i]));
    return json_pack("{s:o, s:s, s:o, s:I, s:I}", "name", string_json(t->name), "type",
                     hx_quant_name(t->type), "dims", dims, "offset",
                     (json_int_t)hx_gguf_offset(g, t->data), "bytes", (json_int_t)t->bytes);
}

/* --- the whole file */

struct total {
    uint64_t tensors, weights, bytes;
};

static json_t *total_json(const struct total *t)
{
    return json_pack("{s:I, s:I, s:I, s:f}", "tensors", (json_int_t)t->tensors, "weights",
                     (json_int_t)t->weights, "bytes", (json_int_t)t->bytes, "bits_per_weight",
                     t->weights ? 8.0 * (double)t->bytes / (double)t->weights : 0);
}

static void add(struct total *to, const struct hx_gguf_tensor *t)
{
    to->tensors++;
    to->weights += t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
    to->bytes += t->bytes;
}

static json_t *summary_json(const struct hx_gguf *g, const struct hx_gguf_facts *f)
{
    struct total all = {0}, by[HX_QUANT_NAMES] = {{0}};
    json_t *types = json_object();

    for (size_t i = 0; i < f->n_tensors; i++) {
        add(&all, &f->tensors[i]);
        add(&by[f->tensors[i].type], &f->tensors[i]);
    }
    for (uint32_t type = 0; type < HX_QUANT_NAMES; type++)
        if (by[type].tensors)
            json_object_set_new(types, hx_quant_name(type), total_json(&by[type]));
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:o}", "file",
                     hx_json_text(hx_gguf_name(g)), "version", (json_int_t)f->version,
                     "alignment", (json_int_t)f->alignment, "bytes", (json_int_t)f->file_bytes,
                     "data_start", (json_int_t)f->data_start, "all", total_json(&all), "types",
                     types);
}

/* --- text, from the same JSON */

/* WHAT=NAME; a name with line ends in it must not look like more lines. */
static void print_name(const char *what, const json_t *name)
{
    printf("%s=", what);
    for (const char *p = json_string_value(name); p && *p; p++)
        putchar((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
}

static void print_value(const json_t *v)
{
    const char *text = json_string_value(v);

    if (!text || strlen(text) <= SHOWN_BYTES) {
        json_dumpf(v, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
        return;
    }
    char *start = hx_json_utf8(text, SHOWN_BYTES); /* a character that was cut becomes U+FFFD */
    json_t *cut = json_string(start);

    json_dumpf(cut, stdout, JSON_ENCODE_ANY);
    printf("... (%zu bytes)", strlen(text));
    json_decref(cut);
    free(start);
}

static void print_kv(const json_t *kv)
{
    const json_t *first = json_object_get(kv, "first"), *value = json_object_get(kv, "value");
    const json_int_t count = json_integer_value(json_object_get(kv, "count"));

    print_name("kv", json_object_get(kv, "key"));
    printf(" type=%s", json_string_value(json_object_get(kv, first ? "of" : "type")));
    if (first)
        printf("[%" JSON_INTEGER_FORMAT "]", count);
    printf(" value=");
    if (value)
        print_value(value);
    for (size_t i = 0; i < json_array_size(first); i++) {
        printf("%s", i ? "," : "");
        print_value(json_array_get(first, i));
    }
    printf("%s\n", count > (json_int_t)json_array_size(first) ? ",..." : "");
}

static void print_tensor(const json_t *t)
{
    const json_t *dims = json_object_get(t, "dims");

    print_name("tensor", json_object_get(t, "name"));
    printf(" type=%s shape=", json_string_value(json_object_get(t, "type")));
    for (size_t i = 0; i < json_array_size(dims); i++)
        printf("%s%" JSON_INTEGER_FORMAT, i ? "x" : "",
               json_integer_value(json_array_get(dims, i)));
    printf(" offset=%" JSON_INTEGER_FORMAT " bytes=%" JSON_INTEGER_FORMAT "\n",
           json_integer_value(json_object_get(t, "offset")),
           json_integer_value(json_object_get(t, "bytes")));
}

struct args {
    int tensors, json;
};

static int report(const struct hx_gguf *g, const struct args *a)
{
    const struct hx_gguf_facts f = hx_gguf_facts(g);
    json_t *j = summary_json(g, &f), *kvs = json_array(), *list = json_array(), *item;
    size_t i;
    int rc;

    for (i = 0; i < f.n_kv; i++)
        json_array_append_new(kvs, kv_json(&f.kv[i]));
    for (i = 0; a->tensors && i < f.n_tensors; i++)
        json_array_append_new(list, tensor_json(g, &f.tensors[i]));
    if (a->json) {
        json_object_set(j, "metadata", kvs);
        if (a->tensors)
            json_object_set(j, "tensors", list);
    }
    rc = hx_report_print(cmd, j, a->json);
    if (!a->json && rc == HX_EXIT_OK) {
        json_array_foreach(kvs, i, item)
            print_kv(item);
        json_array_foreach(list, i, item)
            print_tensor(item);
    }
    if (rc == HX_EXIT_OK && hx_json_lost())
        rc = hx_cmd_fail(cmd, "out of memory");
    json_decref(kvs);
    json_decref(list);
    return rc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;

    (void)arg;
    switch (key) {
    case OPT_TENSORS:
        a->tensors = 1;
        return 0;
    case HX_OPT_JSON:
        a->json = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int hx_model_cmd_inspect(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct args a = {0, 0};
    struct hx_error err = {""};
    struct hx_gguf *g;
    int word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &a, &word);

    if (rc)
        return rc;
    if (word + 1 != argc)
        return hx_cmd_usage(cmd, "one FILE is needed");
    if (hx_gguf_open(&g, argv[word], &err))
        return hx_cmd_fail(cmd, "%s", err.text);
    rc = report(g, &a);
    hx_gguf_close(g);
    return rc;
}
