/* Where states come from, see source.h. */
#include "source.h"

#include <stdlib.h>

#include "cli/share.h"

enum { MOST_WINDOWS = 1 << 16, MOST_CTX = 1 << 14 };

static int add_zone(struct hx_ugt_source *s, const char *arg)
{
    if (s->n_zones == HX_UGT_ZONES)
        return hx_cmd_usage(s->s.cmd, "--zone %s: %d zones at most", arg, HX_UGT_ZONES);
    s->zone[s->n_zones++] = arg;
    return 0;
}

int hx_ugt_source_option(struct hx_ugt_source *s, int key, char *arg)
{
    switch (key) {
    case HX_OPT_PROMPTS:
        s->prompts = arg;
        return 0;
    case HX_OPT_ZONE:
        return add_zone(s, arg);
    case HX_OPT_WINDOWS:
        return hx_opt_size(s->s.cmd, "windows", arg, 2, MOST_WINDOWS, &s->windows);
    case HX_OPT_CTX:
        return hx_opt_size(s->s.cmd, "ctx", arg, 2, MOST_CTX, &s->ctx);
    case HX_OPT_EVERY:
        s->every = 1;
        return 0;
    default:
        return key == 'o' ? HX_OPT_UNKNOWN : hx_subject_option(&s->s, key, arg);
    }
}

static int read_texts(struct hx_ugt_source *s, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < s->n_zones && !rc; i++)
        rc = hx_topics_windows(&s->topics, s->s.m->tok, s->zone[i], s->windows ? s->windows : 96, s->ctx ? s->ctx : HX_UGT_CTX, err);
    if (rc || (s->n_zones && !s->prompts))
        return rc;
    if (!s->prompts && !(s->prompts = s->shipped = hx_share("topics.txt")))
        return hx_error_set(err, -1, "out of memory");
    return hx_topics_read(&s->topics, s->s.m->tok, s->prompts, s->ctx ? s->ctx : HX_UGT_CTX, err);
}

int hx_ugt_source_open(struct hx_ugt_source *s)
{
    struct hx_error err = {""};
    int rc;

    if (s->windows && !s->n_zones)
        return hx_cmd_usage(s->s.cmd, "--windows is of --zone");
    rc = hx_subject_open(&s->s);
    if (rc)
        return rc;
    return read_texts(s, &err) ? hx_cmd_fail(s->s.cmd, "%s", err.text) : HX_EXIT_OK;
}

int hx_ugt_source_states(struct hx_ugt_source *s, int nll)
{
    const struct hx_states_cfg cfg = {.model = s->s.m, .pool = s->s.pool, .point = HX_TAP_BEFORE_NORM, .every = s->every, .nll = nll};
    struct hx_error err = {""};

    return hx_states_take(&s->states, &s->topics, &cfg, &err) ? hx_cmd_fail(s->s.cmd, "%s", err.text) : HX_EXIT_OK;
}

void hx_ugt_source_close(struct hx_ugt_source *s)
{
    hx_states_free(&s->states);
    hx_topics_free(&s->topics);
    free(s->shipped);
    hx_subject_close(&s->s);
}
