/* Parts, edits and files again, see gguf_parts.h. */
#include "gguf_parts.h"

#include <stdlib.h>
#include <string.h>

#include "gen_model.h"

/* Bytes of values that edits have made, of one input. */
enum { ROOM = 1 << 21 };
static uint8_t room[ROOM];
static size_t used;

static uint8_t *keep(const void *p, size_t n)
{
    uint8_t *at = room + used;

    if (n > ROOM - used)
        return NULL;
    if (n)
        memcpy(at, p, n);
    used += n;
    return at;
}

void gguf_take_apart(struct gguf_parts *p, const struct hx_gguf *g)
{
    const struct hx_gguf_facts f = hx_gguf_facts(g);
    const uint8_t *start = f.tensors[0].data; /* the first lies at the beginning of the data */

    p->version = f.version;
    p->more_kv = p->more_tensors = 0;
    p->end = UINT64_MAX;
    used = 0;
    p->n_kv = f.n_kv;
    p->n_tensors = f.n_tensors;
    p->weights = start;
    p->n_weights = f.file_bytes - f.data_start;
    for (size_t i = 0; i < f.n_kv; i++)
        p->kv[i] = (struct gguf_kv){f.kv[i].key, f.kv[i].type, f.kv[i].elem, f.kv[i].n, f.kv[i].data, f.kv[i].bytes, false};
    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *t = &f.tensors[i];

        p->tensors[i] = (struct gguf_tensor){t->name, t->n_dims, t->type, {t->dims[0], t->dims[1], t->dims[2], t->dims[3]},
                                        (uint64_t)((const uint8_t *)t->data - start)};
    }
}

/* --- edits */

static const char *const odd_names[] = {
    "general.alignment", "general.architecture", "tokenizer.ggml.tokens", "tokenizer.ggml.merges", "tokenizer.ggml.scores",
    "tokenizer.ggml.token_type", "tokenizer.ggml.model", "tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.add_bos_token", "tokenizer.chat_template", "llama.expert_count", "llama.rope.scaling.type", "output.weight",
    "token_embd.weight", "rope_freqs.weight", "blk.0.attn_q.bias", "blk.1.ffn_gate.weight", "blk.99.attn_q.weight", "",
};

static const float floats[] = {0, -1, 1e-45f, 3e38f, -0.0f, 1, 1e30f, 0.5f};

static struct hx_str name_of(uint64_t v)
{
    const char *s = odd_names[v % (sizeof(odd_names) / sizeof(odd_names[0]))];

    return (struct hx_str){s, strlen(s)};
}

static void set_value(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    const size_t n = kv->lies ? 0 : hx_gguf_scalar_size(kv->type);
    float f = floats[e->which % (sizeof(floats) / sizeof(floats[0]))];

    (void)p;
    if (!n)
        return;
    kv->data = keep(kv->type == HX_GGUF_F32 ? (const void *)&f : &e->value, n);
    kv->bytes = kv->data ? n : 0;
}

static void set_bits(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    const size_t n = kv->lies ? 0 : hx_gguf_scalar_size(kv->type);

    (void)p;
    if (!n)
        return;
    kv->data = keep(&e->value, n);
    kv->bytes = kv->data ? n : 0;
}

static void set_type(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    (void)p;
    kv->type = (uint32_t)(e->which & 1 ? e->value : e->value % HX_GGUF_TYPES);
    kv->lies = true;
}

static void set_elem(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    (void)p;
    kv->elem = (uint32_t)(e->which & 1 ? e->value : e->value % HX_GGUF_TYPES);
    kv->lies = true;
}

/* A count that is not so. */
static void set_count(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    (void)p;
    kv->n = e->value;
    kv->lies = true;
}

static const uint8_t *step_over(const struct gguf_kv *kv, const uint8_t *at)
{
    if (kv->elem == HX_GGUF_STRING)
        hx_gguf_next_str(&at);
    else
        at += hx_gguf_scalar_size(kv->elem);
    return at;
}

/* An array with fewer elements, all of them there. */
static void cut_array(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    const uint8_t *at = kv->data;

    (void)p;
    if (kv->type != HX_GGUF_ARRAY || !kv->n || kv->lies)
        return;
    kv->n = e->value % kv->n;
    for (uint64_t i = 0; i < kv->n; i++)
        at = step_over(kv, at);
    kv->bytes = (size_t)(at - kv->data);
}

/* The same twice: a vocabulary with every token twice. */
static void double_array(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    uint8_t *first = keep(kv->data, kv->bytes);

    (void)p, (void)e;
    if (kv->type != HX_GGUF_ARRAY || kv->lies || kv->n > 2 * GEN_VOCAB || !first || !keep(kv->data, kv->bytes))
        return;
    kv->data = first;
    kv->bytes *= 2;
    kv->n *= 2;
}

/* One string, of an array or alone, gets other bytes: up to 255 times the value's, which may be no UTF-8. */
static void set_string(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    const uint64_t n = e->which, skip = kv->type == HX_GGUF_ARRAY && kv->n ? e->value % kv->n : 0;
    const uint8_t *at = kv->data, *end = kv->data + kv->bytes;
    uint8_t *start = room + used;

    (void)p;
    if (kv->elem != HX_GGUF_STRING || !kv->n || !kv->bytes || kv->lies)
        return;
    for (uint64_t i = 0; i < skip; i++)
        at = step_over(kv, at);
    keep(kv->data, (size_t)(at - kv->data));
    keep(&n, sizeof(n));
    for (uint64_t i = 0; i < n; i++)
        keep((const uint8_t *)&e->value + i % 8, 1);
    at = step_over(kv, at);
    if (!keep(at, (size_t)(end - at)))
        return;
    kv->data = start;
    kv->bytes = (size_t)(room + used - start);
}

static void drop_kv(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    (void)e;
    memmove(kv, kv + 1, (size_t)(&p->kv[--p->n_kv] - kv) * sizeof(*kv));
}

static void copy_kv(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    if (p->n_kv == GGUF_ITEMS)
        return;
    p->kv[p->n_kv] = *kv;
    if (e->which & 1)
        p->kv[p->n_kv].key = name_of(e->value);
    p->n_kv++;
}

static void rename_kv(struct gguf_parts *p, struct gguf_kv *kv, const struct gguf_edit *e)
{
    kv->key = e->which & 1 ? name_of(e->value) : p->kv[e->value % p->n_kv].key;
}

static void set_dim(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    (void)p;
    t->dims[e->which % 4] = e->value;
}

static void set_n_dims(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    (void)p;
    t->n_dims = (uint32_t)(e->which & 1 ? e->value : e->value % 6);
}

static void set_tensor_type(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    (void)p;
    t->type = (uint32_t)(e->which & 1 ? e->value : e->value % 40);
}

static void set_offset(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    (void)p;
    t->offset = e->which & 1 ? e->value : e->value % p->n_weights / 32 * 32;
}

static void drop_tensor(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    (void)e;
    memmove(t, t + 1, (size_t)(&p->tensors[--p->n_tensors] - t) * sizeof(*t));
}

static void rename_tensor(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    t->name = e->which & 1 ? name_of(e->value) : p->tensors[e->value % p->n_tensors].name;
}

/* Two change names, so that shapes or types do not fit. */
static void swap_tensors(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    struct gguf_tensor *other = &p->tensors[e->value % p->n_tensors];
    const struct hx_str name = t->name;

    t->name = other->name;
    other->name = name;
}

/* Infinities, NaN and everything else instead of weights. */
static void fill_weights(struct gguf_parts *p, struct gguf_tensor *t, const struct gguf_edit *e)
{
    uint8_t *w = keep(p->weights, p->n_weights);

    if (!w || t->offset > p->n_weights)
        return;
    p->weights = w;
    for (size_t i = t->offset; i < p->n_weights && i < t->offset + 4096; i++)
        w[i] = (uint8_t)(e->value >> i % 8 * 8);
}

static void (*const kv_edits[])(struct gguf_parts *, struct gguf_kv *, const struct gguf_edit *) = {
    set_value, set_bits, set_type, set_elem, set_count, cut_array, double_array, set_string, drop_kv, copy_kv, rename_kv,
};
static void (*const tensor_edits[])(struct gguf_parts *, struct gguf_tensor *, const struct gguf_edit *) = {
    set_dim, set_n_dims, set_tensor_type, set_offset, drop_tensor, rename_tensor, swap_tensors, fill_weights,
};
enum {
    KV_EDITS = sizeof(kv_edits) / sizeof(kv_edits[0]),
    TENSOR_EDITS = sizeof(tensor_edits) / sizeof(tensor_edits[0]),
    FILE_EDITS = 3, /* version, a count, the end */
    RECORD_LAST = 3, /* up to there they change the record of a tensor */
};

enum gguf_about gguf_edit(struct gguf_parts *p, const struct gguf_edit *e, struct hx_str *name)
{
    const unsigned what = e->what % (KV_EDITS + TENSOR_EDITS + FILE_EDITS);

    *name = (struct hx_str){"", 0};
    if (what < KV_EDITS && p->n_kv) {
        struct gguf_kv *kv = &p->kv[e->at % p->n_kv];

        *name = kv->key;
        kv_edits[what](p, kv, e);
        return GGUF_ABOUT_KEY;
    }
    if (what >= KV_EDITS && what < KV_EDITS + TENSOR_EDITS && p->n_tensors) {
        struct gguf_tensor *t = &p->tensors[e->at % p->n_tensors];

        *name = t->name;
        tensor_edits[what - KV_EDITS](p, t, e);
        return what <= KV_EDITS + RECORD_LAST ? GGUF_ABOUT_RECORD : GGUF_ABOUT_TENSOR;
    }
    if (what == KV_EDITS + TENSOR_EDITS)
        p->version = (uint32_t)e->value;
    else if (what == KV_EDITS + TENSOR_EDITS + 1)
        *(e->which & 1 ? &p->more_kv : &p->more_tensors) = (int64_t)e->value;
    else
        p->end = e->value;
    return GGUF_ABOUT_FILE;
}

/* --- the file */

struct gguf_out {
    uint8_t *p;
    size_t n;
};

static void put_bytes(struct gguf_out *o, const void *p, size_t n)
{
    if (n)
        memcpy(o->p + o->n, p, n);
    o->n += n;
}

static void put_number(struct gguf_out *o, uint64_t v, size_t bytes)
{
    put_bytes(o, &v, bytes);
}

static void put_name(struct gguf_out *o, struct hx_str s)
{
    put_number(o, s.n, 8);
    put_bytes(o, s.p, s.n);
}

static void put_kv(struct gguf_out *o, const struct gguf_kv *kv)
{
    put_name(o, kv->key);
    put_number(o, kv->type, 4);
    if (kv->type == HX_GGUF_ARRAY) {
        put_number(o, kv->elem, 4);
        put_number(o, kv->n, 8);
    }
    put_bytes(o, kv->data, kv->bytes);
}

static void put_tensor(struct gguf_out *o, const struct gguf_tensor *t)
{
    put_name(o, t->name);
    put_number(o, t->n_dims, 4);
    for (uint32_t i = 0; i < t->n_dims && i < 4; i++)
        put_number(o, t->dims[i], 8);
    put_number(o, t->type, 4);
    put_number(o, t->offset, 8);
}

uint8_t *gguf_put_together(const struct gguf_parts *p, size_t *n)
{
    size_t most = 64 + p->n_weights;
    struct gguf_out o = {0};

    for (size_t i = 0; i < p->n_kv; i++)
        most += 64 + p->kv[i].key.n + p->kv[i].bytes;
    for (size_t i = 0; i < p->n_tensors; i++)
        most += 64 + p->tensors[i].name.n;
    o.p = malloc(most);
    if (!o.p)
        return NULL;
    put_bytes(&o, "GGUF", 4);
    put_number(&o, p->version, 4);
    put_number(&o, p->n_tensors + (uint64_t)p->more_tensors, 8);
    put_number(&o, p->n_kv + (uint64_t)p->more_kv, 8);
    for (size_t i = 0; i < p->n_kv; i++)
        put_kv(&o, &p->kv[i]);
    for (size_t i = 0; i < p->n_tensors; i++)
        put_tensor(&o, &p->tensors[i]);
    while (o.n % 32)
        put_number(&o, 0, 1);
    put_bytes(&o, p->weights, p->n_weights);
    *n = p->end == UINT64_MAX ? o.n : p->end % (o.n + 1);
    return o.p;
}
