/* NAME_stub.c: the host side.  Own names begin with `_`, which no name of an IDL file does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_deep.h"

static enum idl_kind kind_of(const struct idl_param *p)
{
    return idl_resolve(p->type)->kind;
}

static bool is_pointer(const struct idl_param *p)
{
    return p->dir != IDL_IN || kind_of(p) == IDL_STRUCT || kind_of(p) == IDL_ARRAY ||
           kind_of(p) == IDL_STRING;
}

/* Has NAMELen in the prototype. */
static bool has_length(const struct idl_param *p)
{
    return kind_of(p) == IDL_SEQUENCE || (kind_of(p) == IDL_STRING && p->dir != IDL_IN);
}

static bool has_strings(const struct idl_interface *i)
{
    for (const struct idl_method *m = i->methods; m; m = m->next)
        for (const struct idl_param *p = m->params; p; p = p->next)
            if (!m->is_deep && kind_of(p) == IDL_STRING && (p->dir & IDL_IN))
                return true;
    return false;
}

static bool has_buffers(const struct idl_interface *i, bool rout)
{
    for (const struct idl_method *m = i->methods; m; m = m->next)
        if (!m->is_deep && (rout ? m->n_rout : m->n_in))
            return true;
    return false;
}

static void put_helpers(struct idl_text *t, const struct idl_interface *i)
{
    if (has_buffers(i, false))
        idl_put(t, "/* Nobody writes to an in buffer; remote_arg has one pointer type for both directions. */\n"
                   "static remote_arg stub_in_buf(const void *p, size_t bytes)\n{\n"
                   "    remote_arg arg;\n\n"
                   "    arg.buf.pv = (void *)(uintptr_t)p;\n"
                   "    arg.buf.nLen = bytes;\n"
                   "    return arg;\n}\n\n");
    if (has_buffers(i, true))
        idl_put(t, "static remote_arg stub_out_buf(void *p, size_t bytes)\n{\n"
                   "    remote_arg arg;\n\n"
                   "    arg.buf.pv = p;\n"
                   "    arg.buf.nLen = bytes;\n"
                   "    return arg;\n}\n\n");
    if (has_strings(i))
        idl_put(t, "/* With the NUL; 0 when there is none within `limit` bytes. */\n"
                   "static uint32_t stub_string_bytes(const char *s, size_t limit)\n{\n"
                   "    const char *nul = s ? (const char *)memchr(s, '\\0', limit) : NULL;\n\n"
                   "    return nul ? (uint32_t)(nul - s) + 1 : 0;\n}\n\n");
}

/* Without remote_handle64 the module is opened at the first call. */
static void put_static_handle(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "static pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the two below */\n"
               "static remote_handle stub_handle; /* open until the process ends */\n"
               "static int stub_is_open;\n\n"
               "static int stub_invoke(uint32_t sc, remote_arg *args)\n{\n"
               "    int rc = AEE_SUCCESS;\n\n"
               "    pthread_mutex_lock(&stub_lock);\n"
               "    if (!stub_is_open)\n"
               "        rc = remote_handle_open(\"%s\", &stub_handle);\n"
               "    stub_is_open = rc == AEE_SUCCESS;\n"
               "    pthread_mutex_unlock(&stub_lock);\n"
               "    return rc ? rc : remote_handle_invoke(stub_handle, sc, args);\n}\n\n", i->name);
}

/* --- one method */

/* Refuses what cannot be sent. */
static void put_checks(struct idl_text *t, const struct idl_method *m)
{
    struct idl_list l = {0};

    for (const struct idl_param *p = m->params; p; p = p->next) {
        const char *check = has_length(p) ? "%sLen < 0" : is_pointer(p) ? "!%s" : NULL;

        if (kind_of(p) == IDL_STRING && p->dir == IDL_IN)
            check = NULL; /* its length says it */
        if (check && !l.out)
            idl_list_begin(&l, t, " || ", "    if (");
        if (check)
            idl_list_item(&l, check, p->name);
    }
    if (l.out)
        idl_list_end(&l, ")\n        return AEE_EBADPARM;\n");
}

static void put_string_length(struct idl_text *t, const struct idl_param *p)
{
    if (p->dir == IDL_IN)
        idl_put(t, "    _in.%sLen = stub_string_bytes(%s, INT32_MAX);\n"
                   "    if (_in.%sLen == 0)\n        return AEE_EBADPARM;\n",
                p->name, p->name, p->name);
    else
        idl_put(t, "    _in.%sInLen = stub_string_bytes(%s, (size_t)%sLen);\n"
                   "    if (_in.%sInLen == 0)\n        return AEE_EBADPARM;\n",
                p->name, p->name, p->name, p->name);
}

/* primIn, in the order of its fields. */
static void put_in(struct idl_text *t, const struct idl_interface *i, const struct idl_method *m)
{
    if (!m->in.fields)
        return;
    idl_put(t, "    memset(&_in, 0, sizeof(_in));\n");
    if (m->id >= IDL_METHOD_ESCAPE)
        idl_put(t, "    _in._mid = %s_METHOD_%s;\n", i->name, m->name);
    for (const struct idl_param *p = m->params; p; p = p->next) {
        enum idl_kind kind = kind_of(p);

        if (kind == IDL_STRING && (p->dir & IDL_IN))
            put_string_length(t, p);
        else if (kind == IDL_SEQUENCE && p->dir == IDL_INROUT)
            idl_put(t, "    _in.%sInLen = (uint32_t)%sLen;\n", p->name, p->name);
        if (has_length(p))
            idl_put(t, "    _in.%sLen = (uint32_t)%sLen;\n", p->name, p->name);
        if (!idl_is_fixed(p->type) || !(p->dir & IDL_IN))
            continue;
        if (kind == IDL_ARRAY)
            idl_put(t, "    memcpy(_in.%s, %s, sizeof(_in.%s));\n", p->name, p->name, p->name);
        else
            idl_put(t, "    _in.%s = %s%s;\n", p->name, is_pointer(p) ? "*" : "", p->name);
    }
}

static void put_buffer(struct idl_text *t, const struct idl_param *p, enum idl_dir dir)
{
    const char *make = dir == IDL_IN ? "stub_in_buf" : "stub_out_buf";

    if (kind_of(p) == IDL_SEQUENCE)
        idl_put(t, "        %s(%s, (size_t)%sLen * sizeof(*%s)),\n", make, p->name, p->name,
                p->name);
    else if (dir == IDL_IN)
        idl_put(t, "        %s(%s, _in.%s%s),\n", make, p->name, p->name,
                p->dir == IDL_IN ? "Len" : "InLen");
    else
        idl_put(t, "        %s(%s, (size_t)%sLen),\n", make, p->name, p->name);
}

static void put_args(struct idl_text *t, const struct idl_method *m)
{
    if (m->n_in + m->n_rout == 0)
        return;
    idl_put(t, "    remote_arg _args[] = {\n");
    if (m->in.fields)
        idl_put(t, "        stub_in_buf(&_in, sizeof(_in)),\n");
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (!idl_is_fixed(p->type) && (p->dir & IDL_IN))
            put_buffer(t, p, IDL_IN);
    if (m->rout.fields)
        idl_put(t, "        stub_out_buf(&_rout, sizeof(_rout)),\n");
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (!idl_is_fixed(p->type) && (p->dir & IDL_ROUT))
            put_buffer(t, p, IDL_ROUT);
    idl_put(t, "    };\n");
}

static void put_scalars(struct idl_text *t, const struct idl_interface *i,
                        const struct idl_method *m)
{
    if (m->id < IDL_METHOD_ESCAPE)
        idl_put(t, "    const uint32_t _sc = REMOTE_SCALARS_MAKE(%s_METHOD_%s, %u, %u);\n", i->name,
                m->name, m->n_in, m->n_rout);
    else
        idl_put(t, "    const uint32_t _sc = REMOTE_SCALARS_MAKE(%d, %u, %u); /* method %u */\n",
                IDL_METHOD_ESCAPE, m->n_in, m->n_rout, m->id);
}

/* What came back; a rout string ends with a NUL whatever the DSP wrote. */
static void put_invoke(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m, const char *invoke)
{
    const char *args = m->n_in + m->n_rout ? "_args" : "NULL";
    char call[80];
    bool any = false;

    snprintf(call, sizeof(call), "%s(%s_sc, %s)", i->has_handle ? invoke : "stub_invoke", i->has_handle ? "_h, " : "", args);
    for (const struct idl_param *p = m->params; p; p = p->next)
        any |= (p->dir & IDL_ROUT) && kind_of(p) != IDL_SEQUENCE;
    if (!any) {
        idl_put(t, "    return %s;\n", call);
        return;
    }
    idl_put(t, "    int _rc = %s;\n    if (_rc != AEE_SUCCESS)\n        return _rc;\n", call);
    for (const struct idl_param *p = m->params; p; p = p->next) {
        if (!(p->dir & IDL_ROUT))
            continue;
        if (kind_of(p) == IDL_STRING)
            idl_put(t, "    if (%sLen > 0)\n        %s[%sLen - 1] = '\\0';\n", p->name, p->name,
                    p->name);
        else if (kind_of(p) == IDL_ARRAY)
            idl_put(t, "    memcpy(%s, _rout.%s, sizeof(_rout.%s));\n", p->name, p->name, p->name);
        else if (kind_of(p) == IDL_BOOLEAN)
            idl_put(t, "    *%s = _rout.%s != 0;\n", p->name, p->name);
        else if (kind_of(p) != IDL_SEQUENCE)
            idl_put(t, "    *%s = _rout.%s;\n", p->name, p->name);
    }
    idl_put(t, "    return AEE_SUCCESS;\n");
}

static void put_method(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m, const char *invoke)
{
    if (m->is_deep) {
        idl_put_deep_stub_method(t, i, m);
        return;
    }
    idl_put_prototype(t, i, m);
    idl_put(t, "\n{\n");
    if (m->in.fields)
        idl_put(t, "    struct %s_primIn _in;\n", m->c_name);
    if (m->rout.fields)
        idl_put(t, "    struct %s_primROut _rout;\n", m->c_name);
    put_scalars(t, i, m);
    idl_put(t, "\n");
    put_checks(t, m);
    put_in(t, i, m);
    if (m->rout.fields)
        idl_put(t, "    memset(&_rout, 0, sizeof(_rout));\n");
    put_args(t, m);
    put_invoke(t, i, m, invoke);
    idl_put(t, "}\n\n");
}

static void put_open_close(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "int %s_open(const char *uri, remote_handle64 *h)\n{\n"
               "    return remote_handle64_open(uri, h);\n}\n\n"
               "int %s_close(remote_handle64 h)\n{\n"
               "    return remote_handle64_close(h);\n}\n\n", i->name, i->name);
}

char *hx_idl_stub(const struct hx_idl *idl, size_t n, const char *other)
{
    const char *invoke = other ? other : "remote_handle64_invoke";
    const struct idl_interface *i = idl_interface_at(idl, n);
    struct idl_text t = {0};

    idl_put_banner(&t, idl, "The host side: packs arguments and calls the DSP");
    idl_put(&t, "#include \"%s.h\"\n\n", idl->stem);
    if (!i->has_handle)
        idl_put(&t, "#include <pthread.h>\n");
    idl_put(&t, "#include <stddef.h>\n%s#include <string.h>\n\n#include \"AEEStdErr.h\"\n\n",
            idl_has_deep(i) ? "#include <stdlib.h>\n" : "");
    if (i->has_handle && other)
        idl_put(&t, "int %s(remote_handle64 h, uint32_t sc, remote_arg *args);\n\n", other);
    put_helpers(&t, i);
    if (i->has_handle)
        put_open_close(&t, i);
    else
        put_static_handle(&t, i);
    if (idl_has_deep(i))
        idl_put_deep_stub(&t, i, invoke);
    for (const struct idl_method *m = i->methods; m; m = m->next)
        put_method(&t, i, m, invoke);
    t.p[t.n - 1] = '\0'; /* no blank line at the end */
    return t.p;
}
