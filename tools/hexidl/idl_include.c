/* Finds and reads the files that others include. */
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

const char *idl_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Beside the including file first, then in the given folders. */
static const char *find_include(struct hx_idl *idl, const char *name, char **text, size_t *n)
{
    const char *from = idl->input->file;
    int folder = (int)(idl_file_name(from) - from);
    const char *path = name[0] == '/' ? name : idl_format(idl, "%.*s%s", folder, from, name);

    *text = idl->read ? idl->read(path, n) : NULL;
    for (size_t i = 0; i < idl->n_dirs && !*text && idl->read; i++) {
        path = idl_format(idl, "%s/%s", idl->dirs[i], name);
        *text = idl->read(path, n);
    }
    return path;
}

char *idl_open_include(struct hx_idl *idl, const struct idl_token *t, const char **path, size_t *n)
{
    char *text = NULL;

    *path = find_include(idl, t->text, &text, n);
    if (!text)
        idl_fail(idl, &t->pos, "cannot read '%.200s'", t->text);
    else if (idl->n_open_files == IDL_MAX_INCLUDES)
        idl_fail(idl, &t->pos, "more than %d files inside one another", IDL_MAX_INCLUDES);
    if (idl->error) {
        free(text);
        return NULL;
    }
    return text;
}
