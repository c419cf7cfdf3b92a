/* hexrig isagi: questions to a model that remembers, with what each of them cost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "isagi.h"
#include "text/text.h"

enum { OPT_SCRIPT = HX_OPT_FREE, OPT_STATE, OPT_PROMPTS, OPT_FORBID, OPT_K, OPT_TOKENS, OPT_NOVEL, OPT_SNIPE };
enum { MOST_K = 1 << 14 };

static const struct argp_option options[] = {
    {"script", OPT_SCRIPT, "FILE", 0, "questions, one a line (stdin)", 0},
    {"state", OPT_STATE, "FILE", 0, ".miku file: read if it is there, written after each turn", 0},
    {"prompts", OPT_PROMPTS, "FILE", 0, "of a new memory's basis, and of --forbid (share/hexrig/topics.txt)", 0},
    {"forbid", OPT_FORBID, "TOPIC", 0, "of a new memory: the topic that TEH tells, by the 4 coordinates that tell it best; those, 4 at "
     "most, that cost other topics' predictions no more than 2 % are projected out", 0},
    {"k", OPT_K, "K", 0, "coordinates of a new memory (64)", 0},
    {"novel", OPT_NOVEL, "X", 0, "distance beyond which the metric grows (0.2)", 0},
    {"snipe-at", OPT_SNIPE, "WHERE", 0, "off | before | after the metric grows: where a question's spare coordinates go (off)", 0},
    {"tokens", 'n', "N", 0, "most tokens of an answer (24)", 0},
    {0},
};

static const char doc[] =
    "Answers questions, line by line, and says of each: teh, the largest share (percent) of the answer's states in the forbidden "
    "directions, before the projection; of a memory with forbidden coordinates also mean, that of all of the answer's states, where "
    "something ran, and pre and post, their share of the question's point, as the metric takes it and as it is kept; cog, what was done "
    "with it: RETRIEVE, the answer was known, and nothing ran; AUGMENT, the nearest exchange was put in front; EXPAND or EXPLORE, it was "
    "asked alone; sim, the cosine of the nearest question, in k coordinates of the mean of embedding rows; metric, ||M - I||_F; traj, what "
    "is remembered; calls, DSP calls and packets by the driver's count; ms, measured.  With --json one object a line."
    "\vExample: hexrig isagi --script questions.txt --state mind.miku";

static int option(struct hx_isagi *s, int key, char *arg)
{
    switch (key) {
    case OPT_SCRIPT:
        s->script = arg;
        return 0;
    case OPT_STATE:
        s->state = arg;
        return 0;
    case OPT_PROMPTS:
        s->prompts = arg;
        return 0;
    case OPT_FORBID:
        s->topic = arg;
        return 0;
    case OPT_K:
        return hx_opt_size(s->o.cmd, "k", arg, 1, MOST_K, &s->k);
    case OPT_NOVEL:
        return hx_opt_real(s->o.cmd, "novel", arg, 0, 2, &s->novel);
    case OPT_SNIPE:
        return hx_opt_name(s->o.cmd, "snipe-at", arg, hx_cog_snipe_names, &s->snipe);
    case 'n':
        return hx_opt_size(s->o.cmd, "tokens", arg, 1, HX_MAX_TOKENS, &s->n);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct hx_isagi *s = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &s->o;
    return hx_opt_error(option(s, key, arg));
}

/* --- memory */

static int remember(struct hx_isagi *s)
{
    struct hx_error err = {""};

    if (!s->state || access(s->state, F_OK))
        return hx_isagi_born(s);
    if (s->topic)
        return hx_cmd_usage(s->o.cmd, "--forbid is of a new memory; %s is there", s->state);
    if (hx_miku_read(&s->cog, s->state, s->e->model->fingerprint, &err))
        return hx_cmd_fail(s->o.cmd, "%s", err.text);
    return s->cog.d == s->e->model->width
               ? HX_EXIT_OK
               : hx_cmd_fail(s->o.cmd, "%s: states of %zu; the model's are %zu wide", s->state, s->cog.d, s->e->model->width);
}

/* --- turns */

static int print(const struct hx_isagi *s, const struct hx_isagi_turn *t)
{
    json_t *j;
    char *text;

    if (!s->o.json) {
        printf("turn=%zu teh=%.2f ", s->turns, 100 * t->teh);
        if (s->cog.n_forbidden && t->tier != HX_COG_RETRIEVE)
            printf("mean=%.2f ", 100 * t->mean);
        if (s->cog.n_forbidden)
            printf("pre=%.2f post=%.2f ", 100 * t->pre, 100 * t->post);
        printf("cog=%s sim=%.4f metric=%.4f traj=%zu calls=%.0f ms=%.1f\n%s\n",
               hx_cog_tier_names[t->tier], t->similarity, t->growth, t->trajectories, t->calls, t->ms, t->answer);
        return fflush(stdout) ? HX_EXIT_FAILED : HX_EXIT_OK;
    }
    j = json_pack("{s:I, s:f, s:f, s:f, s:s, s:f, s:f, s:I, s:f, s:f, s:s}", "turn", (json_int_t)s->turns, "teh", 100 * t->teh,
                  "pre", 100 * t->pre, "post", 100 * t->post, "cog",
                  hx_cog_tier_names[t->tier], "sim", t->similarity, "metric", t->growth, "traj", (json_int_t)t->trajectories, "calls",
                  t->calls, "ms", t->ms, "answer", t->answer);
    if (j && t->tier != HX_COG_RETRIEVE)
        json_object_set_new(j, "mean", json_real(100 * t->mean));
    text = j ? json_dumps(j, JSON_REAL_PRECISION(12)) : NULL;
    json_decref(j);
    if (!text)
        return hx_cmd_fail(s->o.cmd, "out of memory");
    puts(text);
    free(text);
    return fflush(stdout) ? HX_EXIT_FAILED : HX_EXIT_OK;
}

static int turn(struct hx_isagi *s, const char *question)
{
    struct hx_isagi_turn t;
    struct hx_error err = {""};
    int rc = hx_isagi_turn(s, question, &t, &err) ? hx_cmd_fail(s->o.cmd, "%s", err.text) : print(s, &t);

    free(t.answer);
    if (!rc && s->state && hx_miku_write(&s->cog, s->state, &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    return rc;
}

static int turns(struct hx_isagi *s)
{
    FILE *f = s->script ? fopen(s->script, "re") : stdin;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = HX_EXIT_OK;

    if (!f)
        return hx_cmd_fail(s->o.cmd, "%s: %s", s->script, strerror(errno));
    while (!rc && (n = getline(&line, &room, f)) >= 0) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = 0;
        if (n > 0)
            rc = turn(s, line);
    }
    free(line);
    if (f != stdin)
        fclose(f);
    return rc;
}

static int run(struct hx_isagi *s)
{
    struct hx_error err = {""};
    int rc = hx_engine_opts_open(&s->o, &s->e);

    if (!rc)
        rc = remember(s);
    if (!rc && s->snipe && !s->cog.n_forbidden)
        rc = hx_cmd_usage(s->o.cmd, "--snipe-at %s: this memory has no forbidden coordinates (--forbid TOPIC of a new one)",
                          hx_cog_snipe_names[s->snipe]);
    if (!rc && hx_isagi_watch_open(s, &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    if (!rc)
        rc = turns(s);
    if (!rc && hx_engine_finish(s->e, &err))
        rc = hx_cmd_fail(s->o.cmd, "%s", err.text);
    return rc;
}

int hx_cmd_isagi(int argc, char **argv)
{
    struct hx_isagi s = {.k = 64, .n = 24, .novel = HX_COG_NOVEL};
    int rc = hx_engine_opts_init(&s.o, "isagi", 0);

    if (!rc) {
        const struct argp_child children[] = {{hx_engine_argp(&s.o), 0, NULL, 0}, {0}};
        const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};

        rc = hx_opt_parse(s.o.cmd, &argp, argc, argv, &s);
    }
    if (!rc)
        rc = hx_engine_opts_done(&s.o);
    if (!rc)
        rc = run(&s);
    hx_engine_close(s.e);
    hx_isagi_watch_close(&s);
    hx_cog_free(&s.cog);
    hx_engine_opts_free(&s.o);
    return rc;
}
