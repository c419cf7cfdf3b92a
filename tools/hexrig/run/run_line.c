/* Lines of a conversation, see run_line.h.
 *
 * libedit asks what a byte is by the locale, and hexrig runs in that of C, where no byte above 127 is anything; texts of models are
 * UTF-8, so while it works the thread's locale says so. */
#include "run_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HX_LIBEDIT
#include <histedit.h>
#include <locale.h>
#endif

static const char prompt[] = "> ";

struct hx_lines {
    int person;
    char *line; /* of getline() */
    size_t room;
#ifdef HX_LIBEDIT
    EditLine *edit; /* NULL: lines come as they are */
    History *history;
    locale_t utf8;
#endif
};

#ifdef HX_LIBEDIT
enum { HISTORY_LINES = 1000 };

static char *show_prompt(EditLine *e)
{
    (void)e;
    return (char *)prompt;
}

/* A signal of Ctrl-C could come when the terminal is no longer the editor's, or not yet; a key comes between other keys. */
static void make_signals_keys(EditLine *e)
{
    el_set(e, EL_SETTY, "-d", "-isig", NULL);
    el_set(e, EL_BIND, "^C", "em-kill-line", NULL);
}

static void set_up(struct hx_lines *l)
{
    HistEvent event;

    el_set(l->edit, EL_PROMPT, show_prompt);
    el_set(l->edit, EL_EDITOR, "emacs");
    el_set(l->edit, EL_SIGNAL, 1); /* a window of another size; and what ends hexrig leaves the terminal as it was */
    make_signals_keys(l->edit);
    history(l->history, &event, H_SETSIZE, HISTORY_LINES);
    history(l->history, &event, H_SETUNIQUE, 1);
    el_set(l->edit, EL_HIST, history, l->history);
}

static int open_editor(struct hx_lines *l)
{
    locale_t before;

    l->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!l->utf8)
        return errno == ENOMEM ? -1 : 0; /* a system without: no editor */
    before = uselocale(l->utf8);
    l->edit = el_init("hexrig", stdin, stdout, stderr);
    l->history = history_init();
    if (l->edit && l->history)
        set_up(l);
    uselocale(before);
    return l->edit && l->history ? 0 : -1;
}

static void close_editor(struct hx_lines *l)
{
    if (l->edit)
        el_end(l->edit);
    if (l->history)
        history_end(l->history);
    if (l->utf8)
        freelocale(l->utf8);
}

static ssize_t edited(struct hx_lines *l, const char **line)
{
    const locale_t before = uselocale(l->utf8);
    HistEvent event;
    int n = 0;

    errno = 0;
    *line = el_gets(l->edit, &n);
    if (*line && n > 0 && (*line)[0] != '\n')
        history(l->history, &event, H_ENTER, *line);
    uselocale(before);
    if (!*line || n <= 0)
        return -1;
    return n - ((*line)[n - 1] == '\n');
}
#endif

struct hx_lines *hx_lines_open(int person)
{
    struct hx_lines *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->person = person;
#ifdef HX_LIBEDIT
    if (person && open_editor(l)) {
        hx_lines_close(l);
        return NULL;
    }
#endif
    return l;
}

void hx_lines_close(struct hx_lines *l)
{
    if (!l)
        return;
#ifdef HX_LIBEDIT
    close_editor(l);
#endif
    free(l->line);
    free(l);
}

ssize_t hx_lines_next(struct hx_lines *l, const char **line)
{
    ssize_t n;

#ifdef HX_LIBEDIT
    if (l->edit)
        return edited(l, line);
#endif
    if (l->person)
        fputs(prompt, stdout);
    fflush(stdout);
    errno = 0;
    n = getline(&l->line, &l->room, stdin);
    *line = l->line;
    return n > 0 && l->line[n - 1] == '\n' ? n - 1 : n;
}
