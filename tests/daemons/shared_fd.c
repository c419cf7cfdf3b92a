/* A client of a session that a daemon has: hexagonrpcd -p starts it with the open file in HEXAGONRPC_FD, and serves what the skel of this
 * program asks its host.  Usage: shared_fd NAME: prints the file, which the skel hxt_host reads; no library of ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "remote_scalars.h"

enum { M_READ = 2, TRIES = 500 };

static struct fastrpc_invoke_args arg(void *p, size_t n)
{
    return (struct fastrpc_invoke_args){.ptr = (uintptr_t)p, .length = n, .fd = -1};
}

static int call(int fd, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args)
{
    struct fastrpc_invoke inv = {.handle = handle, .sc = sc, .args = (uintptr_t)args};

    return ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv);
}

/* remotectl's open; the DSP's handle in *handle. */
static int open_skel(int fd, uint32_t *handle)
{
    char uri[] = "file:///libhxt_host_skel.so?hxt_host_skel_handle_invoke&_modver=1.0", why[256];
    uint32_t in[2] = {sizeof(uri), sizeof(why)}, out[2];
    struct fastrpc_invoke_args args[4] = {arg(in, sizeof(in)), arg(uri, sizeof(uri)), arg(out, sizeof(out)), arg(why, sizeof(why))};
    int rc = call(fd, FASTRPC_HANDLE_REMOTECTL, REMOTE_SCALARS_MAKE(0, 2, 2), args);

    *handle = out[0];
    return rc ? rc : (int)out[1];
}

/* read(name, 0, false) of hxt_host.idl: the skel's errno in *error. */
static int read_file(int fd, uint32_t handle, char *name, char *text, uint32_t room, int32_t *n, int32_t *error)
{
    struct {
        uint32_t name_bytes;
        int32_t offset;
        uint8_t from_end, pad[3];
        uint32_t room;
    } in = {(uint32_t)strlen(name) + 1, 0, 0, {0}, room};
    int32_t out[2] = {0, -1};
    struct fastrpc_invoke_args args[4] = {arg(&in, sizeof(in)), arg(name, in.name_bytes), arg(out, sizeof(out)), arg(text, room)};
    int rc = call(fd, handle, REMOTE_SCALARS_MAKE(M_READ, 2, 2), args);

    *n = out[0];
    *error = out[1];
    return rc;
}

int main(int argc, char **argv)
{
    const char *number = getenv("HEXAGONRPC_FD");
    char *name = argc > 1 ? argv[1] : getenv("SHARED_FD_FILE"); /* hexagonrpcd gives its programs no arguments */
    int32_t n = 0, error = -1;
    char text[256] = "";
    uint32_t handle;
    int fd = number ? atoi(number) : -1, rc;

    if (fd < 0 || !name)
        return 2;
    rc = open_skel(fd, &handle);
    for (int i = 0; !rc && error && i < TRIES; i++) { /* until the daemon listens */
        rc = read_file(fd, handle, name, text, sizeof(text), &n, &error);
        if (error)
            usleep(20000);
    }
    printf("shared_fd: open and read 0x%x, errno %d: %.*s\n", (unsigned)rc, error, n > 0 ? n : 0, text);
    fflush(stdout);
    return rc || error;
}
