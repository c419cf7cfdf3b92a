/* A model's geometry in a file, see geometry_file.h. */
#include "geometry_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "quant/quant.h"
#include "text/text.h"

static const char magic[8] = {'O', 'T', 'T', 'G', 'E', 'O', '0', '1'};

struct header {
    char magic[8];
    uint64_t key, model, layer, digest;
    uint32_t n_layer, sink, dim, n_axioms;
    uint64_t report_bytes;
};

struct record {
    uint32_t type, accepted, survived, zero;
    uint64_t which[3];
    double value, again;
};

_Static_assert(sizeof(struct header) == 64 && sizeof(struct record) == 56, "as geometry_file.h has them");

static uint64_t digest_of_layer(const struct hx_subject *s, size_t layer)
{
    uint64_t h = 0;

    for (size_t i = 0; i < s->set.n; i++)
        if (s->set.at[i].layer == layer && s->set.at[i].which != HX_OUT) {
            const struct hx_linear *w = s->set.at[i].w;

            h = hx_digest(h, w->w, w->rows * hx_quant_row_bytes(w->type, w->cols));
        }
    return h;
}

/* --- read */

static const char *whats_wrong(const struct header *h, const uint8_t *bytes, size_t n, uint64_t key, const struct hx_subject *s)
{
    if (n < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
        return "is no geometry of a model";
    if (h->digest != hx_digest(0, bytes + sizeof(*h), n - sizeof(*h)) || h->n_axioms > HX_AXIOM_TYPES * HX_AXIOMS_OF_TYPE ||
        n != sizeof(*h) + h->n_layer * sizeof(double) + h->n_axioms * sizeof(struct record) + h->report_bytes)
        return "is damaged";
    if (h->model != s->m->fingerprint || h->n_layer != s->m->n_layer || h->sink >= h->n_layer)
        return "is of another model";
    if (h->layer != digest_of_layer(s, h->sink))
        return "is of other weights";
    return h->key == key ? NULL : "is of another text, or of other options";
}

static int take(struct hx_ott_geometry *g, const struct header *h, const uint8_t *at)
{
    const struct record *r = (const struct record *)(at + h->n_layer * sizeof(double));

    *g = (struct hx_ott_geometry){.key = h->key, .n_layer = h->n_layer, .sink = h->sink, .dim = h->dim, .n_axioms = h->n_axioms};
    g->held = malloc(g->n_layer * sizeof(*g->held));
    g->axioms = calloc(g->n_axioms + 1, sizeof(*g->axioms));
    g->report = json_loadb((const char *)(r + h->n_axioms), h->report_bytes, 0, NULL);
    if (!g->held || !g->axioms || !g->report)
        return 0;
    memcpy(g->held, at, g->n_layer * sizeof(*g->held));
    for (size_t i = 0; i < g->n_axioms; i++)
        g->axioms[i] = (struct hx_axiom){(enum hx_axiom_type)r[i].type, {r[i].which[0], r[i].which[1], r[i].which[2]}, r[i].value,
                                         r[i].again, (int)r[i].accepted, (int)r[i].survived};
    return 1;
}

int hx_ott_geometry_read(struct hx_ott_geometry *g, const char *path, uint64_t key, const struct hx_subject *s, const char **why)
{
    struct hx_error err;
    struct header h;
    char *bytes = NULL;
    size_t n = 0;
    int there;

    *why = NULL;
    if (access(path, F_OK) && errno == ENOENT)
        return 0;
    if (hx_text_read(path, &bytes, &n, &err)) {
        *why = "cannot be read";
        return 0;
    }
    memcpy(&h, bytes, n < sizeof(h) ? n : sizeof(h));
    *why = whats_wrong(&h, (uint8_t *)bytes, n, key, s);
    there = !*why && take(g, &h, (uint8_t *)bytes + sizeof(h));
    if (!*why && !there) {
        hx_ott_geometry_free(g);
        *why = "is damaged";
    }
    free(bytes);
    return there;
}

/* --- write */

/* All behind the header, in one piece, as its digest is of one. */
static uint8_t *body_of(const struct hx_ott_geometry *g, const char *report, size_t *n)
{
    const size_t held = g->n_layer * sizeof(double), axioms = g->n_axioms * sizeof(struct record), text = strlen(report);
    uint8_t *body = malloc(held + axioms + text);

    *n = held + axioms + text;
    if (!body)
        return NULL;
    memcpy(body, g->held, held);
    for (size_t i = 0; i < g->n_axioms; i++) {
        const struct hx_axiom *a = &g->axioms[i];
        const struct record r = {(uint32_t)a->type, (uint32_t)a->accepted, (uint32_t)a->survived, 0,
                                 {a->which[0], a->which[1], a->which[2]}, a->value, a->again};

        memcpy(body + held + i * sizeof(r), &r, sizeof(r));
    }
    memcpy(body + held + axioms, report, text);
    return body;
}

static int write_all(const char *path, const struct header *h, const uint8_t *body, size_t n, struct hx_error *err)
{
    char *part;
    FILE *f;
    int rc;

    if (asprintf(&part, "%s.%d.part", path, (int)getpid()) < 0)
        return hx_error_set(err, -ENOMEM, "out of memory");
    f = fopen(part, "wx");
    rc = f ? 0 : -errno;
    if (f && (fwrite(h, sizeof(*h), 1, f) != 1 || fwrite(body, 1, n, f) != n))
        rc = -EIO;
    if (f && fclose(f))
        rc = rc ? rc : -errno;
    if (!rc && rename(part, path))
        rc = -errno;
    if (rc) {
        hx_error_set(err, rc, "%s: %s", path, strerror(-rc));
        if (f)
            unlink(part);
    }
    free(part);
    return rc;
}

int hx_ott_geometry_write(const struct hx_ott_geometry *g, const char *path, const struct hx_subject *s, struct hx_error *err)
{
    char *report = json_dumps(g->report, JSON_COMPACT | JSON_PRESERVE_ORDER);
    struct header h = {.key = g->key, .model = s->m->fingerprint, .layer = digest_of_layer(s, g->sink), .n_layer = (uint32_t)g->n_layer,
                       .sink = (uint32_t)g->sink, .dim = (uint32_t)g->dim, .n_axioms = (uint32_t)g->n_axioms};
    size_t n = 0;
    uint8_t *body = report ? body_of(g, report, &n) : NULL;
    int rc = body ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    memcpy(h.magic, magic, sizeof(magic));
    if (!rc) {
        h.report_bytes = strlen(report);
        h.digest = hx_digest(0, body, n);
        rc = write_all(path, &h, body, n, err);
    }
    free(body);
    free(report);
    return rc;
}

void hx_ott_geometry_free(struct hx_ott_geometry *g)
{
    free(g->held);
    free(g->axioms);
    json_decref(g->report);
    *g = (struct hx_ott_geometry){0};
}
