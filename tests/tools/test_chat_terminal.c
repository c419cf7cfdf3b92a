/* Protects `hexrig run --chat` on a terminal: lines are edited and come back, Ctrl-C takes a line away at the prompt and ends a reply
 * elsewhere, and the terminal is as it was in the end.
 *
 * The editor shows its prompt before it takes the terminal, so a key that follows the prompt alone may still be the terminal's own: the end
 * of a file that nobody reads, or a signal.  Each key here waits for a terminal that is the editor's. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "e2e.h"

enum { ROOM = 1 << 16, LIMIT_S = 60 };

#define CHAT "run --chat=chatml --kv f32 --threads 1 "

struct terminal {
    int fd, slave;
    pid_t pid;
    char text[ROOM];
    size_t n, seen; /* what was looked for lies before `seen` */
    const char *wanted;
    int how; /* it has ended */
    struct termios before;
};

static void take(struct terminal *t)
{
    ssize_t n;

    while (t->n < sizeof(t->text) - 1 && (n = read(t->fd, t->text + t->n, sizeof(t->text) - 1 - t->n)) > 0)
        t->n += (size_t)n;
    t->text[t->n] = '\0';
}

static int shows(void *arg)
{
    struct terminal *t = arg;
    const char *at;

    take(t);
    at = strstr(t->text + t->seen, t->wanted);
    if (at)
        t->seen = (size_t)(at - t->text) + strlen(t->wanted);
    return at != NULL;
}

static void wait_for(struct terminal *t, const char *text)
{
    t->wanted = text;
    if (!hxt_until(shows, t, LIMIT_S))
        fail_msg("the terminal does not show '%s', but:\n%s", text, t->text + t->seen);
}

static int is_the_editors(void *arg)
{
    struct terminal *t = arg;
    struct termios now;

    take(t);
    return !tcgetattr(t->slave, &now) && !(now.c_lflag & (ICANON | ECHO));
}

/* At the prompt, of which `prompt` is the text. */
static void type_at(struct terminal *t, const char *prompt, const char *keys)
{
    wait_for(t, prompt);
    if (!hxt_until(is_the_editors, t, LIMIT_S))
        fail_msg("a prompt and no editor behind it:\n%s", t->text);
    assert_int_equal(write(t->fd, keys, strlen(keys)), strlen(keys));
}

#define FIRST "> "
#define NEXT "\r\n> " /* behind a reply */

static void start(struct terminal *t, const char *words)
{
    const struct winsize size = {24, 80, 0, 0};
    struct e2e_run r;

    *t = (struct terminal){.fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    assert_true(t->fd >= 0 && !grantpt(t->fd) && !unlockpt(t->fd));
    t->slave = open(ptsname(t->fd), O_RDWR | O_NOCTTY | O_CLOEXEC); /* what it has shown stays there */
    assert_true(t->slave >= 0 && !ioctl(t->slave, TIOCSWINSZ, &size) && !tcgetattr(t->slave, &t->before));
    e2e_command(&r, words);
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        setsid();
        ioctl(t->slave, TIOCSCTTY, 0);
        dup2(t->slave, 0);
        dup2(t->slave, 1);
        setenv("TERM", "xterm", 1);
        execv(r.argv[0], (char **)r.argv);
        _exit(127);
    }
}

static int has_ended(void *arg)
{
    struct terminal *t = arg;

    take(t);
    return waitpid(t->pid, &t->how, WNOHANG) > 0;
}

static void end(struct terminal *t)
{
    struct termios now;

    type_at(t, NEXT, "\004"); /* Ctrl-D */
    if (!hxt_until(has_ended, t, LIMIT_S))
        fail_msg("no end, but:\n%s", t->text + t->seen);
    assert_true(WIFEXITED(t->how) && WEXITSTATUS(t->how) == 0);
    assert_int_equal(tcgetattr(t->slave, &now), 0);
    assert_int_equal(now.c_lflag, t->before.c_lflag);
    close(t->slave);
    close(t->fd);
}

static char *by_pipe(const char *lines)
{
    struct hxt_result res;
    struct e2e_run r;
    char *text;

    e2e_command(&r, CHAT "-n 8");
    r.cmd.input = lines;
    assert_int_equal(hxt_run(&res, &r.cmd), 0);
    assert_int_equal(res.exit_code, 0);
    assert_null(strpbrk(res.out, "\033>")); /* a pipe gets no prompt and no sequences */
    text = strdup(res.out);
    hxt_result_free(&res);
    return text;
}

/* The last reply to all lines, as far as a terminal shows it in the same bytes. */
static char *last_reply(const char *lines_before, const char *lines)
{
    char *before = by_pipe(lines_before), *all = by_pipe(lines), *last;

    assert_memory_equal(all, before, strlen(before));
    last = strdup(all + strlen(before));
    last[strcspn(last, "\n")] = '\0';
    assert_true(*last);
    free(all);
    free(before);
    return last;
}

static void test_a_line_can_be_edited_and_taken_away(void **state)
{
    char *want = last_reply("", "Tell me of the na\xc3\xafve king\n");
    struct terminal t;

    (void)state;
    start(&t, CHAT "-n 8");
    /* Ctrl-C, one letter of two bytes too many, six steps back, away with it, to the end */
    type_at(&t, FIRST, "Nonsense\003Tell me of the na\xc3\xaf\xc3\xafve kin\033[D\033[D\033[D\033[D\033[D\033[D\177\005g\r");
    wait_for(&t, want);
    end(&t);
    free(want);
}

static void test_lines_come_back(void **state)
{
    char *want = last_reply("Tell me of the king\nAnd of the queen\n", "Tell me of the king\nAnd of the queen\nTell me of the king\n");
    struct terminal t;

    (void)state;
    start(&t, CHAT "-n 8");
    type_at(&t, FIRST, "Tell me of the king\r");
    type_at(&t, NEXT, "And of the queen\r");
    type_at(&t, NEXT, "\033[A\033[A\r");
    wait_for(&t, want);
    end(&t);
    free(want);
}

static int shows_more(void *arg)
{
    struct terminal *t = arg;

    take(t);
    return t->n > t->seen;
}

/* By the slow reference, whose reply of some 1000 tokens is not made before the key comes. */
static void test_ctrl_c_ends_a_reply_and_the_next_prompt_comes(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, CHAT "--ignore-eos --linear ref --attn ref");
    type_at(&t, FIRST, "Tell me of the king\r");
    wait_for(&t, "king\r\n");
    assert_true(hxt_until(shows_more, &t, LIMIT_S)); /* text is being made: Ctrl-C is a wish now */
    assert_int_equal(write(t.fd, "\003", 1), 1);
    end(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_line_can_be_edited_and_taken_away),
    cmocka_unit_test(test_lines_come_back),
    cmocka_unit_test(test_ctrl_c_ends_a_reply_and_the_next_prompt_comes),
};

int main(void)
{
    if (access(HXT_BUILD "/obj/libedit.there", F_OK))
        hxt_skip_all("hexrig was built without libedit");
    return HXT_RUN(tests);
}
