/* Protects `hexrig top`: a frame fits its terminal whatever the rig says, the terminal is as before when it ends, and every front end
 * has what it shows. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "e2e.h"
#include "rig/node_text.h"
#include "rig/top_view.h"

/* --- frames */

static const char status[] = "state=up\nfront_end=socket\nprofile=s22u-577\ntime=virtual\nsessions_max=14\ndsp_restarts=2\n";
static const char stats[] =
    "session=1 pid=7 invokes=1200 kernel_calls=3 errors=2 packets=0 bytes_copied=2048 bytes_shared=1048576 model_dispatch_ns=2000000 "
    "model_exec_ns=500000 model_sum_ns=2500000 slow_path_calls=1 ddr_bytes=4096 vtcm_bytes=0\n"
    "closed_sessions=4 invokes=34 kernel_calls=0 errors=0 packets=5 bytes_copied=0 bytes_shared=0 model_sum_ns=1500000 ddr_bytes=1024\n";
static const char sessions[] = "session=1 pid=7 node=fastrpc-cdsp state=up pd=user unsigned=1 poll=0\n";
static const char rig_clock[] = "clock_mhz=1200.0\nlevel=5\nlevels_taken=1\n";
static const char thermal[] = "temperature_c=41.50\npeak_c=42.00\nthrottle_c=90.0\nenergy_j=1.250\n";
static const char vtcm[] = "total_bytes=8388608\nfree_bytes=6291456\nsession=1 offset=0x0 held_bytes=2097152 asked_bytes=5 context=0\n";

static struct hx_top_frame frame(const struct hx_method_stats *methods)
{
    return (struct hx_top_frame){{status, stats, sessions, rig_clock, thermal, vtcm}, methods, NULL, HX_TOP_ROWS, HX_TOP_COLUMNS};
}

/* The frame's text, and that it fits.  free() */
static char *text_of(const struct hx_top_frame *t)
{
    size_t bytes, rows = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &bytes);

    assert_non_null(f);
    hx_top_print(t, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(strlen(text), bytes);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1, rows++) {
        assert_non_null(strchr(line, '\n'));
        assert_true(strcspn(line, "\n") <= t->columns);
    }
    assert_true(rows <= t->rows);
    for (const char *p = text; *p; p++)
        assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_a_frame_has_what_the_nodes_say(void **state)
{
    struct hx_method_stat lines[] = {{.interface = "calculator", .name = "sum", .calls = 1200, .errors = 2, .bytes_copied = 2048,
                                      .dispatch_ns = 2000000, .exec_ns = 500000},
                                     {.interface = "old", .method = 3, .calls = 34}};
    struct hx_method_stat earlier[] = {{.interface = "calculator", .name = "sum", .calls = 1150},
                                       {.interface = "old", .method = 3, .calls = 34}};
    const struct hx_method_stats methods = {lines, HXT_LEN(lines)}, before = {earlier, HXT_LEN(earlier)};
    struct hx_top_frame t = frame(&methods);
    char *text;

    (void)state;
    t.before = &before;
    text = text_of(&t);
    has(text, "front end socket   profile s22u-577");
    has(text, "calls 1234   errors 2   packets 5");
    has(text, "model ms  4.000: dispatch 2.000");
    has(text, "shared 1.0 M  DDR 5.0 K");
    has(text, "[######..................] 2048 of 8192 KiB held");
    has(text, "41.50 C, peak 42.00 C");
    has(text, "      1        7 up        user        1200      2  2.0 K  1.0 M   2048");
    has(text, "calculator.sum                          1200    +50    2  2.0 K   0.500    2.500\n");
    has(text, "old.3                                     34           0    0 B   0.000    0.000\n");
    free(text);
}

static void test_heat_that_is_not_known_is_said_to_be_so(void **state)
{
    const struct hx_method_stats none = {0};
    struct hx_top_frame t = frame(&none);
    char *text;

    (void)state;
    t.nodes.thermal = NULL;
    text = text_of(&t);
    has(text, "temperature unknown\n");
    free(text);
    t.nodes.thermal = thermal;
    t.nodes.status = "state=up\ntime=off\n";
    text = text_of(&t);
    has(text, "temperature unknown: time off\n");
    free(text);
}

/* Many methods with long and hostile names, figures of 20 digits, sessions and nodes without anything, terminals of any size. */
static void test_every_frame_fits_its_terminal(void **state)
{
    static const size_t sizes[][2] = {{24, 80}, {24, 40}, {1, 1}, {3, 200}, {60, 130}, {0, 0}};
    struct hx_method_stat lines[100];
    const struct hx_method_stats methods = {lines, HXT_LEN(lines)};
    char many[4096] = "", *text;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lines); i++) {
        lines[i] = (struct hx_method_stat){.calls = UINT64_MAX, .errors = UINT64_MAX, .bytes_copied = UINT64_MAX, .exec_ns = UINT64_MAX};
        memset(lines[i].interface, i % 2 ? 'x' : '\033', sizeof(lines[i].interface) - 1);
    }
    for (int i = 1; i <= 14; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "session=%d pid=%d node=x state=up pd=user\n", i, i);
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        struct hx_top_frame t = frame(&methods);

        t.rows = sizes[i][0];
        t.columns = sizes[i][1];
        t.nodes.sessions = many;
        text = text_of(&t);
        if (t.rows == 24 && t.columns == 80) {
            has(text, "   and 9 more\n");
            has(text, "and 94 more\n");
        }
        free(text);
        t.nodes = (struct hx_top_nodes){"", "", "", "", "", ""};
        free(text_of(&t));
    }
}

static void test_values_are_those_of_the_whole_key(void **state)
{
    char value[8];

    (void)state;
    hx_node_value("xtime=1\ntime=virtual time=2\n", "time", value, sizeof(value));
    assert_string_equal(value, "virtual"); /* cut to fit */
    assert_true(hx_node_word("a=1 bytes=2 l2_bytes=3\nc=4", "bytes", value, sizeof(value)));
    assert_string_equal(value, "2");
    assert_int_equal(hx_node_number("a=1 l2_bytes=3\nc=4\n", "c"), 0); /* another line's */
    assert_null(hx_node_next("a=1\n"));
}

/* --- rigs */

static char mount[400];

static void up(const char *front_end)
{
    struct hxt_result r;

    snprintf(mount, sizeof(mount), "%s/m", hxt_tmpdir());
    e2e_run(&r, hxt_path("up --front-end %s --mount %s", front_end, mount));
    if (r.exit_code)
        fail_msg("hexrig up: %s", r.err);
    hxt_result_free(&r);
}

static void down(void)
{
    struct hxt_result r;

    e2e_run(&r, hxt_path("down --mount %s", mount));
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
}

static void one_frame_on(const char *front_end)
{
    struct hxt_result r;

    up(front_end);
    e2e_run(&r, hxt_path("top --once --mount %s", mount));
    assert_int_equal(r.exit_code, 0);
    assert_string_equal(r.err, "");
    has(r.out, hxt_path("hexrig top   up   front end %s   profile s22u-577", front_end));
    has(r.out, "0 of 8192 KiB held");
    has(r.out, "none is open");
    assert_null(strchr(r.out, '\033'));
    hxt_result_free(&r);
    down();
}

static void test_one_frame_on_fuse(void **state)
{
    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("/dev/fuse cannot be opened");
    one_frame_on("fuse");
}

enum { KEPT = 1024 };

/* A terminal with `hexrig top` on it. */
struct terminal {
    int fd, slave;
    pid_t pid;
    char text[1 << 16]; /* what it has shown of late */
    size_t n;
    const char *wanted;
    int how; /* it has ended */
    struct termios before;
};

static int shows(void *arg)
{
    struct terminal *t = arg;
    ssize_t n;

    if (t->n > sizeof(t->text) / 2) { /* only what was shown lately is looked for */
        memmove(t->text, t->text + t->n - KEPT, KEPT);
        t->n = KEPT;
    }
    while ((n = read(t->fd, t->text + t->n, sizeof(t->text) - 1 - t->n)) > 0)
        t->n += (size_t)n;
    t->text[t->n] = '\0';
    return strstr(t->text, t->wanted) != NULL;
}

static void wait_for(struct terminal *t, const char *text)
{
    t->wanted = text;
    if (!hxt_until(shows, t, 60))
        fail_msg("the terminal does not show '%s', but:\n%s", text, t->text);
}

static void start(struct terminal *t)
{
    const struct winsize size = {24, 80, 0, 0};
    struct e2e_run r;

    *t = (struct terminal){.fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    assert_true(t->fd >= 0 && !grantpt(t->fd) && !unlockpt(t->fd));
    t->slave = open(ptsname(t->fd), O_RDWR | O_NOCTTY | O_CLOEXEC); /* what it has shown stays there */
    assert_true(t->slave >= 0);
    assert_int_equal(ioctl(t->slave, TIOCSWINSZ, &size), 0);
    assert_int_equal(tcgetattr(t->slave, &t->before), 0);
    e2e_command(&r, hxt_path("top --interval 0.1 --mount %s", mount));
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        setsid();
        ioctl(t->slave, TIOCSCTTY, 0);
        dup2(t->slave, 0);
        dup2(t->slave, 1);
        execv(r.argv[0], (char **)r.argv);
        _exit(127);
    }
    wait_for(t, "hexrig top   up");
}

static int has_ended(void *arg)
{
    struct terminal *t = arg;

    return waitpid(t->pid, &t->how, WNOHANG) > 0;
}

/* Its status; the terminal is as it was. */
static int end(struct terminal *t)
{
    struct termios now;

    wait_for(t, "\033[?25h\033[?1049l"); /* the cursor, and the screen of before */
    assert_true(hxt_until(has_ended, t, 60));
    assert_int_equal(tcgetattr(t->slave, &now), 0);
    assert_int_equal(now.c_lflag, t->before.c_lflag);
    assert_int_equal(now.c_cc[VMIN], t->before.c_cc[VMIN]);
    close(t->slave);
    close(t->fd);
    return t->how;
}

static int is_raw(void *slave)
{
    struct termios now;

    return !tcgetattr(*(int *)slave, &now) && !(now.c_lflag & (ICANON | ECHO));
}

static void test_the_terminal_is_as_before_however_it_ends(void **state)
{
    struct terminal t;
    struct winsize wide = {40, 100, 0, 0};
    struct hxt_result r;
    int how;

    (void)state;
    up("socket");
    start(&t);
    assert_true(is_raw(&t.slave));
    assert_int_equal(ioctl(t.slave, TIOCSWINSZ, &wide), 0);
    wait_for(&t, "method                                                     calls"); /* the name has got the 20 columns */
    assert_int_equal(write(t.fd, "xq", 2), 2);
    how = end(&t);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);

    start(&t);
    assert_int_equal(write(t.fd, "\003", 1), 1); /* Ctrl-C */
    how = end(&t);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);

    start(&t);
    kill(t.pid, SIGTERM);
    how = end(&t);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);

    start(&t);
    down();
    how = end(&t);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 1); /* the rig has ended */

    e2e_run(&r, "top");
    assert_int_equal(r.exit_code, 2);
    has(r.err, "--once");
    hxt_result_free(&r);
    e2e_refused(hxt_path("top --once --mount %s", mount), 1, "no rig");
    e2e_refused("top --once --interval 0", 2, "interval");
}

/* Ctrl-Z gives the shell its terminal, and what goes on takes it again. */
static void test_a_stopped_view_gives_the_terminal_back(void **state)
{
    struct terminal t;
    int how;

    (void)state;
    up("socket");
    start(&t);
    kill(t.pid, SIGTSTP);
    wait_for(&t, "\033[?1049l");
    assert_int_equal(waitpid(t.pid, &how, WUNTRACED), t.pid);
    assert_true(WIFSTOPPED(how));
    assert_false(is_raw(&t.slave));
    t.n = 0;
    kill(t.pid, SIGCONT);
    wait_for(&t, "hexrig top   up");
    assert_true(is_raw(&t.slave));
    assert_int_equal(write(t.fd, "q", 1), 1);
    how = end(&t);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_frame_has_what_the_nodes_say),
        cmocka_unit_test(test_heat_that_is_not_known_is_said_to_be_so),
        cmocka_unit_test(test_every_frame_fits_its_terminal),
        cmocka_unit_test(test_values_are_those_of_the_whole_key),
        cmocka_unit_test(test_one_frame_on_fuse),
        cmocka_unit_test(test_the_terminal_is_as_before_however_it_ends),
        cmocka_unit_test(test_a_stopped_view_gives_the_terminal_back),
    };

    return HXT_RUN(tests);
}
