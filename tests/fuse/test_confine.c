/* fuse/crash/confine: who reads a skel's file for a crash report can do nothing else, whatever the file makes of it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../fuse/crash/confine.h"
#include "hxt.h"

static const char *file, *other; /* there, and ours */

static int reads_the_file(void)
{
    char byte;
    const int fd = open(file, O_RDONLY);

    return fd >= 0 && read(fd, &byte, 1) == 1;
}

static int starts_programs(void)
{
    char *const argv[] = {"true", NULL};

    execv("/bin/true", argv);
    return 0;
}

static int reads_others(void)
{
    return open(other, O_RDONLY) >= 0 || open("/etc/passwd", O_RDONLY) >= 0;
}

static int reads_processes(void)
{
    return open("/proc/self/environ", O_RDONLY) >= 0 || ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
}

static int changes_the_file(void)
{
    return open(file, O_WRONLY) >= 0 || open(file, O_RDONLY | O_TRUNC) >= 0 || chmod(file, 0777) == 0 || unlink(file) == 0;
}

static int makes_files(void)
{
    return open(hxt_path("%s/new", hxt_tmpdir()), O_RDWR | O_CREAT, 0600) >= 0 || symlink(file, hxt_path("%s/new", hxt_tmpdir())) == 0;
}

static int signals(void)
{
    return kill(getppid(), SIGCONT) == 0 || kill(getpid(), SIGCONT) == 0;
}

static int speaks(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int has_children(void)
{
    return fork() > 0;
}

static int becomes_somebody(void)
{
    return setuid(65534) == 0 && getuid() != 65534;
}

static const struct {
    const char *what;
    int (*does)(void), may;
} deeds[] = {
    {"reads the file", reads_the_file, 1},
    {"starts programs", starts_programs, 1},
    {"reads other files", reads_others, 0},
    {"looks into processes", reads_processes, 0},
    {"changes the file", changes_the_file, 0},
    {"makes files", makes_files, 0},
    {"signals", signals, 0},
    {"opens sockets", speaks, 0},
    {"starts processes", has_children, 0},
    {"becomes another user", becomes_somebody, 0},
};

/* The exit code: 0 = it could, 1 = it could not, 2 = it was not confined. */
static int try(int (*does)(void))
{
    int status;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(hx_confine_reader(file) ? 2 : !does());
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status))
        fail_msg("signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void test_a_reader_reads_its_file_and_no_more(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("a sanitizer needs terabytes of address space");
#endif
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
        hxt_skip_test("the kernel has no landlock");
    file = hxt_path("%s/skel.so", hxt_tmpdir());
    other = hxt_path("%s/secret", hxt_tmpdir());
    hxt_write_file(file, "x", 1);
    hxt_write_file(other, "x", 1);
    for (size_t i = 0; i < HXT_LEN(deeds); i++)
        if (try(deeds[i].does) != !deeds[i].may)
            fail_msg("%s: %s", deeds[i].what, deeds[i].may ? "cannot" : "can");
    assert_int_equal(access(file, F_OK), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_reader_reads_its_file_and_no_more)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
