/* Whether the rig behind a FUSE node can follow this process's pointers and take its descriptors, and which node to use when
 * it cannot. */
#include "hx_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "hx_reach.h"
#include "hx_rig_internal.h"

/* 1: not a rig's node, or one that reaches this process. */
static int reaches(int status, int sample, struct hx_reach *r)
{
    static const uint64_t word = 1;

    *r = (struct hx_reach){.addr = (uintptr_t)&word, .fd = sample};
    return ioctl(status, HX_IOCTL_REACH, r) || (r->memory == 0 && r->descriptor == 0);
}

/* Yama's way to let one more process in.  A process has one such grant, which this may take from a crash handler, so it is
 * used only where nothing else helps; a number from another PID namespace would mean somebody else. */
static int allow_rig(const struct hx_reach *r)
{
    return access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0 && r->caller_pid == getpid() &&
           r->rig_pid > 1 && prctl(PR_SET_PTRACER, r->rig_pid, 0, 0, 0) == 0;
}

static int unreachable(int status, struct hx_reach *r)
{
    int sample = eventfd(0, EFD_CLOEXEC), no;

    if (sample < 0)
        return 0; /* opening the node will fail in the same way */
    no = !reaches(status, sample, r) && !(allow_rig(r) && reaches(status, sample, r));
    close(sample);
    return no;
}

/* "DIR/fastrpc-cdsp" of the rig whose status file this is, DIR being its sockets' folder. */
static int find_socket(int status, const char *name, char *node, size_t bytes)
{
    char text[4096], dir[HX_PATH_BYTES];
    ssize_t n = pread(status, text, sizeof(text) - 1, 0);

    if (n < 0)
        return -errno;
    text[n] = '\0';
    hx_rig_value(text, "sockets", dir, sizeof(dir));
    return *dir ? hx_rig_join(node, bytes, dir, name) : -ENOENT;
}

int hx_transport_detour(const char *node, char *instead, size_t bytes)
{
    const char *slash = strrchr(node, '/'), *name = slash ? slash + 1 : node;
    char path[HX_PATH_BYTES];
    struct hx_reach r;
    int status, rc = -ENOENT;

    if ((size_t)snprintf(path, sizeof(path), "%.*sstatus", (int)(name - node), node) >=
        sizeof(path))
        return rc;
    status = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (status < 0)
        return rc;
    if (unreachable(status, &r)) {
        rc = find_socket(status, name, instead, bytes);
        if (rc)
            fprintf(stderr, "libcdsprpc: %s: the rig (pid %d) may not read this process's memory (%s), "
                    "and it has no sockets beside its mount; start it as root, or let it: "
                    "prctl(PR_SET_DUMPABLE, 1)\n", node, (int)r.rig_pid,
                    strerror(-(r.memory ? r.memory : r.descriptor)));
    }
    close(status);
    return rc;
}
