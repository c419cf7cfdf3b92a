/* Deep types: structs with sequences, strings or DMA handles inside, and sequences of such, or of strings or sequences.
 *
 * What is of fixed size in them travels in records, everything else in buffers of its own.  A deep value has up to two records:
 * an `in` value one of its fixed parts and all lengths, in primIn; a `rout` value one that asks (lengths, in primIn) and one
 * that gives (fixed parts, in primROut).  Members lie in a record in order and naturally aligned, a struct's record in
 * its outer one likewise.  A sequence of deep elements has its length in the record; the elements' records are one
 * buffer (two for rout: an in buffer that asks, an out buffer that gives), then come the elements' own buffers, element by
 * element.  An empty record has no buffer.  So buffers of one direction are in order of declaration, depth first.
 *
 * DMA handles are no part of records: they are handle arguments, in the same order. */
#ifndef HX_IDL_DEEP_H
#define HX_IDL_DEEP_H

#include "idl_emit.h"

enum idl_role { IDL_ROLE_IN, IDL_ROLE_ASK, IDL_ROLE_GIVE };

enum { IDL_MAX_ELEMENTS = 255 }; /* of a deep sequence: each has a buffer or a handle */

/* A struct in C of which generated code needs functions: a deep struct, or the pointer and length of an element. */
struct idl_node {
    const struct idl_type *key; /* resolved */
    const char *c_name;
    const struct idl_member *members;
    bool in, rout; /* directions in which it occurs */
    bool any_get;  /* rout: has something to copy or to end with a NUL */
    struct idl_node *next;
};

enum idl_kind idl_kind_of(const struct idl_type *t); /* resolved */
bool idl_is_deep(const struct idl_type *t);
bool idl_method_is_deep(const struct idl_method *m);

/* Bytes (a multiple of the alignment) and alignment of a value's record; {0, 1}: none. */
struct idl_record {
    uint32_t size, align;
};
struct idl_record idl_record_of(const struct idl_type *t, enum idl_role role);

/* Offset of the member behind `at`, the end of what lies before it; *at moves behind the member. */
uint32_t idl_record_place(const struct idl_type *t, enum idl_role role, uint32_t *at);

/* Lays out one parameter of a deep method and collects the nodes that it needs, inner ones first. */
void idl_deep_add_param(struct hx_idl *idl, struct idl_interface *i, struct idl_method *m,
                        struct idl_param *p);

const struct idl_node *idl_node_of(const struct idl_interface *i, const struct idl_type *t);

/* How a value of type `t` called `name` is reached: prefix "_v->" inside a node, "" for a parameter. */
struct idl_value {
    const struct idl_type *type;
    const char *prefix, *name;
    bool by_address; /* a parameter that is a pointer already */
    uint32_t at;     /* in its record */
};
void idl_put_address(struct idl_text *t, const struct idl_value *v);

/* Statements that stub and skel share.  rec: the pointer in the generated code to the record where the value lies; a boolean
 * that comes out of one may be any byte. */
void idl_put_to_record(struct idl_text *t, const struct idl_value *v, const char *rec);
void idl_put_from_record(struct idl_text *t, const struct idl_value *v, const char *rec);

/* Calls `function` ("_in" or "_rout") of a deep struct's node. */
void idl_put_struct(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                    const char *function, const char *rec);

/* The same for each element of a deep sequence; their records of `bytes` lie from _r on. */
void idl_put_elements(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                      const char *function, uint32_t bytes);

/* Writes what is done with one value, whose record is the pointer `rec` in the generated code. */
typedef void idl_put_member(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                            const char *rec);

/* The body of a node's function: local variables, `put` for each member in its record _rec, the end. */
void idl_put_node_body(struct idl_text *t, const struct idl_interface *i, const struct idl_node *n,
                       enum idl_role role, idl_put_member *put);

/* Both return the text of all functions, one for each node, and for each deep method. */
void idl_put_deep_stub(struct idl_text *t, const struct idl_interface *i, const char *invoke); /* invoke: of methods with a handle */
void idl_put_deep_stub_method(struct idl_text *t, const struct idl_interface *i,
                              const struct idl_method *m);
void idl_put_deep_skel(struct idl_text *t, const struct idl_interface *i);
void idl_put_deep_skel_method(struct idl_text *t, const struct idl_interface *i,
                              const struct idl_method *m, enum hx_idl_codes codes);
bool idl_has_deep(const struct idl_interface *i);
bool idl_has_dma(const struct idl_interface *i); /* once its nodes are collected */

#endif
