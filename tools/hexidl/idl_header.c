/* NAME.h: types and constants of the IDL file, then the interface: URI, method numbers, wire structs, prototypes. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "idl_deep.h"

/* --- types and constants */

static void put_enum(struct idl_text *t, const struct idl_type *e)
{
    idl_put(t, "typedef enum %s {\n", e->c_name);
    for (const struct idl_member *m = e->members; m; m = m->next)
        idl_put(t, "    %s,\n", m->name);
    idl_put(t, "    _32BIT_PLACEHOLDER_%s = 0x7fffffff\n} %s;\n\n", e->c_name, e->c_name);
}

/* A sequence or string is a pointer and its length: elements, for a string with its NUL. */
static void put_member(struct idl_text *t, const struct idl_type *type, const char *name)
{
    const struct idl_type *below = idl_resolve(type);

    if (below->kind == IDL_STRING || below->kind == IDL_SEQUENCE) {
        idl_put(t, "    %s *%s;\n    int %sLen;\n",
                below->kind == IDL_STRING ? below->of->c_name : idl_value_c_name(below->of), name,
                name);
        return;
    }
    idl_put(t, "    ");
    idl_put_variable(t, type, name);
    idl_put(t, ";\n");
}

static void put_struct(struct idl_text *t, const struct idl_type *s)
{
    idl_put(t, "typedef struct %s {\n", s->c_name);
    for (const struct idl_member *m = s->members; m; m = m->next)
        put_member(t, m->type, m->name);
    idl_put(t, "} %s;\n\n", s->c_name);
}

static void put_type(struct idl_text *t, const struct idl_decl *d)
{
    const struct idl_type *below = idl_resolve(d->type);

    if (d->type->kind == IDL_HANDLE || below->kind == IDL_STRING)
        return; /* strings are spelt out where they are used */
    idl_put_doc(t, "", d->doc);
    if (d->type->kind == IDL_ENUM) {
        put_enum(t, d->type);
    } else if (d->type->kind == IDL_STRUCT) {
        put_struct(t, d->type);
    } else if (d->type->of->kind == IDL_SEQUENCE) {
        idl_put(t, "typedef struct {\n");
        put_member(t, d->type, "data");
        idl_put(t, "} %s;\n\n", d->c_name);
    } else {
        idl_put(t, "typedef ");
        idl_put_variable(t, d->type->of, d->c_name);
        idl_put(t, ";\n\n");
    }
}

static void put_const(struct idl_text *t, const struct idl_decl *d)
{
    const struct idl_type *type = idl_resolve(d->type);

    idl_put_doc(t, "", d->doc);
    idl_put(t, "#define %s ", d->c_name);
    if (d->literal)
        idl_put(t, "%s", d->literal);
    else if (type->size == 8 && !type->is_signed)
        idl_put(t, "UINT64_C(%" PRIu64 ")", (uint64_t)d->value);
    else if (d->value == INT64_MIN)
        idl_put(t, "INT64_MIN");
    else if (type->size == 8)
        idl_put(t, d->value < 0 ? "(-INT64_C(%" PRIu64 "))" : "INT64_C(%" PRIu64 ")",
                d->value < 0 ? 0 - (uint64_t)d->value : (uint64_t)d->value);
    else
        idl_put(t, d->value < 0 ? "(%" PRId64 ")" : "%" PRId64, d->value);
    idl_put(t, type->size == 4 && !type->is_signed && !d->literal ? "u\n\n" : "\n\n");
}

static void put_declarations(struct idl_text *t, const struct hx_idl *idl)
{
    for (const struct idl_decl *d = idl->decls; d; d = d->next) {
        if (!d->is_mine)
            continue;
        if (d->kind == IDL_DECL_TYPE)
            put_type(t, d);
        else if (d->kind == IDL_DECL_CONST)
            put_const(t, d);
    }
}

/* --- the interface */

static void put_methods(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "enum %s_method {\n", i->name);
    if (i->has_handle)
        idl_put(t, "    %s_METHOD_open = 0,\n    %s_METHOD_close = 1,\n", i->name, i->name);
    for (const struct idl_method *m = i->methods; m; m = m->next)
        idl_put(t, "    %s_METHOD_%s = %u,\n", i->name, m->name, m->id);
    idl_put(t, "    %s_N_METHODS = %u\n};\n\n", i->name, i->n_methods);
}

static void put_prim(struct idl_text *t, const struct idl_method *m, const struct idl_prim *prim,
                     const char *suffix)
{
    if (!prim->fields || m->is_deep)
        return;
    idl_put(t, "struct %s_%s {\n", m->c_name, suffix);
    for (const struct idl_field *f = prim->fields; f; f = f->next) {
        idl_put(t, "    ");
        if (!f->type)
            idl_put(t, "uint32_t %s", f->name);
        else if (idl_is_bool(f->type))
            idl_put(t, "unsigned char %s", f->name);
        else
            idl_put_variable(t, f->type, f->name);
        idl_put(t, ";\n");
    }
    idl_put(t, "};\nHX_IDL_SIZE(struct %s_%s, %u);\n\n", m->c_name, suffix, prim->size);
}

static void put_wire(struct idl_text *t, const struct idl_interface *i)
{
    bool any = false;

    for (const struct idl_method *m = i->methods; m && !any; m = m->next)
        any = !m->is_deep && (m->in.fields || m->rout.fields);
    if (!any)
        return;
    idl_put(t, "/* The wire: METHOD_primIn is in-buffer 0, the values that go in and the lengths of all sequences and\n"
               " * strings (in elements; a string's with its NUL); METHOD_primROut is out-buffer 0, the values that come\n"
               " * back.  The sequences and strings follow, a buffer each. */\n"
               "#undef HX_IDL_SIZE\n"
               "#ifdef __cplusplus\n"
               "#define HX_IDL_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), \"wire layout\")\n"
               "#else\n"
               "#define HX_IDL_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), \"wire layout\")\n"
               "#endif\n\n");
    for (const struct idl_method *m = i->methods; m; m = m->next) {
        put_prim(t, m, &m->in, "primIn");
        put_prim(t, m, &m->rout, "primROut");
    }
    idl_put(t, "#undef HX_IDL_SIZE\n\n");
}

static void put_prototypes(struct idl_text *t, const struct idl_interface *i)
{
    idl_put(t, "/* The stub implements these on the host, the project's own code on the DSP.  They return AEE codes;\n"
               " * buffers are borrowed for the call, and what comes back is set on success only. */\n");
    if (i->has_handle)
        idl_put(t, "int %s_open(const char *uri, remote_handle64 *h);\n"
                   "int %s_close(remote_handle64 h);\n\n", i->name, i->name);
    for (const struct idl_method *m = i->methods; m; m = m->next) {
        idl_put_doc(t, "", m->doc);
        idl_put_prototype(t, i, m);
        idl_put(t, ";\n\n");
    }
    if (i->has_handle)
        idl_put(t, "/* The skel: the function that the URI names. */\n"
                   "int %s_skel_handle_invoke(remote_handle64 _h, uint32_t sc, remote_arg *pra);\n\n",
                i->name);
    else
        idl_put(t, "/* The skel. */\nint %s_skel_invoke(uint32_t sc, remote_arg *pra);\n\n",
                i->name);
}

/* _modver says that the entry point takes a handle. */
static void put_uri(struct idl_text *t, const struct hx_idl *idl, const struct idl_interface *i)
{
    idl_put(t, "#define %s_URI \"file:///lib%s_skel.so?%s_skel_%s", i->name, i->name, i->name,
            i->has_handle ? "handle_invoke&_modver=1.0" : "invoke");
    if (i->has_handle && idl->version)
        idl_put(t, "&_idlver=%s", idl->version);
    idl_put(t, "\"\n\n");
}

static void put_interface(struct idl_text *t, const struct hx_idl *idl,
                          const struct idl_interface *i)
{
    idl_put_doc(t, "", i->doc);
    put_uri(t, idl, i);
    put_methods(t, i);
    put_wire(t, i);
    put_prototypes(t, i);
}

/* --- the file */

static void put_guard(struct idl_text *t, const char *stem)
{
    idl_put(t, "HX_IDL_");
    for (const char *p = stem; *p; p++)
        idl_put(t, "%c", isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_');
    idl_put(t, "_H");
}

static void put_includes(struct idl_text *t, const struct hx_idl *idl)
{
    idl_put(t, idl->uses_bool ? "#include <stdbool.h>\n#include <stdint.h>\n\n"
                              : "#include <stdint.h>\n\n");
    if (idl->uses_int64)
        idl_put(t, "#include \"AEEStdDef.h\"\n");
    for (const struct idl_include *inc = idl->includes; inc; inc = inc->next)
        if (inc->is_mine && strcmp(inc->c_header, "remote.h"))
            idl_put(t, "#include \"%s\"\n", inc->c_header);
    idl_put(t, "#include \"remote.h\"\n\n");
}

/* Structs that every IDL compiler's headers may define, under the guards that they share. */
static void put_common_structs(struct idl_text *t, const struct hx_idl *idl)
{
    if (idl->uses_wchar)
        idl_put(t, "#ifndef __QIDL_WCHAR_T_DEFINED__\n#define __QIDL_WCHAR_T_DEFINED__\n"
                   "typedef unsigned short _wchar_t;\n#endif\n\n");
    if (idl->uses_string_struct)
        idl_put(t, "#if !defined(__QAIC_STRING1_OBJECT_DEFINED__) && !defined(__STRING1_OBJECT__)\n"
                   "#define __QAIC_STRING1_OBJECT_DEFINED__\n#define __STRING1_OBJECT__\n"
                   "typedef struct _cstring1_s {\n    char *data;\n    int dataLen; /* with the NUL */\n"
                   "} _cstring1_t;\n#endif\n\n");
    if (idl->uses_wstring_struct)
        idl_put(t, "#if !defined(__QAIC_WSTRING1_OBJECT_DEFINED__) && !defined(__WSTRING1_OBJECT__)\n"
                   "#define __QAIC_WSTRING1_OBJECT_DEFINED__\n#define __WSTRING1_OBJECT__\n"
                   "typedef struct _wstring1_s {\n    _wchar_t *data;\n    int dataLen; /* with the NUL */\n"
                   "} _wstring1_t;\n#endif\n\n");
    if (idl->uses_dma)
        idl_put(t, "#if !defined(__QAIC_DMAHANDLE1_OBJECT_DEFINED__) && !defined(__DMAHANDLE1_OBJECT__)\n"
                   "#define __QAIC_DMAHANDLE1_OBJECT_DEFINED__\n#define __DMAHANDLE1_OBJECT__\n"
                   "typedef struct _dmahandle1_s {\n    int fd;\n    uint32_t offset;\n    uint32_t len;\n"
                   "} _dmahandle1_t;\n#endif\n\n");
}

char *hx_idl_header(const struct hx_idl *idl)
{
    struct idl_text t = {0};

    idl_put_banner(&t, idl, "Interface and types");
    idl_put(&t, "#ifndef ");
    put_guard(&t, idl->stem);
    idl_put(&t, "\n#define ");
    put_guard(&t, idl->stem);
    idl_put(&t, "\n\n");
    put_includes(&t, idl);
    idl_put(&t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    put_common_structs(&t, idl);
    put_declarations(&t, idl);
    for (size_t n = 0; idl_interface_at(idl, n); n++)
        put_interface(&t, idl, idl_interface_at(idl, n));
    idl_put(&t, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return t.p;
}

/* --- the layout, for people and tests */

static void put_layout(struct idl_text *t, const char *what, const struct idl_prim *prim)
{
    if (!prim->fields)
        return;
    idl_put(t, " %s=%u:", what, prim->size);
    for (const struct idl_field *f = prim->fields; f; f = f->next)
        idl_put(t, f->next ? "%s@%u," : "%s@%u", f->name, f->offset);
}

char *hx_idl_layout(const struct hx_idl *idl)
{
    const struct idl_interface *i;
    struct idl_text t = {0};

    idl_put(&t, "%s", "");
    for (size_t n = 0; (i = idl_interface_at(idl, n)); n++) {
        if (n)
            idl_put(&t, "interface %s\n", i->name);
        if (i->has_handle)
            idl_put(&t, "0 open sc=0x00020001\n1 close sc=0x01000010\n");
        for (const struct idl_method *m = i->methods; m; m = m->next) {
            idl_put(&t, "%u %s sc=0x%08x%s", m->id, m->name, idl_scalars(m), m->varies ? "+" : "");
            put_layout(&t, "in", &m->in);
            put_layout(&t, "rout", &m->rout);
            idl_put(&t, "\n");
        }
    }
    return t.p;
}
