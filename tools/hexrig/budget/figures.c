/* Names of a report's figures. */
#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* name.key, as limits can have it.  malloc'ed. */
static char *join(const char *name, const char *key)
{
    char *path;

    if (asprintf(&path, "%s%s%s", name, *name ? "." : "", key) < 0)
        return NULL;
    for (char *c = path; *c; c++)
        if ((unsigned char)*c <= ' ' || strchr("#<=>*?[\\", *c))
            *c = '_';
    return path;
}

static int add(json_t *to, const char *name, const json_t *from)
{
    const char *key;
    json_t *v;
    int rc = 0;

    json_object_foreach((json_t *)from, key, v) {
        char *path = join(name, key);

        if (!path)
            return -1;
        if (json_is_object(v))
            rc = add(to, path, v);
        else if (json_is_number(v))
            rc = json_object_set_new(to, path, json_real(json_number_value(v)));
        free(path);
        if (rc)
            return rc;
    }
    return 0;
}

json_t *hx_figures(const json_t *groups)
{
    json_t *all = json_object();

    if (all && add(all, "", groups) == 0)
        return all;
    json_decref(all);
    return NULL;
}

/* The group that the name begins with, with its dot; "": none. */
static char *group_of(const json_t *groups, const char *name)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)groups, key, v) {
        char *group = join(key, "");

        if (!group || strncmp(group, name, strlen(group)) == 0)
            return group;
        free(group);
    }
    return strdup("");
}

int hx_figures_legal(const json_t *figures, const json_t *groups, const char *name, char **behind, char **legal)
{
    const json_t *from;
    size_t bytes, skip;
    const char *key;
    json_t *v;
    FILE *f = open_memstream(legal, &bytes);

    *behind = group_of(groups, name);
    if (!f || !*behind) {
        if (f)
            fclose(f);
        return -ENOMEM;
    }
    skip = strlen(*behind);
    from = skip ? figures : groups;
    json_object_foreach((json_t *)from, key, v)
        if (strncmp(key, *behind, skip) == 0)
            fprintf(f, "%s%s%s", ftell(f) ? ", " : "", key + skip, skip ? "" : ".*");
    return fclose(f) ? -ENOMEM : 0;
}
