/* What is mounted at a rig's folder, by /proc/self/mountinfo: this asks no FUSE server. */
#include "hx_rig_internal.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in /proc/self/mountinfo: links resolved, but for the last part, and blanks as octal numbers. */
static int mountinfo_name(const char *dir, char *name, size_t bytes)
{
    char *copy = strdup(dir), *copy2 = strdup(dir), *parent = NULL, plain[PATH_MAX];
    size_t n = 0;

    if (copy && copy2)
        parent = realpath(dirname(copy), NULL);
    if (parent)
        snprintf(plain, sizeof(plain), "%s/%s", strcmp(parent, "/") ? parent : "", basename(copy2));
    free(copy);
    free(copy2);
    if (!parent)
        return -errno;
    free(parent);
    for (const char *p = plain; *p && n + 5 < bytes; p++)
        n += (size_t)snprintf(name + n, bytes - n, strchr(" \t\n\\", *p) ? "\\%03o" : "%c", *p);
    name[n] = '\0';
    return 0;
}

/* The n-th (from 0) field of a line of blank-separated ones; NULL when there are fewer. */
static char *field(char *line, int n)
{
    for (; line && n; n--) {
        line = strchr(line, ' ');
        line += line != NULL;
    }
    return line;
}

/* The kernel escapes blanks in whatever a user may choose, but nothing else: a source may read "user_id=0", so each value is taken
 * from its own field. */
static void parse_mount(char *at, struct hx_mount_info *m)
{
    char *kind = strstr(at, " - "), *options, *save = NULL;

    *m = (struct hx_mount_info){.rig = 0};
    if (!kind)
        return;
    kind += 3;
    options = field(kind, 2);
    m->rig = strncmp(kind, "fuse.hexrig ", 12) == 0;
    if (!options || strncmp(kind, "fuse", 4) != 0)
        return;
    for (char *o = strtok_r(options, ",\n", &save); o; o = strtok_r(NULL, ",\n", &save))
        if (strncmp(o, "user_id=", 8) == 0) {
            m->owned = 1;
            m->uid = (uid_t)strtoul(o + 8, NULL, 10);
        }
}

int hx_rig_find_mount(const char *dir, struct hx_mount_info *m)
{
    char want[PATH_MAX], *line = NULL, *at;
    size_t room = 0, n;
    FILE *f = mountinfo_name(dir, want, sizeof(want)) ? NULL : fopen("/proc/self/mountinfo", "re");
    int rc = -ENOENT;

    n = f ? strlen(want) : 0;
    while (f && getline(&line, &room, f) > 0) {
        at = field(line, 4); /* after id, parent, device, root */
        if (!at || strncmp(at, want, n) != 0 || at[n] != ' ')
            continue;
        parse_mount(at, m); /* the last one covers the others */
        rc = 0;
    }
    free(line);
    if (f)
        fclose(f);
    return rc;
}

int hx_rig_is_own_mount(const char *dir)
{
    struct hx_mount_info m;

    return hx_rig_find_mount(dir, &m) == 0 && m.rig && m.owned && m.uid == geteuid();
}
