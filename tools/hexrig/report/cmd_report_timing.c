/* hexrig report timing: what the cost model says, beside silicon or for any case. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_report.h"
#include "forward_options.h"
#include "hx_aee.h"
#include "hx_rig.h"
#include "timing_calls.h"
#include "timing_identify.h"
#include "timing_table.h"

enum { ELEMENTS_MAX = 1 << 27 };
enum { OPT_KERNEL = HX_OPT_FREE, OPT_SHAPE, OPT_PLACEMENT, OPT_THREADS, OPT_COLD, OPT_WARM, OPT_BUILD,
       OPT_SHARED, OPT_CALLS, OPT_IN, OPT_OUT, OPT_IDLE, OPT_CONCURRENT, OPT_CHECK,
       OPT_IDENTIFY, OPT_INTERVAL };

enum { QUESTION, ROWS, KERNEL, PASS, CALLS, RIG }; /* groups of options */

static const char cmd[] = "report timing";

static const struct argp_option options[] = {
    {"shared", OPT_SHARED, NULL, 0, "buffers in rpcmem; without: copied", QUESTION},
    {"idle-us", OPT_IDLE, "T", 0, "modelled pause of the client before each call (0)", QUESTION},
    {"interval", OPT_INTERVAL, NULL, 0,
     "each figure with the interval that about 9 in 10 measured ones will lie in; runs all rows with every parameter moved", QUESTION},
    {"cold", OPT_COLD, NULL, 0, "of a kernel or a pass: the first call, DSP asleep, tables not made", QUESTION},
    {"warm", OPT_WARM, NULL, 0, "one after a call like it (default)", QUESTION},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", QUESTION},
    {NULL, 0, NULL, 0, "The published rows:", ROWS},
    {"check", OPT_CHECK, NULL, 0, "exit status 1 when a group of rows misses its bar", ROWS},
    {"identify", OPT_IDENTIFY, NULL, 0,
     "also: how well the rows determine each parameter of the profile, and the error of each row if it had not been fitted to", ROWS},
    {NULL, 0, NULL, 0, "A kernel:", KERNEL},
    {"kernel", OPT_KERNEL, "NAME", 0, "one of the list below", KERNEL},
    {"shape", OPT_SHAPE, "AxBxC", 0, "as in the list (the sample given there)", KERNEL},
    {"placement", OPT_PLACEMENT, "P", 0,
     "ddr | vtcm | dma: where weights (small kernels: buffers) lie (ddr)", KERNEL},
    {"threads", OPT_THREADS, "N", 0, "HVX contexts, 1 or 2 (1)", KERNEL},
    {"build", OPT_BUILD, "B", 0, "release | debug: code as compiled with -O2 or -O0 (release)", KERNEL},
    {NULL, 0, NULL, 0, "Many calls, without --kernel of one that does nothing:", CALLS},
    {"calls", OPT_CALLS, "N", 0, "that many of each caller, one after the other, the first after a long pause", CALLS},
    {"in-bytes", OPT_IN, "N", 0, "bytes of the one buffer to the DSP (0)", CALLS},
    {"out-bytes", OPT_OUT, "N", 0, "and back (0)", CALLS},
    {"concurrent", OPT_CONCURRENT, "N", 0,
     "callers side by side, threads on one handle, at most 14 (1).  At most 20000 calls of all are made; beyond that the "
     "report says extrapolated", CALLS},
    {NULL, 0, NULL, 0, "The rig:", RIG},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path (s22u-sync)", RIG},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", RIG},
    {0},
};

static const char doc[] =
    "Without --kernel, --forward and --calls: predicted against measured for every published row of a Galaxy S22 Ultra that "
    "the model can be held against, each asked as below.  With them: any case.  All figures are modelled and repeat."
    "\vExample: hexrig report timing --calls 1000 --in-bytes 256 --out-bytes 42";

struct report {
    struct hx_timing_ask ask;
    int has_kernel, has_shape, json, check, identify, interval;
    uint64_t calls, concurrent;
    struct hx_forward_options pass;
    unsigned of_kernel, of_calls, of_first; /* options given that only some kinds of questions take */
    const char *profile, *front_end;
};

/* Behind --help: what --kernel can name, and the published rows, each as its own question. */
static void print_lists(void)
{
    puts("\nKernels:");
    for (size_t i = 0; i < hx_timing_n_kernels; i++) {
        const struct hx_timing_kernel *k = &hx_timing_kernels[i];

        printf("  %-14s %s", k->name, k->shape);
        for (int d = 0; d < HX_TIMING_SHAPE && k->sample[d]; d++)
            printf("%s%ld", d ? "x" : " (", k->sample[d]);
        printf("%s\n%17s%s\n", k->sample[0] ? ")" : "", "", k->what);
    }
    puts("\nThe published rows, and what asks for each (wall: model_us.total):");
    for (size_t i = 0; i < hx_timing_n_rows; i++) {
        static const char *const figures[] = {
            "pcycles.handler", "pcycles.worker", "pcycles.total", "total - handler", "model_us.exec", "model_us.total"};
        const struct hx_timing_row *row = &hx_timing_rows[i];
        char ask[256];

        hx_timing_print_ask(&row->ask, ask, sizeof(ask));
        printf("  %s  %s\n      %s\n", row->id, figures[row->figure], ask);
    }
}

/* --- the command line ------------------------------------------------------------------------------------------ */

/* --placement and --build: *out becomes the index of the name. */
static int choose(const char *option, const char *arg, const char *const names[], int *out)
{
    size_t i = 0;
    int rc = hx_opt_name(cmd, option, arg, names, &i);

    *out = (int)i;
    return rc;
}

static int parse_shape(struct report *r, const char *text)
{
    const char *at = text;
    char *end;

    for (int d = 0; d < HX_TIMING_SHAPE; d++) {
        long v = strtol(at, &end, 10);

        if (end == at || v < 1 || v > 1 << 24)
            break;
        r->ask.shape[d] = v;
        r->has_shape = d + 1;
        if (!*end)
            return 0;
        if (*end != 'x')
            break;
        at = end + 1;
    }
    return hx_cmd_bad_value(cmd, "shape", text, "numbers of 1..16777216 with x between, at most 4");
}

/* Options that only a kernel's question takes, and those of pure calls. */
static void note_kind(struct report *r, int c)
{
    switch (c) {
    case OPT_SHAPE: case OPT_PLACEMENT: case OPT_THREADS: case OPT_BUILD:
        r->of_kernel = 1;
        break;
    case OPT_COLD: case OPT_WARM:
        r->of_first = 1;
        break;
    case OPT_IN: case OPT_OUT: case OPT_CONCURRENT:
        r->of_calls = 1;
        break;
    default:
        break;
    }
}

static int parse_threads(struct report *r, const char *arg)
{
    uint64_t n = 0;
    int rc = hx_opt_u64(cmd, "threads", arg, 1, 2, &n);

    r->ask.how.threads = (int)n;
    return rc;
}

static int option(struct report *r, int key, const char *arg)
{
    static const char *const placements[] = {"ddr", "vtcm", "dma", NULL}, *const builds[] = {"release", "debug", NULL};

    switch (key) {
    case OPT_KERNEL:
        r->ask.kernel = arg;
        r->has_kernel = 1;
        return hx_timing_kernel(arg) ? 0 : hx_cmd_bad_value(cmd, "kernel", arg, "see hexrig report timing --help");
    case OPT_SHAPE: return parse_shape(r, arg);
    case OPT_PLACEMENT: return choose("placement", arg, placements, &r->ask.how.placement);
    case OPT_BUILD: return choose("build", arg, builds, &r->ask.how.build);
    case OPT_THREADS: return parse_threads(r, arg);
    case OPT_COLD: r->ask.first = r->ask.how.cold = 1; return 0;
    case OPT_WARM: r->ask.first = r->ask.how.cold = 0; return 0;
    case OPT_SHARED: r->ask.shared = 1; return 0;
    case OPT_CALLS: return hx_opt_u64(cmd, "calls", arg, 1, 1000000, &r->calls);
    case OPT_IN: return hx_opt_u64(cmd, "in-bytes", arg, 0, 64 << 20, &r->ask.in_bytes);
    case OPT_OUT: return hx_opt_u64(cmd, "out-bytes", arg, 0, 64 << 20, &r->ask.out_bytes);
    case OPT_IDLE: return hx_opt_u64(cmd, "idle-us", arg, 0, 1000000000, &r->ask.idle_us);
    case OPT_CHECK: r->check = 1; return 0;
    case OPT_IDENTIFY: r->identify = 1; return 0;
    case OPT_INTERVAL: r->interval = 1; return 0;
    case OPT_CONCURRENT: return hx_opt_u64(cmd, "concurrent", arg, 1, 14, &r->concurrent);
    case HX_OPT_PROFILE: r->profile = arg; return 0;
    case HX_OPT_FRONT_END: return hx_opt_front_end(cmd, arg, &r->front_end);
    case HX_OPT_JSON: r->json = 1; return 0;
    default: return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct report *r = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &r->pass;
    note_kind(r, key);
    return hx_opt_error(option(r, key, arg));
}

/* Fills the shape up from the kernel's sample. */
static int complete_shape(struct report *r)
{
    const struct hx_timing_kernel *k = hx_timing_kernel(r->ask.kernel);
    char why[200];
    int dims = 0;

    while (dims < HX_TIMING_SHAPE && k->sample[dims])
        dims++;
    if (r->has_shape > dims)
        return hx_cmd_usage(cmd, "--shape: kernel %s takes %s", k->name, *k->shape ? k->shape : "none");
    for (int d = r->has_shape; d < dims; d++)
        r->ask.shape[d] = k->sample[d];
    for (int d = 0; d < dims; d++)
        for (int e = 0; e < d; e++)
            if (r->ask.shape[d] * r->ask.shape[e] > ELEMENTS_MAX)
                return hx_cmd_usage(cmd, "--shape: %ldx%ld is more than %d elements", r->ask.shape[e],
                                    r->ask.shape[d], ELEMENTS_MAX);
    return hx_timing_refused(&r->ask, why, sizeof(why)) ? hx_cmd_usage(cmd, "%s", why) : 0;
}

/* What the options say together. */
static int complete(struct report *r)
{
    const int passes = r->pass.model != NULL, asks = r->calls || r->has_kernel || passes;

    if (passes && (r->calls || r->has_kernel))
        return hx_cmd_usage(cmd, "--forward excludes --kernel and --calls: two questions");
    if (!passes && r->pass.details)
        return hx_cmd_usage(cmd, "--variant, --tokens and --host-ms need --forward");
    if (r->ask.first && r->calls)
        return hx_cmd_usage(cmd, "--cold is one call; --calls tells of its first one");
    if (strcmp(r->ask.kernel, "null") != 0 && (r->ask.in_bytes || r->ask.out_bytes))
        return hx_cmd_usage(cmd, "--in-bytes and --out-bytes are of kernel null");
    if (r->of_kernel && !r->has_kernel)
        return hx_cmd_usage(cmd, "--shape, --placement, --threads and --build need --kernel");
    if (r->of_first && !r->has_kernel && !passes)
        return hx_cmd_usage(cmd, "--cold and --warm need --kernel or --forward");
    if (r->of_calls && !r->calls)
        return hx_cmd_usage(cmd, "--in-bytes, --out-bytes and --concurrent need --calls");
    if ((r->ask.idle_us || r->ask.shared) && !r->calls && !r->has_kernel)
        return hx_cmd_usage(cmd, "--idle-us and --shared need --kernel or --calls");
    if ((r->check || r->identify) && asks)
        return hx_cmd_usage(cmd, "--check and --identify are about the published rows: without --kernel, --forward and --calls");
    if ((r->identify || r->interval) && getenv("HEXRIG_DEVICE"))
        return hx_cmd_usage(cmd, "--identify and --interval start rigs of their own, and HEXRIG_DEVICE names one");
    return complete_shape(r);
}

static int parse(struct report *r, int argc, char **argv)
{
    const struct argp_child children[] = {{&hx_forward_argp, 0, NULL, PASS}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, r);

    if (rc == HX_EXIT_HELP && hx_help_table_begins()) {
        print_lists();
        hx_help_table_ends();
    }
    return rc ? rc : complete(r);
}

/* --- any case -------------------------------------------------------------------------------------------------- */

static json_t *answer_json(const struct report *r, const struct hx_timing *t)
{
    return json_pack("{s:s, s:s, s:{s:f, s:f, s:f, s:f, s:f}, s:{s:f, s:f, s:f, s:f, s:f}}", "kernel", r->ask.kernel,
                     "profile", r->profile, "pcycles", "handler", t->handler, "worker", t->worker, "once", t->once,
                     "total", t->total, "copies", t->copies, "model_us", "dispatch", t->dispatch_us, "marshal", t->marshal_us, "queue",
                     t->queue_us, "exec", t->exec_us, "total", t->wall_us);
}

static int asked(const struct report *r, int rc)
{
    if (!rc)
        return 0;
    return hx_cmd_fail(cmd, "kernel %s: %s (0x%x): no such shape or way to run it, no memory, or what the DSP's log says",
                       r->ask.kernel, hx_aee_name(rc), (unsigned)rc);
}

static int one_case(const struct report *r, json_t **j)
{
    struct hx_timing t;
    const int rc = asked(r, hx_timing_ask(&r->ask, &t));

    if (!rc)
        *j = answer_json(r, &t);
    return rc;
}

/* Calls one after the other, of one caller or of several side by side. */
static json_t *calls_json(const struct report *r, const struct hx_timing_calls *alone, const struct hx_timing_calls *all)
{
    const double made = (double)(r->calls * r->concurrent);
    json_t *walls = json_array(), *queues = json_array();

    for (unsigned i = 0; i < r->concurrent; i++) {
        json_array_append_new(walls, json_real(all->wall_us[i]));
        json_array_append_new(queues, json_real(all->queue_us[i]));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:f, s:f}", "kernel", r->ask.kernel,
                     "profile", r->profile, "calls", (json_int_t)r->calls, "concurrent", (json_int_t)r->concurrent,
                     "made_by_each", (json_int_t)all->ran, "extrapolated", all->ran < r->calls, "us_per_call",
                     alone->last.wall_us, "us_first_call", alone->first_us, "dispatch_us", alone->last.dispatch_us, "marshal_us",
                     alone->last.marshal_us, "caller_wall_us", walls, "caller_queue_us", queues, "wall_us", all->total_wall_us,
                     "calls_per_s", made / all->total_wall_us * 1e6, "speedup",
                     (double)r->concurrent * alone->total_wall_us / all->total_wall_us);
}

static int many_calls(const struct report *r, json_t **j)
{
    struct hx_timing_calls alone, all;
    int rc = hx_timing_calls(&r->ask, r->calls, 1, &alone);

    all = alone;
    if (!rc && r->concurrent > 1)
        rc = hx_timing_calls(&r->ask, r->calls, (unsigned)r->concurrent, &all);
    if (!rc)
        *j = calls_json(r, &alone, &all);
    return asked(r, rc);
}

/* NULL: it has said why. */
static json_t *answer(const void *question)
{
    const struct report *r = question;
    json_t *j = NULL;

    if (r->pass.model)
        return hx_forward_question(cmd, &r->pass, &r->ask, r->profile);
    int rc = r->calls ? many_calls(r, &j) : one_case(r, &j);

    if (!rc && !j)
        hx_cmd_fail(cmd, "out of memory");
    return j;
}

/* The rig of a question: its own, or that of `hexrig trace`, which has made it for this.  Any other rig that runs might have
 * another profile, or other clients. */
static int connect_rig(const struct report *r)
{
    const struct hx_rig_cfg rig = {
        .force_private = getenv("HEXRIG_DEVICE") == NULL,
        .profile = r->profile,
        .front_end = r->front_end,
    };
    const int rc = hx_rig_configure(&rig);

    return rc ? hx_cmd_fail(cmd, "%s", strerror(-rc)) : hx_cmd_connect(cmd);
}

/* On rigs of their own. */
static int with_variants(const struct report *r)
{
    const int asks = r->has_kernel || r->calls || r->pass.model;
    const struct hx_timing_fit_how how = {cmd, r->profile, r->front_end, asks ? answer : NULL, r};
    struct hx_timing_fit fit;
    int rc = hx_timing_fit(&fit, &how);

    if (!rc && asks)
        rc = hx_timing_print_interval(cmd, &fit, r->json);
    else if (!rc)
        rc = hx_timing_identify(cmd, &fit, &(struct hx_timing_views){r->identify, r->interval, r->json, r->check});
    hx_timing_fit_free(&fit);
    return rc;
}

int hx_cmd_report_timing(int argc, char **argv)
{
    struct report r = {.ask = {.kernel = "null", .how = {.threads = 1}}, .concurrent = 1,
                       .pass = HX_FORWARD_OPTIONS, .profile = "s22u-sync"};
    int rc = parse(&r, argc, argv);

    if (rc)
        return rc;
    if (r.identify || r.interval)
        return with_variants(&r);
    rc = connect_rig(&r);
    if (rc)
        return rc;
    if (!r.has_kernel && !r.calls && !r.pass.model)
        return hx_timing_table(cmd, r.profile, r.json, r.check);
    json_t *j = answer(&r);
    if (j && r.pass.model && !r.json)
        return hx_forward_print(cmd, j);
    return j ? hx_report_print(cmd, j, r.json) : HX_EXIT_FAILED;
}
