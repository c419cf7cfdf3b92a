/* Mode and owner of the device nodes: parsing and checking the options. */
#include "access.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_MODE = 0666 };

/* Digits to the end of text[n] as a number of at most `max`; -1 when they are something else. */
static long number(const char *text, size_t n, int base, long max)
{
    char digits[16], *end;
    long v;

    if (n == 0 || n >= sizeof(digits) || text[0] < '0' || text[0] > '9')
        return -1;
    snprintf(digits, sizeof(digits), "%.*s", (int)n, text);
    v = strtol(digits, &end, base);
    return *end || v > max ? -1 : v;
}

static int parse_owner(struct hx_access *a, const char *owner)
{
    const size_t n = strcspn(owner, ":");
    long uid = a->uid, gid = a->gid;

    if (n || !owner[n])
        uid = number(owner, n, 10, UINT32_MAX - 1l);
    if (owner[n])
        gid = number(owner + n + 1, strlen(owner + n + 1), 10, UINT32_MAX - 1l);
    if (uid < 0 || gid < 0)
        return -EINVAL;
    a->uid = (uid_t)uid;
    a->gid = (gid_t)gid;
    return 0;
}

/* Whether chown() would succeed. */
static bool may_give(const struct hx_access *a)
{
    gid_t groups[1024];
    int n;

    if (geteuid() == 0 || (a->uid == geteuid() && a->gid == getegid()))
        return true;
    n = getgroups(sizeof(groups) / sizeof(groups[0]), groups);
    while (n > 0 && groups[n - 1] != a->gid)
        n--;
    return a->uid == geteuid() && n > 0;
}

int hx_access_parse(struct hx_access *a, const char *mode, const char *owner, char *why,
                    size_t why_bytes)
{
    long bits = mode ? number(mode, strlen(mode), 8, LARGEST_MODE) : 0660;

    *a = (struct hx_access){.set = mode || owner, .uid = geteuid(), .gid = getegid()};
    if (bits < 0 || (bits & ~LARGEST_MODE)) {
        snprintf(why, why_bytes,
                 "--mode '%s': not an octal mode of read and write bits, 0 to 0666", mode);
        return -EINVAL;
    }
    a->mode = (mode_t)bits;
    if (owner && parse_owner(a, owner)) {
        snprintf(why, why_bytes, "--owner '%s': not UID, UID:GID or :GID", owner);
        return -EINVAL;
    }
    if (a->set && !may_give(a)) {
        snprintf(why, why_bytes,
                 "--owner %u:%u: only root gives nodes to another user, or to a group "
                 "that it is not in", (unsigned)a->uid, (unsigned)a->gid);
        return -EPERM;
    }
    return 0;
}
