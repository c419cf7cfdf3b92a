/* Fuzz target: a GGUF file by its fields.  Behind two bytes that choose a small valid model (architecture, type of its matrices)
 * the input is a list of edits of 12 bytes (struct gguf_edit): keys, types, vocabularies, arrays, shapes, offsets, counts.  So a mutation
 * gets past the header, where fuzz_gguf's mostly end.
 *
 * What opens encodes text and runs a token; what does not is refused with one line that names the file and, after a single edit,
 * the field or what does not fit to it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "gen_model.h"
#include "gguf_parts.h"
#include "gguf_use.h"

enum { ARCHS = 8, TYPES = 3, EDITS = 16 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

/* --- the models */

static const struct gen_model *base_model(unsigned arch, unsigned type)
{
    static const uint32_t types[TYPES] = {HX_QUANT_Q8_0, HX_QUANT_F16, HX_QUANT_F32};
    static struct gen_model models[ARCHS][TYPES];
    struct gen_model *g = &models[arch % ARCHS][type % TYPES];

    if (!g->file) {
        gen_init(g, gen_archs[arch % ARCHS]);
        g->type = types[type % TYPES];
        g->ffn = 32;
        g->n_layer = 2;
        g->llama3_keys = arch % ARCHS == 0;
        gen_build(g);
    }
    return g;
}

/* --- one input */

static void finding(const char *what, const char *text)
{
    fprintf(stderr, "gguf_fields: %s: '%s'\n", what, text);
    abort();
}

static bool has(const char *text, struct hx_str name)
{
    return memmem(text, strlen(text), name.p, name.n < 64 ? name.n : 64) != NULL;
}

struct asked {
    unsigned n_edits;
    enum gguf_about about; /* the last */
    struct hx_str name;
};

/* A tensor's record is refused by the tensor's name, unless the list ends too early; what a key says by that key, or by what does
 * not fit to it, a name or a number. */
static bool names(const struct hx_error *err, const struct asked *a)
{
    const struct hx_str name = a->name;

    if (a->about == GGUF_ABOUT_RECORD)
        return has(err->text, name) || strstr(err->text, "in the tensor list at byte");
    return strpbrk(err->text, "'0123456789") || has(err->text, name);
}

/* One line that begins with the file's name. */
static void check_reason(const struct hx_error *err, const struct asked *a)
{
    static const char prefix[] = "fuzz.gguf: ";

    if (strncmp(err->text, prefix, sizeof(prefix) - 1) != 0 || !err->text[sizeof(prefix) - 1])
        finding("a refusal that does not say of what, or why", err->text);
    for (const char *c = err->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            finding("a refusal of more than a line", err->text);
    if (a->n_edits == 1 && !names(err, a))
        finding("a refusal that does not name its reason", err->text);
    if (!a->n_edits)
        finding("a model as it was made is refused", err->text);
}

static int open_and_use(const uint8_t *bytes, size_t n, const struct asked *a)
{
    struct hx_model *m = NULL;
    struct hx_gguf *g;
    struct hx_error err = {""};
    int rc = 0;

    if (hx_gguf_open_bytes(&g, "fuzz.gguf", bytes, n, &err) || hx_model_from_gguf(&m, g, hx_archs, &err))
        check_reason(&err, a);
    else
        rc = gguf_use(m);
    hx_model_close(m);
    return rc;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static struct gguf_parts p;
    const struct gen_model *base = base_model(n > 0 ? data[0] : 0, n > 1 ? data[1] : 0);
    struct asked a = {0};
    struct hx_gguf *g;
    uint8_t *whole, *file;
    size_t bytes;
    int rc;

    if (hx_gguf_open_bytes(&g, "base.gguf", base->file, base->n_file, NULL))
        abort();
    gguf_take_apart(&p, g);
    for (size_t at = 2; at + GGUF_EDIT_BYTES <= n && a.n_edits < EDITS; at += GGUF_EDIT_BYTES, a.n_edits++) {
        struct gguf_edit e;

        memcpy(&e, data + at, 4);
        memcpy(&e.value, data + at + 4, sizeof(e.value));
        a.about = gguf_edit(&p, &e, &a.name);
    }
    whole = gguf_put_together(&p, &bytes);
    file = malloc(bytes ? bytes : 1); /* of exactly this size for ASan */
    if (!whole || !file)
        abort();
    memcpy(file, whole, bytes);
    free(whole);
    rc = open_and_use(file, bytes, &a);
    free(file);
    hx_gguf_close(g);
    return rc;
}
