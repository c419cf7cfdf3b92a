/* A client by whichever libcdsprpc.so it was linked with: its skel reads a file of the host, lists a folder and asks for memory.
 * Usage: library_client FILE FOLDER.  0, or 1 and a line that says what was wrong. */
#include <stdio.h>
#include <string.h>

#include "hxt_host.h"
#include "rpcmem.h"

static int failed(const char *what, int rc, int result)
{
    fprintf(stderr, "library_client: %s: 0x%x, 0x%x\n", what, (unsigned)rc, (unsigned)result);
    return 1;
}

static int look(remote_handle64 h, const char *file, const char *folder)
{
    unsigned char text[256] = "", again[256] = "";
    char names[4096] = "";
    int n = 0, bytes = 0, result = -1, rc;
    uint64_t address = 0;
    int64_t size = 0;

    rc = hxt_host_read(h, file, 0, false, text, sizeof(text) - 1, &n, &result);
    if (rc || result || !n)
        return failed("read", rc, result);
    rc = hxt_host_ask(h, 2, file, &size, &result);
    if (rc || result || size != n)
        return failed("stat", rc, result);
    rc = hxt_host_list(h, folder, names, sizeof(names), &result);
    if (rc || result || !strstr(names, file))
        return failed("list", rc, result);
    rc = hxt_host_file_memory(h, file, again, sizeof(again), &bytes, &result);
    if (rc || result || bytes != n || memcmp(text, again, (size_t)n) != 0)
        return failed("file as memory", rc, result);
    rc = hxt_host_memory(h, 1 << 20, &address, &result);
    if (rc || result || !address)
        return failed("memory", rc, result);
    rc = hxt_host_read(h, "is/not/there", 0, false, text, sizeof(text), &n, &result);
    if (rc || result != 2)
        return failed("read what is not there", rc, result);
    return 0;
}

int main(int argc, char **argv)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    remote_handle64 h = 0;
    int rc, bad;

    if (argc != 3)
        return 2;
    rc = remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    if (!rc)
        rc = hxt_host_open(hxt_host_URI CDSP_DOMAIN, &h);
    if (rc)
        return failed("open", rc, 0);
    bad = look(h, argv[1], argv[2]);
    rc = hxt_host_close(h);
    return bad || rc;
}
