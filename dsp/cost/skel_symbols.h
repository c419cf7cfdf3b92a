/* The symbols of a loaded skel, static functions included: read from its file, which stays mapped.  Damaged files give fewer. */
#ifndef HX_SKEL_SYMBOLS_H
#define HX_SKEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct hx_skel_symbols {
    const uint8_t *file;
    size_t bytes;
    uint64_t inode;
    int64_t changed_ns; /* these two tell the file from one of its name */
    uintptr_t base; /* what symbols are relative to */
    uintptr_t from, to; /* where its code lies */
};

/* `handle` is dlopen()'s.  0 or negative errno. */
int hx_skel_symbols_open(struct hx_skel_symbols *s, void *handle);

/* Unmaps the file. */
void hx_skel_symbols_close(struct hx_skel_symbols *s);

/* Whether it wants a function whose name begins so from elsewhere. */
int hx_skel_imports(const struct hx_skel_symbols *s, const char *beginning);

/* The name by which it calls `function`, which is another library's; NULL: it does not. */
const char *hx_skel_import_of(const struct hx_skel_symbols *s, const void *function);

/* The name of the function at pc, or NULL.  It lies in the file, which nobody may change while it is loaded. */
const char *hx_skel_function_at(const struct hx_skel_symbols *s, uintptr_t pc);

#endif
