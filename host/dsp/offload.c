/* Reads and writes --offload lists, see offload.h. */
#include "offload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/matrix.h"

_Static_assert(HX_OFFLOAD_OUT == 1 << HX_OUT && HX_OFFLOAD_DOWN == 1 << HX_DOWN, "one order of matrices");

static int is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(word, name, n) == 0;
}

static uint32_t matrix(const char *word, size_t n)
{
    for (size_t i = 0; i < HX_MATRICES; i++)
        if (is(word, n, hx_matrix_names[i]))
            return 1u << i;
    return 0;
}

/* Words that stand by themselves, with what each implies. */
static const struct {
    const char *name;
    uint32_t own, set;
} parts[] = {
    {"linear", 0, HX_OFFLOAD_LINEAR},
    {"argmax", HX_OFFLOAD_ARGMAX, HX_OFFLOAD_ARGMAX | HX_OFFLOAD_OUT},
    {"kv", HX_OFFLOAD_KV, HX_OFFLOAD_KV},
    {"attn", HX_OFFLOAD_ATTN, HX_OFFLOAD_ATTN | HX_OFFLOAD_KV},
    {"layer", HX_OFFLOAD_LAYER, HX_OFFLOAD_LAYER},
};
enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };

static uint32_t part(const char *word, size_t n)
{
    for (size_t i = 0; i < N_PARTS; i++)
        if (is(word, n, parts[i].name))
            return parts[i].set;
    return 0;
}

int hx_offload_parse(const char *list, uint32_t *set, struct hx_error *err)
{
    static const char prefix[] = "linear=";
    const size_t skip = sizeof(prefix) - 1;
    int named = 0; /* behind "linear=" */

    for (const char *word = list;; word++) {
        size_t n = strcspn(word, ",");

        const int first = n >= skip && memcmp(word, prefix, skip) == 0;

        if (first) {
            named = 1;
            word += skip;
            n -= skip;
        }
        const uint32_t one = named ? matrix(word, n) : 0;

        if (one)
            *set |= one;
        else if (!first && part(word, n))
            *set |= part(word, n);
        else
            return hx_error_set(err, -EINVAL, "unknown value '%.*s'; legal: kv, attn, layer, linear, linear=NAME,... of "
                              "wq, wk, wv, wo, gate, up, down, out; argmax",
                              (int)(n < 64 ? n : 64), word);
        word += n;
        if (!*word)
            return 0;
    }
}

static void add(char *text, const char *separator, const char *name)
{
    const size_t n = strlen(text);

    snprintf(text + n, HX_OFFLOAD_TEXT - n, "%s%s", n ? separator : "", name);
}

void hx_offload_text(uint32_t set, char text[HX_OFFLOAD_TEXT])
{
    *text = '\0';
    if ((set & HX_OFFLOAD_LINEAR) == HX_OFFLOAD_LINEAR)
        add(text, "", "linear");
    else if (set & HX_OFFLOAD_LINEAR)
        for (size_t i = 0; i < HX_MATRICES; i++)
            if (set & 1u << i) {
                add(text, ",", *text ? "" : "linear=");
                snprintf(text + strlen(text), HX_OFFLOAD_TEXT - strlen(text), "%s",
                         hx_matrix_names[i]);
            }
    for (size_t i = 0; i < N_PARTS; i++)
        if (set & parts[i].own)
            add(text, ",", parts[i].name);
    if (!set)
        add(text, "", "none");
}
