/* Inside the IDL compiler: the tree, and what its passes share.
 *
 *   idl_lex.c    bytes -> tokens, comments, conditionals
 *   idl_parse.c  tokens -> declarations, with idl_names.c, idl_types.c and idl_expr.c (constants)
 *   idl_interface.c  interfaces, methods, inheritance; idl_file.c: a file of all that, idl_include.c: those inside it
 *   idl_wire.c   methods -> wire format; idl_deep.c for types with sequences or strings inside
 *   idl_emit.c   names and lists in C; idl_header.c, idl_stub.c, idl_skel.c: the three files, with
 *                idl_deep_stub.c and idl_deep_skel.c
 *
 * Every symbol is kept under the name it has in C (X of interface I is I_X), so a clash in C is found as a clash here.
 * Errors: the first one is kept; after it the lexer gives END only, so that every loop ends by itself. */
#ifndef HX_IDL_TREE_H
#define HX_IDL_TREE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idl.h"

enum {
    IDL_MAX_BYTES = 1 << 20,   /* of a fixed-size type: it lies on the stack of stub and skel */
    IDL_MAX_DEPTH = 64,        /* of nested types, expressions and conditionals */
    IDL_MAX_INCLUDES = 32,     /* files inside one another */
    IDL_METHOD_ESCAPE = 31,    /* this method number in `sc`: the real one is in in-buffer 0 */
    IDL_MAX_BUFFERS = 255,     /* of one direction in `sc` */
    IDL_MAX_HANDLES = 15,      /* likewise */
};

struct idl_pos {
    const char *file;
    unsigned line, column; /* from 1; column counts bytes */
};

/* --- types */

enum idl_kind {
    IDL_INTEGER, /* all whole-numbered ones, char and octet too */
    IDL_FLOATING,
    IDL_BOOLEAN,
    IDL_ENUM,
    IDL_STRUCT,
    IDL_ARRAY,
    IDL_ALIAS, /* typedef */
    IDL_SEQUENCE,
    IDL_STRING,
    IDL_DMA,    /* dmahandle */
    IDL_HANDLE, /* an interface as a type; only in remote.idl */
};

struct idl_member {
    const char *name;
    const struct idl_type *type;
    struct idl_pos pos;
    struct idl_member *next;
};

struct idl_type {
    enum idl_kind kind;
    bool is_signed;             /* integers */
    const char *c_name;         /* NULL for arrays, sequences and strings without a typedef */
    /* bytes in C and on the wire; 0 for sequences, strings and handles, and for structs that have any inside */
    uint32_t size, align;
    const struct idl_type *of;  /* ALIAS, ARRAY, SEQUENCE: the type below; STRING: char or wchar */
    uint32_t count;             /* ARRAY */
    struct idl_member *members; /* STRUCT; ENUM: names only */
};

/* --- declarations */

enum idl_decl_kind { IDL_DECL_TYPE, IDL_DECL_CONST, IDL_DECL_ENUMERATOR, IDL_DECL_INTERFACE,
                     IDL_DECL_NAME /* a name that generated code takes */ };

struct idl_decl {
    enum idl_decl_kind kind;
    const char *c_name;
    const char *doc;             /* lines of the comment above it, without its marks; or NULL */
    bool is_mine;                /* not from an included file */
    const struct idl_type *type; /* TYPE; CONST: its type */
    int64_t value;               /* CONST, ENUMERATOR (the bit pattern of an unsigned long long) */
    const char *literal;         /* CONST of a floating or string type, as C spells it */
    struct idl_decl *next;
};

enum idl_dir { IDL_IN = 1, IDL_ROUT = 2, IDL_INROUT = 3 };

struct idl_param {
    const char *name;
    enum idl_dir dir;
    const struct idl_type *type;
    struct idl_pos pos;
    struct idl_param *next;
    /* of a deep method, see idl_deep.h: offsets of its `in` record, the one that asks, and the one that gives */
    uint32_t in_at, ask_at, rout_at;
};

/* One field of in-buffer 0 or out-buffer 0. */
struct idl_field {
    const char *name;
    const struct idl_type *type; /* NULL: a u32, a length or the method number */
    uint32_t offset;
    struct idl_field *next;
};

struct idl_prim {
    struct idl_field *fields; /* NULL: the method has no such buffer */
    uint32_t size;            /* with the padding at the end */
};

struct idl_method {
    const char *name, *c_name, *doc;
    struct idl_pos pos;
    uint32_t id;
    struct idl_param *params;
    /* set by idl_wire.c */
    struct idl_prim in, rout;
    uint32_t n_in, n_rout; /* buffers; with deep parameters those that every call has */
    bool is_deep;          /* has parameters that idl_deep.h is about, or wide strings */
    bool varies;           /* the number of buffers depends on the call */
    uint32_t n_dma_in, n_dma_rout;
    struct idl_method *next;
};

struct idl_interface {
    const char *name, *doc;
    struct idl_pos pos;
    bool is_mine;                    /* not from an included file */
    bool has_handle;                 /* derives from remote_handle64 */
    const struct idl_interface *base; /* another interface, whose methods come first; or NULL */
    struct idl_method *methods, **methods_end;
    struct idl_node *nodes; /* idl_deep.h */
    uint32_t n_methods; /* with open and close */
    struct idl_interface *next;
};

struct idl_include {
    const char *path;      /* as opened */
    const char *c_header;  /* "x.h" for "x.idl" */
    bool is_mine;          /* named by the main file */
    struct idl_include *next;
};

/* --- the compilation */

enum idl_token_kind { IDL_END, IDL_NAME, IDL_NUMBER, IDL_REAL, IDL_CHAR, IDL_TEXT, IDL_PUNCT,
                      IDL_INCLUDE };

struct idl_token {
    enum idl_token_kind kind;
    const char *text; /* as written; CHAR, TEXT: with quotes; INCLUDE: the file's name */
    uint64_t number;  /* NUMBER, CHAR */
    const char *doc;  /* the comment above, or NULL */
    struct idl_pos pos;
};

struct idl_condition {
    struct idl_pos pos;
    bool parent_on, on, was_else;
};

/* What is being read. */
struct idl_input {
    const char *file;
    const char *p, *end, *line_start;
    unsigned line, last_line; /* last_line: where the last token ended */
    struct idl_condition conditions[IDL_MAX_DEPTH];
    unsigned n_conditions;
};

struct hx_idl {
    struct idl_block *blocks; /* all memory */
    char *error;
    hx_idl_reader *read;
    const char *const *dirs;
    size_t n_dirs;

    struct idl_input *input;
    struct idl_token token; /* the next one */
    unsigned n_open_files, depth;
    bool is_wide; /* the expression so far has a number of 2^63 or more */
    bool is_main;                  /* reading the file that is compiled */
    const struct idl_interface *scope; /* the interface we are inside of, or NULL */
    struct idl_decl *macros;       /* of #define, newest first */

    const char *stem; /* file name without folder and .idl */
    struct idl_decl *decls, **decls_end;
    struct idl_include *includes, **includes_end;
    struct idl_interface *interfaces, **interfaces_end;
    const char *version; /* value of IDL_VERSION, without quotes; or NULL */
    bool uses_bool, uses_int64, uses_wchar, uses_string_struct, uses_wstring_struct, uses_dma;
};

/* --- idl_memory.c: without memory the process ends with a message */
struct hx_idl *idl_new(void); /* zeroed */
void idl_free(struct hx_idl *idl);
void *idl_alloc(struct hx_idl *idl, size_t bytes); /* zeroed */
char *idl_string(struct hx_idl *idl, const char *bytes, size_t n);
char *idl_format(struct hx_idl *idl, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void idl_fail(struct hx_idl *idl, const struct idl_pos *pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* --- idl_lex.c */
void idl_input_open(struct idl_input *in, const char *file, const char *text, size_t n);
void idl_next(struct hx_idl *idl); /* sets idl->token */
void idl_input_end(struct hx_idl *idl); /* complains about an open #if */

/* --- idl_expr.c */
int64_t idl_constant(struct hx_idl *idl, const struct idl_type *type);
uint32_t idl_count(struct hx_idl *idl); /* 1..IDL_MAX_BYTES */

/* --- idl_parse.c */
bool idl_parse_declaration(struct hx_idl *idl); /* typedef, struct, enum or const; false: none of them is next */

/* --- idl_include.c */
const char *idl_file_name(const char *path); /* what is behind the last slash */
/* The text of an included file, malloc'ed, and its path; NULL after an error. */
char *idl_open_include(struct hx_idl *idl, const struct idl_token *t, const char **path, size_t *n);

/* --- idl_file.c */
void idl_parse_file(struct hx_idl *idl, const char *text, size_t n, const char *file);

/* --- idl_interface.c */
void idl_parse_interface(struct hx_idl *idl, const char *doc);
const struct idl_interface *idl_interface_at(const struct hx_idl *idl, size_t n); /* of the main file; or NULL */

/* --- idl_builtin.c */
const struct idl_type *idl_builtin(const char *name); /* NULL: not built in */

/* --- idl_types.c */
const struct idl_type *idl_take_type(struct hx_idl *idl);
/* `[2][3]` behind a name: an array of 2 arrays of 3; without, base itself.  level: 0. */
const struct idl_type *idl_take_dimensions(struct hx_idl *idl, const struct idl_type *base,
                                           unsigned level);
/* Fails when a word comes next that IDL has and this compiler does not know. */
bool idl_refuse_unsupported(struct hx_idl *idl);

/* --- idl_names.c */
const struct idl_decl *idl_find(const struct hx_idl *idl, const char *name); /* in scope, its bases, outside */
struct idl_decl *idl_declare(struct hx_idl *idl, enum idl_decl_kind kind, const char *c_name,
                             const struct idl_pos *pos);
const struct idl_decl *idl_find_exact(const struct hx_idl *idl, const char *c_name);
const char *idl_c_safe(struct hx_idl *idl, const char *name);
const char *idl_scoped(struct hx_idl *idl, const char *name); /* the name in C here */
const char *idl_take_name(struct hx_idl *idl, const char *what);       /* of something: A, A::B */
const char *idl_take_new_name(struct hx_idl *idl, const char *what);   /* that is declared here */
const char *idl_take_local_name(struct hx_idl *idl, const char *what); /* member or parameter */
bool idl_is(const struct hx_idl *idl, const char *text);
bool idl_accept(struct hx_idl *idl, const char *text);
void idl_expect(struct hx_idl *idl, const char *text, const char *after);
void idl_unexpected(struct hx_idl *idl, const char *wanted);

/* --- idl_layout.c */
const struct idl_type *idl_resolve(const struct idl_type *t); /* through typedefs */
bool idl_is_fixed(const struct idl_type *t);                  /* neither sequence, string nor handle */
uint32_t idl_align_up(uint32_t at, uint32_t align);
void idl_add_field(struct hx_idl *idl, struct idl_prim *prim, const char *name,
                   const struct idl_type *type, const struct idl_pos *pos);

/* --- idl_wire.c */
void idl_wire_layout(struct hx_idl *idl, struct idl_interface *i);
uint32_t idl_scalars(const struct idl_method *m);

#endif
