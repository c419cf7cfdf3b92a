/* hexrig profile: memory and modelled energy of a model's prefill and decode. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "dsp_memory.h"
#include "energy.h"
#include "hx_rig.h"
#include "options/engine_opts.h"

enum { OPT_PREFILL = HX_OPT_FREE, OPT_DECODE };

static const struct argp_option options[] = {
    {"prefill", OPT_PREFILL, "N", 0, "tokens of the prompt (64)", 0},
    {"decode", OPT_DECODE, "N", 0, "tokens after it (8)", 0},
    {0},
};

static const char doc[] =
    "Runs a prompt and some tokens behind it with the methods that are asked for, and prints what stays in memory (of this process, "
    "of VTCM, of the DSP's part of DDR) and the modelled energy of both stages: bytes and operations that were counted in "
    "this run, times what the profile says that one costs.  These constants are assumed, and named with their sources."
    "\vExample: hexrig profile --profile s22u-sync --kv f32 --offload linear --json";

static const char cmd[] = "profile";
static const char default_profile[] = "s22u-577";

enum { STAGES = 2 };
static const char *const stages[STAGES] = {"prefill", "decode"};

struct profile {
    struct hx_engine_opts o;
    size_t tokens[STAGES];
    struct hx_profile p;
    char (*notes)[HX_PROFILE_NOTE];
    struct hx_session_stats sum[STAGES];
    struct hx_dsp_memory memory;
    int no_memory; /* why the above is not known: negative errno */
    uint64_t rss;
};

static int option(struct profile *p, int key, const char *arg)
{
    switch (key) {
    case OPT_PREFILL:
        return hx_opt_size(cmd, "prefill", arg, 1, HX_MAX_TOKENS, &p->tokens[0]);
    case OPT_DECODE:
        return hx_opt_size(cmd, "decode", arg, 1, HX_MAX_TOKENS, &p->tokens[1]);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct profile *p = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &p->o;
    return hx_opt_error(option(p, key, arg));
}

static int parse(struct profile *p, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&p->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, p);

    if (!rc)
        rc = hx_engine_opts_done(&p->o);
    p->o.n_ctx = p->tokens[0] + p->tokens[1];
    return rc;
}

/* Energies with their sources.  Methods without a rig have the default profile's, and nothing that it could price. */
static int read_profile(struct profile *p)
{
    const char *name = p->o.profile ? p->o.profile : hx_rig_profile() ? hx_rig_profile() : default_profile;
    char *folder = hx_share("profiles"), why[512] = "out of memory";
    int rc = -ENOMEM;

    p->notes = calloc(hx_profile_n_keys(), sizeof(*p->notes));
    if (folder && p->notes)
        rc = hx_profile_load_notes(&p->p, p->notes, folder, name, why, sizeof(why));
    free(folder);
    return rc ? hx_cmd_fail(cmd, "%s", why) : HX_EXIT_OK;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* Any ids do: what a token costs does not depend on them. */
static uint32_t id_at(const struct hx_engine *e, size_t i)
{
    return (uint32_t)(i * 7919 % e->model->vocab);
}

static int run_stage(struct profile *p, struct hx_engine *e, int stage, uint32_t *ids, float *logits, struct hx_error *err)
{
    const size_t first = stage ? p->tokens[0] : 0, n = p->tokens[stage], batch = stage ? 1 : n;
    struct hx_session_stats before, after;
    int rc = hx_report_now(&before);

    for (size_t i = 0; i < n; i++)
        ids[i] = id_at(e, first + i);
    for (size_t i = 0; !rc && i < n; i += batch) {
        rc = hx_engine_run(e, ids + i, batch, first + i, err);
        if (!rc)
            rc = hx_engine_logits(e, logits, err);
    }
    if (!rc)
        rc = hx_report_now(&after);
    if (!rc)
        p->sum[stage] = hx_report_diff(&after, &before);
    return rc;
}

static int run(struct profile *p, struct hx_engine *e)
{
    uint32_t *ids = calloc(p->o.n_ctx, sizeof(*ids));
    float *logits = calloc(e->model->vocab, sizeof(*logits));
    struct hx_error err = {"the rig's figures cannot be read"};
    int rc = ids && logits ? 0 : hx_error_set(&err, -ENOMEM, "out of memory");

    for (int stage = 0; !rc && stage < STAGES; stage++)
        rc = run_stage(p, e, stage, ids, logits, &err);
    if (!rc) { /* while all is there */
        p->rss = hx_host_rss();
        p->no_memory = hx_rig_front_end() ? hx_dsp_memory(&p->memory) : 0;
        rc = hx_engine_finish(e, &err);
    }
    free(ids);
    free(logits);
    return rc ? hx_cmd_fail(cmd, "%s", err.text) : HX_EXIT_OK;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static json_t *bytes(const struct profile *p, int64_t n)
{
    return p->no_memory ? json_null() : json_integer(n);
}

static json_t *memory_json(const struct profile *p)
{
    const struct hx_dsp_memory *m = &p->memory;
    const uint64_t peak = hx_report_peak_rss(); /* the kernel may be late with it */

    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:I}", "rss_bytes", (json_int_t)p->rss, "peak_rss_bytes",
                     (json_int_t)(peak > p->rss ? peak : p->rss), "vtcm_bytes", bytes(p, m->vtcm_bytes), "dsp_ddr_bytes",
                     bytes(p, m->buffer_bytes + m->heap_bytes), "dsp_buffer_bytes", bytes(p, m->buffer_bytes), "dsp_heap_bytes",
                     bytes(p, m->heap_bytes), "dsp_pds", (json_int_t)m->pds);
}

static json_t *stage_json(const struct profile *p, int stage)
{
    const struct hx_ceilings c = hx_ceilings(&p->p);
    const struct hx_session_stats *s = &p->sum[stage];
    const struct hx_roofline_counts n = hx_roofline_counts(s, &c);
    const double wall_us = (double)s->clock_ns / 1e3, tokens = (double)p->tokens[stage];
    const struct hx_energy e = hx_energy_of(&n, wall_us, &p->p);
    const double heat_uj = p->p.power_idle_w * wall_us + p->p.power_active_w * (double)s->exec_ns / 1e3;

    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f}", "tokens", (json_int_t)p->tokens[stage], "model_wall_us", wall_us,
                     "ddr_bytes", n.ddr_bytes, "dma_bytes", n.dma_bytes, "l2_bytes", n.l2_bytes, "vtcm_bytes", n.vtcm_bytes, "hvx_ops",
                     n.hvx_ops, "energy", hx_energy_json(&e, wall_us, tokens), "heat_uj", heat_uj);
}

/* The constants, each with what the profile says about it. */
static json_t *constants_json(const struct profile *p)
{
    static const char *const names[] = {"ddr_pj_per_byte", "l2_pj_per_byte", "vtcm_pj_per_byte", "hvx_pj_per_op", "power_idle_w"};
    json_t *j = json_object();

    for (size_t k = 0; k < hx_profile_n_keys(); k++)
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strcmp(hx_profile_key(k), names[i]) == 0)
                json_object_set_new(j, names[i], json_pack("{s:f, s:o}", "value", hx_profile_get(&p->p, k), "source",
                                                           hx_json_text(p->notes[k])));
    return j;
}

static int report(const struct profile *p, const struct hx_engine *e)
{
    json_t *j = json_pack("{s:o, s:o}", "model", hx_json_text(p->o.model), "memory", memory_json(p));

    for (int stage = 0; j && stage < STAGES; stage++)
        json_object_set_new(j, stages[stage], stage_json(p, stage));
    if (j)
        json_object_set_new(j, "constants", constants_json(p));
    return hx_report_print(cmd, hx_engine_opts_report(&p->o, e, j), p->o.json);
}

int hx_cmd_profile(int argc, char **argv)
{
    struct profile p = {.tokens = {64, 8}};
    struct hx_engine *e = NULL;
    int rc = hx_engine_opts_init(&p.o, cmd, 0);

    if (!rc)
        rc = parse(&p, argc, argv);
    if (!rc)
        rc = hx_engine_opts_open(&p.o, &e);
    if (!rc)
        rc = read_profile(&p);
    if (!rc)
        rc = run(&p, e);
    if (!rc)
        rc = report(&p, e);
    hx_engine_close(e);
    free(p.notes);
    hx_engine_opts_free(&p.o);
    return rc;
}
