/* Shapes that somebody writes down: a file of `key = value` lines, or LxHxD. */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_impl.h"

enum { VERSION = 1 };

/* A number of the file: where it goes, and which are legal. */
static const struct key {
    const char *name;
    size_t at;       /* of a size_t in struct hx_geometry */
    size_t min, max;
    int needed;
} keys[] = {
    {"layers", offsetof(struct hx_geometry, n_layer), 1, 4096, 1},
    {"heads", offsetof(struct hx_geometry, n_head), 1, 4096, 1},
    {"kv_heads", offsetof(struct hx_geometry, n_kv), 1, 4096, 0},
    {"head_size", offsetof(struct hx_geometry, dh), 1, 4096, 1},
    {"width", offsetof(struct hx_geometry, width), 1, 1 << 20, 0},
    {"ffn", offsetof(struct hx_geometry, ffn), 0, 1 << 20, 0},
    {"vocabulary", offsetof(struct hx_geometry, vocab), 0, HX_GEOMETRY_MOST, 0},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* A file that is being read. */
struct reader {
    struct hx_geometry *g;
    struct hx_error *err;
    size_t line;
    int version, gate;         /* 1: was there */
    int seen[KEYS];
};

static size_t *field(struct hx_geometry *g, const struct key *k)
{
    return (size_t *)(void *)((char *)g + k->at);
}

static int refuse_number(const struct reader *r, const char *key, const char *value, size_t min, size_t max)
{
    return hx_error_set(r->err, -EINVAL, "%s:%zu: %s: '%.64s' is no integer from %zu to %zu", r->g->name, r->line, key, value, min, max);
}

/* A number without anything behind it.  -1: it is none, or out of range. */
static int read_number(const char *value, size_t min, size_t max, size_t *out)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || n < min || n > max)
        return -1;
    *out = n;
    return 0;
}

static int take_version(struct reader *r, const char *value)
{
    size_t version;

    if (read_number(value, VERSION, VERSION, &version))
        return hx_error_set(r->err, -EINVAL, "%s:%zu: version '%.64s'; legal: %d", r->g->name, r->line, value, VERSION);
    r->version = 1;
    return 0;
}

static int take_gate(struct reader *r, const char *value)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: gate: unknown value '%.64s'; legal: yes, no", r->g->name, r->line, value);
    r->g->gated = *value == 'y';
    r->gate = 1;
    return 0;
}

static int unknown(const struct reader *r, const char *key)
{
    char legal[128] = "version";

    for (size_t i = 0; i < KEYS; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), ", %s", keys[i].name);
    return hx_error_set(r->err, -EINVAL, "%s:%zu: unknown key '%.64s'; legal: %s, gate", r->g->name, r->line, key, legal);
}

static int take(struct reader *r, const char *key, const char *value)
{
    const int version = strcmp(key, "version") == 0, gate = strcmp(key, "gate") == 0;
    int twice = (version && r->version) || (gate && r->gate);
    size_t i = 0;

    while (i < KEYS && strcmp(keys[i].name, key) != 0)
        i++;
    twice |= i < KEYS && r->seen[i];
    if (twice)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: %s for the second time", r->g->name, r->line, key);
    if (version || gate)
        return version ? take_version(r, value) : take_gate(r, value);
    if (i == KEYS)
        return unknown(r, key);
    r->seen[i] = 1;
    return read_number(value, keys[i].min, keys[i].max, field(r->g, &keys[i]))
               ? refuse_number(r, key, value, keys[i].min, keys[i].max) : 0;
}

/* Without what is white at both ends; changes the text. */
static char *trim(char *s)
{
    size_t n;

    s += strspn(s, " \t\r");
    n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

static int take_line(struct reader *r, char *line)
{
    char *eq;

    line[strcspn(line, "#")] = '\0';
    line = trim(line);
    if (!*line)
        return 0;
    eq = strchr(line, '=');
    if (!eq)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: '%.64s' is no KEY = VALUE", r->g->name, r->line, line);
    *eq = '\0';
    return take(r, trim(line), trim(eq + 1));
}

/* What was not said, and what does not go together. */
static int complete(struct reader *r)
{
    struct hx_geometry *g = r->g;

    if (!r->version)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: version is missing; legal: %d", g->name, r->line, VERSION);
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].needed && !r->seen[i])
            return hx_error_set(r->err, -EINVAL, "%s:%zu: %s is missing; legal: %zu to %zu", g->name, r->line, keys[i].name, keys[i].min,
                                keys[i].max);
    g->n_kv = g->n_kv ? g->n_kv : g->n_head;
    g->width = g->width ? g->width : g->n_head * g->dh;
    if (g->n_head % g->n_kv)
        return hx_error_set(r->err, -EINVAL, "%s:%zu: kv_heads: %zu; legal: divisors of heads, %zu", g->name, r->line, g->n_kv, g->n_head);
    return 0;
}

int hx_geometry_read_text(struct hx_geometry *g, const char *text, struct hx_error *err)
{
    struct reader r = {.g = g, .err = err};
    char *copy = strdup(text), *rest = copy;
    int rc = copy ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);

    g->gated = 1;
    g->rope_base = 1e4f;
    for (char *line; !rc && (line = strsep(&rest, "\n"));) {
        if (!rest && !*line) /* behind the last line's end */
            break;
        r.line++;
        rc = take_line(&r, line);
    }
    free(copy);
    return rc ? rc : complete(&r);
}

/* --- LxHxD */

static int bad_spec(const struct hx_geometry *g, struct hx_error *err)
{
    return hx_error_set(err, -EINVAL, "'%.64s' is no LAYERSxHEADS[/KV_HEADS]xHEAD_SIZE[xWIDTH[xFFN[xVOCABULARY]]]", g->name);
}

/* Of "HEADS/KV_HEADS" and of everything between two x. */
static int take_word(struct reader *r, size_t at, char *word)
{
    static const char *const order[] = {"layers", "heads", "head_size", "width", "ffn", "vocabulary"};
    char *kv = strchr(word, '/');
    int rc = 0;

    if (at >= sizeof(order) / sizeof(order[0]) || (kv && strcmp(order[at], "heads") != 0))
        return bad_spec(r->g, r->err);
    if (kv) {
        *kv = '\0';
        rc = take(r, "kv_heads", kv + 1);
    }
    return rc ? rc : take(r, order[at], word);
}

int hx_geometry_read_spec(struct hx_geometry *g, struct hx_error *err)
{
    struct reader r = {.g = g, .err = err, .line = 1, .version = 1};
    char *copy = strdup(g->name), *rest = copy;
    size_t n = 0;
    int rc = copy ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);

    g->gated = 1;
    g->rope_base = 1e4f;
    for (char *word; !rc && (word = strsep(&rest, "x")); n++)
        rc = take_word(&r, n, word);
    free(copy);
    return rc ? rc : n < 3 ? bad_spec(g, err) : complete(&r);
}
