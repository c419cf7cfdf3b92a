/* Tokens -> a file: its interfaces, its declarations, and the files that it includes. */
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

/* True when the file was included before. */
static bool was_seen(struct hx_idl *idl, const struct idl_include *inc)
{
    for (struct idl_include *o = idl->includes; o; o = o->next)
        if (strcmp(o->path, inc->path) == 0) {
            o->is_mine |= inc->is_mine;
            return true;
        }
    return false;
}

/* Each file is read once, however often it is included. */
static void parse_include(struct hx_idl *idl)
{
    struct idl_token t = idl->token;
    struct idl_include *inc = idl_alloc(idl, sizeof(*inc));
    const char *dot = strrchr(idl_file_name(t.text), '.');
    bool was_main = idl->is_main;
    size_t n = 0;
    char *text = idl_open_include(idl, &t, &inc->path, &n);

    inc->c_header = idl_format(idl, "%.*s.h", dot ? (int)(dot - t.text) : (int)strlen(t.text),
                               t.text);
    inc->is_mine = was_main;
    if (text && !was_seen(idl, inc)) {
        *idl->includes_end = inc;
        idl->includes_end = &inc->next;
        idl->is_main = false;
        idl_parse_file(idl, text, n, inc->path);
        idl->is_main = was_main;
    }
    free(text);
    idl_next(idl);
}

void idl_parse_file(struct hx_idl *idl, const char *text, size_t n, const char *file)
{
    struct idl_input *outer = idl->input, *in = idl_alloc(idl, sizeof(*in));

    idl_input_open(in, file, text, n);
    idl->input = in;
    idl->n_open_files++;
    idl_next(idl);
    while (!idl->error && idl->token.kind != IDL_END) {
        const char *doc = idl->token.doc;

        if (idl->token.kind == IDL_INCLUDE)
            parse_include(idl);
        else if (idl_accept(idl, "interface"))
            idl_parse_interface(idl, doc);
        else if (!idl_refuse_unsupported(idl) && !idl_parse_declaration(idl))
            idl_unexpected(idl, "interface, typedef, struct, enum, const or #include");
    }
    idl_input_end(idl);
    idl->n_open_files--;
    idl->input = outer;
}
