/* Protects what is told of a skel that crashes: method, function, file and line in the log and in the node `crashes`, a core file where
 * limits ask for one, and that a PD which only says so harms nobody. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/core_name.h"
#include "hx_rig.h"
#include "hxt_boom.h"
#include "own_rig.h"

enum { CRASHED = (int)0x80000430 };

/* --- clients, each in a process of its own ------------------------------------------------------------------------- */

static int crash(const char *how)
{
    remote_handle64 h;
    int rc = hxt_boom_open(hxt_boom_URI "&_dom=cdsp", &h);

    if (rc)
        return 1;
    if (strcmp(how, "divide") == 0)
        rc = hxt_boom_divide(h, 0);
    else if (strcmp(how, "write") == 0)
        rc = hxt_boom_write(h, 0x10);
    else if (strcmp(how, "give_up") == 0)
        rc = hxt_boom_give_up(h);
    else if (strcmp(how, "jump") == 0)
        rc = hxt_boom_jump(h, 0);
    else if (strcmp(how, "recurse") == 0)
        rc = hxt_boom_recurse(h, 1 << 30);
    else if (strcmp(how, "in_a_thread") == 0)
        rc = hxt_boom_in_a_thread(h);
    if (rc != CRASHED)
        print_error("%s: 0x%x\n", how, (unsigned)rc);
    return rc != CRASHED;
}

static int crash_by_stderr(const char *how)
{
    if (!freopen(hxt_path("%s/stderr", hxt_tmpdir()), "w", stderr))
        return 1;
    return crash(how);
}

/* It says that it crashes and does not; once more is taken for its end. */
static int pretend(const char *how)
{
    remote_handle64 h;
    int rc = hxt_boom_open(hxt_boom_URI "&_dom=cdsp", &h);

    (void)how;
    if (rc || hxt_boom_pretend(h))
        return 1;
    for (int i = 0; i < 20 && !rc; i++)
        rc = hxt_boom_fine(h);
    if (rc)
        return 2;
    hxt_boom_pretend(h);
    while (!rc) /* until the driver has seen it */
        rc = hxt_boom_fine(h);
    return rc == CRASHED ? 0 : 3;
}

/* --- what is told ----------------------------------------------------------------------------------------------------- */

static char *text_of_node(void)
{
    char *text = NULL;

    assert_int_equal(hx_rig_read(own_rig_path(""), "crashes", &text), 0);
    return text;
}

/* Number of the line of the skel's source that says "line of WHAT". */
static int line_of(const char *what)
{
    char *source = hxt_read_file(HXT_SRC "/tests/skel/hxt_boom_imp.c", NULL), *at;
    int line = 1;

    assert_non_null(source);
    at = strstr(source, hxt_path("/* line of %s */", what));
    assert_non_null(at);
    for (const char *p = source; p < at; p++)
        line += *p == '\n';
    free(source);
    return line;
}

static void skip_where_nothing_is_told(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    hxt_skip_test("the sanitizer tells of a crash by itself");
#endif
}

static int have_addr2line(void)
{
    return system("command -v addr2line >/dev/null 2>&1") == 0;
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

/* The last report: how it begins, and the method. */
static void expect_crash(const char *how, const char *begins, const char *where, const char *method)
{
    char *text, *log, *last = NULL;

    assert_int_equal(own_rig_run(crash, how), 0);
    text = text_of_node();
    for (char *p = text; (p = strstr(p, "\n  crash: S")); p++)
        last = p + 3;
    assert_non_null(last);
    expect_in(last, begins);
    if (have_addr2line())
        expect_in(last, where);
    expect_in(last, hxt_path(", libhxt_boom_skel.so, method %s\n", method));
    expect_in(last, "crash:   #0 0x");
    last[strcspn(last, "\n")] = '\0';
    log = hxt_read_file(own_rig_log, NULL);
    expect_in(log, last);
    free(log);
    free(text);
}

static void test_a_division(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("divide", "crash: SIGFPE, division by zero at 0x",
                 hxt_path(", in hxt_boom_divide() at hxt_boom_imp.c:%d, ", line_of("divide")), "hxt_boom.divide");
}

static void test_a_bad_pointer_two_functions_deep(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("write", "crash: SIGSEGV, nothing is mapped at 0x10, ",
                 hxt_path(", in hxt_store() at hxt_boom_imp.c:%d, ", line_of("write")), "hxt_boom.write");
}

/* libc's frames are there, but are not the place. */
static void test_an_abort(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("give_up", "crash: SIGABRT, ",
                 hxt_path(", in hxt_boom_give_up() at hxt_boom_imp.c:%d, ", line_of("give_up")), "hxt_boom.give_up");
}

static void test_a_call_of_nowhere(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("jump", "crash: SIGSEGV, nothing is mapped at 0x0, ",
                 hxt_path(", in hxt_boom_jump() at hxt_boom_imp.c:%d, ", line_of("jump")), "hxt_boom.jump");
}

/* Of a stack that has overflowed, by a stack of the handler's own. */
static void test_a_stack_that_overflows(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("recurse", "crash: SIGSEGV, ", ", in deeper() at hxt_boom_imp.c:", "hxt_boom.recurse");
}

static void test_a_thread_of_the_skels(void **state)
{
    (void)state;
    skip_where_nothing_is_told();
    expect_crash("in_a_thread", "crash: SIGSEGV, nothing is mapped at 0x10, ",
                 hxt_path(", in hxt_store() at hxt_boom_imp.c:%d, ", line_of("write")), "hxt_boom.in_a_thread (another thread's)");
}

/* Who sees the code of a crash, and not the rig's log. */
static void test_the_client_tells_it_when_the_log_is_a_file(void **state)
{
    char *text;

    (void)state;
    skip_where_nothing_is_told();
    assert_int_equal(own_rig_run(crash_by_stderr, "divide"), 0);
    text = hxt_read_file(hxt_path("%s/stderr", hxt_tmpdir()), NULL);
    expect_in(text, "hexrig: crash: SIGFPE, division by zero at 0x");
    expect_in(text, ", method hxt_boom.divide\nhexrig: crash:   #0 0x");
    free(text);
}

static void test_saying_so_harms_nobody(void **state)
{
    (void)state;
    assert_int_equal(own_rig_run(pretend, ""), 0);
    assert_int_equal(own_rig_run(pretend, ""), 0);
}

/* Only the last ones are kept, of those of the tests before. */
static void test_the_node_is_bounded(void **state)
{
    unsigned n = 0;
    char *text;

    (void)state;
    skip_where_nothing_is_told();
    assert_int_equal(own_rig_run(crash, "divide"), 0);
    text = text_of_node();
    assert_null(strstr(text, "\ncrash=1 "));
    for (const char *p = text; (p = strstr(p, "\ncrash=")); p++)
        n++;
    assert_int_equal(n, 8);
    free(text);
}

/* --- core files ------------------------------------------------------------------------------------------------------- */

static void test_names_of_core_files(void **state)
{
    static const struct {
        const char *pattern;
        int uses_pid;
        const char *name; /* NULL: none */
    } cases[] = {
        {"core\n", 0, "core"},          {"core\n", 1, "core.77"},          {"/c/%e-%p-%i-%s\n", 1, "/c/hexrig-pd-77-78-11"},
        {"a%%b%\n", 0, "a%b%"},         {"x%z.%P", 1, "x.77.77"},          {"|/lib/systemd/systemd-coredump %P\n", 0, NULL},
        {"\n", 0, NULL},                {"", 1, NULL},                     {"@socket", 0, NULL},
    };
    const struct hx_crash_brief b = {.pid = 77, .crash = {.tid = 78, .signal = 11}};
    char name[64];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        int rc = hx_core_name(cases[i].pattern, cases[i].uses_pid, &b, name, sizeof(name));

        assert_int_equal(rc, cases[i].name ? 0 : -ENOENT);
        if (cases[i].name)
            assert_string_equal(name, cases[i].name);
    }
    assert_int_equal(hx_core_name("core.%p", 0, &b, name, 7), -ENAMETOOLONG);
}

/* The bytes of the note of this type, or NULL. */
static const char *find_note(const char *core, size_t bytes, uint32_t type)
{
    const Elf64_Ehdr *head = (const void *)core;
    const Elf64_Phdr *p = (const void *)(core + head->e_phoff);
    size_t at = p->p_offset;

    assert_true(bytes > sizeof(*head) && memcmp(core, ELFMAG, SELFMAG) == 0 && head->e_type == ET_CORE);
    assert_int_equal(p->p_type, PT_NOTE);
    while (at < p->p_offset + p->p_filesz) {
        const Elf64_Nhdr *n = (const void *)(core + at);

        at += sizeof(*n) + 8;
        if (n->n_type == type)
            return core + at;
        at += (n->n_descsz + 3) / 4 * 4;
    }
    return NULL;
}

/* Written by nobody in the sandbox, where the rig was started. */
static void test_a_core_file(void **state)
{
    const char *file = hxt_path("%s/core", hxt_tmpdir());
    const size_t room = 4 << 20;
    char *pattern, *text, *core;
    const siginfo_t *info;
    struct stat st;
    int fd;

    (void)state;
    skip_where_nothing_is_told();
    pattern = hxt_read_file("/proc/sys/kernel/core_pattern", NULL);
    core = calloc(1, room);
    assert_non_null(core);
    if (!pattern || strcmp(pattern, "core\n") != 0) {
        free(pattern);
        free(core);
        hxt_skip_test("/proc/sys/kernel/core_pattern is not `core`");
    }
    free(pattern);
    unlink(file);
    assert_int_equal(own_rig_run(crash, "write"), 0);
    fd = open(file, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(st.st_blocks < 64 << 11); /* arenas and the like are holes: less than 64 MiB on disk */
    assert_true(read(fd, core, room) > 0);
    info = (const void *)find_note(core, room, NT_SIGINFO);
    assert_non_null(info);
    assert_int_equal(info->si_signo, SIGSEGV);
    assert_int_equal((uintptr_t)info->si_addr, 0x10);
    assert_non_null(find_note(core, room, NT_PRSTATUS));
    assert_non_null(find_note(core, room, NT_FILE));
    close(fd);
    free(core);
    text = text_of_node();
    expect_in(text, hxt_path("crash:   core file: %s, ", file));
    free(text);
}

/* The rig starts in the scratch folder, with a limit that asks for core files. */
static int start(void **state)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    static char log[512];

    own_rig_front_end = "socket";
    snprintf(log, sizeof(log), "%s/log", hxt_tmpdir());
    own_rig_log = log;
    setrlimit(RLIMIT_CORE, &all); /* without the right to, the test of core files says what there was */
    return chdir(hxt_tmpdir()) || own_rig_start(state);
}

/* With an argument it is a client whose skel crashes in that way, for docs/skel.md. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_division),
        cmocka_unit_test(test_a_bad_pointer_two_functions_deep),
        cmocka_unit_test(test_an_abort),
        cmocka_unit_test(test_a_call_of_nowhere),
        cmocka_unit_test(test_a_stack_that_overflows),
        cmocka_unit_test(test_a_thread_of_the_skels),
        cmocka_unit_test(test_the_client_tells_it_when_the_log_is_a_file),
        cmocka_unit_test(test_saying_so_harms_nobody),
        cmocka_unit_test(test_names_of_core_files),
        cmocka_unit_test(test_a_core_file),
        cmocka_unit_test(test_the_node_is_bounded),
    };

    if (argc > 1)
        return crash(argv[1]);
    return cmocka_run_group_tests(tests, start, own_rig_stop);
}
