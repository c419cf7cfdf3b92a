/* hexrig dsp call: one step of the block codec on the DSP, beside the host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_dsp.h"
#include "dsp/skel.h"
#include "hx_compress.h"
#include "hx_rig.h"
#include "sp_hex.h"

enum { OPT_N = HX_OPT_FREE, OPT_DH, OPT_VECTORS, OPT_ORDER, OPT_V, OPT_SEED, MAX_VECTORS = 4096 };

static const char cmd[] = "dsp call";

static const struct argp_option options[] = {
    {"n", OPT_N, "N", 0, "length of the vectors of vht2 and mobius (154)", 0},
    {"dh", OPT_DH, "N", 0, "head dimension of compress (128)", 0},
    {"vectors", OPT_VECTORS, "N", 0, "in one call (1)", 0},
    {"order", OPT_ORDER, "O", 0, "of mobius: ship, numbered from 0, or block, from 1 (ship)", 0},
    {"v", OPT_V, NULL, 0, "compress a V, one band of 3 bits, not a K", 0},
    {"seed", OPT_SEED, "N", 0, "of the values, uniform in [-1, 1) (1)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile of the rig, name or path (s22u-577)", 0},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Calls one step of the block codec on the DSP with made-up vectors and compares with the host's own arithmetic.  STEP: "
    "vht2 (forth and back), mobius (the order of coefficients), compress (a vector in bands)."
    "\vTimes are modelled, those of the first call.  Exit status: 0; 1 when the DSP and the host differ by more than the "
    "tolerance that is printed; 2 when there is no such case.\n\n"
    "Example: hexrig dsp call vht2 --n 154";

struct call {
    struct hx_call_case what;
    const struct hx_call_step *step;
    const char *profile, *front_end;
    int json;
    struct hx_session_stats before, after; /* the first call on the DSP */
};

static int choose(struct call *c, const char *name)
{
    char legal[128] = "";

    if (c->step)
        return hx_cmd_usage(cmd, "one STEP at a time");
    for (const struct hx_call_step *s = hx_call_steps; s->name; s++) {
        if (strcmp(s->name, name) == 0)
            c->step = s;
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", s == hx_call_steps ? "" : ", ", s->name);
    }
    return c->step ? 0 : hx_cmd_usage(cmd, "unknown step '%s'; legal: %s", name, legal);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct call *c = state->input;
    struct hx_call_case *w = &c->what;

    switch (key) {
    case OPT_N: return hx_opt_error(hx_opt_size(cmd, "n", arg, 1, INT32_MAX / 4, &w->n));
    case OPT_DH: return hx_opt_error(hx_opt_size(cmd, "dh", arg, 1, INT32_MAX / 4, &w->dh));
    case OPT_VECTORS: return hx_opt_error(hx_opt_size(cmd, "vectors", arg, 1, MAX_VECTORS, &w->vectors));
    case OPT_ORDER: return hx_opt_error(hx_opt_name(cmd, "order", arg, hx_mobius_names, &w->order));
    case OPT_V: w->is_v = 1; return 0;
    case OPT_SEED: return hx_opt_error(hx_opt_u64(cmd, "seed", arg, 0, UINT32_MAX, &w->seed));
    case HX_OPT_PROFILE: c->profile = arg; return 0;
    case HX_OPT_FRONT_END: return hx_opt_error(hx_opt_front_end(cmd, arg, &c->front_end));
    case HX_OPT_JSON: c->json = 1; return 0;
    case ARGP_KEY_ARG: return hx_opt_error(choose(c, arg));
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, "STEP", doc, NULL, NULL, NULL};

static int connect_rig(const struct call *c)
{
    const struct hx_rig_cfg rig = {
        .force_private = c->profile || c->front_end,
        .profile = c->profile,
        .front_end = c->front_end,
    };
    const int rc = hx_rig_configure(&rig);

    return rc ? hx_cmd_fail(cmd, "%s", strerror(-rc)) : hx_cmd_connect(cmd);
}

static void counted(void *arg)
{
    struct call *c = arg;

    hx_report_now(&c->after);
}

static int report(struct call *c, json_t *j)
{
    const struct hx_session_stats cost = hx_report_diff(&c->after, &c->before);

    if (j) {
        json_object_set_new(j, "hvx_ops", json_integer((json_int_t)cost.hvx_ops));
        json_object_set_new(j, "model_us", hx_report_model_us(&cost, 1));
        json_object_set_new(j, "profile", json_string(hx_rig_profile()));
    }
    return hx_report_print(cmd, j, c->json);
}

static int run(struct call *c)
{
    struct hx_error err = {""};
    struct hx_skel dsp = {.opened = 0};
    json_t *j = json_pack("{s:s}", "step", c->step->name);
    int good = 0, rc = hx_skel_open(&dsp, cmd, sp_hex_URI, &err);

    if (!rc && !j)
        rc = hx_error_set(&err, -ENOMEM, "out of memory");
    if (!rc)
        hx_report_now(&c->before);
    if (!rc)
        rc = c->step->run(&c->what, dsp.handle, counted, c, j, &good, &err);
    if (rc) {
        json_decref(j);
        rc = hx_cmd_fail(cmd, "%s", err.text);
    } else {
        rc = report(c, j);
    }
    hx_skel_close(&dsp);
    return rc ? rc : good ? HX_EXIT_OK : hx_cmd_fail(cmd, "%s: the DSP and the host differ", c->step->name);
}

int hx_dsp_call(int argc, char **argv)
{
    struct call c = {.what = {.n = 154, .dh = 128, .vectors = 1, .seed = 1}};
    struct hx_error err = {""};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &c);

    if (rc)
        return rc;
    if (!c.step)
        return hx_cmd_usage(cmd, "no STEP");
    if (c.step->check(&c.what, &err))
        return hx_cmd_usage(cmd, "%s", err.text);
    rc = connect_rig(&c);
    return rc ? rc : run(&c);
}
