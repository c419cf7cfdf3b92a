/* hexrig methods: what the engine can compute with, from the methods' own tables; also the tables of docs/methods.md. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "engine/plan.h"

enum { OPT_MARKDOWN = HX_OPT_FREE };

static const struct argp_option options[] = {
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {"markdown", OPT_MARKDOWN, NULL, 0, "the tables of docs/methods.md", 0},
    {0},
};

static const char doc[] = "Lists the methods behind each seam of the engine, the default first, and their options; then what is not built, "
                          "and why."
                          "\vExample: hexrig methods";

struct methods {
    int json, markdown;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct methods *m = state->input;

    (void)arg;
    switch (key) {
    case HX_OPT_JSON:
        m->json = 1;
        return 0;
    case OPT_MARKDOWN:
        m->markdown = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What one could ask for and is not there, and why. */
static const struct {
    enum hx_seam seam;
    const char *name, *about, *reason;
} not_built[] = {
    {HX_SEAM_KV, "spinor-gpu", "the same 63-byte blocks kept and coded by a GPU (CUDA)",
     "skipped: where hexrig is built and tested there is no GPU and no CUDA toolkit to check bytes or speed with; "
     "the format is checked on this CPU and on the DSP (hexrig block golden)"},
};
enum { NOT_BUILT = sizeof(not_built) / sizeof(not_built[0]) };

/* --- what there is to say */

static json_t *traits(uint32_t set)
{
    json_t *list = json_array();

    for (int i = 0; hx_trait_names[i]; i++)
        if (set & 1u << i)
            json_array_append_new(list, json_string(hx_trait_names[i]));
    return list;
}

/* One that is shared may have its help with another method. */
static const char *help_of(const struct hx_option *o)
{
    const struct hx_method *owner;
    const struct hx_option *told;

    for (size_t i = 0; !o->help && (told = hx_plan_option(i, &owner)); i++)
        if (strcmp(told->name, o->name) == 0)
            return told->help;
    return o->help;
}

static json_t *options_of(const struct hx_option *o)
{
    json_t *list = json_array();

    for (; o && o->name; o++) {
        json_t *j = json_pack("{s:s, s:s*, s:s*, s:s}", "name", o->name, "arg", o->arg, "default", o->def, "help",
                              help_of(o));

        if (o->max) {
            json_object_set_new(j, "min", json_integer((json_int_t)o->min));
            json_object_set_new(j, "max", json_integer((json_int_t)o->max));
        }
        if (!o->means)
            json_array_append_new(list, j);
        else
            json_decref(j);
    }
    return list;
}

static json_t *not_built_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NOT_BUILT; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "seam", hx_seam_names[not_built[i].seam], "name",
                                              not_built[i].name, "about", not_built[i].about, "reason", not_built[i].reason));
    return list;
}

static json_t *report(void)
{
    json_t *list = json_array();

    for (size_t i = 0; hx_methods[i]; i++) {
        const struct hx_method *m = hx_methods[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:s, s:o, s:o, s:o}", "seam", hx_seam_names[m->seam],
                                              "name", m->name, "arg", m->arg, "about", m->about, "needs",
                                              traits(m->needs), "gives", traits(m->gives), "options",
                                              options_of(m->options)));
    }
    return json_pack("{s:o, s:o, s:o}", "methods", list, "options", options_of(hx_plan_options), "not_built", not_built_json());
}

/* --- as text */

static void print_traits(const char *word, uint32_t set)
{
    const char *between = word;

    for (int i = 0; hx_trait_names[i]; i++)
        if (set & 1u << i) {
            printf("%s%s", between, hx_trait_names[i]);
            between = ", ";
        }
}

static void print_text(void)
{
    for (int seam = 0; seam < HX_SEAMS; seam++) {
        printf("%s--%s\n", seam ? "\n" : "", hx_seam_names[seam]);
        for (size_t i = 0; hx_methods[i]; i++) {
            const struct hx_method *m = hx_methods[i];

            if ((int)m->seam != seam)
                continue;
            printf("  %-12s %s", m->name, m->about);
            print_traits("; needs ", m->needs);
            print_traits("; gives ", m->gives);
            putchar('\n');
            if (m->arg)
                printf("               --%s %s:%s\n", hx_seam_names[seam], m->name, m->arg);
            for (const struct hx_option *o = m->options; o && o->name; o++)
                if (!o->means)
                    printf("               --%s%s%s\n", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        }
    }
    printf("\nnot built\n");
    for (size_t i = 0; i < NOT_BUILT; i++)
        printf("  %-12s --%s: %s\n               %s\n", not_built[i].name, hx_seam_names[not_built[i].seam], not_built[i].about,
               not_built[i].reason);
}

static void print_row(const struct hx_option *o)
{
    char arg[64] = "";

    for (size_t i = 0, n = 0; o->arg && o->arg[i] && n + 2 < sizeof(arg); i++) {
        if (o->arg[i] == '|')
            arg[n++] = '\\';
        arg[n++] = o->arg[i];
    }
    printf("| `--%s%s%s` | %s | ", o->name, *arg ? " " : "", arg, o->def ? o->def : "");
    for (const char *c = o->help; *c; c++)
        printf(*c == '|' ? "\\|" : "%c", *c);
    printf(" |\n");
}

/* As a map has it, with what may stand behind the name. */
static void print_name(const struct hx_method *m)
{
    if (m->arg && m->arg_needed)
        printf("| `%s:%s`", m->name, m->arg);
    else if (m->arg)
        printf("| `%s`, `%s:%s`", m->name, m->name, m->arg);
    else
        printf("| `%s`", m->name);
}

static void print_markdown(void)
{
    const struct hx_method *owner, *last = NULL;
    const struct hx_option *o;

    for (int seam = 0; seam < HX_SEAMS; seam++) {
        printf("| `--%s` | what it is | needs | gives |\n|---|---|---|---|\n", hx_seam_names[seam]);
        for (size_t i = 0; hx_methods[i]; i++)
            if ((int)hx_methods[i]->seam == seam) {
                print_name(hx_methods[i]);
                printf(" | %s | ", hx_methods[i]->about);
                print_traits("", hx_methods[i]->needs);
                printf(" | ");
                print_traits("", hx_methods[i]->gives);
                printf(" |\n");
            }
        putchar('\n');
    }
    printf("| not built | seam | what it is | why |\n|---|---|---|---|\n");
    for (size_t i = 0; i < NOT_BUILT; i++)
        printf("| `%s` | `--%s` | %s | %s |\n", not_built[i].name, hx_seam_names[not_built[i].seam], not_built[i].about,
               not_built[i].reason);
    printf("\n| option | default | |\n|---|---|---|\n");
    for (size_t i = 0; (o = hx_plan_option(i, &owner)); i++) {
        if (owner && owner != last)
            printf("| **%s %s** | | |\n", hx_seam_names[owner->seam], owner->name);
        last = owner;
        if (!o->means)
            print_row(o);
    }
}

int hx_cmd_methods(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct methods m = {0, 0};
    int rc = hx_opt_parse("methods", &argp, argc, argv, &m);

    if (rc)
        return rc;
    if (m.json)
        return hx_report_print("methods", report(), 1);
    if (m.markdown)
        print_markdown();
    else
        print_text();
    return HX_EXIT_OK;
}
