/* Models, tokens and text of the C API, see hexrig.h. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "hx_version.h"
#include "text/chat.h"

const char *hexrig_version(void)
{
    return hx_version;
}

int hx_api_error(struct hexrig_error *err, const struct hx_error *cause, int rc)
{
    _Static_assert(sizeof(err->text) == sizeof(cause->text), "one size of reasons");
    if (err)
        memcpy(err->text, cause->text, sizeof(err->text));
    return rc;
}

int hx_api_fail(struct hexrig_error *err, int rc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (err)
        vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return rc;
}

/* --- turns */

void hx_api_enter(struct hexrig_model *m)
{
    struct hx_turns *t = &m->turns;

    pthread_mutex_lock(&t->lock);
    for (unsigned long mine = t->next++; t->now != mine;)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void hx_api_leave(struct hexrig_model *m)
{
    struct hx_turns *t = &m->turns;

    pthread_mutex_lock(&t->lock);
    t->now++;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}

/* --- life */

/* PREFIX/share/hexrig for PREFIX/lib/libhexrig.so, or for PREFIX/bin/PROGRAM that holds this code itself. */
static char *share_folder(void)
{
    Dl_info info;
    char *path = dladdr((void *)hexrig_version, &info) && info.dli_fname
                     ? realpath(info.dli_fname, NULL)
                     : NULL;
    char *share = NULL;

    for (int up = 0; path && up < 2; up++) {
        char *slash = strrchr(path, '/');

        if (slash)
            *slash = '\0';
    }
    if (path && asprintf(&share, "%s/share/hexrig", path) < 0)
        share = NULL;
    free(path);
    return share;
}

/* The caller's struct as this library knows it. */
static int read_config(struct hexrig_config *out, const struct hexrig_config *cfg,
                       struct hexrig_error *err)
{
    memset(out, 0, sizeof(*out));
    if (!cfg)
        return 0;
    if (cfg->size < offsetof(struct hexrig_config, kv))
        return hx_api_fail(err, -EINVAL, "the configuration's size is %zu; it starts as "
                           "HEXRIG_CONFIG_INIT", cfg->size);
    for (size_t i = sizeof(*out); i < cfg->size; i++)
        if (((const char *)cfg)[i])
            return hx_api_fail(err, -EINVAL, "the configuration sets what this library (%s) does "
                               "not know", hx_version);
    memcpy(out, cfg, cfg->size < sizeof(*out) ? cfg->size : sizeof(*out));
    return 0;
}

/* The model's own copies of strings, since contexts are opened later. */
static int copy_names(struct hexrig_model *m, const struct hexrig_config *cfg)
{
    const struct {
        const char *from;
        const char **to;
    } names[] = {
        {cfg->model, &m->cfg.model}, {cfg->kv, &m->cfg.kv},         {cfg->density, &m->cfg.density},
        {cfg->cal, &m->cfg.cal},     {cfg->basis, &m->cfg.basis},   {cfg->k, &m->cfg.k},
        {cfg->linear ? cfg->linear : "cpu", &m->cfg.linear},
        {cfg->attn ? cfg->attn : "flash", &m->cfg.attn},
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) <= sizeof(m->names) / sizeof(m->names[0]), "");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!names[i].from)
            continue;
        *names[i].to = m->names[i] = strdup(names[i].from);
        if (!m->names[i])
            return -ENOMEM;
    }
    m->cfg.threads = cfg->threads;
    m->cfg.max_batch = cfg->max_batch;
    return 0;
}

static int set_placement(struct hx_engine_cfg *cfg, const char *name, struct hx_error *cause)
{
    const char *want = name ? name : "dma";

    for (uint32_t i = 0; hx_offload_placements[i]; i++)
        if (strcmp(hx_offload_placements[i], want) == 0) {
            cfg->placement = i;
            return 0;
        }
    return hx_error_set(cause, -EINVAL, "unknown placement '%s'; legal: ddr, vtcm, dma", want);
}

/* What `hexrig run` refuses or chooses by itself. */
static int check_offload(struct hx_engine_cfg *cfg, struct hx_error *cause)
{
    if (cfg->offload & HX_OFFLOAD_KV && cfg->kv && strcmp(cfg->kv, "f32") == 0)
        return hx_error_set(cause, -EINVAL, "offload %s: kv f32 has nothing that the DSP could hold",
                          cfg->offload & HX_OFFLOAD_ATTN ? "attn" : "kv");
    if (cfg->offload & HX_OFFLOAD_ATTN && !cfg->k && !cfg->cal)
        cfg->k = "after";
    return 0;
}

static int configure(struct hexrig_model *m, const struct hexrig_config *cfg, struct hx_error *cause)
{
    int rc = copy_names(m, cfg);

    m->share = rc ? NULL : share_folder();
    m->cfg.share = m->share;
    if (!rc && !m->cfg.model && asprintf(&m->names[9], "%s/hexrig-tiny-q8_0.gguf",
                                         m->share ? m->share : ".") < 0) {
        m->names[9] = NULL;
        rc = -ENOMEM;
    }
    if (rc)
        return hx_error_set(cause, rc, "out of memory");
    if (!m->cfg.model)
        m->cfg.model = m->names[9];
    rc = set_placement(&m->cfg, cfg->placement, cause);
    if (!rc && cfg->offload)
        rc = hx_offload_parse(cfg->offload, &m->cfg.offload, cause);
    return rc ? rc : check_offload(&m->cfg, cause);
}

/* What contexts share: an engine with the smallest cache there is. */
static int open_base(struct hexrig_model *m, struct hx_error *cause)
{
    struct hx_engine_cfg cfg = m->cfg;
    int rc;

    cfg.offload &= HX_OFFLOAD_LINEAR;
    cfg.kv = "f32";
    cfg.attn = NULL;
    cfg.n_ctx = cfg.max_batch = 1;
    rc = hx_engine_open(&m->base, &cfg, cause);
    m->cfg.of = m->base;
    return rc;
}

int hexrig_model_open(struct hexrig_model **out, const struct hexrig_config *user,
                      struct hexrig_error *err)
{
    struct hexrig_config cfg;
    struct hexrig_model *m;
    struct hx_error cause = {""};
    int rc = read_config(&cfg, user, err);

    *out = NULL;
    if (rc)
        return rc;
    m = calloc(1, sizeof(*m));
    if (!m)
        return hx_api_fail(err, -ENOMEM, "out of memory");
    m->refs = 1; /* put in hexrig_model_close() */
    pthread_mutex_init(&m->turns.lock, NULL);
    pthread_cond_init(&m->turns.moved, NULL);
    rc = configure(m, &cfg, &cause);
    if (!rc)
        rc = open_base(m, &cause);
    if (rc)
        hx_api_put(m);
    else
        *out = m;
    return hx_api_error(err, &cause, rc);
}

void hx_api_get(struct hexrig_model *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
}

void hx_api_put(struct hexrig_model *m)
{
    /* acq_rel: the last one sees what the others did with the model */
    if (atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) > 1)
        return;
    hx_engine_close(m->base);
    pthread_cond_destroy(&m->turns.moved);
    pthread_mutex_destroy(&m->turns.lock);
    for (size_t i = 0; i < sizeof(m->names) / sizeof(m->names[0]); i++)
        free(m->names[i]);
    free(m->share);
    free(m);
}

void hexrig_model_close(struct hexrig_model *m)
{
    if (m)
        hx_api_put(m);
}

size_t hexrig_model_vocab(const struct hexrig_model *m)
{
    return m->base->model->vocab;
}

size_t hexrig_model_context(const struct hexrig_model *m)
{
    return m->base->model->n_ctx;
}

/* --- text and tokens */

/* Hands ids out as the API does, and frees them. */
static long give_ids(uint32_t *from, size_t n, uint32_t *ids, size_t max)
{
    if (n && max)
        memcpy(ids, from, (n < max ? n : max) * sizeof(*ids));
    free(from);
    return (long)n;
}

long hexrig_tokenize(const struct hexrig_model *m, const char *text, size_t n, unsigned flags,
                     uint32_t *ids, size_t max, struct hexrig_error *err)
{
    const unsigned known = HEXRIG_BOS | HEXRIG_SPECIAL;
    const unsigned encode = (flags & HEXRIG_BOS ? HX_ENCODE_BOS : 0) |
                            (flags & HEXRIG_SPECIAL ? HX_ENCODE_SPECIAL : 0);
    uint32_t *all = NULL;
    size_t n_all;

    if (flags & ~known)
        return hx_api_fail(err, -EINVAL, "unknown flags 0x%x", flags & ~known);
    if (hx_tokenizer_encode_with(m->base->model->tok, text, n, encode, &all, &n_all))
        return hx_api_fail(err, -ENOMEM, "out of memory");
    return give_ids(all, n_all, ids, max);
}

long hexrig_detokenize(const struct hexrig_model *m, const uint32_t *ids, size_t n, char *text,
                       size_t size, struct hexrig_error *err)
{
    const struct hx_model *model = m->base->model;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        struct hx_str piece;

        if (ids[i] >= model->vocab)
            return hx_api_fail(err, -EINVAL, "token %u; the vocabulary has %zu", ids[i],
                               model->vocab);
        piece = hx_tokenizer_piece(model->tok, ids[i]);
        if (used < size)
            memcpy(text + used, piece.p, piece.n < size - used ? piece.n : size - used);
        used += piece.n;
    }
    if (size)
        text[used < size ? used : size - 1] = '\0';
    return (long)used;
}

int hexrig_is_end(const struct hexrig_model *m, uint32_t id)
{
    return id < m->base->model->vocab && hx_tokenizer_ends(m->base->model->tok, id);
}

long hexrig_chat(const struct hexrig_model *m, const char *family,
                 const struct hexrig_message *messages, size_t n, uint32_t *ids, size_t max,
                 struct hexrig_error *err)
{
    struct hx_chat_message *list = calloc(n ? n : 1, sizeof(*list));
    uint32_t *all = NULL;
    struct hx_error cause = {""};
    struct hx_chat chat;
    size_t n_all = 0;
    int rc;

    if (!list)
        return hx_api_fail(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        list[i] = (struct hx_chat_message){messages[i].role,
                                           {messages[i].text, strlen(messages[i].text)}};
    rc = hx_chat_init(&chat, m->base->model->tok, m->base->model->file, family, &cause);
    if (!rc)
        rc = hx_chat_render(&chat, list, n, 1, &all, &n_all, &cause);
    free(list);
    return rc ? hx_api_error(err, &cause, rc) : give_ids(all, n_all, ids, max);
}
