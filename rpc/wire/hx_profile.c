/* Profile files, see hx_profile.h. */
#include "hx_profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { REAL, COUNT };

static const struct key {
    const char *name;
    enum type type;
    size_t offset;
    double min, max;
} keys[] = {
    {"dispatch_us", REAL, offsetof(struct hx_profile, dispatch_us), 1e-3, 1e9},
    {"marshal_us_per_kib", REAL, offsetof(struct hx_profile, marshal_us_per_kib), 0, 1e6},
    {"share_us_per_buffer", REAL, offsetof(struct hx_profile, share_us_per_buffer), 0, 1e6},
    {"clock_mhz", REAL, offsetof(struct hx_profile, clock_mhz), 1, 1e5},
    {"hvx_contexts", COUNT, offsetof(struct hx_profile, hvx_contexts), 1, 16},
    {"sessions", COUNT, offsetof(struct hx_profile, sessions), 1, 14},
    {"poll_mode", COUNT, offsetof(struct hx_profile, poll_mode), 0, 1},
    {"capabilities", COUNT, offsetof(struct hx_profile, capabilities), 0, 1},
    {"dspqueue", COUNT, offsetof(struct hx_profile, dspqueue), 0, 1},
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static char *trim(char *s)
{
    size_t n;

    while (isspace((unsigned char)*s))
        s++;
    n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s;
}

static int find_key(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int store(struct hx_profile *p, const struct key *k, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= k->min && v <= k->max))
        return -EINVAL;
    if (k->type == COUNT) {
        if (v != (double)(unsigned)v)
            return -EINVAL;
        *(unsigned *)((char *)p + k->offset) = (unsigned)v;
    } else {
        *(double *)((char *)p + k->offset) = v;
    }
    return 0;
}

static int parse(struct hx_profile *p, FILE *f, const char *path, char *why, size_t why_bytes)
{
    char line[512];
    unsigned seen = 0, number = 0;

    while (fgets(line, sizeof(line), f)) {
        number++;
        line[strcspn(line, "#")] = '\0';
        char *text = trim(line), *eq = strchr(text, '=');
        if (!*text)
            continue;
        if (!eq) {
            snprintf(why, why_bytes, "%s:%u: '%s' is not `key = value`", path, number, text);
            return -EINVAL;
        }
        *eq = '\0';
        char *name = trim(text), *value = trim(eq + 1);
        int k = find_key(name);
        if (k < 0) {
            snprintf(why, why_bytes, "%s:%u: unknown key '%s'", path, number, name);
            return -EINVAL;
        }
        if (store(p, &keys[k], value)) {
            snprintf(why, why_bytes, "%s:%u: %s = '%s', legal is %g..%g", path, number, name, value,
                     keys[k].min, keys[k].max);
            return -EINVAL;
        }
        seen |= 1u << k;
    }
    for (size_t k = 0; k < N_KEYS; k++)
        if (!(seen & (1u << k))) {
            snprintf(why, why_bytes, "%s: key '%s' is missing", path, keys[k].name);
            return -EINVAL;
        }
    return 0;
}

static void set_name(struct hx_profile *p, const char *path)
{
    const char *base = strrchr(path, '/');

    snprintf(p->name, sizeof(p->name), "%.63s", base ? base + 1 : path);
    char *dot = strrchr(p->name, '.');
    if (dot && strcmp(dot, ".conf") == 0)
        *dot = '\0';
}

int hx_profile_load(struct hx_profile *p, const char *dir, const char *name, char *why,
                    size_t why_bytes)
{
    size_t n = strlen(name);
    int is_path = strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".conf") == 0);
    char path[4096];
    FILE *f;
    int rc;

    if (is_path)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s.conf", dir, name);
    memset(p, 0, sizeof(*p));
    f = fopen(path, "re");
    if (!f) {
        rc = -errno;
        snprintf(why, why_bytes, "profile '%s': %s: %s", name, path, strerror(-rc));
        return rc;
    }
    rc = parse(p, f, path, why, why_bytes);
    fclose(f);
    set_name(p, path);
    return rc;
}
