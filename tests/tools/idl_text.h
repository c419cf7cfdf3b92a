/* IDL texts compiled in memory, for the tests of the IDL compiler. */
#ifndef IDL_TEXT_H
#define IDL_TEXT_H

#include <stdlib.h>

#include "hxt.h"
#include "idl.h"

/* --- files in memory: a name and a text each */

static const char *files[8];

static inline char *read_one(const char *path, size_t *n)
{
    for (size_t i = 0; i + 1 < HXT_LEN(files) && files[i]; i += 2)
        if (strcmp(files[i], path) == 0) {
            *n = strlen(files[i + 1]);
            return strdup(files[i + 1]);
        }
    return hx_idl_read_file(path, n);
}

#define REMOTE "#include \"AEEStdDef.idl\"\n#include \"remote.idl\"\n"

static inline struct hx_idl *compile(const char *text)
{
    static const char *const dirs[] = {HXT_SRC "/rpc/idl-include"};
    struct hx_idl *idl;

    files[0] = "d/main.idl";
    files[1] = text;
    hx_idl_compile(&idl, "d/main.idl", read_one, dirs, 1);
    return idl;
}

static inline void expect_layout(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (hx_idl_error(idl))
        fail_msg("%s", hx_idl_error(idl));
    char *layout = hx_idl_layout(idl);
    assert_string_equal(layout, want);
    free(layout);
    hx_idl_close(idl);
}

static inline void expect_in_header(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (hx_idl_error(idl))
        fail_msg("%s", hx_idl_error(idl));
    char *header = hx_idl_header(idl);
    if (!strstr(header, want))
        fail_msg("no '%s' in:\n%s", want, header);
    free(header);
    hx_idl_close(idl);
}

#define HANDLE_METHODS "0 open sc=0x00020001\n1 close sc=0x01000010\n"

#endif
