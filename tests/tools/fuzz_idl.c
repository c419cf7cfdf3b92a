/* Fuzz target: an IDL file from a stranger.  Includes lead to small files: one includes itself and the main file, one is
 * for the inside of an interface.  What compiles must give all of its outputs; what does not must say where. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "idl.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);

static const uint8_t *main_text;
static size_t main_bytes;

static char *read_one(const char *path, size_t *n)
{
    static const char remote[] = "interface remote_handle64 {\n"
                                 "  long open(in string uri, rout remote_handle64 h);\n"
                                 "  long close(in remote_handle64 h);\n};\n";
    static const char loop[] = "#ifndef L\n#define L\n#include \"loop.idl\"\n#include \"main.idl\"\n"
                               "typedef long AEEResult;\nstruct pair { long a, b; };\n#endif\n";
    static const char body[] = "struct pair { long a; string b; };\nlong late(in pair p, rout sequence<pair> q);\n";
    const void *from = NULL;

    if (strcmp(path, "main.idl") == 0)
        from = main_text, *n = main_bytes;
    else if (strcmp(path, "remote.idl") == 0)
        from = remote, *n = sizeof(remote) - 1;
    else if (strcmp(path, "loop.idl") == 0)
        from = loop, *n = sizeof(loop) - 1;
    else if (strcmp(path, "body.idl") == 0)
        from = body, *n = sizeof(body) - 1;
    char *copy = from ? malloc(*n ? *n : 1) : NULL; /* of exactly this size, for ASan */
    if (copy && *n)
        memcpy(copy, from, *n);
    return copy;
}

/* "main.idl:LINE:COLUMN: message", in a file that exists. */
static int is_message(const char *error)
{
    const char *colon = strchr(error, ':');

    return colon && colon[1] >= '1' && colon[1] <= '9' && strstr(colon, ": ") &&
           strlen(strstr(colon, ": ")) > 4;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static const char *const dirs[] = {"nowhere"};
    struct hx_idl *idl;
    int finding = 0;

    main_text = data;
    main_bytes = n;
    if (hx_idl_compile(&idl, "main.idl", read_one, dirs, 1)) {
        finding = !is_message(hx_idl_error(idl));
    } else {
        free(hx_idl_header(idl));
        free(hx_idl_layout(idl));
        for (size_t i = 0; hx_idl_interface(idl, i); i++) {
            free(hx_idl_stub(idl, i, i % 2 ? "other" : NULL));
            free(hx_idl_skel(idl, i, HX_IDL_CODES_DSP));
        }
    }
    hx_idl_close(idl);
    return finding;
}
