/* The skel's part of deep types: functions that take a value out of records and buffers, and methods that use them.  Nothing
 * in them trusts the caller: every length is read once and checked against the buffer that it speaks of. */
#include "idl_deep.h"

/* --- helpers that every skel with deep methods has */

static const char helpers[] =
    "/* A call as it is taken apart.  After an error (rc) nothing is taken any more. */\n"
    "struct skel_call {\n"
    "    const remote_arg *in, *out, *dma_in, *dma_out; /* the next of each */\n"
    "    unsigned n_in, n_out, n_dma_in, n_dma_out;     /* that are left */\n"
    "    int rc;\n"
    "    struct skel_block {\n        struct skel_block *next;\n        uint64_t bytes[];\n    } *blocks;\n"
    "    unsigned n_jobs;\n"
    "    struct skel_job { /* what is to be copied when the call is over */\n"
    "        void (*give)(unsigned char *rec, const void *from);\n"
    "        unsigned char *rec;\n        const char *from;\n        size_t rec_bytes, from_bytes, n;\n"
    "    } jobs[255];\n"
    "};\n\n"
    "static void skel_fail(struct skel_call *k, int rc)\n{\n    if (!k->rc)\n        k->rc = rc;\n}\n\n"
    "/* The next buffer, of at least `bytes`; NULL for an error or when nothing is wanted. */\n"
    "static void *skel_next(struct skel_call *k, const remote_arg **list, unsigned *left, uint64_t bytes)\n{\n"
    "    const remote_buf *b = *left ? &(*list)->buf : NULL;\n\n"
    "    if (!b || b->nLen < bytes || (bytes && !b->pv))\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    if (k->rc)\n        return NULL;\n"
    "    (*list)++;\n    (*left)--;\n    return bytes ? b->pv : NULL;\n}\n\n"
    "/* A length out of a record; 0 after an error. */\n"
    "static uint32_t skel_length(struct skel_call *k, const unsigned char *rec)\n{\n"
    "    uint32_t n;\n\n    memcpy(&n, rec, sizeof(n));\n"
    "    if (n > INT32_MAX)\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n    return k->rc ? 0 : n;\n}\n\n"
    "static void skel_begin(struct skel_call *k, uint32_t sc, const remote_arg *pra)\n{\n"
    "    k->n_in = REMOTE_SCALARS_INBUFS(sc);\n    k->n_out = REMOTE_SCALARS_OUTBUFS(sc);\n"
    "    k->n_dma_in = REMOTE_SCALARS_INHANDLES(sc);\n    k->n_dma_out = REMOTE_SCALARS_OUTHANDLES(sc);\n"
    "    k->in = pra;\n    k->out = k->in + k->n_in;\n    k->dma_in = k->out + k->n_out;\n"
    "    k->dma_out = k->dma_in + k->n_dma_in;\n"
    "    k->rc = AEE_SUCCESS;\n    k->blocks = NULL;\n    k->n_jobs = 0;\n}\n\n"
    "/* All arguments must have been taken. */\n"
    "static int skel_ready(struct skel_call *k)\n{\n"
    "    if (k->n_in || k->n_out || k->n_dma_in || k->n_dma_out)\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    return k->rc;\n}\n\n"
    "static void skel_end(struct skel_call *k)\n{\n"
    "    for (unsigned i = 0; k->rc == AEE_SUCCESS && i < k->n_jobs; i++)\n"
    "        for (size_t e = 0; e < k->jobs[i].n; e++)\n"
    "            k->jobs[i].give(k->jobs[i].rec + e * k->jobs[i].rec_bytes, k->jobs[i].from + e * k->jobs[i].from_bytes);\n"
    "    while (k->blocks) {\n        struct skel_block *next = k->blocks->next;\n\n"
    "        free(k->blocks);\n        k->blocks = next;\n    }\n}\n\n";

/* Used or not, by what the interface has: hence the attribute. */
static const char more_helpers[] =
    "__attribute__((unused)) static void *skel_in(struct skel_call *k, const unsigned char *rec, int *n, size_t bytes)\n{\n"
    "    *n = (int)skel_length(k, rec);\n"
    "    void *p = skel_next(k, &k->in, &k->n_in, (uint64_t)*n * bytes);\n"
    "    *n = k->rc ? 0 : *n;\n    return p;\n}\n\n"
    "__attribute__((unused)) static void *skel_out(struct skel_call *k, const unsigned char *rec, int *n, size_t bytes)\n{\n"
    "    *n = (int)skel_length(k, rec);\n"
    "    void *p = skel_next(k, &k->out, &k->n_out, (uint64_t)*n * bytes);\n"
    "    *n = k->rc ? 0 : *n;\n    return p;\n}\n\n"
    "/* A text of characters of 1 or 2 bytes: its last one is NUL. */\n"
    "__attribute__((unused)) static void *skel_in_text(struct skel_call *k, const unsigned char *rec, int *n, size_t bytes)\n{\n"
    "    static const char nul[2];\n    char *p = (char *)skel_in(k, rec, n, bytes);\n\n"
    "    if (!p || memcmp(p + (size_t)(*n - 1) * bytes, nul, bytes))\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    return p;\n}\n\n"
    "/* What came in is moved to where the result goes. */\n"
    "__attribute__((unused)) static void *skel_inrout(struct skel_call *k, const unsigned char *in, const unsigned char *out,\n"
    "                                                 int *n, size_t bytes, bool text)\n{\n"
    "    int n_in;\n"
    "    void *from = text ? skel_in_text(k, in, &n_in, bytes) : skel_in(k, in, &n_in, bytes);\n"
    "    void *to = skel_out(k, out, n, bytes);\n\n"
    "    if (n_in > *n)\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    if (!k->rc && n_in)\n        memmove(to, from, (size_t)n_in * bytes);\n    return to;\n}\n\n"
    "/* Zeroed elements, as many as the record says; NULL for none and after an error. */\n"
    "__attribute__((unused)) static void *skel_elements(struct skel_call *k, const unsigned char *rec, int *n, size_t bytes)\n{\n"
    "    struct skel_block *b;\n\n"
    "    *n = (int)skel_length(k, rec);\n"
    "    if (*n > 255) /* each has a buffer or a handle */\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    if (k->rc || *n == 0) {\n        *n = 0;\n        return NULL;\n    }\n"
    "    b = (struct skel_block *)calloc(1, sizeof(*b) + (size_t)*n * bytes);\n"
    "    if (!b) {\n        skel_fail(k, AEE_DSP(AEE_ENOMEMORY));\n        *n = 0;\n        return NULL;\n    }\n"
    "    b->next = k->blocks;\n    k->blocks = b;\n    return b->bytes;\n}\n\n"
    "__attribute__((unused)) static void skel_add_job(struct skel_call *k, void (*give)(unsigned char *, const void *),\n"
    "                                                 unsigned char *rec, size_t rec_bytes, const void *from,\n"
    "                                                 size_t from_bytes, int n)\n{\n"
    "    if (k->n_jobs == 255)\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    if (k->rc || n == 0)\n        return;\n"
    "    k->jobs[k->n_jobs++] = (struct skel_job){give, rec, (const char *)from, rec_bytes, from_bytes, (size_t)n};\n}\n\n";

static const char dma_helper[] =
    "/* Length of the buffer behind a DMA handle; the DSP's own function. */\n"
    "int adsp_mmap_fd_getinfo(int fd, uint32_t *bytes);\n\n"
    "static void skel_dma(struct skel_call *k, const remote_arg **list, unsigned *left, int *fd, uint32_t *offset,\n"
    "                     uint32_t *bytes)\n{\n"
    "    if (!*left)\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n"
    "    if (k->rc)\n        return;\n"
    "    *fd = (*list)->dma.fd;\n    *offset = (*list)->dma.offset;\n"
    "    (*list)++;\n    (*left)--;\n"
    "    if (adsp_mmap_fd_getinfo(*fd, bytes))\n        skel_fail(k, AEE_DSP(AEE_EBADPARM));\n}\n\n";

/* --- taking one value; statements at depth 1 of a function with _k, and _rec where the value's record is */

static void put_dma(struct idl_text *t, const struct idl_value *v, bool in)
{
    const char *list = in ? "in" : "out", *p = v->prefix, *n = v->name;

    idl_put(t, "    skel_dma(_k, &_k->dma_%s, &_k->n_dma_%s, ", list, list);
    idl_put(t, *p ? "&%s%s.fd, &%s%s.offset, &%s%s.len);\n" : "&%s%s, &%s%sOffset, &%s%sLen);\n", p,
            n, p, n, p, n);
}

static void put_call(struct idl_text *t, const char *function, const struct idl_value *v,
                     const char *rec)
{
    idl_put(t, "    %s%sLen = 0;\n", v->prefix, v->name);
    idl_put(t, "    %s%s = (__typeof__(%s%s))%s(_k, %s + %u, &%s%sLen, sizeof(*%s%s));\n",
            v->prefix, v->name, v->prefix, v->name, function, rec, v->at, v->prefix, v->name,
            v->prefix, v->name);
}

static void put_records(struct idl_text *t, const struct idl_value *v, const char *to,
                        const char *list, uint32_t bytes)
{
    if (bytes)
        idl_put(t, "    %s = (unsigned char *)skel_next(_k, &_k->%s, &_k->n_%s, (uint64_t)%s%sLen * %u);\n", to, list, list,
                v->prefix, v->name, bytes);
}

static void put_in(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                   const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size) {
        idl_put_from_record(t, v, rec);
    } else if (below->kind == IDL_STRING) {
        put_call(t, "skel_in_text", v, rec);
    } else if (below->kind == IDL_DMA) {
        put_dma(t, v, true);
    } else if (below->kind == IDL_STRUCT) {
        idl_put_struct(t, i, v, "_in", rec);
    } else if (!idl_is_deep(v->type)) {
        put_call(t, "skel_in", v, rec);
    } else {
        uint32_t bytes = idl_record_of(below->of, IDL_ROLE_IN).size;

        put_call(t, "skel_elements", v, rec);
        put_records(t, v, "_r", "in", bytes);
        idl_put_elements(t, i, v, "_in", bytes);
    }
}

static void put_ask(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                    const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size)
        return;
    if (below->kind == IDL_DMA) {
        put_dma(t, v, false);
    } else if (below->kind == IDL_STRUCT) {
        idl_put_struct(t, i, v, "_rout", rec);
    } else if (!idl_is_deep(v->type)) {
        put_call(t, "skel_out", v, rec);
    } else {
        const struct idl_node *n = idl_node_of(i, below->of);
        uint32_t ask = idl_record_of(below->of, IDL_ROLE_ASK).size;
        uint32_t give = idl_record_of(below->of, IDL_ROLE_GIVE).size;

        put_call(t, "skel_elements", v, rec);
        put_records(t, v, "_r", "in", ask);
        put_records(t, v, "_g", "out", give);
        if (give)
            idl_put(t, "    skel_add_job(_k, _give_%s, _g, %u, %s%s, sizeof(*%s%s), %s%sLen);\n",
                    n->c_name, give, v->prefix, v->name, v->prefix, v->name, v->prefix, v->name);
        idl_put_elements(t, i, v, "_rout", ask);
    }
}

static void put_give(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                     const char *rec)
{
    const struct idl_type *below = idl_resolve(v->type);

    if (below->size) {
        idl_put_to_record(t, v, rec);
    } else if (below->kind == IDL_STRUCT && idl_record_of(v->type, IDL_ROLE_GIVE).size) {
        idl_put(t, "    _give_%s(%s + %u, ", idl_node_of(i, v->type)->c_name, rec, v->at);
        idl_put_address(t, v);
        idl_put(t, ");\n");
    }
}

/* --- functions of a node */

static bool gives(const struct idl_node *n)
{
    for (const struct idl_member *m = n->members; m; m = m->next)
        if (idl_record_of(m->type, IDL_ROLE_GIVE).size)
            return true;
    return false;
}

static void put_node(struct idl_text *t, const struct idl_interface *i, const struct idl_node *n)
{
    const char *unused = "__attribute__((unused)) ";

    if (n->in) {
        idl_put(t, "static void _in_%s(struct skel_call *_k, %sconst unsigned char *_rec, %s *_v)\n"
                   "{\n", n->c_name, unused, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_IN, put_in);
    }
    if (n->rout && gives(n)) {
        idl_put(t, "static void _give_%s(unsigned char *_rec, const void *_from)\n{\n"
                   "    const %s *_v = (const %s *)_from;\n\n", n->c_name, n->c_name, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_GIVE, put_give);
    }
    if (n->rout) {
        idl_put(t, "static void _rout_%s(struct skel_call *_k, %sconst unsigned char *_rec, "
                   "%s *_v)\n{\n", n->c_name, unused, n->c_name);
        idl_put_node_body(t, i, n, IDL_ROLE_ASK, put_ask);
    }
}

void idl_put_deep_skel(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "%s%s", helpers, more_helpers);
    if (idl_has_dma(i))
        idl_put(t, "%s", dma_helper);
    for (const struct idl_node *n = i->nodes; n; n = n->next)
        put_node(t, i, n);
}

/* --- a method: each argument is a local variable of its name */

static void put_locals(struct idl_text *t, const struct idl_method *m)
{
    for (const struct idl_param *p = m->params; p; p = p->next) {
        const struct idl_type *below = idl_resolve(p->type);

        if (below->kind == IDL_STRING)
            idl_put(t, "    %s *%s = NULL;\n    int %sLen = 0;\n", below->of->c_name, p->name,
                    p->name);
        else if (below->kind == IDL_SEQUENCE)
            idl_put(t, "    %s *%s = NULL;\n    int %sLen = 0;\n", idl_value_c_name(below->of),
                    p->name, p->name);
        else if (below->kind == IDL_DMA)
            idl_put(t, "    int %s = -1;\n    uint32_t %sOffset = 0, %sLen = 0;\n", p->name,
                    p->name, p->name);
        else
            idl_put(t, "    %s %s;\n", idl_c_name(p->type), p->name);
    }
}

static struct idl_value value_of(const struct idl_param *p, uint32_t at)
{
    return (struct idl_value){p->type, "", p->name, idl_kind_of(p->type) == IDL_ARRAY, at};
}

static void put_params(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m)
{
    for (const struct idl_param *p = m->params; p; p = p->next) {
        struct idl_value in = value_of(p, p->in_at), ask = value_of(p, p->ask_at);
        bool buffer = idl_kind_of(p->type) == IDL_STRING || idl_kind_of(p->type) == IDL_SEQUENCE;

        if (!buffer && idl_kind_of(p->type) != IDL_DMA)
            idl_put(t, "    memset(&%s, 0, sizeof(%s));\n", p->name, p->name);
        if (p->dir == IDL_INROUT && buffer) {
            idl_put(t, "    %s = (__typeof__(%s))skel_inrout(_k, _in + %u, _in + %u, &%sLen, "
                       "sizeof(*%s), %s);\n", p->name, p->name, p->in_at, p->ask_at, p->name,
                    p->name, idl_kind_of(p->type) == IDL_STRING ? "true" : "false");
            continue;
        }
        if (p->dir & IDL_IN)
            put_in(t, i, &in, "_in");
        if (p->dir & IDL_ROUT)
            put_ask(t, i, &ask, "_in");
    }
}

static void put_argument(struct idl_list *l, const struct idl_param *p)
{
    switch (idl_kind_of(p->type)) {
    case IDL_STRING:
        idl_list_item(l, "%s", p->name);
        if (p->dir != IDL_IN)
            idl_list_item(l, "%sLen", p->name);
        break;
    case IDL_SEQUENCE:
        idl_list_item(l, "%s", p->name);
        idl_list_item(l, "%sLen", p->name);
        break;
    case IDL_DMA:
        idl_list_item(l, "%s", p->name);
        idl_list_item(l, "%sOffset", p->name);
        idl_list_item(l, "%sLen", p->name);
        break;
    case IDL_ARRAY:
        idl_list_item(l, "%s", p->name);
        break;
    default:
        idl_list_item(l, p->dir != IDL_IN || idl_kind_of(p->type) == IDL_STRUCT ? "&%s" : "%s",
                      p->name);
    }
}

static void put_implementation(struct idl_text *t, const struct idl_interface *i,
                               const struct idl_method *m, enum hx_idl_codes codes)
{
    const bool adds = codes == HX_IDL_CODES_DSP;
    struct idl_list l;

    idl_put(t, "    if (skel_ready(_k) == AEE_SUCCESS)\n");
    idl_list_begin(&l, t, ", ", "        _k->rc = %s%s(", adds ? "skel_code(" : "", m->c_name);
    if (i->has_handle)
        idl_list_item(&l, "_h");
    for (const struct idl_param *p = m->params; p; p = p->next)
        put_argument(&l, p);
    idl_list_end(&l, adds ? "));\n" : ");\n");
}

void idl_put_deep_skel_method(struct idl_text *t, const struct idl_interface *i,
                              const struct idl_method *m, enum hx_idl_codes codes)
{
    idl_put(t, "static int serve_%s(%suint32_t _sc, remote_arg *_pra)\n{\n", m->name,
            i->has_handle ? "remote_handle64 _h, " : "");
    idl_put(t, "    struct skel_call _call, *_k = &_call;\n"
               "    unsigned char *_r __attribute__((unused)) = NULL, *_g __attribute__((unused)) = NULL;\n");
    if (m->in.size)
        idl_put(t, "    unsigned char _in[%u] = {0};\n    void *_p;\n", m->in.size);
    if (m->rout.size)
        idl_put(t, "    unsigned char _rout[%u] = {0};\n    void *_to;\n", m->rout.size);
    put_locals(t, m);
    idl_put(t, "\n    skel_begin(_k, _sc, _pra);\n");
    if (m->in.size)
        idl_put(t, "    _p = skel_next(_k, &_k->in, &_k->n_in, sizeof(_in));\n"
                   "    if (_p)\n        memcpy(_in, _p, sizeof(_in));\n");
    if (m->rout.size)
        idl_put(t, "    _to = skel_next(_k, &_k->out, &_k->n_out, sizeof(_rout));\n");
    put_params(t, i, m);
    put_implementation(t, i, m, codes);
    if (m->rout.size) {
        for (const struct idl_param *p = m->params; p; p = p->next) {
            struct idl_value v = value_of(p, p->rout_at);

            if (p->dir & IDL_ROUT)
                put_give(t, i, &v, "_rout");
        }
        idl_put(t, "    if (_k->rc == AEE_SUCCESS)\n        memcpy(_to, _rout, sizeof(_rout));\n");
    }
    idl_put(t, "    skel_end(_k);\n    return _k->rc;\n}\n\n");
}
