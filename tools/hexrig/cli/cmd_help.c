/* hexrig help: what a command understands, as text; man pages; completion for bash. */
#include "cmd_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "hx_version.h"
#include "opt.h"

static const char cmd[] = "help";
static int (*run_command)(const struct hx_command *c, int argc, char **argv);

enum { OPT_MAN = HX_OPT_FREE, OPT_COMPLETION };

static const struct argp_option options[] = {
    {"man", OPT_MAN, NULL, 0, "the page for man instead of text", 0},
    {"completion", OPT_COMPLETION, NULL, 0, "what completes commands and options in bash, to be sourced there", 0},
    {0},
};

static const char doc[] =
    "Prints what hexrig, a command, or an action of one understands: the same as --help there.\v"
    "Example: hexrig help block stats";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    int *form = state->input;

    (void)arg;
    if (key != OPT_MAN && key != OPT_COMPLETION)
        return ARGP_ERR_UNKNOWN;
    *form = key;
    return 0;
}

void hx_cmd_help_runs(int (*run)(const struct hx_command *c, int argc, char **argv))
{
    run_command = run;
}

/* COMMAND [ACTION] --help */
static int help_of(const struct hx_command *c, const char *action)
{
    char *line[] = {(char *)c->name, (char *)(action ? action : "--help"), action ? (char *)"--help" : NULL, NULL};

    return run_command(c, action ? 3 : 2, line);
}

static void man_head(const char *page, const char *what)
{
    printf(".TH \"%s\" 1 \"\" \"hexrig %s\" \"hexrig\"\n.SH NAME\n%s \\- ", page, hx_version, page);
    hx_help_man_text(what, strlen(what));
    putchar('\n');
}

static void man_tail(void)
{
    printf(".SH \"EXIT STATUS\"\n0: done; 1: it failed; 2: the command line was wrong.  One line on stderr says why.\n");
}

static int man_command(const struct hx_command *c)
{
    char page[64];
    int rc;

    snprintf(page, sizeof(page), "hexrig-%s", c->name);
    man_head(page, c->what);
    if (strcmp(c->name, "idl") == 0) { /* a program of its own, without a table */
        printf(".SH DESCRIPTION\n.nf\n");
        rc = help_of(c, NULL);
        printf(".fi\n");
    } else {
        rc = help_of(c, NULL);
    }
    man_tail();
    printf(".SH \"SEE ALSO\"\n.BR hexrig (1)\n");
    return rc;
}

static int man_all(void)
{
    man_head("hexrig", "a Hexagon V69 cDSP on this machine, and an LLM engine that offloads to it");
    printf(".SH SYNOPSIS\n.B hexrig\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
           "A command that needs a rig and finds none starts a private one and ends it.\n.SH COMMANDS\n");
    for (size_t i = 0; i < hx_n_commands; i++) {
        printf(".TP\n.BR hexrig\\-%s (1)\n", hx_commands[i].name);
        hx_help_man_text(hx_commands[i].what, strlen(hx_commands[i].what));
        putchar('\n');
    }
    printf(".SH ENVIRONMENT\n"
           ".TP\n.B HEXRIG_DEVICE\nthe device of a rig that runs; without, the default one, or a private one\n"
           ".TP\n.B XDG_RUNTIME_DIR\nwhere the default rig is mounted, in a folder hexrig\n"
           ".TP\n.B DSP_LIBRARY_PATH\nfolders of skels, in front of hexrig's own\n"
           ".TP\n.B HEXRIG_FARF\nmessages of DSP code, from LOW, MEDIUM, HIGH or ERROR on\n"
           ".SH EXAMPLE\nhexrig run \\-p \"The king was\" \\-n 32 \\-\\-kv spinor\n");
    man_tail();
    return HX_EXIT_OK;
}

static const char completion[] =
    "_hexrig() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} key option words=\n"
    "    # = is a word of its own\n"
    "    if [ \"$cur\" = = ]; then option=$prev cur=\n"
    "    elif [ \"$prev\" = = ]; then option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    for key in \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" \"${COMP_WORDS[1]}\" ''; do\n"
    "        set -- $key\n"
    "        [ $COMP_CWORD -gt $# ] || continue\n"
    "        words=$(sed -n \"s/^$key://p\" <<<\"$_hexrig_words\")\n"
    "        [ -z \"$words\" ] || break\n"
    "    done\n"
    "    [ \"${COMP_WORDS[1]}\" != help ] || [ $COMP_CWORD != 2 ] || words=\"$words $(sed -n 's/^://p' <<<\"$_hexrig_words\")\"\n"
    "    if [ -n \"$option\" ]; then\n"
    "        words=$(tr ' ' '\\n' <<<\"$words\" | sed -n \"s/^$option=//p\" | tr '|' ' ')\n"
    "    else\n"
    "        words=$(sed 's/=[^ ]*/=/g' <<<\"$words\")\n"
    "    fi\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "    [ \"${COMPREPLY[*]: -1}\" = \"${COMPREPLY[*]%=}\" ] || compopt -o nospace 2>/dev/null\n"
    "}\n"
    "complete -o default -F _hexrig hexrig\n";

static int print_completion(void)
{
    int rc = HX_EXIT_OK;

    hx_help_set(HX_HELP_WORDS);
    printf("# bash completion of hexrig %s, from its tables of options\n_hexrig_words='\n:", hx_version);
    for (size_t i = 0; i < hx_n_commands; i++)
        printf(" %s", hx_commands[i].name);
    putchar('\n');
    for (size_t i = 0; !rc && i < hx_n_commands; i++)
        if (strcmp(hx_commands[i].name, "idl") != 0)
            rc = help_of(&hx_commands[i], NULL);
    printf("'\n%s", completion);
    return rc;
}

int hx_cmd_help(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "[COMMAND [ACTION]]", doc, NULL, NULL, NULL};
    const struct hx_command *c;
    int form = 0, word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &form, &word);

    if (rc)
        return rc;
    if (argc - word > (form == OPT_COMPLETION ? 0 : form == OPT_MAN ? 1 : 2))
        return hx_cmd_usage(cmd, "unexpected argument '%s'", argv[argc - 1]);
    if (form == OPT_COMPLETION)
        return print_completion();
    if (form == OPT_MAN)
        hx_help_set(HX_HELP_MAN);
    if (word == argc) {
        if (form == OPT_MAN)
            return man_all();
        hx_commands_print();
        return HX_EXIT_OK;
    }
    c = hx_command("hexrig help", argv[word]);
    if (!c)
        return HX_EXIT_USAGE;
    return form == OPT_MAN ? man_command(c) : help_of(c, word + 1 < argc ? argv[word + 1] : NULL);
}
