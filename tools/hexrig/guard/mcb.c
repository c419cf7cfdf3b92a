/* hexrig guard mcb: five scores of a batch of texts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_guard.h"
#include "methods/guard/mcb.h"
#include "ugt/source.h"

enum { OPT_LETTER = HX_OPT_FREE };

static const struct argp_option options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"letter", OPT_LETTER, "C", 0, "that a lipogram does without (e)", 0},
    {0},
};

static const char doc[] =
    "Scores all prompts as one batch, 0 to 100: spread, how far final states are apart; blend, how far two texts as one are from either; "
    "wording, (1 - self-BLEU-4 + distinct-2) / 2; rules, the share of lipogram, rhyme and length that is met, times spread; way, how far a "
    "text's end is from its middle.  index weighs them .30 .20 .20 .15 .15; tier S from 80, A 65, B 50, C 35, else D."
    "\vExample: hexrig guard mcb --prompts texts.txt";

struct mcb {
    struct hx_ugt_source from; /* states of every token */
    struct hx_topics pairs;    /* texts and their neighbours as one */
    struct hx_states both;     /* the last of each */
    struct hx_mcb_text *t;
    char letter;
};

static int option(struct mcb *p, int key, char *arg)
{
    if (key != OPT_LETTER)
        return hx_ugt_source_option(&p->from, key, arg);
    if (arg[0] < 'a' || arg[0] > 'z' || arg[1])
        return hx_cmd_bad_value(p->from.s.cmd, "letter", arg, "a to z");
    p->letter = arg[0];
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* Text i and the next one; the others' ids belong to `from`. */
static int join(struct mcb *p, struct hx_error *err)
{
    const struct hx_topics *t = &p->from.topics;

    p->pairs.at = calloc(t->n, sizeof(*p->pairs.at));
    p->pairs.name = calloc(1, sizeof(*p->pairs.name));
    if (!p->pairs.at || !p->pairs.name || !(p->pairs.name[0] = strdup("pairs")))
        return hx_error_set(err, -ENOMEM, "out of memory");
    p->pairs.n_topics = 1;
    for (size_t i = 0; i + 1 < t->n; i++) {
        const size_t one = t->at[i].n, other = t->at[i + 1].n;
        uint32_t *ids = malloc((one + other) * sizeof(*ids));

        if (!ids)
            return hx_error_set(err, -ENOMEM, "out of memory");
        memcpy(ids, t->at[i].ids, one * sizeof(*ids));
        memcpy(ids + one, t->at[i + 1].ids, other * sizeof(*ids));
        p->pairs.at[p->pairs.n++] = (struct hx_topic_text){ids, one + other, 0};
        p->pairs.longest = one + other > p->pairs.longest ? one + other : p->pairs.longest;
    }
    return 0;
}

static char *text_of(const struct hx_tokenizer *tok, const struct hx_topic_text *t)
{
    char *text = calloc(t->n * hx_tokenizer_longest(tok) + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < t->n && text; i++) {
        const struct hx_str piece = hx_tokenizer_piece(tok, t->ids[i]);

        memcpy(text + n, piece.p, piece.n);
        n += piece.n;
    }
    return text;
}

static int fill(struct mcb *p, struct hx_error *err)
{
    const struct hx_states *s = &p->from.states;
    const struct hx_topics *t = &p->from.topics;
    size_t at = 0;

    p->t = calloc(t->n, sizeof(*p->t));
    if (!p->t)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < t->n; at += t->at[i++].n) {
        p->t[i] = (struct hx_mcb_text){.ids = t->at[i].ids, .n = t->at[i].n, .text = text_of(p->from.s.m->tok, &t->at[i]),
                                       .middle = s->h + (at + (t->at[i].n - 1) / 2) * s->d, .end = s->h + (at + t->at[i].n - 1) * s->d,
                                       .both = i + 1 < t->n ? p->both.h + i * s->d : NULL};
        if (!p->t[i].text)
            return hx_error_set(err, -ENOMEM, "out of memory");
    }
    return 0;
}

static int run(struct mcb *p, struct hx_mcb *m, struct hx_error *err)
{
    struct hx_states_cfg cfg = {.model = p->from.s.m, .pool = p->from.s.pool, .point = HX_TAP_IN_OUT, .every = 1};
    int rc = p->from.topics.n < 2 ? hx_error_set(err, -EINVAL, "%zu texts; 2 are needed", p->from.topics.n) : join(p, err);

    if (!rc)
        rc = hx_states_take(&p->from.states, &p->from.topics, &cfg, err);
    cfg.every = 0;
    if (!rc)
        rc = hx_states_take(&p->both, &p->pairs, &cfg, err);
    if (!rc)
        rc = fill(p, err);
    return rc ? rc : hx_mcb_score(p->t, p->from.topics.n, p->from.s.m->width, p->letter, m, err);
}

static json_t *all_json(const struct mcb *p, const struct hx_mcb *m)
{
    const char tier[] = {m->tier, 0};
    json_t *j = json_pack("{s:o, s:I}", "model", hx_json_text(p->from.s.path), "texts", (json_int_t)p->from.topics.n);

    for (size_t i = 0; i < HX_MCB_SCORES; i++)
        json_object_set_new(j, hx_mcb_names[i], json_real(m->score[i]));
    json_object_set_new(j, "index", json_real(m->index));
    json_object_set_new(j, "tier", json_string(tier));
    return j;
}

int hx_guard_cmd_mcb(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct mcb p = {.from = {.s = {.cmd = "guard mcb"}}, .letter = 'e'};
    struct hx_error err = {""};
    struct hx_mcb m;
    int rc = hx_opt_parse(p.from.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_ugt_source_open(&p.from);
    if (!rc && run(&p, &m, &err))
        rc = hx_cmd_fail(p.from.s.cmd, "%s", err.text);
    if (!rc)
        rc = hx_report_print(p.from.s.cmd, all_json(&p, &m), p.from.s.json);
    for (size_t i = 0; i < p.from.topics.n && p.t; i++)
        free((char *)p.t[i].text);
    free(p.t);
    hx_states_free(&p.both);
    hx_topics_free(&p.pairs);
    hx_ugt_source_close(&p.from);
    return rc;
}
