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

/* The struct's fields, by the options that they are. */
static int set_fields(struct hx_plan *p, const struct hexrig_config *cfg, struct hx_error *cause)
{
    const struct {
        const char *option, *value;
    } fields[] = {
        {"kv", cfg->kv},         {"density", cfg->density}, {"cal", cfg->cal},
        {"basis", cfg->basis},   {"k", cfg->k},             {"linear", cfg->linear},
        {"attn", cfg->attn},     {"offload", cfg->offload}, {"placement", cfg->placement},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !rc; i++)
        if (fields[i].value)
            rc = hx_plan_set(p, fields[i].option, fields[i].value, cause);
    return rc;
}

static int make_plan(struct hx_plan **out, const struct hexrig_config *cfg, struct hx_error *cause)
{
    struct hx_plan *p;
    int rc = hx_plan_open(&p, "", 0, cause);

    if (rc)
        return rc;
    rc = set_fields(p, cfg, cause);
    if (!rc)
        rc = hx_plan_set_list(p, cfg->options, cause);
    if (!rc)
        rc = hx_plan_resolve(p, cause);
    if (rc)
        hx_plan_close(p);
    else
        *out = p;
    return rc;
}

static int open_core(struct hexrig_model *m, const struct hexrig_config *cfg, struct hx_error *cause)
{
    char *share = share_folder(), *shipped = NULL;
    struct hx_core_cfg core = {.path = cfg->model, .share = share, .threads = cfg->threads};
    int rc = 0;

    if (!core.path && asprintf(&shipped, "%s/hexrig-tiny-q8_0.gguf", share ? share : ".") < 0) {
        shipped = NULL;
        rc = hx_error_set(cause, -ENOMEM, "out of memory");
    }
    core.path = core.path ? core.path : shipped;
    if (!rc)
        rc = hx_core_open(&m->core, &core, m->plan, cause);
    free(shipped);
    free(share);
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
    m->max_batch = cfg.max_batch;
    rc = make_plan(&m->plan, &cfg, &cause);
    if (!rc)
        rc = open_core(m, &cfg, &cause);
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
    hx_core_close(m->core);
    hx_plan_close(m->plan);
    pthread_cond_destroy(&m->turns.moved);
    pthread_mutex_destroy(&m->turns.lock);
    free(m);
}

void hexrig_model_close(struct hexrig_model *m)
{
    if (m)
        hx_api_put(m);
}

size_t hexrig_model_vocab(const struct hexrig_model *m)
{
    return m->core->model->vocab;
}

size_t hexrig_model_context(const struct hexrig_model *m)
{
    return m->core->model->n_ctx;
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
    if (hx_tokenizer_encode_with(m->core->model->tok, text, n, encode, &all, &n_all))
        return hx_api_fail(err, -ENOMEM, "out of memory");
    return give_ids(all, n_all, ids, max);
}

long hexrig_detokenize(const struct hexrig_model *m, const uint32_t *ids, size_t n, char *text,
                       size_t size, struct hexrig_error *err)
{
    const struct hx_model *model = m->core->model;
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
    return id < m->core->model->vocab && hx_tokenizer_ends(m->core->model->tok, id);
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
    rc = hx_chat_init(&chat, m->core->model->tok, m->core->model->file, family, &cause);
    if (!rc)
        rc = hx_chat_render(&chat, list, n, 1, &all, &n_all, &cause);
    free(list);
    return rc ? hx_api_error(err, &cause, rc) : give_ids(all, n_all, ids, max);
}
