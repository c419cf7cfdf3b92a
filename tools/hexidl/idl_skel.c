/* NAME_skel.c: the DSP side.  Nothing in it trusts the caller. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_deep.h"

static enum idl_kind kind_of(const struct idl_param *p)
{
    return idl_resolve(p->type)->kind;
}

/* --- what the helpers are needed for */

struct needs {
    bool take, room, has, string, boolean, code;
};

static struct needs needs_of(const struct idl_interface *i, enum hx_idl_codes codes)
{
    struct needs n = {.take = i->has_handle || i->n_methods > IDL_METHOD_ESCAPE,
                      .has = i->has_handle, .string = i->has_handle,
                      .code = codes == HX_IDL_CODES_DSP && i->n_methods > 0};

    for (const struct idl_method *m = i->methods; m; m = m->next) {
        if (m->is_deep)
            continue;
        n.take |= m->in.fields != NULL;
        n.room |= m->rout.fields != NULL;
        for (const struct idl_param *p = m->params; p; p = p->next) {
            n.has |= !idl_is_fixed(p->type);
            n.string |= kind_of(p) == IDL_STRING && (p->dir & IDL_IN);
            n.boolean |= kind_of(p) == IDL_BOOLEAN;
        }
    }
    return n;
}

static void put_helpers(struct idl_text *t, const struct needs *n)
{
    if (n->take)
        idl_put(t, "/* Copies values out of a buffer: the caller may still be writing to it. */\n"
                   "static bool skel_take(void *to, size_t n, const remote_buf *b)\n{\n"
                   "    if (b->nLen < n || !b->pv)\n        return false;\n"
                   "    memcpy(to, b->pv, n);\n    return true;\n}\n\n");
    if (n->room)
        idl_put(t, "static bool skel_room(const remote_buf *b, size_t n)\n{\n"
                   "    return b->nLen >= n && b->pv;\n}\n\n");
    if (n->has)
        idl_put(t, "/* True when the buffer has `count` elements of `size` bytes and an int can count them. */\n"
                   "static bool skel_has(const remote_buf *b, uint32_t count, size_t size)\n{\n"
                   "    return count <= INT32_MAX && b->nLen / size >= count && (b->pv || count == 0);\n"
                   "}\n\n");
    if (n->string)
        idl_put(t, "static bool skel_is_string(const remote_buf *b, uint32_t bytes)\n{\n"
                   "    return bytes > 0 && skel_has(b, bytes, 1) &&\n"
                   "           ((const char *)b->pv)[bytes - 1] == '\\0';\n}\n\n");
    if (n->code)
        idl_put(t, "/* The implementation returns plain AEE codes, which are positive; the caller gets them with the DSP's offset, which\n"
                   " * makes them negative.  What has the offset already stays as it is. */\n"
                   "static int skel_code(int rc)\n{\n    return rc > 0 ? AEE_DSP(rc) : rc;\n}\n\n");
}

/* What stands before and behind a result of the implementation. */
static const char *before_result(enum hx_idl_codes codes)
{
    return codes == HX_IDL_CODES_DSP ? "skel_code(" : "";
}

static const char *behind_result(enum hx_idl_codes codes)
{
    return codes == HX_IDL_CODES_DSP ? ")" : "";
}

/* --- one method */

static const char *element(const struct idl_param *p)
{
    return kind_of(p) == IDL_STRING ? "char" : idl_c_name(idl_resolve(p->type)->of);
}

/* Number of the buffer that holds this direction of `wanted`. */
static unsigned buffer_of(const struct idl_method *m, const struct idl_param *wanted,
                          enum idl_dir dir)
{
    unsigned at = dir == IDL_IN ? 0 : m->n_in;

    at += (dir == IDL_IN ? m->in.fields : m->rout.fields) != NULL;
    for (const struct idl_param *p = m->params; p != wanted; p = p->next)
        at += !idl_is_fixed(p->type) && (p->dir & dir);
    return at;
}

static void put_param_checks(struct idl_list *l, const struct idl_method *m,
                             const struct idl_param *p)
{
    const char *in_part = p->dir == IDL_INROUT ? "In" : "";

    if (idl_is_fixed(p->type))
        return;
    if ((p->dir & IDL_IN) && kind_of(p) == IDL_STRING)
        idl_list_item(l, "!skel_is_string(&pra[%u].buf, in.%s%sLen)", buffer_of(m, p, IDL_IN),
                      p->name, in_part);
    else if (p->dir & IDL_IN)
        idl_list_item(l, "!skel_has(&pra[%u].buf, in.%s%sLen, sizeof(%s))", buffer_of(m, p, IDL_IN),
                      p->name, in_part, element(p));
    if (p->dir & IDL_ROUT)
        idl_list_item(l, "!skel_has(&pra[%u].buf, in.%sLen, sizeof(%s))", buffer_of(m, p, IDL_ROUT),
                      p->name, element(p));
    if (p->dir == IDL_INROUT)
        idl_list_item(l, "in.%sInLen > in.%sLen", p->name, p->name);
}

static void put_checks(struct idl_text *t, const struct idl_method *m)
{
    struct idl_list l;

    if (m->n_in + m->n_rout == 0)
        return;
    idl_list_begin(&l, t, " || ", "    if (");
    if (m->in.fields)
        idl_list_item(&l, "!skel_take(&in, sizeof(in), &pra[0].buf)");
    if (m->rout.fields)
        idl_list_item(&l, "!skel_room(&pra[%u].buf, sizeof(rout))", m->n_in);
    for (const struct idl_param *p = m->params; p; p = p->next)
        put_param_checks(&l, m, p);
    idl_list_end(&l, ")\n        return AEE_DSP(AEE_EBADPARM);\n");
}

/* What the implementation gets to see: primROut starts with what came in. */
static void put_before_call(struct idl_text *t, const struct idl_method *m)
{
    if (m->rout.fields)
        idl_put(t, "    memset(&rout, 0, sizeof(rout));\n");
    for (const struct idl_param *p = m->params; p; p = p->next) {
        if (p->dir != IDL_INROUT)
            continue;
        if (!idl_is_fixed(p->type))
            idl_put(t, "    if (in.%sInLen > 0)\n"
                       "        memmove(pra[%u].buf.pv, pra[%u].buf.pv, in.%sInLen * sizeof(%s));\n",
                    p->name, buffer_of(m, p, IDL_ROUT), buffer_of(m, p, IDL_IN), p->name,
                    element(p));
        else if (kind_of(p) == IDL_ARRAY)
            idl_put(t, "    memcpy(rout.%s, in.%s, sizeof(rout.%s));\n", p->name, p->name, p->name);
        else if (kind_of(p) == IDL_BOOLEAN)
            idl_put(t, "    %sBool = in.%s != 0;\n", p->name, p->name);
        else
            idl_put(t, "    rout.%s = in.%s;\n", p->name, p->name);
    }
}

static void put_argument(struct idl_list *l, const struct idl_method *m, const struct idl_param *p)
{
    bool comes_back = p->dir & IDL_ROUT;
    const char *from = comes_back ? "rout" : "in";

    switch (kind_of(p)) {
    case IDL_SEQUENCE:
    case IDL_STRING:
        idl_list_item(l, "pra[%u].buf.pv", buffer_of(m, p, comes_back ? IDL_ROUT : IDL_IN));
        if (comes_back || kind_of(p) == IDL_SEQUENCE)
            idl_list_item(l, "(int)in.%sLen", p->name);
        break;
    case IDL_ARRAY:
        idl_list_item(l, "%s.%s", from, p->name);
        break;
    case IDL_BOOLEAN:
        idl_list_item(l, comes_back ? "&%sBool" : "in.%s != 0", p->name);
        break;
    default:
        idl_list_item(l, comes_back || kind_of(p) == IDL_STRUCT ? "&%s.%s" : "%s.%s", from,
                      p->name);
    }
}

static void put_call(struct idl_text *t, const struct idl_interface *i, const struct idl_method *m,
                     enum hx_idl_codes codes)
{
    const bool wraps = codes == HX_IDL_CODES_DSP && !m->rout.fields;
    struct idl_list l;

    idl_list_begin(&l, t, ", ", "    %s%s%s(", m->rout.fields ? "int rc = " : "return ",
                   wraps ? "skel_code(" : "", m->c_name);
    if (i->has_handle)
        idl_list_item(&l, "h");
    for (const struct idl_param *p = m->params; p; p = p->next)
        put_argument(&l, m, p);
    idl_list_end(&l, wraps ? "));\n" : ");\n");
    if (!m->rout.fields)
        return;
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (kind_of(p) == IDL_BOOLEAN && (p->dir & IDL_ROUT))
            idl_put(t, "    rout.%s = %sBool;\n", p->name, p->name);
    idl_put(t, "    if (rc == AEE_SUCCESS)\n"
               "        memcpy(pra[%u].buf.pv, &rout, sizeof(rout));\n"
               "    return %src%s;\n", m->n_in, before_result(codes), behind_result(codes));
}

static void put_serve(struct idl_text *t, const struct idl_interface *i, const struct idl_method *m,
                      enum hx_idl_codes codes)
{
    bool has_locals = m->in.fields || m->rout.fields;

    if (m->is_deep) {
        idl_put_deep_skel_method(t, i, m, codes);
        return;
    }
    idl_put(t, "static int serve_%s(%sremote_arg *pra)\n{\n", m->name,
            i->has_handle ? "remote_handle64 h, " : "");
    if (m->in.fields)
        idl_put(t, "    struct %s_primIn in;\n", m->c_name);
    if (m->rout.fields)
        idl_put(t, "    struct %s_primROut rout;\n", m->c_name);
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (kind_of(p) == IDL_BOOLEAN && (p->dir & IDL_ROUT))
            idl_put(t, "    bool %sBool = false;\n", p->name);
    if (has_locals)
        idl_put(t, "\n");
    if (m->n_in + m->n_rout == 0)
        idl_put(t, "    (void)pra;\n");
    put_checks(t, m);
    put_before_call(t, m);
    put_call(t, i, m, codes);
    idl_put(t, "}\n\n");
}

/* The stub's version, from the URI, must not be above the skel's. */
static void put_version_check(struct idl_text *t, const char *version)
{
    unsigned v[3] = {0};

    sscanf(version, "%3u.%3u.%3u", &v[0], &v[1], &v[2]);
    idl_put(t, "/* `_idlver=A.B.C` in the URI: the version of the stub's IDL file.  It may not be above this one's, %s. */\n"
               "static bool skel_serves_version(const char *uri)\n{\n"
               "    static const unsigned long mine[3] = {%u, %u, %u};\n"
               "    const char *p = strstr(uri, \"_idlver=\");\n"
               "    unsigned long theirs[3] = {0};\n\n"
               "    if (!p)\n        return false;\n"
               "    p += strlen(\"_idlver=\");\n"
               "    for (int i = 0; *p && *p != '&'; i++) {\n"
               "        char *end;\n\n"
               "        if (i == 3 || *p < '0' || *p > '9')\n            return false;\n"
               "        theirs[i] = strtoul(p, &end, 10);\n"
               "        if (theirs[i] > 999 || (*end && *end != '.' && *end != '&'))\n            return false;\n"
               "        p = end + (*end == '.');\n"
               "    }\n"
               "    for (int i = 0; i < 3; i++)\n"
               "        if (theirs[i] != mine[i])\n            return theirs[i] < mine[i];\n"
               "    return true;\n}\n\n", version, v[0], v[1], v[2]);
}

static void put_serve_handle(struct idl_text *t, const struct hx_idl *idl,
                             const struct idl_interface *i, enum hx_idl_codes codes)
{
    const char *before = before_result(codes), *behind = behind_result(codes);

    if (idl->version)
        put_version_check(t, idl->version);
    idl_put(t, "static int serve_open(remote_handle64 h, remote_arg *pra)\n{\n"
               "    uint32_t bytes;\n\n"
               "    (void)h;\n"
               "    if (!skel_take(&bytes, sizeof(bytes), &pra[0].buf) || !skel_is_string(&pra[1].buf, bytes))\n"
               "        return AEE_DSP(AEE_EBADPARM);\n"
               "%s"
               "    return %s%s_open(pra[1].buf.pv, &pra[2].h64)%s;\n}\n\n",
            idl->version ? "    if (!skel_serves_version(pra[1].buf.pv))\n"
                           "        return AEE_DSP(AEE_ESTUBSKELVERMISMATCH);\n" : "", before, i->name, behind);
    idl_put(t, "static int serve_close(remote_handle64 h, remote_arg *pra)\n{\n"
               "    (void)h;\n"
               "    return %s%s_close(pra[0].h64)%s;\n}\n\n", before, i->name, behind);
}

/* --- dispatch */

static void put_table(struct idl_text *t, const struct idl_interface *i)
{
    bool deep = idl_has_deep(i);

    idl_put(t, "/* `shape`: the scalars without attributes and method; a call must have exactly these.%s */\n"
               "static const struct {\n"
               "    int (*serve)(%sremote_arg *pra);\n",
            deep ? "  Where the number\n * of buffers varies, serve_deep checks it." : "",
            i->has_handle ? "remote_handle64 h, " : "");
    if (deep)
        idl_put(t, "    int (*serve_deep)(%suint32_t sc, remote_arg *pra);\n",
                i->has_handle ? "remote_handle64 h, " : "");
    idl_put(t, "    uint32_t shape;\n} methods[%s_N_METHODS] = {\n", i->name);
    if (i->has_handle)
        idl_put(t, "    [%s_METHOD_open] = {.serve = serve_open, .shape = REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1)},\n"
                   "    [%s_METHOD_close] = {.serve = serve_close, .shape = REMOTE_SCALARS_MAKEX(0, 0, 0, 0, 1, 0)},\n",
                i->name, i->name);
    for (const struct idl_method *m = i->methods; m; m = m->next) {
        struct idl_list l;

        idl_list_begin(&l, t, ", ", "    [%s_METHOD_%s] = {", i->name, m->name);
        idl_list_item(&l, m->is_deep ? ".serve_deep = serve_%s" : ".serve = serve_%s", m->name);
        if (!m->is_deep)
            idl_list_item(&l, ".shape = REMOTE_SCALARS_MAKE(0, %u, %u)", m->n_in, m->n_rout);
        idl_list_end(&l, "},\n");
    }
    idl_put(t, "};\n\n");
}

static void put_invoke(struct idl_text *t, const struct idl_interface *i)
{
    const char *handle = i->has_handle ? "remote_handle64 _h, " : "";
    bool escapes = i->n_methods > IDL_METHOD_ESCAPE;

    idl_put(t, "__attribute__((visibility(\"default\")))\n"
               "int %s_skel_%sinvoke(%suint32_t sc, remote_arg *pra)\n{\n"
               "    const uint32_t shape_mask = 0x00ffffff;\n"
               "    uint32_t method = REMOTE_SCALARS_METHOD(sc);\n\n",
            i->name, i->has_handle ? "handle_" : "", handle);
    if (escapes)
        idl_put(t, "    /* methods from %d on share this number; in-buffer 0 begins with their own */\n"
                   "    if (method == %d) {\n"
                   "        if (REMOTE_SCALARS_INBUFS(sc) == 0 || !pra ||\n"
                   "            !skel_take(&method, sizeof(method), &pra[0].buf))\n"
                   "            return AEE_DSP(AEE_EBADPARM);\n"
                   "        if (method < %d)\n"
                   "            return AEE_DSP(AEE_EUNSUPPORTED);\n"
                   "    }\n", IDL_METHOD_ESCAPE, IDL_METHOD_ESCAPE, IDL_METHOD_ESCAPE);
    idl_put(t, "    if (method >= %s_N_METHODS)\n"
               "        return AEE_DSP(AEE_EUNSUPPORTED);\n", i->name);
    if (idl_has_deep(i))
        idl_put(t, "    if (methods[method].serve_deep)\n"
                   "        return pra ? methods[method].serve_deep(%ssc, pra) : AEE_DSP(AEE_EBADPARM);\n",
                i->has_handle ? "_h, " : "");
    idl_put(t, "    if ((sc & shape_mask) != methods[method].shape || (!pra && (sc & shape_mask)))\n"
               "        return AEE_DSP(AEE_EBADPARM);\n"
               "    return methods[method].serve(%spra);\n}\n", i->has_handle ? "_h, " : "");
}

/* hexrig looks for it, so that figures, traces and crash reports can say which method they are about. */
static void put_names(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "\n/* The methods' names, method 0 first; an empty one ends the list. */\n"
               "extern const char %s_skel_methods[];\n"
               "__attribute__((visibility(\"default\"), used)) const char %s_skel_methods[] =\n", i->name, i->name);
    if (i->has_handle)
        idl_put(t, "    \"open\\0\"\n    \"close\\0\"\n");
    for (const struct idl_method *m = i->methods; m; m = m->next)
        idl_put(t, "    \"%s\\0\"\n", m->name);
    idl_put(t, "    \"\";\n");
}

char *hx_idl_skel(const struct hx_idl *idl, size_t n, enum hx_idl_codes codes)
{
    const struct idl_interface *i = idl_interface_at(idl, n);
    struct needs needs = needs_of(i, codes);
    struct idl_text t = {0};

    idl_put_banner(&t, idl, "The DSP side: checks a call, takes it apart and calls the implementation");
    idl_put(&t, "#include \"%s.h\"\n\n#include <stdbool.h>\n#include <stddef.h>\n%s#include <string.h>\n\n"
                "#include \"AEEStdErr.h\"\n\n"
                "#ifndef AEE_DSP\n"
                "#define AEE_DSP(code) (code) /* where the DSP's codes carry their offset themselves */\n"
                "#endif\n\n", idl->stem,
            idl_has_deep(i) || (i->has_handle && idl->version) ? "#include <stdlib.h>\n" : "");
    put_helpers(&t, &needs);
    if (i->has_handle)
        put_serve_handle(&t, idl, i, codes);
    if (idl_has_deep(i))
        idl_put_deep_skel(&t, i);
    for (const struct idl_method *m = i->methods; m; m = m->next)
        put_serve(&t, i, m, codes);
    put_table(&t, i);
    put_invoke(&t, i);
    put_names(&t, i);
    return t.p;
}
