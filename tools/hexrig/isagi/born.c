/* A new memory, see isagi.h. */
#include <errno.h>
#include <stdlib.h>

#include "guard/bench.h"
#include "isagi.h"

/* The first `most` of what probing found, and what others can spare. */
static int choose(struct hx_isagi *s, struct hx_bench *b, struct hx_error *err)
{
    const size_t topic = hx_topics_find(&b->from.topics, s->topic);
    struct hx_found f = {.n = 0};
    uint32_t *list = calloc(b->k, sizeof(*list));
    int rc = list ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc && topic == b->from.topics.n_topics)
        rc = hx_error_set(err, -EINVAL, "--forbid %s: the prompts have no such topic", s->topic);
    if (!rc)
        rc = hx_bench_find(b, topic, &f, err);
    for (size_t i = 0; i < b->most && i < b->k && !rc; i++)
        list[i] = (uint32_t)f.order[i].index;
    if (!rc && hx_cog_choose(&s->cog.forbidden, &s->cog.n_forbidden, list, b->most < b->k ? b->most : b->k))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < f.n && !rc; i++)
        list[i] = (uint32_t)f.chosen[i];
    if (!rc && hx_cog_choose(&s->cog.snipe, &s->cog.n_snipe, list, f.n))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    hx_found_free(&f);
    free(list);
    return rc;
}

static int fill(struct hx_isagi *s, struct hx_bench *b, struct hx_error *err)
{
    size_t *all = malloc(b->k * sizeof(*all));
    float *basis = malloc(b->k * b->u.d * sizeof(*basis));
    int rc = all && basis ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < b->k && !rc; i++)
        all[i] = i;
    if (!rc) {
        hx_bench_directions(b, all, b->k, basis);
        rc = hx_cog_open(&s->cog, b->k, b->u.d, basis, err);
    }
    s->cog.model = b->from.s.m->fingerprint;
    free(all);
    free(basis);
    return rc || !s->topic ? rc : choose(s, b, err);
}

int hx_isagi_born(struct hx_isagi *s)
{
    struct hx_bench b = {.from = {.s = {.cmd = s->o.cmd, .path = s->o.model, .threads = s->o.threads}, .prompts = s->prompts}, .k = s->k,
                         .most = 4, .budget = .02, .seed = 1};
    struct hx_error err = {""};
    int rc = s->topic ? hx_bench_open(&b) : hx_bench_open_basis(&b);

    if (!rc && fill(s, &b, &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    hx_bench_close(&b);
    return rc;
}
