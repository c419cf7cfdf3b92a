/* hexrig block golden: prints the published test vectors, or checks a file of them. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_golden.h"
#include "cmd_block.h"
#include "cli/report.h"

static const struct argp_option options[] = {
    {"json", HX_OPT_JSON, NULL, 0, "JSON instead of text", 0},
    {0},
};

static const struct hx_block_syntax syntax = {
    .cmd = "block golden",
    .options = options,
    .words = "[FILE]",
    .doc = "Without a file: prints a block and decoded values for every head dimension, basis, code and test vector; "
           "docs/block.md has their tables and inputs.  With a file in that form (the project's is "
           "tests/data/block/golden.txt): compares each of its lines with what this program makes.  Exit 1 when one differs."
           "\vExample: hexrig block golden tests/data/block/golden.txt",
    .max_words = 1,
};

/* Calls fn for every combination. */
static int each(int (*fn)(const struct hx_golden *g, void *arg), void *arg)
{
    int rc = 0;

    for (size_t n = 0; !rc && n < HX_BLOCK_SHAPES * HX_BASES * HX_CODES * HX_GOLDEN_VECTORS; n++) {
        const size_t format = n / HX_GOLDEN_VECTORS, basis = format / HX_CODES;
        struct hx_golden g = {.f = {&hx_block_shapes[basis / HX_BASES], (enum hx_block_basis)(basis % HX_BASES),
                                    format % HX_CODES},
                              .vector = n % HX_GOLDEN_VECTORS};

        rc = hx_golden_make(&g) ? hx_cmd_fail(syntax.cmd, "out of memory") : fn(&g, arg);
    }
    return rc;
}

static void hex(const struct hx_golden *g, char *out)
{
    for (size_t i = 0; i < g->f.shape->slot; i++)
        sprintf(out + 2 * i, "%02x", g->block[i]);
}

/* One line, what another implementation reads: dh basis code vector block 16 values. */
static int print_text(const struct hx_golden *g, void *arg)
{
    char block[2 * HX_BLOCK_MAX_SLOT + 1];

    (void)arg;
    hex(g, block);
    printf("%u %s %s %s %s", g->f.shape->dh, hx_block_basis_names[g->f.basis],
           hx_block_code_names[g->f.code], hx_golden_names[g->vector], block);
    for (size_t i = 0; i < HX_GOLDEN_VALUES; i++)
        printf(" %.9g", (double)g->decoded[i]);
    printf("\n");
    return 0;
}

static int add_json(const struct hx_golden *g, void *arg)
{
    char block[2 * HX_BLOCK_MAX_SLOT + 1];
    json_t *values = json_array();

    hex(g, block);
    for (size_t i = 0; i < HX_GOLDEN_VALUES; i++)
        json_array_append_new(values, json_real((double)g->decoded[i]));
    json_array_append_new(arg, json_pack("{s:i, s:s, s:s, s:s, s:s, s:o}", "dh", g->f.shape->dh,
                                         "basis", hx_block_basis_names[g->f.basis], "code",
                                         hx_block_code_names[g->f.code], "vector",
                                         hx_golden_names[g->vector], "block", block, "decoded",
                                         values));
    return 0;
}

static int print_all(int json)
{
    json_t *list;
    int rc;

    if (!json) {
        printf("# golden spinor blocks, see docs/block.md: dh basis code vector block values\n");
        return each(print_text, NULL);
    }
    list = json_array();
    rc = each(add_json, list);
    return hx_report_print(syntax.cmd, json_pack("{s:o}", "vectors", list), 1) ? HX_EXIT_FAILED : rc;
}

/* --- check */

static int index_of(const char *name, const char *const *names)
{
    for (int i = 0; name && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Fills g from the first four words. */
static int parse_format(struct hx_golden *g, char **save)
{
    const char *dh = strtok_r(NULL, " \n", save), *basis = strtok_r(NULL, " \n", save);
    const char *code = strtok_r(NULL, " \n", save), *name = strtok_r(NULL, " \n", save);
    const int vector = index_of(name, hx_golden_names);

    if (!name || vector < 0 ||
        hx_codec_format(&g->f, strtoul(dh, NULL, 10),
                        (uint32_t)index_of(basis, hx_block_basis_names),
                        (uint32_t)index_of(code, hx_block_code_names)))
        return -EINVAL;
    g->vector = (size_t)vector;
    return 0;
}

/* What is wrong with a line; NULL: nothing. */
static const char *check_line(char *line)
{
    char want[2 * HX_BLOCK_MAX_SLOT + 1], *save = line;
    const char *block, *value;
    struct hx_golden g;

    if (parse_format(&g, &save))
        return "not understood";
    if (hx_golden_make(&g))
        return "out of memory";
    hex(&g, want);
    block = strtok_r(NULL, " \n", &save);
    if (!block || strcmp(block, want))
        return "another block";
    for (size_t i = 0; i < HX_GOLDEN_VALUES; i++) {
        char *end;

        value = strtok_r(NULL, " \n", &save);
        if (!value)
            return "too few values";
        /* a value's digits are rounded, and the order of sums is free */
        if (!(fabs(strtod(value, &end) - (double)g.decoded[i]) <=
              1e-6 * fmax(1, fabs((double)g.decoded[i]))) || *end)
            return "another value";
    }
    return strtok_r(NULL, " \n", &save) ? "too many values" : NULL;
}

static int check_file(const char *path, int json)
{
    FILE *f = fopen(path, "re");
    size_t capacity = 0, number = 0, checked = 0, bad = 0;
    char *line = NULL;
    int rc;

    if (!f)
        return hx_cmd_fail(syntax.cmd, "%s: %s", path, strerror(errno));
    while (getline(&line, &capacity, f) > 0) {
        const char *fault;

        number++;
        if (*line == '#' || *line == '\n')
            continue;
        checked++;
        fault = check_line(line);
        if (fault) {
            bad++;
            fprintf(stderr, "hexrig %s: %s:%zu: %s\n", syntax.cmd, path, number, fault);
        }
    }
    rc = feof(f) ? 0 : hx_cmd_fail(syntax.cmd, "%s: cannot be read", path);
    free(line);
    fclose(f);
    if (rc)
        return rc;
    rc = hx_report_print(syntax.cmd,
                           json_pack("{s:o, s:I, s:I}", "file", hx_json_text(path), "checked",
                                     (json_int_t)checked, "bad", (json_int_t)bad), json);
    return rc ? rc : bad || !checked ? HX_EXIT_FAILED : HX_EXIT_OK;
}

int hx_block_golden(int argc, char **argv)
{
    struct hx_block_opts o = {.json = 0};
    int rc = hx_block_parse(&o, &syntax, argc, argv);

    if (rc)
        return rc;
    return o.file ? check_file(o.file, o.json) : print_all(o.json);
}
