/* hexrig roofline: ceilings of a profile, and how far below them kernels and methods are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "hx_rig.h"
#include "work.h"

enum { OPT_POS = HX_OPT_FREE, OPT_SVG, OPT_KERNELS, OPT_METHODS };
enum { MAX_POS = 4096 };

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model whose token the methods compute (the shipped one)", 0},
    {"pos", OPT_POS, "N", 0, "position of that token, from 0 (64)", 0},
    {"kernels", OPT_KERNELS, NULL, 0, "no methods", 0},
    {"methods", OPT_METHODS, NULL, 0, "no kernels", 0},
    {"svg", OPT_SVG, "FILE", 0, "writes the picture there, too", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path (s22u-577)", 0},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Prints the ceilings of a profile, in bytes and HVX operations per DSP cycle, and where kernels and methods of the engine stand: "
    "what they did, counted in calls that are really made, which ceiling asks for most of their time, and how much of it that "
    "explains, of execution alone and with dispatch."
    "\vAll figures are modelled.\n\n"
    "Example: hexrig roofline --profile s22u-sync --svg roofline.svg";

static const char cmd[] = "roofline";

struct roofline {
    struct hx_engine_opts o;
    size_t pos;
    const char *svg;
    int no_kernels, no_methods;
    struct hx_ceilings c;
    struct hx_roofline_work *work[2]; /* kernels, methods */
    size_t n[2];
    int failed;                       /* a method that the model allows has not run */
};

static int option(struct roofline *r, int key, const char *arg)
{
    switch (key) {
    case 'm':
        r->o.model = arg;
        return 0;
    case OPT_POS:
        return hx_opt_size(cmd, "pos", arg, 0, MAX_POS, &r->pos);
    case OPT_KERNELS:
        r->no_methods = 1;
        return 0;
    case OPT_METHODS:
        r->no_kernels = 1;
        return 0;
    case OPT_SVG:
        r->svg = arg;
        return 0;
    case HX_OPT_PROFILE:
        r->o.profile = arg;
        return 0;
    case HX_OPT_FRONT_END:
        return hx_opt_front_end(cmd, arg, &r->o.front_end);
    case HX_OPT_JSON:
        r->o.json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int parse(struct roofline *r, int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, r);

    if (!rc && r->no_kernels && r->no_methods)
        rc = hx_cmd_usage(cmd, "--kernels and --methods leave nothing");
    return rc ? rc : hx_engine_opts_done(&r->o);
}

/* Those of the profile that the rig has, which may be one that ran already. */
static int find_ceilings(struct roofline *r)
{
    char *folder = hx_share("profiles"), why[1024] = "";
    struct hx_profile p;
    const char *name = r->o.profile ? r->o.profile : hx_rig_profile();
    int rc = folder && name ? hx_profile_load(&p, folder, name, why, sizeof(why)) : -1;

    free(folder);
    if (rc)
        return hx_cmd_fail(cmd, "%s", *why ? why : "the rig's profile is not known");
    r->c = hx_ceilings(&p);
    return HX_EXIT_OK;
}

static void tell_left_out(void *arg, const char *method, const char *why, int refused)
{
    struct roofline *r = arg;

    fprintf(stderr, "hexrig %s: without %s: %s\n", cmd, method, why);
    r->failed |= !refused;
}

static int measure(struct roofline *r)
{
    const struct hx_roofline_left_out left_out = {tell_left_out, r};
    struct hx_error err = {""};
    int rc = 0;

    if (!r->no_kernels)
        rc = hx_roofline_kernels(&r->work[0], &r->n[0], &err);
    if (!rc && !r->no_methods)
        rc = hx_roofline_methods(&r->o, r->pos, left_out, &r->work[1], &r->n[1], &err);
    if (!rc && !r->n[0] && !r->n[1])
        return hx_cmd_fail(cmd, "no method has run");
    return rc ? hx_cmd_fail(cmd, "%s", err.text) : HX_EXIT_OK;
}

static struct hx_roofline_point point_of(const struct roofline *r, const struct hx_roofline_work *w)
{
    const struct hx_roofline_counts n = hx_roofline_counts(&w->sum, &r->c);

    return hx_roofline_point(&n, &r->c);
}

static json_t *points_json(const struct roofline *r, int kind)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->n[kind]; i++) {
        const struct hx_roofline_point p = point_of(r, &r->work[kind][i]);
        json_t *j = hx_roofline_point_json(&p);

        if (j)
            json_object_set_new(j, "name", json_string(r->work[kind][i].name));
        json_array_append_new(all, j);
    }
    return all;
}

static void print_table(const struct roofline *r, int kind, const char *heading)
{
    if (r->n[kind])
        printf("\n%-18s %-9s %6s  %-9s %6s %9s %9s %9s %9s %12s %12s\n", heading, "roof", "%", "with call", "%", "ops/pcyc", "DDR B/pc",
               "VTCM B/pc", "ops/B", "exec pcyc", "all pcyc");
    for (size_t i = 0; i < r->n[kind]; i++) {
        const struct hx_roofline_point p = point_of(r, &r->work[kind][i]);
        const double exec = p.n.exec_pcycles > 0 ? p.n.exec_pcycles : 1;

        printf("%-18s %-9s %6.1f  %-9s %6.1f %9.3f %9.3f %9.3f %9.3f %12.0f %12.0f\n", r->work[kind][i].name, hx_roof_names[p.exec_roof],
               100 * p.exec_share, hx_roof_names[p.roof], 100 * p.share, p.ops_per_pcycle, (p.n.ddr_bytes + p.n.dma_bytes) / exec,
               p.n.vtcm_bytes / exec, p.ops_per_byte, p.n.exec_pcycles, p.n.all_pcycles);
    }
}

static void print_text(const struct roofline *r)
{
    const struct hx_ceilings *c = &r->c;

    printf("profile: %s   all figures are modelled, per DSP cycle (pcycle) at %.0f MHz\n\n", hx_rig_profile(), c->pcycles_per_us);
    printf("ddr       %10.3f B/pcycle  %8.2f GB/s; by loads and stores that miss L2 %.3f B/pcycle\n", c->ddr_bytes,
           c->ddr_bytes * c->pcycles_per_us / 1e3, c->ddr_load_bytes);
    printf("vtcm      %10.3f B/pcycle  %8.2f GB/s\n", c->vtcm_bytes, c->vtcm_bytes * c->pcycles_per_us / 1e3);
    printf("hvx       %10.3f operations/pcycle\n", c->hvx_ops);
    printf("dispatch  %10.0f pcycles/call, %.0f pcycles/packet\n", c->call_pcycles, c->packet_pcycles);
    print_table(r, 0, "kernel");
    print_table(r, 1, "method");
}

static int draw(const struct roofline *r)
{
    struct hx_roofline_mark *marks = calloc(r->n[0] + r->n[1], sizeof(*marks));
    char title[160];
    size_t n = 0;
    int rc;

    if (!marks)
        return hx_cmd_fail(cmd, "out of memory");
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < r->n[kind]; i++)
            marks[n++] = (struct hx_roofline_mark){r->work[kind][i].name, point_of(r, &r->work[kind][i])};
    snprintf(title, sizeof(title), "Roofline of %.64s (model)", hx_rig_profile());
    rc = hx_roofline_svg(r->svg, title, &r->c, marks, n);
    free(marks);
    return rc ? hx_cmd_fail(cmd, "%s: %s", r->svg, strerror(-rc)) : HX_EXIT_OK;
}

static int report(const struct roofline *r)
{
    if (!r->o.json && !hx_json_lost()) {
        print_text(r);
        return HX_EXIT_OK;
    }
    return hx_report_print(cmd, json_pack("{s:s, s:o, s:o, s:o}", "profile", hx_rig_profile(), "ceilings", hx_ceilings_json(&r->c),
                                          "kernels", points_json(r, 0), "methods", points_json(r, 1)), 1);
}

int hx_cmd_roofline(int argc, char **argv)
{
    struct roofline r = {.pos = 64};
    int rc = hx_engine_opts_init(&r.o, cmd, 0);

    if (!rc)
        rc = parse(&r, argc, argv);
    if (!rc)
        rc = hx_engine_opts_prepare(&r.o);
    if (!rc)
        rc = hx_cmd_connect(cmd);
    if (!rc)
        rc = find_ceilings(&r);
    if (!rc)
        rc = measure(&r);
    if (!rc && r.svg)
        rc = draw(&r);
    if (!rc)
        rc = report(&r);
    if (!rc && r.failed)
        rc = HX_EXIT_FAILED;
    free(r.work[0]);
    free(r.work[1]);
    hx_engine_opts_free(&r.o);
    return rc;
}
