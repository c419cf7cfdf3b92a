/* Reads a kernel's C source: HX_CODE(), HX_TRIPS() and its hash. */
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

char *hx_source_text(const char *path)
{
    FILE *f = fopen(path, "rbe");
    char *text = NULL;
    size_t n = 0;

    if (!f)
        return NULL;
    if (getdelim(&text, &n, '\0', f) < 0) { /* nothing, or an error */
        free(text);
        text = ferror(f) ? NULL : strdup("");
    }
    fclose(f);
    return text;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

static const char *end_of_literal(const char *s)
{
    const char quote = *s++;

    while (*s && *s != quote && *s != '\n')
        s += s[0] == '\\' && s[1] ? 2 : 1;
    return *s == quote ? s + 1 : s;
}

/* Comments become spaces, and where `literals` says so the insides of strings, too; lines stay lines. */
static void strip(char *text, bool literals)
{
    for (char *s = text; *s;) {
        if (*s == '"' || *s == '\'') {
            const char *end = end_of_literal(s);
            if (literals && end > s + 1)
                blank(s + 1, end - 1);
            s = (char *)end;
        } else if (s[0] == '/' && (s[1] == '*' || s[1] == '/')) {
            const char *end = s[1] == '*' ? strstr(s + 2, "*/") : strchrnul(s, '\n');
            end = !end ? s + strlen(s) : s[1] == '*' ? end + 2 : end;
            blank(s, end);
            s = (char *)end;
        } else {
            s++;
        }
    }
}

/* --- HX_CODE() and HX_TRIPS() */

/* The argument of `macro` at s, without spaces around; 0: another word stands there. */
static size_t argument(const char *s, const char *macro, const char **arg)
{
    const size_t n = strlen(macro);

    if (strncmp(s, macro, n) != 0)
        return 0;
    s += n + strspn(s + n, " \t");
    if (*s != '(')
        return 0;
    s += 1 + strspn(s + 1, " \t\n");
    *arg = s;
    return strcspn(s, " \t\n,)");
}

static int add_function(struct hx_source *s, const char *name, size_t n, unsigned line)
{
    for (size_t i = 0; i < s->functions; i++)
        if (strlen(s->function[i].name) == n && memcmp(s->function[i].name, name, n) == 0)
            return 0;
    if (s->functions == HX_SOURCE_FUNCTIONS || n >= HX_SOURCE_NAME) {
        fprintf(stderr, "%s:%u: HX_CODE(): more than %d functions, or a longer name than %d\n", s->path, line,
                HX_SOURCE_FUNCTIONS, HX_SOURCE_NAME - 1);
        return -1;
    }
    struct hx_source_function *f = &s->function[s->functions++];
    *f = (struct hx_source_function){.line = line};
    memcpy(f->name, name, n);
    return 0;
}

static int add_trips(const struct hx_source *s, struct hx_source_function *f, const char *level, unsigned line)
{
    const unsigned long n = strtoul(level, NULL, 0);

    if (n > 63) {
        fprintf(stderr, "%s:%u: %s: HX_TRIPS(%lu, ...): loops have numbers below 64\n", s->path, line, f->name, n);
        return -1;
    }
    if (!(f->told >> n & 1))
        f->line_told[n] = line;
    f->told |= 1ull << n;
    return 0;
}

/* One word of the source that may be either macro; `f` is the function that the word lies in. */
static int read_word(struct hx_source *s, const char *word, unsigned line, struct hx_source_function **f)
{
    const char *arg;
    size_t n = argument(word, "HX_CODE", &arg);

    if (n) {
        int rc = add_function(s, arg, n, line);
        *f = rc ? NULL : &s->function[s->functions - 1];
        return rc;
    }
    n = argument(word, "HX_TRIPS", &arg);
    return n && *f && isdigit((unsigned char)*arg) ? add_trips(s, *f, arg, line) : 0;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "#define HX_CODE(...)" tells of no function. */
static bool in_directive(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at[strspn(at, " \t")] == '#';
}

static int read_macros(struct hx_source *s, const char *text)
{
    struct hx_source_function *f = NULL;
    unsigned line = 1, depth = 0;

    for (const char *at = text; *at; at++) {
        line += *at == '\n';
        depth += *at == '{';
        if (*at == '}' && depth && --depth == 0)
            f = NULL;
        if (*at == 'H' && (at == text || !word_char(at[-1])) && !in_directive(text, at) && read_word(s, at, line, &f))
            return -1;
    }
    return 0;
}

int hx_source_read(struct hx_source *s, const char *path)
{
    char *text = hx_source_text(path);
    int rc;

    *s = (struct hx_source){.path = path};
    if (!text) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    strip(text, true);
    rc = read_macros(s, text);
    free(text);
    return rc;
}

/* --- the hash */

enum { MAX_FILES = 256 };

struct hashing {
    uint64_t value;
    const struct hx_source_flags *flags;
    char *seen[MAX_FILES]; /* real paths */
    size_t files;
};

static void hash_byte(struct hashing *h, char c)
{
    h->value = (h->value ^ (uint8_t)c) * 0x100000001b3; /* FNV-1a */
}

static void hash_string(struct hashing *h, const char *s)
{
    for (; *s; s++)
        hash_byte(h, *s);
    hash_byte(h, '\0');
}

/* Runs of white space are one, so that a new comment or indent changes nothing. */
static void hash_text(struct hashing *h, const char *s)
{
    while (*s) {
        const size_t n = strspn(s, " \t\r\n\f\v");

        if (n) {
            hash_byte(h, memchr(s, '\n', n) ? '\n' : ' ');
            s += n;
        } else {
            hash_byte(h, *s++);
        }
    }
}

static bool seen(struct hashing *h, const char *path)
{
    char *real = realpath(path, NULL);

    if (!real || h->files == MAX_FILES) {
        free(real);
        return true;
    }
    for (size_t i = 0; i < h->files; i++)
        if (strcmp(h->seen[i], real) == 0) {
            free(real);
            return true;
        }
    h->seen[h->files++] = real;
    return false;
}

static int hash_file(struct hashing *h, const char *path);

/* "name" in the includer's folder, else in those of -I; <name> only there.  What is found nowhere is the compiler's or ours. */
static void hash_include(struct hashing *h, const char *from, const char *name, size_t n, bool quoted)
{
    static const char table[] = ".listing.h";
    const char *slash = strrchr(from, '/');
    char path[PATH_MAX];

    if (n > strlen(table) && memcmp(name + n - strlen(table), table, strlen(table)) == 0)
        return;
    if (quoted) {
        snprintf(path, sizeof(path), "%.*s%.*s", slash ? (int)(slash - from + 1) : 0, from, (int)n, name);
        if (hash_file(h, path) == 0)
            return;
    }
    for (const char *const *dir = h->flags->include; *dir; dir++) {
        snprintf(path, sizeof(path), "%s/%.*s", *dir, (int)n, name);
        if (hash_file(h, path) == 0)
            return;
    }
}

static void hash_includes(struct hashing *h, const char *path, const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *s = line + strspn(line, " \t");
        if (*s != '#')
            continue;
        s += 1 + strspn(s + 1, " \t");
        if (strncmp(s, "include", 7) != 0)
            continue;
        s += 7 + strspn(s + 7, " \t");
        if (*s == '"' || *s == '<')
            hash_include(h, path, s + 1, strcspn(s + 1, "\">\n"), *s == '"');
    }
}

static int hash_file(struct hashing *h, const char *path)
{
    char *text = hx_source_text(path);

    if (!text)
        return -1;
    if (!seen(h, path)) {
        strip(text, false);
        hash_text(h, text);
        hash_includes(h, path, text);
    }
    free(text);
    return 0;
}

int hx_source_hash(uint64_t *hash, const char *path, const struct hx_source_flags *flags)
{
    struct hashing h = {.value = 0xcbf29ce484222325, .flags = flags};
    int rc = hash_file(&h, path);

    if (rc)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    for (const char *const *d = flags->define; *d; d++)
        hash_string(&h, *d);
    for (const char *const *f = hx_compiler_flags(); *f; f++)
        hash_string(&h, *f);
    while (h.files)
        free(h.seen[--h.files]);
    *hash = h.value;
    return rc;
}
