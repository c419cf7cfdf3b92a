/* Protects the rig's log from skels: what a PD prints is there, under the PD's name, and nothing else happens to the file; no
 * PD fills the disk, forges a line, or holds anybody up, and what is left out is counted. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/pd_log.h"
#include "driver_client.h"

static const char *log_file(void)
{
    return hxt_path("%s/the.log", hxt_tmpdir());
}

static char *read_log(void)
{
    char *text = hxt_read_file(log_file(), NULL);

    assert_non_null(text);
    return text;
}

static int has(void *word)
{
    char *text = read_log();
    int found = strstr(text, word) != NULL;

    free(text);
    return found;
}

static void expect(const char *word)
{
    char want[300]; /* hxt_path()'s memory is used again */

    snprintf(want, sizeof(want), "%s", word);
    if (!hxt_until(has, want, 30))
        fail_msg("no '%s' in the log", want);
}

static int call(int fd, uint32_t h, enum hxt_method m, struct hxt_in in, const char *text)
{
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg((void *)(uintptr_t)text, strlen(text))};

    return drv_invoke(fd, h, REMOTE_SCALARS_MAKE(m, 2, 0), a);
}

static void test_all_ways_to_print_lead_to_the_log(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(call(fd, h, HXT_SAY, (struct hxt_in){1, 0}, "to stdout"), 0);
    assert_int_equal(call(fd, h, HXT_SAY, (struct hxt_in){2, 0}, "to stderr"), 0);
    assert_int_equal(call(fd, h, HXT_SAY, (struct hxt_in){3, 0}, "by FARF"), 0);
    assert_true(has(": by FARF\n")); /* already */
    expect(hxt_path("hexrig-dsp[%d]: pd 1: to stdout\n", own_rig_child.pid));
    expect(hxt_path("hexrig-dsp[%d]: pd 1: to stderr\n", own_rig_child.pid));
    expect(hxt_path("hexrig-dsp[%d]: pd 1: ALWAYS: hxt_skel.c:", own_rig_child.pid));
    close(fd);
}

static void test_no_pd_has_the_logs_descriptor(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    struct stat before, after, st;
    pid_t dsp = own_rig_dsp();

    (void)state;
    assert_int_equal(stat(log_file(), &before), 0);
    assert_int_equal(drv_call0(fd, h, HXT_SPOIL_LOG, (struct hxt_in){0}), 0);
    assert_int_equal(call(fd, h, HXT_SAY, (struct hxt_in){2, 0}, "after it"), 0);
    expect(": after it\n");
    assert_int_equal(stat(log_file(), &after), 0);
    assert_true(after.st_size > before.st_size);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(hxt_path("/proc/%d/fd/%d", dsp, i), &st), 0);
        assert_true(st.st_ino != after.st_ino);
    }
    close(fd);
}

static void test_a_skel_can_neither_forge_a_line_nor_speak_to_the_terminal(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    char *text;

    (void)state;
    assert_int_equal(call(fd, h, HXT_PRINT, (struct hxt_in){0, 1}, "x\nhexrig-fuse: forged\r\033[2J\x9b\xc2\x9b g\xc3\xbc\te\n"), 0);
    expect(": hexrig-fuse: forged\\x0d\\x1b[2J\\x9b\\xc2\\x9b g\xc3\xbc\te\n");
    assert_int_equal(call(fd, h, HXT_PRINT, (struct hxt_in){0, 1}, "\xe2\x80\xae" "degrof\xe2\x81\xa9 \xe2\x82\xac\n"), 0);
    expect(": \\xe2\\x80\\xaedegrof\\xe2\\x81\\xa9 \xe2\x82\xac\n");
    text = read_log();
    for (char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, "hexrig-fuse[", 12) != 0 && strncmp(at, "hexrig-dsp[", 11) != 0)
            fail_msg("a line without a name: '%.60s'", at);
    free(text);
    close(fd);
}

static void test_the_last_line_of_a_pd_that_dies_is_there(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(call(fd, h, HXT_PRINT, (struct hxt_in){0, 0}, "first\nlast words"), (int)0x80000430);
    expect(": first\n");
    expect(": last words\n");
    close(fd);
}

/* 300 000 lines leave 1 MiB and the number of the others. */
static void test_a_flood_is_cut_and_counted(void **state)
{
    enum { LINES = 300000 };
    uint32_t h, other_h;
    int fd = drv_connect(&h), other = drv_connect(&other_h);
    struct stat before, after;

    (void)state;
    assert_int_equal(stat(log_file(), &before), 0);
    assert_int_equal(call(fd, h, HXT_PRINT, (struct hxt_in){0, LINES}, "a line of a flood of lines of some bytes\n"), 0);
    assert_int_equal(drv_call0(other, other_h, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    assert_int_equal(call(other, other_h, HXT_SAY, (struct hxt_in){2, 0}, "not the flood's"), 0);
    expect(": not the flood's\n");
    close(fd);
    expect(" lines dropped\n");
    assert_int_equal(stat(log_file(), &after), 0);
    print_message("%lld bytes\n", (long long)(after.st_size - before.st_size));
    assert_true(after.st_size - before.st_size < 2 << 20);
    assert_true(after.st_size - before.st_size > 512 << 10);
    fd = drv_connect(&h); /* a new session is no new budget */
    assert_int_equal(call(fd, h, HXT_PRINT, (struct hxt_in){0, LINES}, "a line of a flood of lines of some bytes\n"), 0);
    close(fd);
    close(other);
    assert_true(hxt_until(own_rig_idle, NULL, 30));
    assert_int_equal(stat(log_file(), &after), 0);
    assert_true(after.st_size - before.st_size < 2 << 20);
}

/* --- the parts, without a rig */

static const char *parts_log;
static int kept;

static void parts_begin(void)
{
    int fd;

    parts_log = hxt_path("%s/parts.log", hxt_tmpdir());
    fd = open(parts_log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    fflush(stderr);
    kept = dup(2);
    dup2(fd, 2);
    close(fd);
}

static char *parts_end(void)
{
    dup2(kept, 2);
    close(kept);
    return hxt_read_file(parts_log, NULL);
}

static void test_long_lines_zeros_and_halves(void **state)
{
    struct hx_loop loop = {0};
    struct hx_pd_log l = {0};
    char line[2000], *text;
    int fd;

    (void)state;
    memset(line, 'x', sizeof(line));
    line[100] = '\0';
    assert_int_equal(hx_loop_init(&loop), 0);
    assert_int_equal(hx_pd_log_open(&l, &loop, 7, &fd), 0);
    parts_begin();
    assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
    assert_int_equal(write(fd, "\n\nhalf", 6), 6);
    hx_pd_log_close(&l);
    text = parts_end();
    close(fd);
    hx_loop_close(&loop);
    assert_non_null(strstr(text, "pd 7: xxx"));
    assert_non_null(strstr(text, "x\\x00x"));
    assert_non_null(strstr(text, "hexrig-dsp: pd 7: \nhexrig-dsp: pd 7: half\n"));
    for (char *at = text; *at; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") < HX_PD_LINE + 40);
    free(text);
}

/* A byte may become four in the log; the budget is for what is written. */
static void test_what_is_escaped_counts_as_it_is_written(void **state)
{
    enum { LINES = 4000 };
    struct hx_loop loop = {0};
    struct hx_pd_log l = {0};
    char line[HX_PD_LINE], *text;
    size_t n;
    int fd;

    (void)state;
    memset(line, '\1', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    assert_int_equal(hx_loop_init(&loop), 0);
    assert_int_equal(hx_pd_log_open(&l, &loop, 8, &fd), 0);
    parts_begin();
    for (int i = 0; i < LINES; i++) {
        if (write(fd, line, sizeof(line)) != sizeof(line))
            break;
        hx_pd_log_read(&l);
    }
    hx_pd_log_close(&l);
    text = parts_end();
    close(fd);
    hx_loop_close(&loop);
    n = strlen(text);
    assert_true(n > 512 << 10);
    assert_true(n < (1 << 20) + (256 << 10)); /* and 4 KiB for each second that this takes */
    assert_non_null(strstr(text, " lines dropped\n"));
    free(text);
}

/* Nobody reads the log: a pipe that is full. */
static void test_a_log_that_nobody_reads_holds_nobody_up(void **state)
{
    int pipe_fd[2], keep = dup(2), lines = 0;
    char *text = malloc(1 << 20);
    ssize_t n;

    (void)state;
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    fflush(stderr);
    dup2(pipe_fd[1], 2);
    for (int i = 0; i < 20000; i++)
        hx_log("a line that nobody reads, number %d", i);
    n = read(pipe_fd[0], text, (1 << 20) - 1);
    hx_log("now");
    dup2(keep, 2);
    close(keep);
    assert_true(n > 0);
    n = read(pipe_fd[0], text, (1 << 20) - 1);
    text[n > 0 ? n : 0] = '\0';
    assert_non_null(strstr(text, " lines lost\nhexrig-fuse: now\n"));
    lines = atoi(strstr(text, "... ") + 4);
    assert_true(lines > 18000 && lines < 20000);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ways_to_print_lead_to_the_log),
        cmocka_unit_test(test_no_pd_has_the_logs_descriptor),
        cmocka_unit_test(test_a_skel_can_neither_forge_a_line_nor_speak_to_the_terminal),
        cmocka_unit_test(test_the_last_line_of_a_pd_that_dies_is_there),
        cmocka_unit_test(test_a_flood_is_cut_and_counted),
        cmocka_unit_test(test_long_lines_zeros_and_halves),
        cmocka_unit_test(test_what_is_escaped_counts_as_it_is_written),
        cmocka_unit_test(test_a_log_that_nobody_reads_holds_nobody_up),
    };

    own_rig_log = strdup(log_file());
    return DRV_RUN(tests);
}
