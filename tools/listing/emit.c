/* Prints tables as a C header. */
#include <ctype.h>
#include <string.h>

#include "listing.h"

static const char *const build_name[HX_CODE_BUILDS] = {"release", "debug"};

void hx_emit_head(FILE *out, const struct hx_tables *t, const char *compiler)
{
    fprintf(out, "/* Made by `hexrig listing` from what %s makes of %s; do not edit.\n",
            *compiler ? compiler : "the compiler", t->source);
    if (t->hash)
        fprintf(out, HX_TABLE_HASH "%s.\n", t->hash);
    fputs(" * See hexrig_code.h.  A packet: {{what it waits for}, context cycles, vmem loads}. */\n"
          "#if !defined(__hexagon__) || defined(__LP64__)\n#include \"hexrig_code.h\"\n",
          out);
}

void hx_emit_tail(FILE *out)
{
    fputs("#endif\n", out);
}

/* The text of a row; returns its length. */
static int packet_text(char *to, size_t n, const struct hx_vliw_packet *p)
{
    int at = snprintf(to, n, "{{");

    for (int i = 0; i < HX_PACKET_WAITS && (i == 0 || p->wait[i]); i++)
        at += snprintf(to + at, n - at, p->wait[i] ? "%s0x%03x" : "%s0", i ? ", " : "", p->wait[i]);
    return at + snprintf(to + at, n - at, "}, %u, %u},", p->hvx, p->vector_loads);
}

static void emit_packets(FILE *out, const char *name, int build, unsigned k,
                         const struct hx_level *l)
{
    enum { COLUMNS = 100, INDENT = 4 };
    int column = COLUMNS;

    if (!l->packets)
        return;
    fprintf(out, "static const struct hx_vliw_packet hx_%s_%s_%u[] = {", name, build_name[build], k);
    for (size_t i = 0; i < l->packets; i++) {
        char row[COLUMNS];
        const int n = packet_text(row, sizeof(row), &l->packet[i]);

        if (column + 1 + n > COLUMNS)
            column = fprintf(out, "\n%*s%s", INDENT, "", row) - 1;
        else
            column += fprintf(out, " %s", row);
    }
    fputs("\n};\n", out);
}

static bool has_table(const char *const *tables, const char *name)
{
    while (*tables && strcmp(*tables, name) != 0)
        tables++;
    return *tables != NULL;
}

/* What has to be charged apart. */
static void emit_callees(FILE *out, const struct hx_function *f, int build,
                         const char *const *tables)
{
    for (size_t i = 0; i < f->packets; i++) {
        const char *callee = f->packet[i].callee;
        bool again = has_table(tables, callee);

        for (size_t k = 0; k < i && !again; k++)
            again = strcmp(f->packet[k].callee, callee) == 0;
        if (*callee && !again)
            fprintf(out, HX_TABLE_WARNING "the %s build of %s calls %s, which has no table here. */\n",
                    build_name[build], f->name, callee);
    }
}

static void emit_levels(FILE *out, const char *name, int build, const struct hx_levels *l)
{
    fprintf(out, "static const struct hx_code_level hx_%s_%s[] = {\n", name, build_name[build]);
    for (unsigned k = 0; k < l->levels; k++) {
        const struct hx_level *v = &l->level[k];
        if (v->packets)
            fprintf(out, "    {hx_%s_%s_%u, %zu, %u, %d},", name, build_name[build], k, v->packets,
                    v->peeled, v->around);
        else
            fprintf(out, "    {0, 0, 0, %d},", v->around);
        fprintf(out, " /* %u words */\n", v->words);
    }
    fputs("};\n", out);
}

void hx_emit_function(FILE *out, const struct hx_function *f, const struct hx_levels *l,
                      const char *const *tables)
{
    const char *name = f[HX_BUILD_RELEASE].name;

    fputc('\n', out);
    for (int b = 0; b < HX_CODE_BUILDS; b++) {
        emit_callees(out, &f[b], b, tables);
        for (unsigned k = 0; k < l[b].levels; k++)
            emit_packets(out, name, b, k, &l[b].level[k]);
        emit_levels(out, name, b, &l[b]);
    }
    fprintf(out,
            "static const struct hx_code hx_code_%s __attribute__((unused)) = {\n"
            "    \"%s\", %u, {hx_%s_release, hx_%s_debug},\n};\n",
            name, name, l[HX_BUILD_RELEASE].levels, name, name);
}
