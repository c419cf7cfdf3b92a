/* The regular expressions that cut text into words, written out by hand. */
#include "pretok.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/unicode.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static enum hx_char_class class_at(const char *s, size_t n)
{
    uint32_t c;

    hx_utf8_next(s, n, &c);
    return hx_char_class(c);
}

static int same_letter(char a, char b, int any_case)
{
    return a == b || (any_case && (a | 0x20) == b);
}

/* 's, 't, 're, ...; any_case: 'S, 'Re, ..., too */
static size_t contraction(const char *s, size_t n, int any_case)
{
    static const char *const tails[] = {"s", "t", "re", "ve", "m", "ll", "d"};

    if (s[0] != '\'')
        return 0;
    for (size_t i = 0; i < LEN(tails); i++) {
        size_t len = strlen(tails[i]), same = 0;

        while (same < len && 1 + same < n && same_letter(s[1 + same], tails[i][same], any_case))
            same++;
        if (same == len)
            return 1 + len;
    }
    return 0;
}

/* Bytes at the start of s whose characters are of class `want`, at most `most` characters. */
static size_t run_of(const char *s, size_t n, enum hx_char_class want, size_t most)
{
    size_t used = 0;

    for (; used < n && most; most--) {
        uint32_t c;
        size_t len = hx_utf8_next(s + used, n - used, &c);

        if (hx_char_class(c) != want)
            break;
        used += len;
    }
    return used;
}

static int is_newline(char c)
{
    return c == '\r' || c == '\n';
}

/* \s+(?!\S)|\s+: a run of spaces leaves its last one to the word that follows, unless it is the only one.
 * lines: before that, \s*[\r\n]+: a run with line ends stops behind the last of them. */
static size_t spaces(const char *s, size_t n, int lines)
{
    size_t used = 0, before_last = 0, line = 0;

    while (used < n) {
        uint32_t c;
        size_t len = hx_utf8_next(s + used, n - used, &c);

        if (hx_char_class(c) != HX_CHAR_SPACE)
            break;
        before_last = used;
        used += len;
        if (lines && is_newline(s[used - 1]))
            line = used;
    }
    if (line)
        return line;
    return used < n && before_last ? before_last : used;
}

static size_t gpt2(const char *s, size_t n)
{
    size_t len = contraction(s, n, 0), lead = s[0] == ' ' && n > 1;
    enum hx_char_class class;

    if (len)
        return len;
    class = class_at(s + lead, n - lead);
    if (class == HX_CHAR_SPACE)
        return spaces(s, n, 0);
    return lead + run_of(s + lead, n - lead, class, SIZE_MAX);
}

/* What llama-bpe and qwen2 share; they differ in how many digits make a word. */
static size_t modern(const char *s, size_t n, size_t digits)
{
    size_t len = contraction(s, n, 1), lead;
    enum hx_char_class class, next;
    uint32_t c;

    if (len)
        return len;
    lead = hx_utf8_next(s, n, &c);
    class = hx_char_class(c);
    if (class == HX_CHAR_LETTER)
        return run_of(s, n, HX_CHAR_LETTER, SIZE_MAX);
    if (class == HX_CHAR_NUMBER)
        return run_of(s, n, HX_CHAR_NUMBER, digits);
    next = lead < n ? class_at(s + lead, n - lead) : HX_CHAR_SPACE;
    if (next == HX_CHAR_LETTER && !is_newline(s[0]))
        return lead + run_of(s + lead, n - lead, HX_CHAR_LETTER, SIZE_MAX);
    if (class == HX_CHAR_SPACE && !(s[0] == ' ' && next == HX_CHAR_OTHER))
        return spaces(s, n, 1);
    len = class == HX_CHAR_SPACE; /* that one space */
    len += run_of(s + len, n - len, HX_CHAR_OTHER, SIZE_MAX);
    while (len < n && is_newline(s[len]))
        len++;
    return len;
}

static size_t llama3(const char *s, size_t n)
{
    return modern(s, n, 3);
}

static size_t qwen2(const char *s, size_t n)
{
    return modern(s, n, 1);
}

/* A run of characters that are `in`, at most `most`, or all that lies before the next of them. */
static size_t alternate(const char *s, size_t n, int (*in)(uint32_t), size_t most)
{
    size_t used = 0;
    int first = 0;

    while (used < n) {
        uint32_t c;
        size_t len = hx_utf8_next(s + used, n - used, &c);
        int is = in(c);

        if (used == 0)
            first = is;
        else if (is != first || (is && !most))
            break;
        used += len;
        most -= is;
    }
    return used;
}

static int is_number(uint32_t c)
{
    return hx_char_class(c) == HX_CHAR_NUMBER;
}

static int is_mark(uint32_t c)
{
    return (c && c < 0x80 && strchr("$+<=>^~|", (int)c)) || hx_char_is_punct(c);
}

static size_t each_number(const char *s, size_t n)
{
    return alternate(s, n, is_number, 1);
}

static size_t numbers(const char *s, size_t n)
{
    return alternate(s, n, is_number, SIZE_MAX);
}

static size_t marks(const char *s, size_t n)
{
    return alternate(s, n, is_mark, SIZE_MAX);
}

static size_t three_digits(const char *s, size_t n)
{
    size_t run = 0;

    for (size_t i = 0; i < n; i++) {
        run = s[i] >= '0' && s[i] <= '9' ? run + 1 : 0;
        if (run == 3)
            return i == 2 ? 3 : i - 2;
    }
    return n;
}

static const struct hx_pretok expr_gpt2 = {{gpt2}, 0, 0};
static const struct hx_pretok expr_llama3 = {{llama3}, 1, 1};
static const struct hx_pretok expr_dbrx = {{llama3}, 0, 0};
static const struct hx_pretok expr_qwen2 = {{qwen2}, 0, 0};
static const struct hx_pretok expr_smollm = {{each_number, gpt2}, 0, 0};
static const struct hx_pretok expr_default = {{marks, gpt2, numbers, three_digits}, 0, 0};

static const struct {
    const char *name;
    const struct hx_pretok *how;
} names[] = {
    {"gpt-2", &expr_gpt2},         {"olmo", &expr_gpt2},        {"gpt-neox", &expr_gpt2},
    {"mpt", &expr_gpt2},           {"phi-2", &expr_gpt2},       {"jais", &expr_gpt2},
    {"exaone4", &expr_gpt2},       {"trillion", &expr_gpt2},    {"llama-bpe", &expr_llama3},
    {"llama3", &expr_llama3},      {"llama-v3", &expr_llama3},  {"falcon3", &expr_llama3},
    {"lfm2", &expr_llama3},        {"dbrx", &expr_dbrx},        {"smaug-bpe", &expr_dbrx},
    {"qwen2", &expr_qwen2},        {"stablelm2", &expr_qwen2},  {"deepseek-r1-qwen", &expr_qwen2},
    {"megrez", &expr_qwen2},       {"smollm", &expr_smollm},    {"starcoder", &expr_smollm},
    {"refact", &expr_smollm},      {"command-r", &expr_smollm}, {"codeshell", &expr_smollm},
    {"exaone", &expr_smollm},      {"minerva-7b", &expr_smollm}, {"default", &expr_default},
};

const struct hx_pretok *hx_pretok_find(const char *name, size_t n)
{
    for (size_t i = 0; i < LEN(names); i++)
        if (strlen(names[i].name) == n && memcmp(names[i].name, name, n) == 0)
            return names[i].how;
    return NULL;
}

void hx_pretok_names(char *out, size_t n)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < LEN(names) && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s", i ? ", " : "", names[i].name);
}

void hx_pretok_start(struct hx_pretok_cursor *c, const struct hx_pretok *how, const char *s,
                     size_t n)
{
    *c = (struct hx_pretok_cursor){.how = how, .s = s, .n = n};
}

size_t hx_pretok_next(struct hx_pretok_cursor *c)
{
    size_t limit = c->n, start = c->at;

    if (start == c->n)
        return 0;
    for (size_t k = 0; k < HX_PRETOK_STEPS && c->how->steps[k]; k++) {
        if (c->end[k] == start)
            c->end[k] = start + c->how->steps[k](c->s + start, limit - start);
        limit = c->end[k];
    }
    c->at = limit;
    return limit - start;
}
