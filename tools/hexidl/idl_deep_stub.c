/* The stub's part of deep types: functions that pack a value into records and buffers, and methods that use them. */
#include "idl_deep.h"

/* --- helpers that every stub with deep methods has */

static const char helpers[] =
    "/* A call as it grows.  After an error (rc) nothing is added any more. */\n"
    "struct stub_call {\n"
    "    remote_arg args[255 + 255 + 15 + 15], out[255], dma_in[15], dma_out[15]; /* in buffers grow in args */\n"
    "    unsigned n_in, n_out, n_dma_in, n_dma_out, n_jobs;\n"
    "    int rc;\n"
    "    struct stub_block {\n        struct stub_block *next;\n        uint64_t bytes[];\n    } *blocks;\n"
    "    struct stub_job { /* what is to be copied when the call is over */\n"
    "        void (*get)(const unsigned char *rec, void *to);\n"
    "        const unsigned char *rec;\n        char *to;\n        size_t rec_bytes, to_bytes, n;\n"
    "    } jobs[255];\n"
    "};\n\n"
    "static void stub_fail(struct stub_call *k, int rc)\n{\n    if (!k->rc)\n        k->rc = rc;\n}\n\n"
    "static void stub_add(struct stub_call *k, remote_arg *list, unsigned *n, const void *p, size_t bytes)\n{\n"
    "    if (*n == 255)\n        stub_fail(k, AEE_EUNSUPPORTED);\n"
    "    if (k->rc)\n        return;\n"
    "    list[*n].buf.pv = (void *)(uintptr_t)p;\n    list[(*n)++].buf.nLen = bytes;\n}\n\n"
    "static void stub_add_in(struct stub_call *k, const void *p, size_t bytes)\n{\n"
    "    stub_add(k, k->args, &k->n_in, p, bytes);\n}\n\n"
    "static void stub_add_out(struct stub_call *k, void *p, size_t bytes)\n{\n"
    "    stub_add(k, k->out, &k->n_out, p, bytes);\n}\n\n"
    "static void stub_put_length(struct stub_call *k, unsigned char *rec, const void *p, int n)\n{\n"
    "    uint32_t length = (uint32_t)n;\n\n"
    "    if (n < 0 || (n > 0 && !p))\n        stub_fail(k, AEE_EBADPARM);\n"
    "    memcpy(rec, &length, sizeof(length));\n}\n\n"
    "/* Zeroed records of n elements; NULL for none and after an error. */\n"
    "static unsigned char *stub_records(struct stub_call *k, int n, size_t bytes)\n{\n"
    "    struct stub_block *b;\n\n"
    "    if (n > 255) /* each has a buffer or a handle */\n        stub_fail(k, AEE_EUNSUPPORTED);\n"
    "    if (k->rc || n <= 0)\n        return NULL;\n"
    "    b = (struct stub_block *)calloc(1, sizeof(*b) + (size_t)n * bytes);\n"
    "    if (!b) {\n        stub_fail(k, AEE_ENOMEMORY);\n        return NULL;\n    }\n"
    "    b->next = k->blocks;\n    k->blocks = b;\n    return (unsigned char *)b->bytes;\n}\n\n";

/* Used or not, by what the interface has: hence the attribute. */
static const char more_helpers[] =
    "__attribute__((unused)) static unsigned char *stub_in_records(struct stub_call *k, int n, size_t bytes)\n{\n"
    "    unsigned char *r = stub_records(k, n, bytes);\n\n"
    "    stub_add_in(k, r, r ? (size_t)n * bytes : 0);\n    return r;\n}\n\n"
    "__attribute__((unused)) static unsigned char *stub_out_records(struct stub_call *k, int n, size_t bytes)\n{\n"
    "    unsigned char *r = stub_records(k, n, bytes);\n\n"
    "    stub_add_out(k, r, r ? (size_t)n * bytes : 0);\n    return r;\n}\n\n"
    "__attribute__((unused)) static void stub_add_job(struct stub_call *k, void (*get)(const unsigned char *, void *),\n"
    "                                                 const unsigned char *rec, size_t rec_bytes, void *to,\n"
    "                                                 size_t to_bytes, int n)\n{\n"
    "    if (k->n_jobs == 255)\n        stub_fail(k, AEE_EUNSUPPORTED);\n"
    "    if (k->rc || n <= 0)\n        return;\n"
    "    k->jobs[k->n_jobs++] = (struct stub_job){get, rec, (char *)to, rec_bytes, to_bytes, (size_t)n};\n}\n\n"
    "__attribute__((unused)) static void stub_put_sequence(struct stub_call *k, unsigned char *rec, const void *p, int n,\n"
    "                                                      size_t bytes)\n{\n"
    "    stub_put_length(k, rec, p, n);\n    stub_add_in(k, p, (size_t)n * bytes);\n}\n\n"
    "__attribute__((unused)) static void stub_ask(struct stub_call *k, unsigned char *rec, void *p, int n, size_t bytes)\n{\n"
    "    stub_put_length(k, rec, p, n);\n    stub_add_out(k, p, (size_t)n * bytes);\n}\n\n"
    "/* A text of characters of 1 or 2 bytes, which ends within `limit` of them. */\n"
    "__attribute__((unused)) static void stub_put_text(struct stub_call *k, unsigned char *rec, const void *p, size_t bytes,\n"
    "                                                  int limit)\n{\n"
    "    static const char nul[2];\n    int n = 0;\n\n"
    "    while (p && n < limit && memcmp((const char *)p + (size_t)n * bytes, nul, bytes))\n        n++;\n"
    "    if (!p || n >= limit)\n        stub_fail(k, AEE_EBADPARM);\n"
    "    else\n        stub_put_sequence(k, rec, p, n + 1, bytes);\n}\n\n";

static const char dma_helper[] =
    "static void stub_add_dma(struct stub_call *k, remote_arg *list, unsigned *n, int fd, uint32_t offset, uint32_t bytes)\n{\n"
    "    if (*n == 15)\n        stub_fail(k, AEE_EUNSUPPORTED);\n"
    "    if (!k->rc && remote_register_dma_handle(fd, bytes))\n        stub_fail(k, AEE_EBADPARM);\n"
    "    if (k->rc)\n        return;\n"
    "    list[*n].dma.fd = fd;\n    list[(*n)++].dma.offset = offset;\n}\n\n";

static const char end_helpers[] =
    "static int stub_send(struct stub_call *k, %suint32_t method)\n{\n"
    "    const unsigned at_dma = k->n_in + k->n_out;\n"
    "    uint32_t sc = REMOTE_SCALARS_MAKEX(0, method, k->n_in, k->n_out, k->n_dma_in, k->n_dma_out);\n\n"
    "    if (k->rc)\n        return k->rc;\n"
    "    memcpy(k->args + k->n_in, k->out, k->n_out * sizeof(*k->out));\n"
    "    memcpy(k->args + at_dma, k->dma_in, k->n_dma_in * sizeof(*k->dma_in));\n"
    "    memcpy(k->args + at_dma + k->n_dma_in, k->dma_out, k->n_dma_out * sizeof(*k->dma_out));\n"
    "    k->rc = %s(%ssc, k->args);\n"
    "    for (unsigned i = 0; k->rc == AEE_SUCCESS && i < k->n_jobs; i++)\n"
    "        for (size_t e = 0; e < k->jobs[i].n; e++)\n"
    "            k->jobs[i].get(k->jobs[i].rec ? k->jobs[i].rec + e * k->jobs[i].rec_bytes : NULL,\n"
    "                           k->jobs[i].to + e * k->jobs[i].to_bytes);\n"
    "    return k->rc;\n}\n\n"
    "static void stub_free(struct stub_call *k)\n{\n"
    "    while (k->blocks) {\n        struct stub_block *next = k->blocks->next;\n\n"
    "        free(k->blocks);\n        k->blocks = next;\n    }\n}\n\n";

/* --- packing one value; statements at depth 1 of a function with _k, and _rec where the value's record is */

static void put_dma(struct idl_text *t, const struct idl_value *v, bool in)
{
    bool member = v->prefix[0];

    idl_put(t, in ? "    stub_add_dma(_k, _k->dma_in, &_k->n_dma_in, "
                  : "    stub_add_dma(_k, _k->dma_out, &_k->n_dma_out, ");
    idl_put(t, member ? "%s%s.fd, %s%s.offset, %s%s.len);\n" : "%s%s, %s%sOffset, %s%sLen);\n",
            v->prefix, v->name, v->prefix, v->name, v->prefix, v->name);
}

static void put_elements_in(struct idl_text *t, const struct idl_interface *i,
                            const struct idl_value *v, const char *rec)
{
    uint32_t bytes = idl_record_of(idl_resolve(v->type)->of, IDL_ROLE_IN).size;

    idl_put(t, "    stub_put_length(_k, %s + %u, %s%s, %s%sLen);\n", rec, v->at, v->prefix, v->name,
            v->prefix, v->name);
    if (bytes)
        idl_put(t, "    _r = stub_in_records(_k, %s%sLen, %u);\n", v->prefix, v->name, bytes);
    idl_put_elements(t, i, v, "_in", bytes);
}

static void put_in(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                   const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size) {
        idl_put_to_record(t, v, rec);
    } else if (below->kind == IDL_STRING) {
        idl_put(t, "    stub_put_text(_k, %s + %u, %s%s, %u, INT32_MAX);\n", rec, v->at, v->prefix,
                v->name, below->of->size);
    } else if (below->kind == IDL_DMA) {
        put_dma(t, v, true);
    } else if (below->kind == IDL_STRUCT) {
        idl_put_struct(t, i, v, "_in", rec);
    } else if (idl_is_deep(v->type)) {
        put_elements_in(t, i, v, rec);
    } else {
        idl_put(t, "    stub_put_sequence(_k, %s + %u, %s%s, %s%sLen, sizeof(*%s%s));\n", rec,
                v->at, v->prefix, v->name, v->prefix, v->name, v->prefix, v->name);
    }
}

static void put_elements_rout(struct idl_text *t, const struct idl_interface *i,
                              const struct idl_value *v, const char *rec)
{
    const struct idl_type *of = idl_resolve(v->type)->of;
    const struct idl_node *n = idl_node_of(i, of);
    uint32_t ask = idl_record_of(of, IDL_ROLE_ASK).size;
    uint32_t give = idl_record_of(of, IDL_ROLE_GIVE).size;

    idl_put(t, "    stub_put_length(_k, %s + %u, %s%s, %s%sLen);\n", rec, v->at, v->prefix, v->name,
            v->prefix, v->name);
    if (ask)
        idl_put(t, "    _r = stub_in_records(_k, %s%sLen, %u);\n", v->prefix, v->name, ask);
    if (give)
        idl_put(t, "    _g = stub_out_records(_k, %s%sLen, %u);\n", v->prefix, v->name, give);
    if (n->any_get)
        idl_put(t, "    stub_add_job(_k, _get_%s, %s, %u, %s%s, sizeof(*%s%s), %s%sLen);\n",
                n->c_name, give ? "_g" : "NULL", give, v->prefix, v->name, v->prefix, v->name,
                v->prefix, v->name);
    idl_put_elements(t, i, v, "_rout", ask);
}

static void put_rout(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                     const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size)
        return;
    if (below->kind == IDL_DMA) {
        put_dma(t, v, false);
    } else if (below->kind == IDL_STRUCT) {
        idl_put_struct(t, i, v, "_rout", rec);
    } else if (idl_is_deep(v->type)) {
        put_elements_rout(t, i, v, rec);
    } else {
        idl_put(t, "    stub_ask(_k, %s + %u, %s%s, %s%sLen, sizeof(*%s%s));\n", rec, v->at,
                v->prefix, v->name, v->prefix, v->name, v->prefix, v->name);
    }
}

/* After the call: from the record that gives. */
static void put_get(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                    const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size) {
        idl_put_from_record(t, v, rec);
    } else if (below->kind == IDL_STRING) {
        idl_put(t, "    if (%s%sLen > 0)\n        %s%s[%s%sLen - 1] = 0;\n", v->prefix, v->name,
                v->prefix, v->name, v->prefix, v->name);
    } else if (below->kind == IDL_STRUCT && idl_node_of(i, v->type)->any_get) {
        bool none = idl_record_of(v->type, IDL_ROLE_GIVE).size == 0;

        idl_put(t, none ? "    _get_%s(NULL, " : "    _get_%s(%s + %u, ",
                idl_node_of(i, v->type)->c_name, rec, v->at);
        idl_put_address(t, v);
        idl_put(t, ");\n");
    }
}

/* --- functions of a node */

static void put_node(struct idl_text *t, const struct idl_interface *i, const struct idl_node *n)
{
    const char *unused = "__attribute__((unused)) ";

    if (n->in) {
        idl_put(t, "static void _in_%s(struct stub_call *_k, %sunsigned char *_rec, const %s *_v)\n"
                   "{\n", n->c_name, unused, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_IN, put_in);
    }
    if (n->rout && n->any_get) {
        idl_put(t, "static void _get_%s(%sconst unsigned char *_rec, void *_to)\n{\n"
                   "    %s *_v = (%s *)_to;\n\n", n->c_name, unused, n->c_name, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_GIVE, put_get);
    }
    if (n->rout) {
        idl_put(t, "static void _rout_%s(struct stub_call *_k, %sunsigned char *_rec, %s *_v)\n"
                   "{\n", n->c_name, unused, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_ASK, put_rout);
    }
}

void idl_put_deep_stub(struct idl_text *t, const struct idl_interface *i, const char *invoke)
{
    idl_put(t, "%s%s", helpers, more_helpers);
    if (idl_has_dma(i))
        idl_put(t, "%s", dma_helper);
    idl_put(t, end_helpers, i->has_handle ? "remote_handle64 h, " : "",
            i->has_handle ? invoke : "stub_invoke", i->has_handle ? "h, " : "");
    for (const struct idl_node *n = i->nodes; n; n = n->next)
        put_node(t, i, n);
}

/* --- a method */

static bool is_pointer(const struct idl_param *p)
{
    enum idl_kind kind = idl_kind_of(p->type);

    return kind != IDL_DMA && (p->dir != IDL_IN || kind == IDL_STRUCT || kind == IDL_ARRAY);
}

static struct idl_value value_of(const struct idl_param *p, uint32_t at)
{
    return (struct idl_value){p->type, "", p->name, is_pointer(p), at};
}

static void put_params(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m)
{
    for (const struct idl_param *p = m->params; p; p = p->next) {
        struct idl_value in = value_of(p, p->in_at), ask = value_of(p, p->ask_at);

        if (p->dir == IDL_INROUT && idl_kind_of(p->type) == IDL_STRING)
            idl_put(t, "    stub_put_text(_k, _in + %u, %s, %u, %sLen);\n", p->in_at, p->name,
                    idl_resolve(p->type)->of->size, p->name);
        else if (p->dir & IDL_IN)
            put_in(t, i, &in, "_in");
        if (p->dir & IDL_ROUT)
            put_rout(t, i, &ask, "_in");
    }
}

/* Before anything is packed: what would be read or written through NULL. */
static void put_checks(struct idl_text *t, const struct idl_method *m)
{
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (is_pointer(p) && (idl_is_fixed(p->type) || idl_kind_of(p->type) == IDL_STRUCT))
            idl_put(t, "    if (!%s)\n        return AEE_EBADPARM;\n", p->name);
}

static bool any_deep_sequence(const struct idl_method *m, bool rout)
{
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (idl_kind_of(p->type) == IDL_SEQUENCE && idl_is_deep(p->type) &&
            (!rout || (p->dir & IDL_ROUT)))
            return true;
    return false;
}

void idl_put_deep_stub_method(struct idl_text *t, const struct idl_interface *i,
                              const struct idl_method *m)
{
    const uint32_t mid = m->id < IDL_METHOD_ESCAPE ? m->id : IDL_METHOD_ESCAPE;

    idl_put_prototype(t, i, m);
    idl_put(t, "\n{\n");
    if (m->in.size)
        idl_put(t, "    uint64_t _in_words[%u] = {0};\n"
                   "    unsigned char *_in = (unsigned char *)_in_words;\n", (m->in.size + 7) / 8);
    if (m->rout.size)
        idl_put(t, "    uint64_t _rout_words[%u] = {0};\n"
                   "    unsigned char *_rout = (unsigned char *)_rout_words;\n",
                (m->rout.size + 7) / 8);
    if (any_deep_sequence(m, false))
        idl_put(t, "    unsigned char *_r __attribute__((unused)) = NULL;\n");
    if (any_deep_sequence(m, true))
        idl_put(t, "    unsigned char *_g __attribute__((unused)) = NULL;\n");
    idl_put(t, "    struct stub_call _call, *_k = &_call;\n\n");
    put_checks(t, m);
    idl_put(t, "    _k->n_in = _k->n_out = _k->n_dma_in = _k->n_dma_out = _k->n_jobs = 0;\n"
               "    _k->rc = AEE_SUCCESS;\n    _k->blocks = NULL;\n");
    if (m->in.size)
        idl_put(t, "    stub_add_in(_k, _in, %u);\n", m->in.size);
    if (m->rout.size)
        idl_put(t, "    stub_add_out(_k, _rout, %u);\n", m->rout.size);
    if (m->id >= IDL_METHOD_ESCAPE)
        idl_put(t, "    memcpy(_in, &(uint32_t){%u}, 4);\n", m->id);
    put_params(t, i, m);
    idl_put(t, "    stub_send(_k, %s%u);\n    stub_free(_k);\n    if (_k->rc != AEE_SUCCESS)\n"
               "        return _k->rc;\n", i->has_handle ? "_h, " : "", mid);
    for (const struct idl_param *p = m->params; p; p = p->next) {
        struct idl_value v = value_of(p, p->rout_at);

        if (p->dir & IDL_ROUT)
            put_get(t, i, &v, "_rout");
    }
    idl_put(t, "    return AEE_SUCCESS;\n}\n\n");
}
