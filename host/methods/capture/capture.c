/* Writing captures: a tap that puts what it sees into a file, see capture.h. */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"

struct capture {
    struct hx_tap tap; /* first */
    struct hx_capture_part out;
    char *path;
    struct hx_capture_header head;
    int failed; /* errno of the first write that failed; 0: none */
};

static void put(struct capture *c, const void *bytes, size_t n)
{
    if (!c->failed && fwrite(bytes, 1, n, c->out.file) != n)
        c->failed = errno ? errno : EIO;
}

static int failed(const struct capture *c, struct hx_error *err)
{
    return hx_error_set(err, -c->failed, "%s: cannot write the capture: %s", c->path, strerror(c->failed));
}

static int at(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct capture *c = (struct capture *)t;
    const struct hx_capture_record r = {at->point, (uint32_t)at->layer, (uint32_t)at->n, (uint32_t)at->row};

    if (hx_tap_in_layer(at->point) && (at->layer < c->head.layer_from || at->layer > c->head.layer_to))
        return 0;
    put(c, &r, sizeof(r));
    put(c, at->tokens, at->n * sizeof(*at->tokens));
    for (size_t i = 0; i < at->n; i++) {
        const uint32_t pos = (uint32_t)at->pos[i];

        put(c, &pos, sizeof(pos));
    }
    put(c, rows, at->n * at->row * sizeof(*rows));
    c->head.n_records++;
    return c->failed ? failed(c, err) : 0;
}

static void free_capture(struct capture *c)
{
    free(c->path);
    free(c);
}

static void abandon(struct hx_tap *t)
{
    struct capture *c = (struct capture *)t;

    hx_capture_part_drop(&c->out);
    free_capture(c);
}

/* The number of records makes the file complete. */
static int finish(struct capture *c, struct hx_error *err)
{
    if (!c->failed && !c->head.n_records)
        return hx_error_set(err, -ENODATA, "%s: nothing to capture: no token was run", c->path);
    if (!c->failed && fseek(c->out.file, 0, SEEK_SET))
        c->failed = errno;
    put(c, &c->head, sizeof(c->head));
    return c->failed ? failed(c, err) : 0;
}

static int close_capture(struct hx_tap *t, struct hx_error *err)
{
    struct capture *c = (struct capture *)t;
    int rc = finish(c, err);

    if (rc) {
        abandon(t);
        return rc;
    }
    c->failed = -hx_capture_part_keep(&c->out);
    if (c->failed)
        rc = failed(c, err);
    free_capture(c);
    return rc;
}

static const struct hx_tap_ops ops = {"capture", at, close_capture, abandon};

int hx_capture_open(struct hx_tap **out, const struct hx_capture_cfg *cfg, const struct hx_model *m,
                    struct hx_error *err)
{
    struct capture *c = calloc(1, sizeof(*c));
    struct hx_capture_header unfinished;
    int rc;

    if (!c || !(c->path = strdup(cfg->path))) {
        free(c);
        return hx_error_set(err, -ENOMEM, "capture: out of memory");
    }
    rc = hx_capture_part_open(&c->out, cfg->path, HX_CAPTURE_MAGIC, sizeof(HX_CAPTURE_MAGIC), err);
    if (rc) {
        free_capture(c);
        return rc;
    }
    c->tap = (struct hx_tap){&ops, cfg->points};
    c->head = (struct hx_capture_header){
        .magic = HX_CAPTURE_MAGIC, .version = 1, .points = cfg->points, .n_layer = (uint32_t)m->n_layer,
        .n_head = (uint32_t)m->n_head, .n_kv = (uint32_t)m->n_kv, .dh = (uint32_t)m->dh,
        .width = (uint32_t)m->width, .ffn = (uint32_t)m->ffn, .vocab = (uint32_t)m->vocab,
        .layer_from = (uint32_t)cfg->from, .layer_to = (uint32_t)cfg->to,
        .fingerprint = m->fingerprint,
    };
    unfinished = c->head;
    put(c, &unfinished, sizeof(unfinished));
    *out = &c->tap;
    return 0;
}

static uint32_t point_set(const char *word, size_t n)
{
    if (n == 3 && memcmp(word, "all", 3) == 0)
        return (1u << HX_TAP_POINTS) - 1;
    for (int i = 0; hx_tap_point_names[i]; i++)
        if (strlen(hx_tap_point_names[i]) == n && memcmp(hx_tap_point_names[i], word, n) == 0)
            return 1u << i;
    return 0;
}

int hx_capture_points(const char *list, uint32_t *points, struct hx_error *err)
{
    *points = 0;
    for (const char *word = list;; word++) {
        const size_t n = strcspn(word, ",");
        const uint32_t one = point_set(word, n);
        char legal[160] = "";

        for (size_t i = 0, used = 0; !one && hx_tap_point_names[i]; i++)
            used += (size_t)snprintf(legal + used, sizeof(legal) - used, "%s, ", hx_tap_point_names[i]);
        if (!one)
            return hx_error_set(err, -EINVAL, "unknown point '%.*s'; legal: %sall", (int)(n < 40 ? n : 40), word, legal);
        *points |= one;
        word += n;
        if (!*word)
            return 0;
    }
}
